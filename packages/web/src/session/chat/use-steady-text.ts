import { useEffect, useLayoutEffect, useRef, useState } from 'react';
import { steadyPrefix } from '../../markdown/steady-prefix.ts';

/** A slow frame shows no more than its share, so that the text never jumps. */
const longestFrameMs = 20;
const slowest = 60;
const fastest = 3000;
/**
 * A reader cannot follow more. Text that is further behind appears at once. Each step reads the whole text again, so a very
 * long reply takes no steps: else its last seconds would take a slow device minutes.
 */
const mostBehind = (length: number) => (length > 50_000 ? 0 : 3_000);
/** How far the shown text is behind the received text while it grows, and once it is whole. */
const behindS = { growing: 0.4, whole: 0.2 };

/**
 * Shows the text of a live reply evenly, although it arrives in bursts. It is shown at once if the reader wants less motion,
 * or does not see the page.
 */
export function useSteadyText(text: string, { isWhole, isLive }: { isWhole: boolean; isLive: boolean }) {
  const [length, setLength] = useState(isLive ? 0 : text.length);
  const shownSoFar = useRef(length);
  useLayoutEffect(() => {
    shownSoFar.current = length;
  });
  const received = useRef({ text, isWhole });
  received.current = { text, isWhole };
  const isBehind = length < text.length;

  useEffect(() => {
    if (!isBehind) return;
    let shown = shownSoFar.current;
    let last: number | null = null;
    let frame = requestAnimationFrame(function step(now) {
      // A busy device has not drawn the last part yet. More text now would become a jump.
      if (shownSoFar.current < Math.floor(shown)) {
        last = now;
        frame = requestAnimationFrame(step);
        return;
      }
      const { text: wanted, isWhole: isLast } = received.current;
      const seconds = Math.min(longestFrameMs, now - (last ?? now)) / 1000;
      last = now;
      shown = Math.max(shown, wanted.length - mostBehind(wanted.length));
      const left = wanted.length - shown;
      const speed = Math.min(fastest, Math.max(slowest, left / (isLast ? behindS.whole : behindS.growing)));
      shown = isMotionUnwanted() ? wanted.length : Math.min(wanted.length, shown + speed * seconds);
      setLength(Math.floor(shown));
      if (shown < wanted.length) frame = requestAnimationFrame(step);
    });
    // Frames stop while the page is hidden.
    const showAll = () => document.hidden && setLength(received.current.text.length);
    document.addEventListener('visibilitychange', showAll);
    showAll();
    return () => {
      cancelAnimationFrame(frame);
      document.removeEventListener('visibilitychange', showAll);
    };
  }, [isBehind]);

  const isGrowing = isBehind || !isWhole;
  if (!isGrowing) return { shown: text, isGrowing };
  return { shown: steadyPrefix(wholeCharacters(text, length)), isGrowing };
}

const isMotionUnwanted = () => window.matchMedia('(prefers-reduced-motion: reduce)').matches;

/** Half of a surrogate pair is no character. */
const wholeCharacters = (text: string, length: number) => text.slice(0, length).replace(/[\ud800-\udbff]$/, '');
