import { useEffect, useRef } from 'react';
import { followLoudness } from './loudness.ts';

/** The middle bar moves most. */
const weights = [0.5, 0.8, 1, 0.8, 0.5];
/** Quiet speech, as the mean of its samples. */
const quietest = 0.004;

/** The loudness of the microphone, which shows the user that they are heard. The state of the call is its text. */
export function LevelMeter({ stream, isMuted }: { stream: MediaStream; isMuted: boolean }) {
  const box = useRef<HTMLSpanElement>(null);
  useEffect(() => {
    if (isMuted || stream.getAudioTracks().length === 0) return;
    const bars = box.current;
    let level = 0;
    const stop = followLoudness(stream, (loudness) => {
      const wanted = Math.min(1, Math.max(0, Math.log2(loudness / quietest) / 5));
      // It rises at once and falls slowly, as the ear hears.
      level = Math.max(wanted, level * 0.9);
      bars?.style.setProperty('--level', level.toFixed(2));
    });
    return () => {
      stop();
      bars?.style.setProperty('--level', '0');
    };
  }, [stream, isMuted]);
  return (
    <span aria-hidden="true" className="flex h-6 shrink-0 items-center gap-0.75" data-level="" ref={box}>
      {weights.map((weight, at) => (
        <span
          // biome-ignore lint/suspicious/noArrayIndexKey: the bars never change.
          key={at}
          className="w-0.75 rounded-full bg-good"
          style={{ height: `calc(0.25rem + ${weight} * var(--level, 0) * 1.25rem)` }}
        />
      ))}
    </span>
  );
}
