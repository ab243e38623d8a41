import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream';
import { constants, createBrotliDecompress, createGunzip } from 'node:zlib';
import { failureOf, OutboundFailure } from './outbound-failure.ts';

export type AnswerBody = {
  /** The next bytes, or null at the end. */
  read: () => Promise<Uint8Array | null>;
  /** Ends the connection without reading the rest. */
  cancel: () => void;
};

type Reading = {
  host: string;
  status: number;
  method: string;
  /** Loses the headers that describe the compressed form. */
  headers: Headers;
  maxBytes: number;
  signal: AbortSignal;
};

/** Decompresses as it reads and stops at `maxBytes` of the plain form: a small answer may unfold into gigabytes. */
export function openAnswerBody(received: Readable, reading: Reading): AnswerBody {
  const { host, status, maxBytes, signal } = reading;
  const decoder = decoderFor(received, reading);
  // Failures are told to whoever reads; one that comes when nobody does must not end the process.
  const ignore = () => {};
  received.on('error', ignore);
  const plain: Readable = decoder ? pipeline(received, decoder, ignore) : received;
  const chunks = plain[Symbol.asyncIterator]();
  let bytes = 0;

  function cancel(): void {
    plain.destroy();
    received.destroy();
  }

  async function read(): Promise<Uint8Array | null> {
    const next = await chunks.next().catch((error: unknown) => {
      // An empty body announced as compressed holds not even the compressed form's frame.
      if (decoder?.bytesWritten === 0 && received.readableEnded) return { done: true } as const;
      throw reasonOf(error);
    });
    if (next.done) return null;
    const chunk = next.value as Uint8Array;
    bytes += chunk.byteLength;
    if (bytes <= maxBytes) return chunk;
    cancel();
    throw new OutboundFailure('too_large', `The answer of ${host} is larger than ${maxBytes} bytes.`, status);
  }

  function reasonOf(error: unknown): unknown {
    if (!signal.aborted) return failureOf(error, { host, status });
    const { reason } = signal;
    return reason instanceof OutboundFailure ? new OutboundFailure(reason.reason, reason.message, status) : reason;
  }

  return { read, cancel };
}

/** One encoding at most, of those asked for: layers of compression multiply what a few bytes unfold into. */
function decoderFor(received: Readable, { host, status, method, headers }: Reading) {
  const encoding = headers.get('content-encoding')?.trim().toLowerCase() ?? 'identity';
  const hasBody = method !== 'HEAD' && status !== 204 && status !== 304 && headers.get('content-length') !== '0';
  if (encoding === 'identity' || !hasBody) return null;
  const decoder = decoderOf(encoding);
  if (!decoder) {
    received.on('error', () => {}).destroy();
    throw new OutboundFailure('network', `${host} answered in an encoding that was not asked for.`, status);
  }
  headers.delete('content-encoding');
  headers.delete('content-length');
  return decoder;
}

/** Flushing at once lets the parts of a compressed event stream through as they come. */
function decoderOf(encoding: string) {
  if (encoding === 'gzip' || encoding === 'x-gzip') return createGunzip({ flush: constants.Z_SYNC_FLUSH });
  if (encoding === 'br') return createBrotliDecompress({ flush: constants.BROTLI_OPERATION_FLUSH });
  return null;
}
