import { EmbeddingsFailure } from '../../agents/index.ts';
import type { Database } from '../../platform/db/pool.ts';
import { type Search, vectorsOf } from './find-facts.ts';
import { factsOfOtherModels, storeVector } from './store.ts';

const factsAtOnce = 32;
/** After so many failures in a row the provider is probably down. The next round tries again. */
const maxFailures = 2;

/**
 * The job `memory.embed`: embeds facts that have no vector of the current model. That are all facts after a change of the
 * setting, and facts that were stored while the embeddings failed. Facts that cannot be embedded do not block others.
 */
export async function embedFacts(
  { db, embeddings, log }: Pick<Search, 'embeddings' | 'log'> & { db: Database },
  signal: AbortSignal,
): Promise<void> {
  let skipped = 0;
  let failures = 0;
  for (;;) {
    signal.throwIfAborted();
    const facts = await factsOfOtherModels(db, embeddings.model, { skip: skipped, limit: factsAtOnce });
    if (facts.length === 0) return;
    try {
      const vectors = await vectorsOf(embeddings, facts, signal);
      for (const [at, { owner, id, text }] of facts.entries()) {
        const vector = vectors[at];
        if (vector) await storeVector(db, owner, { id, text }, vector);
      }
      failures = 0;
    } catch (error) {
      if (!(error instanceof EmbeddingsFailure)) throw error;
      log.warn({ err: error, facts: facts.length }, 'facts could not be embedded again');
      skipped += facts.length;
      failures += 1;
      if (failures === maxFailures) return;
    }
  }
}
