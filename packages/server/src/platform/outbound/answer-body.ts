import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream';
import { createBrotliDecompress, createGunzip } from 'node:zlib';
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
  const plain: Readable = decoder ? pipeline(received, bounded, decoder, ignore) : received;
  const chunks = plain[Symbol.asyncIterator]();
  let bytes = 0;

  const cancel = () => void plain.destroy();

  async function read(): Promise<Uint8Array | null> {
    const next = await chunks.next().catch((error: unknown) => {
      // An empty body announced as compressed, such as that of a HEAD, holds not even the compressed form's frame.
      if (decoder?.bytesWritten === 0 && received.readableEnded) return { done: true } as const;
      throw reasonOf(error);
    });
    if (next.done) return null;
    const chunk = next.value as Uint8Array;
    bytes += chunk.byteLength;
    if (bytes <= maxBytes) return chunk;
    cancel();
    throw tooLarge();
  }

  /** The compressed form is bounded too: it may be endless and yet unfold into nothing. */
  async function* bounded(compressed: AsyncIterable<Uint8Array>) {
    let compressedBytes = 0;
    for await (const chunk of compressed) {
      compressedBytes += chunk.byteLength;
      if (compressedBytes > maxBytes) throw tooLarge();
      yield chunk;
    }
  }

  const tooLarge = () =>
    new OutboundFailure('too_large', `The answer of ${host} is larger than ${maxBytes} bytes.`, status);

  function reasonOf(error: unknown): unknown {
    if (!signal.aborted) return failureOf(error, { host, status });
    const { reason } = signal;
    return reason instanceof OutboundFailure ? new OutboundFailure(reason.reason, reason.message, status) : reason;
  }

  return { read, cancel };
}

/** One encoding at most, of those asked for: layers of compression multiply what a few bytes unfold into. */
function decoderFor(received: Readable, { host, status, headers }: Reading) {
  const encoding = headers.get('content-encoding')?.trim().toLowerCase() ?? 'identity';
  if (encoding === 'identity') return null;
  const decoder = decoderOf(encoding);
  if (!decoder) {
    received.on('error', () => {}).destroy();
    throw new OutboundFailure('network', `${host} answered in an encoding that was not asked for.`, status);
  }
  headers.delete('content-encoding');
  headers.delete('content-length');
  return decoder;
}

function decoderOf(encoding: string) {
  if (encoding === 'gzip' || encoding === 'x-gzip') return createGunzip();
  if (encoding === 'br') return createBrotliDecompress();
  return null;
}
