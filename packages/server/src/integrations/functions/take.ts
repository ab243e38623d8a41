import { randomBytes } from 'node:crypto';
import { releaseCall, type TakenCall, takeCalls } from '../../engine/interactions/index.ts';
import type { Watchers } from '../../platform/async/watchers.ts';
import type { Tenant } from '../../platform/caller.ts';
import type { Database } from '../../platform/db/pool.ts';

type Wanted = { deploymentId: string; names: readonly string[]; limit: number; leaseSeconds: number };

/** A call whose holder died is nobody's news: so often whoever waits looks by themselves. */
const lookEveryMs = 5_000;

export const newClaimId = (): string => randomBytes(15).toString('base64url');

/** Takes what is there, or the first that comes while there is time; the watch begins before the look, so none is missed. */
export async function takeOrWait(
  { db, watchers }: { db: Database; watchers: Watchers },
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

/** Whoever asked has gone: they would keep for a whole lease what they do not know of. */
async function giveBack(db: Database, tenant: Tenant, taken: readonly TakenCall[], claimId: string): Promise<[]> {
  for (const { id } of taken) await releaseCall(db, tenant, { callId: id, claimId, pauseSeconds: 0 });
  return [];
}
