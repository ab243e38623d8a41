import type { IncomingHttpHeaders } from 'node:http';
import { AttemptFailed, ConnectionLost, vendorErrorOf } from './fault.ts';
import type { Vendor } from './vendor.ts';
import { listOf, recordOf } from './wires/json.ts';

/** No stream begins with it, but every page of a proxy does. */
export const isPage = (opening: readonly Buffer[]): boolean =>
  /^\s*</.test(opening[0]?.subarray(0, 64).toString('utf8') ?? '');

/**
 * Explains a successful response without an event. A whole answer in JSON is returned as events. An error is thrown as
 * the vendor's error. `problem`: the reason why the body could not be parsed as a stream.
 */
export function eventsWithoutStream(
  body: Buffer,
  headers: IncomingHttpHeaders,
  vendor: Vendor,
  problem: { error: unknown } | null,
): readonly unknown[] {
  if (body.length === 0) throw new ConnectionLost();
  const values = valuesIn(body);
  const error = values.map((value) => recordOf(value).error).find(Boolean);
  if (error) throw vendorErrorOf(error);
  if (values.length > 0) return values;
  const type = typeOf(headers);
  const isPlausible = type === null || /event-?stream$/.test(type);
  if (isPlausible && !isPage([body]) && !isCompressed(body)) throw problem?.error ?? new ConnectionLost();
  throw noStream(isCompressed(body) ? 'compressed data' : (type ?? 'a page'), vendor);
}

/** Not retried: a proxy or a wrong address gives the same response again. */
export const noStream = (answered: string, { title, addressSetting }: Vendor) =>
  new AttemptFailed({
    reason: 'unavailable',
    message: `${title} answered with ${answered} instead of a stream: check ${addressSetting}.`,
    isPassing: false,
    retryAfterMs: null,
    status: null,
  });

export const typeOf = (headers: IncomingHttpHeaders): string | null =>
  /^[a-z]{1,20}\/[a-z0-9.+-]{1,60}/.exec(String(headers['content-type'] ?? '').toLowerCase())?.[0] ?? null;

const isCompressed = (body: Buffer) => body[0] === 0x1f && body[1] === 0x8b;

function valuesIn(body: Buffer): readonly unknown[] {
  try {
    const value: unknown = JSON.parse(body.toString('utf8'));
    return Array.isArray(value) ? listOf(value) : [value];
  } catch {
    return [];
  }
}
