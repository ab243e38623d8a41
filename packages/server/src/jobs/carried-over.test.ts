import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { shareId } from './fair-claim.ts';
import { type Installation, openInstallation } from './testing/installation.ts';
import { testCatalog } from './testing/test-catalog.ts';

let installation: Installation;
beforeAll(async () => {
  installation = await openInstallation();
});
afterAll(() => installation.close());

/** The columns that the queues of version 0.1 had and that matter. */
const before = `
  DROP TABLE public.jobs;
  CREATE SCHEMA jobs;
  CREATE TYPE jobs.job_state AS ENUM ('created', 'retry', 'active', 'completed', 'cancelled', 'failed');
  CREATE TABLE jobs.job (
    id uuid NOT NULL DEFAULT gen_random_uuid(), name text NOT NULL, data jsonb, state jobs.job_state NOT NULL,
    start_after timestamptz NOT NULL DEFAULT now(), created_on timestamptz NOT NULL DEFAULT now(), singleton_key text,
    group_id text, retry_count integer NOT NULL DEFAULT 0
  );
  INSERT INTO jobs.job (name, state, data, singleton_key, group_id, start_after) VALUES
    ('note', 'created', '{"payload":{"text":"waits"},"failures":0}', 'waits', NULL, now()),
    ('note', 'retry', '{"payload":{"text":"put off"},"failures":2}', 'put off', NULL, now() + interval '1 hour'),
    ('note', 'active', '{"payload":{"text":"runs"},"failures":1}', 'runs', NULL, now() - interval '1 hour'),
    ('note', 'cancelled', '{"payload":{"text":"given up"},"failures":3}', 'given up', NULL, now()),
    ('shared', 'created', '{"payload":{"team":"org_1","member":"ann b","item":1},"failures":0}', NULL, 'org_1 live ann b', now()),
    ('housekeeping', 'created', '{"payload":{},"failures":0}', NULL, NULL, now()),
    ('note', 'created', NULL, 'from elsewhere', NULL, now());`;

it('what waited or ran in the queues of an older version goes on', async () => {
  const { db } = installation;
  await db.$client.query(before);
  // By itself: a database that has later migrations takes none before them.
  await db.$client.query(await readFile(join(import.meta.dirname, '../db/migrations/0063-jobs.sql'), 'utf8'));
  const { rows } = await db.$client.query(
    `SELECT name, key, share, payload, failures, attempts, is_held, due_at > now() AS is_put_off FROM jobs ORDER BY key`,
  );
  const note = { name: 'note', share: '', attempts: 0, is_held: false };
  expect(rows).toEqual([
    { ...note, key: 'put off', payload: { text: 'put off' }, failures: 2, is_put_off: true },
    { ...note, key: 'runs', payload: { text: 'runs' }, failures: 1, is_put_off: false },
    { ...note, key: 'waits', payload: { text: 'waits' }, failures: 0, is_put_off: false },
    {
      ...note,
      name: 'shared',
      key: null,
      share: shareId({ orgId: 'org_1', mode: 'live', userId: 'ann b' }),
      payload: { team: 'org_1', member: 'ann b', item: 1 },
      failures: 0,
      is_put_off: false,
    },
  ]);
  const { rows: schemas } = await db.$client.query(`SELECT FROM pg_namespace WHERE nspname = 'jobs'`);
  expect(schemas).toEqual([]);

  const ran: string[] = [];
  const handler = async (payload: object) => void ran.push(Object.values(payload).join(' '));
  installation.worker(await installation.jobs(testCatalog), { note: handler, shared: handler, fenced: handler });
  await expect.poll(() => ran.toSorted()).toEqual(['org_1 ann b 1', 'runs', 'waits']);
});
