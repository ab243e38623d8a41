import { type RefObject, useEffect, useRef, useSyncExternalStore } from 'react';
import type { ChatState } from '../chat/chat-state.ts';
import { useHost } from './host.ts';

/** Reports unread messages and handoffs to the host page. */
export function useNews(state: ChatState): void {
  const host = useHost();
  const isLooking = useSyncExternalStore(subscribeTo(host), () => isSeen(host));
  const known = useRef<{ ids: Set<string>; oldest: string | null } | null>(null);
  const unread = useRef(0);

  useEffect(() => {
    if (!host || !state.isLoaded) return;
    const open = Object.values(state.waits).filter(({ interaction }) => interaction.status === 'pending');
    const whole = Object.values(state.messages).filter(({ role, isWhole }) => isWhole && role !== 'user');
    const ids = [...whole.map(({ id }) => id), ...open.map(({ interaction }) => interaction.id)];
    const before = known.current;
    const fresh = ids.filter((id) => !before?.ids.has(id));
    known.current = { ids: new Set([...(before?.ids ?? []), ...fresh]), oldest: state.oldest };
    for (const { interaction } of open) {
      if (interaction.type === 'handoff' && fresh.includes(interaction.id)) {
        host.tell({ type: 'session.handoff', interaction_id: interaction.id });
      }
    }
    // Messages from before the page was opened do not count.
    const news = before !== null && before.oldest === state.oldest ? fresh.length : 0;
    const count = isLooking ? 0 : unread.current + news;
    if (count === unread.current) return;
    unread.current = count;
    host.tell({ type: 'session.unread', count });
  }, [host, state, isLooking]);
}

/** Reports the height of the content to the host page. */
export function useHeight(view: RefObject<HTMLElement | null>, content: RefObject<HTMLElement | null>): void {
  const host = useHost();
  useEffect(() => {
    const [box, inner] = [view.current, content.current];
    if (!host || !box || !inner) return;
    let told = 0;
    const observer = new ResizeObserver(() => {
      const around = document.documentElement.clientHeight - box.clientHeight;
      const height = Math.ceil(inner.offsetHeight + around);
      if (height === told) return;
      told = height;
      host.tell({ type: 'session.resize', height });
    });
    observer.observe(inner);
    return () => observer.disconnect();
  }, [host, view, content]);
}

type MaybeHost = ReturnType<typeof useHost>;

const isSeen = (host: MaybeHost) => document.visibilityState === 'visible' && (host?.isShown() ?? true);

const subscribeTo = (host: MaybeHost) => (changed: () => void) => {
  const leave = host?.subscribe(changed);
  document.addEventListener('visibilitychange', changed);
  return () => {
    leave?.();
    document.removeEventListener('visibilitychange', changed);
  };
};
