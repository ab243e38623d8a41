import type { Interruption } from './speech/sound.ts';
import { partSaid } from './spoken-text.ts';

type QueuedSentence = {
  id: number;
  text: string;
  turnId: string | null;
  /** Called with true once it was spoken to its end, and with false if it was dropped. */
  isOut: (isOut: boolean) => void;
};

type Ports = {
  speak: (text: string, signal: AbortSignal) => AsyncIterable<Int16Array>;
  say: (id: number, samples: Int16Array, isWhole: boolean) => void;
  /** The sentence that is heard now. */
  saying: (text: string) => void;
  allSaid: () => void;
  failed: (error: unknown) => void;
};

const latelyCharacters = 600;

/** The sentences that are waiting, being spoken and already spoken. */
export function createSpeechQueue({ speak, say, saying: show, allSaid, failed }: Ports) {
  /** Not yet sent to the connection. */
  let waiting: QueuedSentence[] = [];
  /** Sent to the connection and not yet spoken. */
  let going: QueuedSentence[] = [];
  let making = new AbortController();
  let isMaking = false;
  let lastId = 0;
  let lately = '';
  let brokenPart = '';
  /** The spoken part of the reply of a turn. */
  let heard: { turnId: string; text: string } | null = null;
  let interrupted: string | null = null;
  const muted = new Set<string>();
  /** The last sentence with sound, and the last one that was shown. */
  let soundedId = 0;
  let shownId = 0;

  /** Sentences are heard in their order, each once it has sound and those before it are over. */
  function showCurrent(): void {
    const [current] = going;
    if (!current || current.id > soundedId || current.id <= shownId) return;
    shownId = current.id;
    show(current.text);
  }

  async function make(): Promise<void> {
    if (isMaking) return;
    isMaking = true;
    const { signal } = making;
    try {
      // Check before taking a sentence: after an abort, the waiting ones belong to the next reply.
      while (!signal.aborted) {
        const next = waiting.shift();
        if (!next) break;
        going.push(next);
        for await (const samples of speak(next.text, signal)) {
          if (signal.aborted) break;
          say(next.id, samples, false);
          soundedId = next.id;
          showCurrent();
        }
        if (!signal.aborted) say(next.id, new Int16Array(0), true);
      }
    } catch (error) {
      if (!signal.aborted) failed(error);
    } finally {
      if (signal === making.signal) isMaking = false;
    }
  }

  return {
    /** Queued until `release`. Resolves with whether it was spoken to its end. */
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
      showCurrent();
      if (going.length === 0 && waiting.length === 0) allSaid();
    },
    brokeOff({ id, share }: Interruption) {
      const saying = going.find((each) => each.id === id);
      brokenPart = saying ? partSaid(saying.text, share) : '';
    },
    /** Recently spoken text, which the microphone may have picked up. */
    lately: () => `${lately} ${going[0]?.text ?? ''}`,
    /** Drops the unspoken sentences and mutes the rest of their reply. */
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
