import { deserialize, serialize } from 'node:v8';

/** Bodies as structured clones, so that dates, bytes and what is absent arrive as they were. */
export const encodeBody = (value: unknown): Buffer => serialize(value);
export const decodeBody = (bytes: Uint8Array): unknown => deserialize(bytes);

const headBytes = 4;

/** Keeps a connection on which nothing is said from being taken for dead. */
export const beat: Uint8Array = Buffer.alloc(headBytes);

/** One message of an answer: its length, then itself. */
export function encodeMessage(value: unknown): Buffer {
  const body = encodeBody(value);
  const head = Buffer.alloc(headBytes);
  head.writeUInt32BE(body.length);
  return Buffer.concat([head, body]);
}

/** The messages in what arrives piece by piece; beats are passed over. */
export async function* decodeMessages(pieces: AsyncIterable<Uint8Array>, mostBytes: number): AsyncGenerator<unknown> {
  let held: Buffer = Buffer.alloc(0);
  for await (const piece of pieces) {
    held = held.length === 0 ? Buffer.from(piece) : Buffer.concat([held, piece]);
    while (held.length >= headBytes) {
      const length = held.readUInt32BE(0);
      if (length > mostBytes) throw new Error(`A message of ${length} bytes is larger than any that is sent.`);
      if (held.length < headBytes + length) break;
      const body = held.subarray(headBytes, headBytes + length);
      held = held.subarray(headBytes + length);
      if (length > 0) yield decodeBody(body);
    }
  }
}
