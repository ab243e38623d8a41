import { crc32 } from 'node:zlib';
import { Unreadable, VendorError } from '../fault.ts';
import { recordOf, textOf } from '../wires/json.ts';

const preludeBytes = 12;
/** The limit for one message. No piece of a model's output comes near it. */
const longestMessage = 16 * 1_048_576;

/**
 * Parses the bytes of `application/vnd.amazon.eventstream`, split anywhere, into the JSON of each event. A message is
 * its length, the length of its headers, a checksum of both, the headers, the payload, and a checksum of all.
 */
export function readAwsEventStream({ onEvent }: { onEvent: (event: unknown) => void }): (bytes: Buffer) => void {
  let rest: Buffer = Buffer.alloc(0);
  return (bytes) => {
    rest = rest.length === 0 ? bytes : Buffer.concat([rest, bytes]);
    while (rest.length >= preludeBytes) {
      const length = rest.readUInt32BE(0);
      if (length < preludeBytes + 4 || length > longestMessage) throw new Unreadable();
      if (rest.length < length) return;
      const message = rest.subarray(0, length);
      rest = rest.subarray(length);
      const event = eventOf(message);
      if (event !== null) onEvent(event);
    }
  };
}

/** Null for an unknown kind of message. */
function eventOf(message: Buffer): unknown {
  const headersEnd = preludeBytes + message.readUInt32BE(4);
  const end = message.length - 4;
  const isWhole = crc32(message.subarray(0, 8)) === message.readUInt32BE(8);
  if (!isWhole || headersEnd > end || crc32(message.subarray(0, end)) !== message.readUInt32BE(end)) {
    throw new Unreadable();
  }
  const headers = headersIn(message.subarray(preludeBytes, headersEnd));
  const payload = recordOf(parsed(message.subarray(headersEnd, end).toString('utf8')));
  if (headers.has(':exception-type') || headers.has(':error-code')) throw errorOf(headers, payload);
  if (headers.get(':event-type') !== 'chunk') return null;
  return parsed(Buffer.from(textOf(payload.bytes), 'base64').toString('utf8'));
}

const sizes: Record<number, number> = { 0: 0, 1: 0, 2: 1, 3: 2, 4: 4, 5: 8, 8: 8, 9: 16 };
const textType = 7;

/** Reads the text headers and skips the others. */
function headersIn(bytes: Buffer): Map<string, string> {
  const headers = new Map<string, string>();
  try {
    for (let at = 0; at < bytes.length; ) {
      const nameEnd = at + 1 + bytes.readUInt8(at);
      const name = bytes.toString('utf8', at + 1, nameEnd);
      const type = bytes.readUInt8(nameEnd);
      const size = sizes[type] ?? bytes.readUInt16BE(nameEnd + 1);
      const start = nameEnd + (type in sizes ? 1 : 3);
      if (type === textType) headers.set(name, bytes.toString('utf8', start, start + size));
      at = start + size;
    }
  } catch {
    throw new Unreadable();
  }
  return headers;
}

const statuses: readonly (readonly [RegExp, number])[] = [
  [/throttling|quota/i, 429],
  [/validation/i, 400],
  [/accessdenied|unrecognizedclient|expired/i, 403],
  [/notfound/i, 404],
  [/timeout/i, 504],
];

function errorOf(headers: ReadonlyMap<string, string>, payload: Record<string, unknown>): VendorError {
  const type = headers.get(':exception-type') ?? headers.get(':error-code') ?? '';
  const status = statuses.find(([pattern]) => pattern.test(type))?.[1] ?? 503;
  const labels = /^[A-Za-z]{1,40}$/.test(type) ? [type] : [];
  return new VendorError(status, textOf(payload.message), labels, null);
}

function parsed(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    throw new Unreadable();
  }
}
