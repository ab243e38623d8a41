import { Duplex, type Readable } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { openCallChannel } from './call-channel.ts';

/** Two ends of one socket that hands on single bytes. */
function socketPair(): [Duplex, Duplex] {
  const ends: Duplex[] = [];
  const end = (other: number) =>
    new Duplex({
      read() {},
      write(chunk: Buffer, _encoding, done) {
        for (const byte of chunk) (ends[other] as Readable).push(Buffer.of(byte));
        done();
      },
    });
  ends.push(end(1), end(0));
  return ends as [Duplex, Duplex];
}

describe('the channel of a call', () => {
  it.each([
    ['fields', { kind: 'note', note: { type: 'state', text: 'Grüße' } }],
    ['samples', { kind: 'sound', samples: Int16Array.of(1, -2, 32_767) }],
    ['no samples', { kind: 'say', id: 7, isWhole: true, samples: new Int16Array(0) }],
  ])('passes on a message with %s [HRD-700]', async (_what, message) => {
    const [one, other] = socketPair();
    const received: unknown[] = [];
    const two = Promise.withResolvers<void>();
    openCallChannel(other, {
      maxBytes: 1_000,
      message: (each) => received.push(each) === 2 && two.resolve(),
      end: () => {},
    });
    const { send } = openCallChannel<typeof message>(one, { maxBytes: 1_000, message: () => {}, end: () => {} });
    send(message);
    send(message);
    await two.promise;
    expect(received).toEqual([message, message]);
  });
});
