import { joined } from '../db/joined.ts';
import type { Database } from '../db/pool.ts';
import { rowsOf, run } from '../db/query.ts';
import { type Sql, sql } from '../db/sql.ts';
import { text, uuid } from '../db/table.ts';
import type { JobRow } from './catalog.ts';
import { type Claim, claimFairly, type RunningShares } from './fair-claim.ts';

/** `isContested`: there may be others, since another process was quicker with some. `isLeft`: some wait for a share. */
type Taken = { claims: Claim[]; isContested: boolean; isLeft: boolean };

/** What a worker does with jobs. What is settled under a claim that was taken over changes nothing. */
export type Claims = ReturnType<typeof createClaims>;

/** Who listens is told the name of the queue in which there is something to take. */
export const jobsChannel = 'vestra_jobs';

export function createClaims({ db, leaseSeconds }: { db: Database; leaseSeconds: number }) {
  return {
    take(name: string, { share, concurrency }: JobRow, count: number, running: RunningShares): Promise<Taken> {
      const { ofOrg, ofUser } = share ?? { ofOrg: concurrency, ofUser: concurrency };
      return claimFairly(db, { name, ofOrg, ofUser, running, count, leaseSeconds });
    },

    /** The ids that are still ours. */
    async beat(claims: Claim[]): Promise<Set<string>> {
      const rows = await rowsOf(
        db,
        { id: uuid() },
        sql`${held(claims)} UPDATE jobs SET due_at = ${secondsFromNow(leaseSeconds)} FROM held WHERE jobs.id = held.id
          RETURNING jobs.id`,
      );
      return new Set(rows.map(({ id }) => id));
    },

    finish: joined((claims: Claim[]) =>
      run(db, sql`${held(claims)} DELETE FROM jobs USING held WHERE jobs.id = held.id`),
    ),

    /** Ends this run of a recurring job; the next one begins after this time. */
    async comeBack(claim: Claim, seconds: number): Promise<void> {
      await endClaim(claim, sql`due_at = ${secondsFromNow(seconds)}`);
    },

    async tryAgain(claim: Claim, seconds: number): Promise<void> {
      await endClaim(claim, sql`due_at = ${secondsFromNow(seconds)}, failures = failures + 1`);
    },

    /** The job stays for a while as evidence. */
    async giveUp(claim: Claim, reason: string): Promise<void> {
      await endClaim(claim, sql`due_at = 'infinity', given_up_at = now(), given_up = ${reason}`);
    },

    /** Others may take these jobs at once. */
    async handBack(claims: Claim[]): Promise<void> {
      await run(
        db,
        sql`${held(claims)}, back AS (
            UPDATE jobs SET due_at = now(), is_held = false FROM held WHERE jobs.id = held.id RETURNING name
          )
          SELECT pg_notify(${jobsChannel}, name) FROM back GROUP BY name`,
      );
    },

    /** Queues with a job that could be taken now: nobody is notified of one that was put off or lost its worker. */
    async due(names: string[]): Promise<string[]> {
      const rows = await rowsOf(
        db,
        { name: text() },
        sql`SELECT name FROM unnest(${names}::text[]) AS queue (name)
          WHERE EXISTS (SELECT FROM jobs WHERE jobs.name = queue.name AND due_at <= now())`,
      );
      return rows.map(({ name }) => name);
    },
  };

  async function endClaim(claim: Claim, changes: Sql): Promise<void> {
    await run(db, sql`${held([claim])} UPDATE jobs SET is_held = false, ${changes} FROM held WHERE jobs.id = held.id`);
  }
}

/** Locked in one order: the heartbeat and the end of several jobs would wait for each other. */
const held = (claims: Claim[]) => sql`
  WITH held AS (
    SELECT jobs.id FROM jobs
    JOIN unnest(${claims.map(({ id }) => id)}::uuid[], ${claims.map(({ attempt }) => attempt)}::int[]) AS ours (id, attempt)
      ON jobs.id = ours.id AND jobs.attempts = ours.attempt AND jobs.is_held
    ORDER BY jobs.id FOR UPDATE OF jobs
  )`;

const secondsFromNow = (seconds: number) => sql`clock_timestamp() + ${seconds} * interval '1 second'`;
