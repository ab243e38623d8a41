import { type Interruption, partSaid } from './spoken-text.ts';

type Saying = {
  id: number;
  text: string;
  turnId: string | null;
  /** True once it was said to its end, false where it was not. */
  isOut: (isOut: boolean) => void;
};

type Ports = {
  speak: (text: string, signal: AbortSignal) => AsyncIterable<Int16Array>;
  say: (id: number, samples: Int16Array, isWhole: boolean) => void;
  allSaid: () => void;
  failed: (error: unknown) => void;
};

const latelyCharacters = 600;

/** What is to be said, is being said and was said, sentence by sentence. */
export function createSpoken({ speak, say, allSaid, failed }: Ports) {
  /** Not given to the line yet. */
  let waiting: Saying[] = [];
  /** Given to the line, and not out. */
  let going: Saying[] = [];
  let making = new AbortController();
  let isMaking = false;
  let lastId = 0;
  let lately = '';
  let brokenPart = '';
  /** What was out of the reply of a turn. */
  let heard: { turnId: string; text: string } | null = null;
  let interrupted: string | null = null;
  const muted = new Set<string>();

  async function make(): Promise<void> {
    if (isMaking) return;
    isMaking = true;
    const { signal } = making;
    try {
      // Asked before anything is taken: what is waiting once this was broken off belongs to the next reply.
      while (!signal.aborted) {
        const next = waiting.shift();
        if (!next) break;
        going.push(next);
        for await (const samples of speak(next.text, signal)) if (!signal.aborted) say(next.id, samples, false);
        if (!signal.aborted) say(next.id, new Int16Array(0), true);
      }
    } catch (error) {
      if (!signal.aborted) failed(error);
    } finally {
      if (signal === making.signal) isMaking = false;
    }
  }

  return {
    /** Kept until it is released. Says whether it came out whole. */
    add(text: string, turnId: string | null): Promise<boolean> {
      const { promise, resolve } = Promise.withResolvers<boolean>();
      waiting.push({ id: ++lastId, text, turnId, isOut: resolve });
      return promise;
    },
    release: () => void make(),
    wasSaid(id: number) {
      const saying = going.find((each) => each.id === id);
      if (!saying) return;
      going = going.filter((each) => each !== saying);
      brokenPart = '';
      lately = `${lately} ${saying.text}`.slice(-latelyCharacters);
      if (saying.turnId !== null) {
        const before = heard?.turnId === saying.turnId ? `${heard.text} ` : '';
        heard = { turnId: saying.turnId, text: before + saying.text };
      }
      saying.isOut(true);
      if (going.length === 0 && waiting.length === 0) allSaid();
    },
    brokeOff({ id, share }: Interruption) {
      const saying = going.find((each) => each.id === id);
      brokenPart = saying ? partSaid(saying.text, share) : '';
    },
    /** What was said or being said a moment ago: a microphone may have heard it. */
    lately: () => `${lately} ${going[0]?.text ?? ''}`,
    /** What was not said stays unsaid, and so does the rest of its reply. */
    drop() {
      making.abort();
      making = new AbortController();
      isMaking = false;
      const unsaid = [...going, ...waiting];
      const [first] = unsaid;
      for (const { turnId, isOut } of unsaid) {
        if (turnId !== null) muted.add(turnId);
        isOut(false);
      }
      if (first && first.turnId !== null) {
        const before = heard?.turnId === first.turnId ? heard.text : '';
        interrupted = `${before} ${brokenPart}`.trim();
      }
      brokenPart = '';
      going = [];
      waiting = [];
    },
    isMuted: (turnId: string | null) => turnId !== null && muted.has(turnId),
    takeInterrupted(): string | null {
      const taken = interrupted;
      interrupted = null;
      return taken;
    },
  };
}
