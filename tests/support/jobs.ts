import { expect } from 'vitest';
import { query } from './database.ts';

/** Runs a recurring job now instead of at the end of its interval. A run that is in progress is left alone. */
export const runJobNow = (connectionString: string, name: string): Promise<unknown> =>
  query(
    connectionString,
    `WITH due AS (
       UPDATE jobs SET due_at = now() WHERE name = $1 AND NOT is_held AND due_at > now() RETURNING name
     )
     SELECT pg_notify('vestra_jobs', name) FROM due`,
    [name],
  );

/** Polls for the result of a recurring job and runs the job before each look. */
export const pollWithJob = <Seen>(connectionString: string, name: string, look: () => Seen | Promise<Seen>) =>
  expect.poll(
    async () => {
      await runJobNow(connectionString, name);
      return look();
    },
    { timeout: 30_000, interval: 100 },
  );
