import { randomBytes } from 'node:crypto';
import { Failure, fail } from '@vestra/contract/errors';
import { changeConversation, type Engine } from '../../engine/index.ts';
import {
  findInteraction,
  type InteractionRow,
  publishCallProgress,
  releaseCall,
  renewCall,
  type TakenCall,
  takeCalls,
} from '../../engine/interactions/index.ts';
import type { Waiters } from '../../platform/async/waiters.ts';
import type { Tenant } from '../../platform/caller.ts';
import { sharedNow } from '../../platform/db/clock.ts';
import type { Database, Executor } from '../../platform/db/pool.ts';
import { storableText } from '../../platform/db/sql.ts';

type Wanted = { deploymentId: string; names: readonly string[]; limit: number; leaseSeconds: number };

/** No notification is sent if the holder of a call dies, so waiting callers look this often. */
const lookEveryMs = 5_000;

export const newClaimId = (): string => randomBytes(15).toString('base64url');

/** Takes available calls, or the first that arrives in time. It watches before it looks, so that it misses none. */
export async function takeOrWait(
  { db, watchers }: { db: Database; watchers: Waiters },
  tenant: Tenant,
  { deploymentId, ...wanted }: Wanted,
  { withinMs, signal }: { withinMs: number; signal: AbortSignal },
): Promise<TakenCall[]> {
  const claimId = newClaimId();
  const watch = watchers.watch(deploymentId);
  signal.addEventListener('abort', watch.close, { once: true });
  const deadline = performance.now() + withinMs;
  try {
    for (;;) {
      if (signal.aborted) return [];
      const taken = await takeCalls(db, tenant, deploymentId, { ...wanted, claimId });
      if (taken.length > 0 && signal.aborted) return await giveBack(db, tenant, taken, claimId);
      const leftMs = deadline - performance.now();
      if (taken.length > 0 || leftMs <= 0) return taken;
      await watch.changed(Math.min(leftMs, lookEveryMs));
    }
  } finally {
    watch.close();
  }
}

/** The client is gone and would hold these calls for a whole lease without knowing. */
async function giveBack(db: Database, tenant: Tenant, taken: readonly TakenCall[], claimId: string): Promise<[]> {
  for (const { id } of taken) await releaseCall(db, tenant, { callId: id, claimId, pauseSeconds: 0 });
  return [];
}

type Claim = { callId: string; claimId: string };

/** Renews the lease of a claimed call. Progress is published in the conversation and stored for later readers. */
export async function holdCall(
  engine: Engine,
  tenant: Tenant,
  claim: Claim & { leaseSeconds: number; progress?: string | undefined },
): Promise<InteractionRow> {
  if (claim.progress === undefined) {
    return (await renewCall(engine.db, tenant, claim)) ?? refuse(engine.db, tenant, claim.callId);
  }
  const progress = storableText(claim.progress);
  const found = await findInteraction(engine.db, tenant, claim.callId);
  if (!found) throw fail('interaction_not_found');
  return changeConversation(engine, found.conversation_id, null, async (change) => {
    const row = await renewCall(change.tx, tenant, { ...claim, progress });
    if (!row) return refuse(change.tx, tenant, claim.callId);
    if (row.progress !== found.progress) publishCallProgress(change, row, progress);
    return row;
  }).catch((error: unknown) => {
    throw error instanceof Failure && error.code === 'conversation_not_found' ? fail('interaction_not_found') : error;
  });
}

/** Releases the call, so that others can take it at once. */
export async function giveUpCall({ db, announcer }: Engine, tenant: Tenant, claim: Claim): Promise<void> {
  if (!(await releaseCall(db, tenant, { ...claim, pauseSeconds: 0 }))) await refuse(db, tenant, claim.callId);
  const row = await findInteraction(db, tenant, claim.callId);
  if (row?.deployment_id) announcer.notify('tool_call', row.deployment_id);
}

/** Throws the reason why the claim does not hold the call. */
async function refuse(db: Executor, tenant: Tenant, callId: string): Promise<never> {
  const row = await findInteraction(db, tenant, callId);
  if (!row || row.is_hidden) throw fail('interaction_not_found');
  if (row.status === 'expired' || (row.expires_at !== null && row.expires_at.getTime() <= sharedNow())) {
    throw fail('interaction_expired');
  }
  throw fail(row.status === 'pending' ? 'tool_call_taken' : 'already_answered');
}
