import { useCallback, useEffect, useLayoutEffect, useRef, useState } from 'react';

const nearPx = 80;

/** The scroll target: the end, or the start of a card that is taller than the view. */
function endOf(box: HTMLElement): number {
  const cards = box.querySelectorAll<HTMLElement>('[data-wait]');
  const card = cards.item(cards.length - 1);
  if (!card || card.offsetHeight <= box.clientHeight) return box.scrollHeight;
  return box.scrollTop + card.getBoundingClientRect().top - box.getBoundingClientRect().top - 8;
}

/** Follows the end while the user is there, and keeps the position otherwise. `oldest` is the key of the first item. */
export function usePinnedScroll(oldest: string | undefined, reachedTop: () => void) {
  const view = useRef<HTMLDivElement>(null);
  const content = useRef<HTMLDivElement>(null);
  const isPinned = useRef(true);
  const before = useRef({ oldest, height: 0, top: 0 });
  const [isAtEnd, setAtEnd] = useState(true);

  useLayoutEffect(() => {
    const box = view.current;
    if (!box) return;
    const { height } = before.current;
    if (before.current.oldest !== oldest && !isPinned.current) box.scrollTop += box.scrollHeight - height;
    before.current = { oldest, height: box.scrollHeight, top: box.scrollTop };
  });

  useEffect(() => {
    const [box, inner] = [view.current, content.current];
    if (!box || !inner) return;
    const observer = new ResizeObserver(() => {
      if (isPinned.current) box.scrollTop = endOf(box);
      before.current.height = box.scrollHeight;
      // Content that does not fill the view cannot be scrolled, so older messages load now.
      if (box.scrollHeight <= box.clientHeight) reachedTop();
    });
    observer.observe(inner);
    observer.observe(box);
    return () => observer.disconnect();
  }, [reachedTop]);

  const scrolled = useCallback(() => {
    const box = view.current;
    if (!box) return;
    // Growth is not scrolling: only scrolling up leaves the end.
    const isNear = box.scrollHeight - box.scrollTop - box.clientHeight < nearPx;
    if (isNear) isPinned.current = true;
    else if (box.scrollTop < before.current.top) isPinned.current = false;
    before.current.top = box.scrollTop;
    setAtEnd(isPinned.current);
    if (box.scrollTop < 2 * nearPx) reachedTop();
  }, [reachedTop]);

  const toEnd = useCallback(() => {
    isPinned.current = true;
    if (view.current) view.current.scrollTo({ top: endOf(view.current) });
  }, []);

  const unpin = useCallback(() => {
    isPinned.current = false;
  }, []);

  return { view, content, isAtEnd, scrolled, toEnd, unpin };
}
