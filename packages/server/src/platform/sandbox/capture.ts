import type { Readable } from 'node:stream';

/** Output of a program: at most so many bytes of its beginning and of its end. `leftOut` counts the bytes between. */
export type Captured = { head: Uint8Array; tail: Uint8Array; leftOut: number };

/** Keeps the beginning and the end of what is said, and lets the rest pass: a flood fills no memory. */
export function capture(stream: Readable, maxBytes: number): () => Captured {
  const keepEach = Math.floor(maxBytes / 2);
  const head: Buffer[] = [];
  let headBytes = 0;
  let tail: Buffer[] = [];
  let tailBytes = 0;
  let leftOut = 0;
  stream.on('data', (chunk: Buffer) => {
    const begin = chunk.subarray(0, keepEach - headBytes);
    if (begin.length > 0) head.push(Buffer.from(begin));
    headBytes += begin.length;
    const rest = chunk.subarray(begin.length);
    if (rest.length === 0) return;
    tail.push(Buffer.from(rest));
    tailBytes += rest.length;
    if (tailBytes > 2 * keepEach) shorten();
  });
  stream.on('error', () => {});

  function shorten(): void {
    const joined = Buffer.concat(tail);
    const kept = joined.subarray(Math.max(0, joined.length - keepEach));
    leftOut += joined.length - kept.length;
    tail = [Buffer.from(kept)];
    tailBytes = kept.length;
  }

  return () => {
    if (tailBytes > keepEach) shorten();
    return { head: Buffer.concat(head), tail: Buffer.concat(tail), leftOut };
  };
}

/** What was said in one piece; `cut` stands where something was left out. */
export function joinCaptured({ head, tail, leftOut }: Captured, cut: (bytes: number) => string): Uint8Array {
  return leftOut === 0 ? Buffer.concat([head, tail]) : Buffer.concat([head, Buffer.from(cut(leftOut)), tail]);
}
