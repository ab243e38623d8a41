import { useCallback, useEffect, useLayoutEffect, useRef, useState } from 'react';

const nearPx = 80;

/** The end of what is said; of a card that is taller than the view its beginning, which says what it is about. */
function endOf(box: HTMLElement): number {
  const cards = box.querySelectorAll<HTMLElement>('[data-wait]');
  const card = cards.item(cards.length - 1);
  if (!card || card.offsetHeight <= box.clientHeight) return box.scrollHeight;
  return box.scrollTop + card.getBoundingClientRect().top - box.getBoundingClientRect().top - 8;
}

/**
 * Keeps the newest in view while the person is at the end, and what they read in its place while they are not: also
 * when older messages come in above. `oldest` names what stands first.
 */
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
      // What does not fill the view cannot be scrolled up.
      if (box.scrollHeight <= box.clientHeight) reachedTop();
    });
    observer.observe(inner);
    observer.observe(box);
    return () => observer.disconnect();
  }, [reachedTop]);

  const scrolled = useCallback(() => {
    const box = view.current;
    if (!box) return;
    // What grows below is no scrolling: only going up leaves the end.
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
