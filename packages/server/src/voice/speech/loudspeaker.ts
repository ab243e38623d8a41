import { samplesPerSecond } from './speech.ts';

/** What goes out at once: ten milliseconds. */
const outSamples = samplesPerSecond / 100;

type Saying = { id: number; samples: Int16Array[]; length: number; played: number; isWhole: boolean };

export type Interruption = { id: number; share: number };

/**
 * What is to be said, in order, handed out ten milliseconds at a time. A break keeps what is left: a cough must not cost
 * the rest of an answer.
 */
export function createLoudspeaker(said: (id: number) => void) {
  let queue: Saying[] = [];
  let isBroken = false;

  const find = (id: number) => {
    const known = queue.find((each) => each.id === id);
    if (known) return known;
    const added: Saying = { id, samples: [], length: 0, played: 0, isWhole: false };
    queue.push(added);
    return added;
  };

  function take(saying: Saying, out: Int16Array, from: number): number {
    let at = saying.played;
    let filled = from;
    for (const piece of saying.samples) {
      if (at >= piece.length) {
        at -= piece.length;
        continue;
      }
      const part = piece.subarray(at, at + out.length - filled);
      out.set(part, filled);
      filled += part.length;
      saying.played += part.length;
      at = 0;
      if (filled === out.length) break;
    }
    return filled;
  }

  return {
    add(id: number, samples: Int16Array, isWhole: boolean) {
      const saying = find(id);
      if (samples.length > 0) saying.samples.push(samples);
      saying.length += samples.length;
      saying.isWhole = isWhole;
    },
    /** The next ten milliseconds, silence where there is nothing to say. */
    next(): Int16Array {
      const out = new Int16Array(outSamples);
      let filled = 0;
      while (!isBroken && queue[0] && filled < out.length) {
        const [saying] = queue;
        filled = take(saying, out, filled);
        if (saying.played < saying.length || !saying.isWhole) break;
        queue.shift();
        said(saying.id);
      }
      return out;
    },
    /** Nothing goes out until it is resumed or cleared. Null where nothing was being said. */
    break(): Interruption | null {
      const [saying] = queue;
      const wasBroken = isBroken;
      isBroken = true;
      if (wasBroken || !saying) return null;
      return { id: saying.id, share: saying.length === 0 ? 0 : saying.played / saying.length };
    },
    resume() {
      isBroken = false;
    },
    clear() {
      queue = [];
      isBroken = false;
    },
    isSpeaking: () => !isBroken && queue.length > 0,
  };
}
