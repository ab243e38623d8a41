/** Runs in a process of its own: a batch keeps a core busy, and a fault in machine code ends the process that it is in. */
import { createEncoder, type EncodePieces } from './sentence-encoder/encoder.ts';
import { openNative, openPortable } from './sentence-encoder/runtime.ts';

export type Batch = { id: number; texts: readonly string[] };
/** `reason` is a sentence for the log. */
export type Embedded = { id: number; vectors: Float32Array[] } | { id: number; reason: string };
/** `slow` says why the encoder runs in the portable way, null where it does not. */
export type Ready = { slow: string | null };

const [runtimeModule = ''] = process.argv.slice(2);
const send = (message: Ready | Embedded) => process.send?.(message);
const reasonOf = (error: unknown) => (error instanceof Error ? error.message : 'unknown error');

// Who started this is gone.
process.on('disconnect', () => process.exit());

const encode = createEncoder(await open());

process.on('message', async ({ id, texts }: Batch) => {
  try {
    send({ id, vectors: await encode(texts) });
  } catch (error) {
    send({ id, reason: reasonOf(error) });
  }
});

async function open(): Promise<EncodePieces> {
  let slow: string | null = 'its process ended';
  if (runtimeModule !== '') {
    try {
      const native = await openNative(runtimeModule);
      send({ slow: null });
      return native;
    } catch (error) {
      slow = reasonOf(error);
    }
  }
  const portable = await openPortable();
  send({ slow });
  return portable;
}
