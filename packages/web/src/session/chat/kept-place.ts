import { type RefObject, useEffect, useRef } from 'react';
import { kept } from '../kept.ts';

/** Restores the unsent draft after a reload. */
export const keptDraft = {
  read: (conversationId: string) => kept.read(`draft ${conversationId}`) ?? '',
  write: (conversationId: string, text: string) => kept.write(`draft ${conversationId}`, text === '' ? null : text),
};

type KeptPlaceOptions = {
  view: RefObject<HTMLElement | null>;
  content: RefObject<HTMLElement | null>;
  isLoaded: boolean;
  isAtEnd: boolean;
  /** Stops scrolling to the end. */
  unpin: () => void;
};

/** Heights settle late, while replies render and older ones load. */
const settledAfterMs = 5000;

/** Restores the scroll position, measured from the end, after a reload. */
export function useKeptPlace(conversationId: string, options: KeptPlaceOptions): void {
  const { view, content, isLoaded, isAtEnd, unpin } = options;
  const name = `place ${conversationId}`;
  const wanted = useRef(Number(kept.read(name) ?? 0));

  useEffect(() => {
    const [box, inner] = [view.current, content.current];
    if (!box || !inner || !isLoaded || wanted.current === 0) return;
    unpin();
    const goThere = () => {
      if (wanted.current > 0) box.scrollTop = box.scrollHeight - wanted.current;
    };
    const observer = new ResizeObserver(goThere);
    const settle = () => {
      wanted.current = 0;
      observer.disconnect();
    };
    observer.observe(inner);
    const timer = setTimeout(settle, settledAfterMs);
    // User input ends the restoration.
    for (const type of ['wheel', 'touchstart', 'pointerdown', 'keydown']) {
      window.addEventListener(type, settle, { once: true, passive: true });
    }
    return () => {
      clearTimeout(timer);
      settle();
    };
  }, [view, content, isLoaded, unpin]);

  useEffect(() => {
    const keep = () => {
      const box = view.current;
      if (box && wanted.current === 0) kept.write(name, isAtEnd ? null : String(box.scrollHeight - box.scrollTop));
    };
    window.addEventListener('pagehide', keep);
    return () => window.removeEventListener('pagehide', keep);
  }, [name, view, isAtEnd]);
}
