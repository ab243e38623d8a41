import type { Transform } from 'node:stream';
import { createBrotliDecompress, createGunzip, createInflate, constants as zlib } from 'node:zlib';
import type { Exchange } from './exchange.ts';
import { Unreadable } from './fault.ts';

export type Body = Pick<Exchange, 'read'>;

/** A small response may expand a thousandfold, so it is expanded in slices of this many bytes. */
const mostAtOnce = 16_384;

const decoders: Readonly<Record<string, () => Transform>> = {
  gzip: () => createGunzip({ flush: zlib.Z_SYNC_FLUSH }),
  'x-gzip': () => createGunzip({ flush: zlib.Z_SYNC_FLUSH }),
  deflate: () => createInflate({ flush: zlib.Z_SYNC_FLUSH }),
  br: () => createBrotliDecompress({ flush: zlib.BROTLI_OPERATION_FLUSH }),
};

/** Expands a response that a proxy has compressed unasked. Others are returned as they are. */
export function decodedBody(body: Body, encoding: string | string[] | undefined): Body {
  if (encoding === undefined) return body;
  const name = String(encoding).toLowerCase();
  if (name === 'identity' || name === '') return body;
  const decoder = Object.hasOwn(decoders, name) ? decoders[name]?.() : undefined;
  // Read as it is, an unknown compression contains no event and is reported as such.
  return decoder ? expanded(body, decoder) : body;
}

function expanded(body: Body, decoder: Transform): Body {
  let pieces: Buffer[] = [];
  let waiting: Buffer = Buffer.alloc(0);
  let isEnded = false;
  let isDamaged = false;
  let settle = () => {};
  decoder.on('data', (piece: Buffer) => pieces.push(piece));
  // Damaged data ends the decoder without a word to the pending write.
  decoder.on('error', () => {
    isDamaged = true;
    settle();
  });

  const feed = async (bytes: Buffer | null) => {
    if (!isDamaged) {
      await new Promise<void>((resolve) => {
        settle = resolve;
        if (bytes) decoder.write(bytes, () => resolve());
        else decoder.once('close', resolve).end();
      });
    }
    if (isDamaged) throw new Unreadable();
  };

  return {
    async read() {
      while (pieces.length === 0 && !isEnded) {
        const bytes = waiting.length > 0 ? waiting : await body.read();
        isEnded = bytes === null;
        waiting = bytes?.subarray(mostAtOnce) ?? waiting;
        await feed(bytes?.subarray(0, mostAtOnce) ?? null);
      }
      if (pieces.length === 0) return null;
      const bytes = Buffer.concat(pieces);
      pieces = [];
      return bytes;
    },
  };
}
