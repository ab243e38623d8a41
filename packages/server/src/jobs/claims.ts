import { sql } from 'drizzle-orm';
import { fromDrizzle, type JobInsert, type PgBoss } from 'pg-boss';
import { z } from 'zod';
import { joined } from '../db/joined.ts';
import type { Database } from '../db/pool.ts';
import { transaction } from '../db/transaction.ts';
import type { JobRow } from './catalog.ts';
import { claimFairly, type RunningShares } from './fair-claim.ts';

/** A job that this process runs. `retryCount` goes up with every claim: what is settled under an old one is left alone. */
export type Claim = { id: string; retryCount: number; payload: unknown; failures: number; share: string | null };

/** `isContested`: another process was quicker with some, so that there may be others. `isLeft`: some wait for a share or a key. */
type Taken = { claims: Claim[]; isContested: boolean; isLeft: boolean };

/**
 * What is stored as a job's data. Failures are counted here because pg-boss has one count for every further start: with
 * it, workers that die would use up the retries of a job that never failed.
 */
export type Envelope = { payload: unknown; failures: number };

/** What a worker does with jobs. */
export type Claims = ReturnType<typeof createClaims>;

// pg-boss declares its answers as empty; a release that changes them is to fail here and not to settle nothing silently.
const answer = z.object({ settled: z.array(z.string()) });
const claimOf = (id: string, retryCount: number, data: unknown, share: string | null): Claim => {
  const stored = envelope.safeParse(data);
  return { id, retryCount, share, ...(stored.success ? stored.data : { payload: undefined, failures: 0 }) };
};
const envelope = z.object({ payload: z.unknown(), failures: z.number() });

export function createClaims(dependencies: {
  db: Database;
  boss: PgBoss;
  schema: string;
  insertion: (name: string, payload: unknown, startAfter?: Date | number) => JobInsert;
}) {
  const { db, boss, schema, insertion } = dependencies;
  const finishers = new Map<string, (claim: Claim) => Promise<void>>();

  return {
    async take(name: string, row: JobRow, count: number, running: RunningShares): Promise<Taken> {
      if (row.share) {
        const query = (text: string, values: unknown[]) => boss.getDb().executeSql(text, values);
        const { claimed, ...rest } = await claimFairly(query, { schema, name, share: row.share, running, count });
        const claims = claimed.map(({ id, retry_count, group_id, data }) => claimOf(id, retry_count, data, group_id));
        return { claims, ...rest };
      }
      const jobs = await boss.fetch<unknown>(name, { batchSize: count });
      // Of a key the first claim may leave some behind that the next one finds.
      const isLeft = row.policy === 'key_strict_fifo';
      const claims = jobs.map(({ id, retryCount, data }) => claimOf(id, retryCount, data, null));
      return { claims, isContested: isLeft && claims.length > 0, isLeft };
    },

    /** The ids that are still ours. */
    async beat(name: string, claims: Claim[]): Promise<Set<string>> {
      return new Set(answer.parse(await boss.touch(name, claims)).settled);
    },

    finish(name: string, claim: Claim): Promise<void> {
      let finisher = finishers.get(name);
      if (!finisher) {
        finisher = joined((claims) => boss.deleteJob(name, claims));
        finishers.set(name, finisher);
      }
      return finisher(claim);
    },

    /** Ends this run of a recurring job and makes the next one. */
    async comeBack(name: string, claim: Claim, seconds: number): Promise<void> {
      await transaction(db, async (tx) => {
        const options = { db: fromDrizzle(tx, sql) };
        await boss.deleteJob(name, claim, options);
        // Where the claim was lost, its successor has made the next one: the queue takes a single job and drops this.
        await boss.insert(name, [insertion(name, {}, seconds)], options);
      });
    },

    async tryAgain(name: string, claim: Claim, seconds: number): Promise<void> {
      const data: Envelope = { payload: claim.payload, failures: claim.failures + 1 };
      await transaction(db, async (tx) => {
        const options = { db: fromDrizzle(tx, sql) };
        const { settled } = answer.parse(await boss.fail(name, claim, null, options));
        if (settled.length > 0) await boss.update(name, data, { id: claim.id, startAfter: seconds, ...options });
      });
    },

    /**
     * The job stays, cancelled, for a while as evidence. Not as failed: a failed job holds its key of a
     * `key_strict_fifo` queue, and everything behind it, until it is deleted.
     */
    async giveUp(name: string, claim: Claim, reason: string): Promise<void> {
      await transaction(db, async (tx) => {
        const options = { db: fromDrizzle(tx, sql) };
        const { settled } = answer.parse(await boss.fail(name, claim, { given_up: reason }, options));
        if (settled.length > 0) await boss.cancel(name, claim.id, options);
      });
    },

    /** Others may take these jobs at once. */
    async handBack(name: string, claims: Claim[]): Promise<void> {
      await transaction(db, async (tx) => {
        const options = { db: fromDrizzle(tx, sql) };
        const { settled } = answer.parse(await boss.fail(name, claims, null, options));
        // A job that fails notifies nobody; an updated one does, and one notification wakes the whole queue.
        if (settled[0]) await boss.update(name, undefined, { id: settled[0], startAfter: 0, ...options });
      });
    },

    /** Queues with a job that could be taken now: nobody is notified of one that was put off or lost its worker. */
    async due(names: string[]): Promise<string[]> {
      const { rows } = await boss.getDb().executeSql(
        `SELECT name FROM unnest($1::text[]) AS queue(name)
         WHERE EXISTS (
           SELECT FROM ${schema}.job
           WHERE job.name = queue.name AND state < 'active' AND NOT blocked AND start_after <= now()
         )`,
        [names],
      );
      return z
        .array(z.object({ name: z.string() }))
        .parse(rows)
        .map((row) => row.name);
    },
  };
}
