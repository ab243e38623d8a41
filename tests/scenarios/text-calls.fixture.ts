import type { VoiceParts } from '@vestra/server/main/voice';
import type { CallConnection, ConnectionEvent } from '@vestra/server/voice/speech/call-connection';
import { expect } from 'vitest';

/** As much of an offer as the route looks at. */
export const offerOfSound = [
  'v=0',
  `a=fingerprint:sha-256 ${Array(32).fill('4B').join(':')}`,
  'm=audio 9 UDP/TLS/RTP/SAVPF 111',
  '',
].join('\r\n');

/** The person's end of a call whose sound is text. */
type TextCall = {
  /** While true, no text is spoken to its end. */
  isSlow: boolean;
  /** Says it, over whatever the agent is saying, half of which was heard. */
  speak: (text: string) => void;
  /** Until it was said to its end, or is being said. */
  hears: (text: string) => Promise<void>;
  isSaying: (text: string) => Promise<void>;
  /** Why the call is over, once it is. */
  end: () => Promise<string>;
  hasEnded: () => boolean;
};

const soundOf = (text: string) => Int16Array.from(text, (sign) => sign.charCodeAt(0));
const textOf = (samples: Int16Array) => String.fromCharCode(...samples);
const wait = { timeout: 20_000 };

/**
 * Calls of a whole server, without sound: what carries it and what hears it are tried by `npm run test:sound`. All between,
 * from the line to the database and the other processes, is as it is.
 */
export function createTextCalls() {
  const calls: TextCall[] = [];
  /** The offers that reached the process of a call, and how many of these processes there are now and were at most. */
  const connections = { offers: [] as string[], now: 0, most: 0 };
  let answering = Promise.resolve();

  function connect(hear: (news: ConnectionEvent) => void): CallConnection {
    const said: string[] = [];
    const saying = new Map<number, string>();
    const reasons: string[] = [];
    const call: TextCall = {
      isSlow: false,
      speak(text) {
        const [id] = saying.keys();
        hear({ kind: 'speech', news: 'started', broken: id === undefined ? null : { id, share: 0.5 } });
        hear({ kind: 'sound', samples: soundOf(text) });
        hear({ kind: 'speech', news: 'ended', broken: null });
      },
      hears: (text) => expect.poll(() => said, wait).toContain(text),
      isSaying: (text) => expect.poll(() => [...saying.values()], wait).toContain(text),
      async end() {
        await expect.poll(() => reasons, wait).toHaveLength(1);
        return reasons[0] as string;
      },
      hasEnded: () => reasons.length > 0,
    };
    calls.push(call);
    setTimeout(() => hear({ kind: 'connected' }));
    return {
      sdp: 'v=0',
      say(id, samples, isWhole) {
        saying.set(id, (saying.get(id) ?? '') + textOf(samples));
        if (!isWhole || call.isSlow) return;
        said.push(saying.get(id) as string);
        saying.delete(id);
        setTimeout(() => hear({ kind: 'said', id }));
      },
      resume: () => {},
      clear: () => saying.clear(),
      note(note) {
        if (note.type === 'ended') reasons.push(String(note.reason));
      },
      close: () => void connections.now--,
    };
  }

  const parts: VoiceParts = {
    connections: {
      obstacle: async () => null,
      async open({ sdp }, hear) {
        connections.offers.push(sdp);
        connections.most = Math.max(connections.most, ++connections.now);
        await answering;
        return connect(hear);
      },
    },
    speech: {
      model: 'text',
      voices: ['plain'],
      obstacle: () => null,
      close: async () => {},
      open: () => ({
        listen() {
          let heard = '';
          return {
            push: (samples) => {
              heard += textOf(samples);
            },
            text: async () => heard,
            drop: () => {},
          };
        },
        async *speak(text) {
          yield soundOf(text);
        },
        takeUsed: () => [],
        close: () => {},
      }),
    },
  };
  return {
    parts,
    connections,
    last: () => calls.at(-1) as TextCall,
    /** Calls are not answered until the returned function is called. */
    holdAnswers(): () => void {
      const { promise, resolve } = Promise.withResolvers<void>();
      answering = promise;
      return resolve;
    },
  };
}
