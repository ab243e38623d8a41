import { randomBytes } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { findOrg, recordAudit } from '../../account/index.ts';
import { orgExists } from '../../account/orgs/store.ts';
import { operatorOrigin } from '../../platform/caller.ts';
import type { Database, Executor } from '../../platform/db/pool.ts';
import { one, run } from '../../platform/db/query.ts';
import { type Sql, sql } from '../../platform/db/sql.ts';
import { StartFailure } from '../../platform/db/start-failure.ts';
import { integer } from '../../platform/db/table.ts';
import { transaction } from '../../platform/db/transaction.ts';
import type { Operator } from '../operator.ts';
import type { Progress } from '../progress.ts';
import { newHandOverKeys } from './keys.ts';
import { lockMove, putMove, setStatus } from './moves.ts';

/** The seal of a signing key is bound to its org and export. */
export const keyScope = (orgId: string, moveId: string) => ['org-move', orgId, moveId];

/**
 * Freezes the org: callers are refused, and no background work of it starts. A repeated export begins another move, so
 * that an earlier archive can no longer be activated.
 */
export async function freeze({ db, vault }: Operator, orgId: string): Promise<{ moveId: string; verifyKey: Buffer }> {
  const moveId = `move_${randomBytes(12).toString('hex')}`;
  const { signingKey, verifyKey } = newHandOverKeys();
  await transaction(db, async (tx) => {
    if (!(await orgExists(tx, orgId))) throw new StartFailure(`There is no org ${orgId} in this database.`);
    const move = await lockMove(tx, orgId);
    const { status, wrapped_data_key: wrapped } = await findOrg(tx, orgId);
    if (move?.state === 'left') throw new StartFailure(`${orgId} was handed over to another installation already.`);
    if (move?.state === 'arriving') throw new StartFailure(`${orgId} was imported here and is not active yet.`);
    if (status !== 'active' && move?.state !== 'leaving') {
      throw new StartFailure(`${orgId} is switched off (${status}): it cannot be moved.`);
    }
    const sealed = vault.seal({ orgId, wrapped }, signingKey, keyScope(orgId, moveId));
    const kept = { verify_key: null, receipt: null, snapshot: null };
    await putMove(tx, { org_id: orgId, move_id: moveId, state: 'leaving', sealed_signing_key: sealed, ...kept });
    await setStatus(tx, orgId, 'moving');
    await recordAudit(tx, operatorOrigin({ orgId, mode: 'live' }), {
      action: 'org.frozen',
      target: { type: 'org', id: orgId },
      details: { move_id: moveId },
    });
  });
  return { moveId, verifyKey };
}

/** Callers are cached for a second, and a request that was let in before may still write. */
const letInMs = 2_000;
/** A process notices within this time that a run, job or computer is no longer its own. */
const noticeMs = 60_000;
const askAgainMs = 200;

/**
 * Waits until nothing of the org is under way. Runs and jobs that have not ended after `waitMs` are parked at their last
 * recorded step, as if their process had died. The new installation continues them from there.
 */
export async function drain(db: Database, orgId: string, waitMs: number, progress: Progress): Promise<void> {
  await pause(letInMs);
  const parkAt = Date.now() + waitMs;
  while (await show(progress, 'runs and jobs to end', countOpen(db, orgId))) {
    if (Date.now() > parkAt) {
      await park(db, orgId);
      break;
    }
    await pause(askAgainMs);
  }
  const failAt = Date.now() + noticeMs;
  while (await show(progress, 'computers and deliveries to end', countHeld(db, orgId))) {
    if (Date.now() > failAt) {
      throw new StartFailure(`A computer or a webhook delivery of ${orgId} is still in use.`);
    }
    await pause(askAgainMs);
    // A reply that ended may have started the next one.
    await park(db, orgId);
  }
}

async function show(progress: Progress, what: string, counting: Promise<number>): Promise<boolean> {
  const count = await counting;
  if (count > 0) progress.show(`Waiting for ${count} ${what}`);
  return count > 0;
}

const runsOf = (orgId: string): Sql => sql`
  (SELECT r.id FROM runs r JOIN turns t ON t.id = r.id WHERE t.org_id = ${orgId}
   UNION ALL SELECT r.id FROM runs r JOIN tasks k ON k.org_id = ${orgId} AND k.id = r.id)`;

const heldJobsOf = (orgId: string): Sql => sql`share LIKE ${`${orgId} %`} AND is_held AND due_at > now()`;

const countOpen = (db: Executor, orgId: string): Promise<number> =>
  countOf(
    db,
    sql`SELECT (SELECT count(*) FROM ${runsOf(orgId)} AS open)
    + (SELECT count(*) FROM jobs WHERE ${heldJobsOf(orgId)})`,
  );

/** A delivery in flight has a lease instead of its own time. Sent again, it would arrive twice. */
const countHeld = (db: Executor, orgId: string): Promise<number> =>
  countOf(
    db,
    sql`SELECT
    (SELECT count(*) FROM computers WHERE org_id = ${orgId} AND held_by IS NOT NULL AND held_until > clock_timestamp())
    + (SELECT count(*) FROM webhook_deliveries WHERE org_id = ${orgId} AND status = 'pending' AND due_at > now()
        AND due_at IS DISTINCT FROM next_attempt_at)`,
  );

const countOf = async (db: Executor, query: Sql): Promise<number> =>
  (await one(db, { count: integer() }, sql`SELECT (${query})::int AS count`)).count;

/** The owner of a run without a row, or of a job with another number of attempts, writes nothing more. */
async function park(db: Database, orgId: string): Promise<void> {
  await transaction(db, async (tx) => {
    await run(tx, sql`DELETE FROM runs WHERE id IN ${runsOf(orgId)}`);
    await run(
      tx,
      sql`UPDATE jobs SET is_held = false, attempts = attempts + 1, due_at = now() WHERE ${heldJobsOf(orgId)}`,
    );
  });
}
