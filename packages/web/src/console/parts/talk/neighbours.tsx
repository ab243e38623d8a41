import { useEffect, useLayoutEffect } from 'react';
import { useList } from '../../data/queries.ts';
import { Button } from '../button.tsx';
import { useGo } from '../page-link.tsx';

type Filters = Readonly<Record<string, string>>;

let lastFilters: Filters = {};

/** The list of conversations remembers its filters, so that a conversation finds the rows around it. */
export function rememberFilters(filters: Filters): void {
  lastFilters = filters;
}

/** The conversations before and after this one in the list, by button, J and K. */
export function Neighbours({ id }: { id: string }) {
  const go = useGo();
  const list = useList('conversations.list', lastFilters as never);
  const at = list.rows.findIndex((each) => each.id === id);
  const before = at > 0 ? list.rows[at - 1]?.id : undefined;
  const after = at >= 0 ? list.rows[at + 1]?.id : undefined;
  const isAtEnd = at >= 0 && at === list.rows.length - 1;
  useEffect(() => {
    if (isAtEnd) list.more();
  }, [isAtEnd, list.more]);
  // Before the page is drawn: a key that is pressed at first sight must not be lost, or act on the previous neighbours.
  useLayoutEffect(() => {
    const press = (event: KeyboardEvent) => {
      const to = event.key === 'j' ? after : event.key === 'k' ? before : undefined;
      if (to === undefined || event.ctrlKey || event.metaKey || event.altKey || isTaken(event)) return;
      event.preventDefault();
      go(`/conversations/${to}`);
    };
    window.addEventListener('keydown', press);
    return () => window.removeEventListener('keydown', press);
  }, [before, after, go]);
  return (
    <span className="flex">
      {(
        [
          ['Previous conversation', 'K', '↑', before],
          ['Next conversation', 'J', '↓', after],
        ] as const
      ).map(([label, shortcut, arrow, to]) => (
        <Button
          aria-keyshortcuts={shortcut}
          aria-label={label}
          disabled={to === undefined}
          key={label}
          look="quiet"
          onClick={() => to !== undefined && go(`/conversations/${to}`)}
          title={`${label} (${shortcut})`}
        >
          {arrow}
        </Button>
      ))}
    </span>
  );
}

/** A field or a dialog reads the key itself. */
const isTaken = ({ target }: KeyboardEvent): boolean =>
  document.querySelector('[role=dialog]') !== null ||
  (target instanceof HTMLElement && (target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName)));
