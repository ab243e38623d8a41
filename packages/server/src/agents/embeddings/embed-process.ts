/** A separate process: a batch keeps a core busy, and a fault in native code ends its process. */
import { createEncoder, type EncodePieces } from './sentence-encoder/encoder.ts';
import { openNative, openPortable } from './sentence-encoder/runtime.ts';

export type TextBatch = { id: number; texts: readonly string[] };
/** `reason` is a sentence for the log. */
export type EmbeddedBatch = { id: number; vectors: Float32Array[] } | { id: number; reason: string };
/** `slow` is why the encoder runs as WebAssembly, or null if it does not. */
export type EncoderReady = { slow: string | null };

const [runtimeModule = ''] = process.argv.slice(2);
const send = (message: EncoderReady | EmbeddedBatch) => process.send?.(message);
const reasonOf = (error: unknown) => (error instanceof Error ? error.message : 'unknown error');

// The parent process is gone.
process.on('disconnect', () => process.exit());

const encode = createEncoder(await open());

process.on('message', async ({ id, texts }: TextBatch) => {
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
