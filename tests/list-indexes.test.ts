import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { listRoutines } from '../packages/server/src/automation/routines/store.ts';
import { activeConversations } from '../packages/server/src/engine/activity/index.ts';
import { listFiles } from '../packages/server/src/engine/files/store.ts';
import {
  listConversations,
  openConversationsOfDeployment,
} from '../packages/server/src/engine/records/conversations.ts';
import { closedOwnersWithWork } from '../packages/server/src/engine/records/turns.ts';
import { closeDatabase, type Database, openDatabase } from '../packages/server/src/platform/db/pool.ts';
import { pipelined, rowsOf, run, runStatement } from '../packages/server/src/platform/db/query.ts';
import { sql } from '../packages/server/src/platform/db/sql.ts';
import { count, text } from '../packages/server/src/platform/db/table.ts';
import { transaction } from '../packages/server/src/platform/db/transaction.ts';
import { listFacts } from '../packages/server/src/users/memory/store.ts';
import { createTestDatabase, type TestDatabase } from './support/test-database.ts';

let database: TestDatabase;
let db: Database;
beforeAll(async () => {
  database = await createTestDatabase();
  db = await openDatabase({ connectionString: database.connectionString, max: 1 });
  await fill();
});
afterAll(async () => {
  await closeDatabase(db);
  await database.drop();
});

const tenant = { orgId: 'org_1', mode: 'live' } as const;
const first = { limit: 20, after: null };
const last = { limit: 20, after: ['id_004000'] };
const lastConversations = { limit: 20, after: ['conv_01id_004000'] };
const inDeployment = { deploymentId: 'dep_7' };
const uploads = { source: 'upload' } as const;

/** By another index the planner walks through the rows of every other org to find the page of one. */
describe('a page of a list is found by an index that begins with the org and its mode', () => {
  it.each<[list: string, page: () => Promise<unknown[]>]>([
    ['files', () => listFiles(db, tenant, uploads, first)],
    ['files, further on', () => listFiles(db, tenant, uploads, last)],
    ['files of a user', () => listFiles(db, tenant, { ...uploads, userId: 'user_7' }, first)],
    ['files of a task', () => listFiles(db, tenant, { source: 'output', taskId: 'task_7' }, first)],
    ['files of a conversation', () => listFiles(db, tenant, { ...uploads, conversationId: 'conv_7' }, first)],
    ['routines of a user', () => listRoutines(db, tenant, 'user_7', first)],
    ['routines of the org’s own agent', () => listRoutines(db, tenant, null, first)],
    ['facts about a user', () => listFacts(db, { ...tenant, userId: 'user_7' }, first)],
    [
      'facts about a user, further on',
      () => listFacts(db, { ...tenant, userId: 'user_7' }, { limit: 20, after: [new Date().toISOString(), 'id_0001'] }),
    ],
    ['facts of the org’s own agent', () => listFacts(db, { ...tenant, userId: null }, first)],
    ['conversations', () => listConversations(db, tenant, {}, first)],
    ['conversations of a deployment', () => listConversations(db, tenant, inDeployment, first)],
    ['conversations of a deployment, further on', () => listConversations(db, tenant, inDeployment, lastConversations)],
    [
      'idle conversations of a deployment',
      () => listConversations(db, tenant, { ...inDeployment, status: 'idle' }, first),
    ],
    ['conversations that failed', () => listConversations(db, tenant, { failed: true }, first)],
    ['conversations with one error', () => listConversations(db, tenant, { errorCode: 'model_error' }, first)],
    ['conversations that did not fail', () => listConversations(db, tenant, { failed: false }, first)],
  ])('%s', async (_, page) => {
    const before = await scans();
    expect((await page()).length).toBeGreaterThan(0);
    const after = await scans();
    const used = [...after].filter(([index, times]) => times > (before.get(index) ?? 0)).map(([index]) => index);
    expect(used).toEqual([expect.stringMatching(/\(org_id, mode\b/)]);
  });
});

it('conversations that failed since a time are found by their failed turns', async () => {
  const used = await scansDuring(async () => {
    expect((await listConversations(db, tenant, { failedAfter: new Date(0) }, first)).length).toBeGreaterThan(0);
  });
  expect(used).not.toContain('turns');
  expect(used).toContainEqual(expect.stringContaining('turns_failed'));
});

it('a search for words reads the words of one org and mode', async () => {
  const before = await scans();
  expect(await listConversations(db, { orgId: 'org_many', mode: 'live' }, { q: 'number w700' }, first)).toHaveLength(1);
  const after = await scans();
  const used = [...after].filter(([index, times]) => times > (before.get(index) ?? 0)).map(([index]) => index);
  expect(used).toContainEqual(expect.stringContaining('conversation_previews_by_words'));
  for (const index of used) expect(index).toMatch(/ INDEX /);
});

it('insights read the newest conversations of one deployment [INS-700]', async () => {
  const period = { since: new Date(0), middle: new Date(0), until: new Date() };
  const used = await scansDuring(async () => {
    await activeConversations(db, tenant, 'dep_7', { ...period, limit: 5000 });
  });
  expect(used).not.toContain('conversations');
  expect(used).not.toContain('turns');
  expect(used).toContainEqual(expect.stringContaining('conversations_by_deployment'));
});

/** A deployment may have a million conversations, and as many interactions may wait for people. */
describe('work to stop is found', () => {
  it('of a deleted deployment without reading its idle conversations [GROW-703]', async () => {
    const used = await scansDuring(async () => {
      expect(await openConversationsOfDeployment(db, 'org_many', 'dep_many')).toEqual(['conv_012000']);
    });
    expect(used).not.toContain('conversations');
    expect(used.filter((index) => / ON public\.conversations /.test(index))).toEqual([
      expect.stringContaining('conversations_pkey'),
    ]);
  });

  it('of closed owners without reading what has waited for long [GROW-703]', async () => {
    const used = await scansDuring(async () => {
      const found = await transaction(db, (tx) => closedOwnersWithWork(tx, 10, new Date(Date.now() - 900_000)));
      expect(found).toMatchObject([{ deployment_id: 'dep_1', is_disabled: false }]);
    });
    expect(used).not.toContain('interactions');
    expect(used).toContainEqual(expect.stringContaining('interactions_pending_by_age'));
  });
});

async function scansDuring(work: () => Promise<void>): Promise<string[]> {
  const before = await scans();
  await work();
  const after = await scans();
  return [...after].filter(([index, times]) => times > (before.get(index) ?? 0)).map(([index]) => index);
}

/** How often each table was read whole, and each index was used. */
async function scans(): Promise<Map<string, number>> {
  await run(db, sql`SELECT pg_stat_force_next_flush()`);
  const rows = await rowsOf(
    db,
    { name: text(), times: count() },
    sql`
      SELECT pg_get_indexdef(indexrelid) AS name, idx_scan AS times FROM pg_stat_user_indexes
      UNION ALL SELECT relname, seq_scan FROM pg_stat_user_tables`,
  );
  return new Map(rows.map(({ name, times }) => [name, times]));
}

/** Sixteen orgs with 500 rows of each kind, in both modes, of ten users and of nobody. */
async function fill(): Promise<void> {
  const rows = sql`
    (SELECT n, 'id_' || lpad(n::text, 6, '0') AS id, 'org_' || n % 16 AS org, (ARRAY['live', 'test'])[1 + n / 16 % 2] AS mode,
      CASE WHEN n % 11 > 0 THEN 'user_' || n % 11 END AS user_id FROM generate_series(1, 8000) n) made`;
  await pipelined(db, [
    runStatement(
      sql`INSERT INTO orgs (id, name, wrapped_data_key) SELECT 'org_' || n, 'An org', '' FROM generate_series(0, 15) n`,
    ),
    runStatement(sql`
      INSERT INTO users (org_id, mode, id, created_at)
      SELECT DISTINCT org, mode, user_id, now() FROM ${rows} WHERE user_id IS NOT NULL`),
    runStatement(sql`
      INSERT INTO files (id, org_id, mode, user_id, sha256, source, task_id, conversation_id)
      SELECT id, org, mode, user_id, '', (ARRAY['upload', 'output'])[1 + n / 32 % 2], 'task_' || n % 21,
        'conv_' || n % 21 FROM ${rows}`),
    runStatement(sql`
      INSERT INTO routines (id, org_id, mode, user_id, name, ask, kind)
      SELECT id, org, mode, user_id, '', '', 'trigger' FROM ${rows}`),
    runStatement(sql`
      INSERT INTO conversations (id, org_id, mode, user_id, deployment_id, last_error_code)
      SELECT 'conv_01' || id, org, mode, user_id, 'dep_' || n % 21, CASE WHEN n % 13 = 0 THEN 'model_error' END FROM ${rows}`),
    runStatement(sql`
      INSERT INTO conversation_previews (conversation_id, org_id, mode, preview, words)
      SELECT 'conv_01' || id, org, mode, 'Number ' || n, array_to_tsvector(ARRAY['number', n::text]) FROM ${rows}`),
    // A search reads the newest thousand without the index of words.
    runStatement(sql`
      INSERT INTO conversations (id, org_id, mode, deployment_id, status)
      SELECT 'conv_01' || n, 'org_many', 'live', 'dep_many', CASE n WHEN 2000 THEN 'waiting' ELSE 'idle' END
      FROM generate_series(2000, 3999) n`),
    runStatement(sql`
      INSERT INTO conversation_previews (conversation_id, org_id, mode, preview, words)
      SELECT 'conv_01' || n, 'org_many', 'live', '', array_to_tsvector(ARRAY['number', 'w' || n % 2000])
      FROM generate_series(2000, 3999) n`),
    runStatement(sql`
      INSERT INTO memories (id, org_id, mode, user_id, text, kind, source, fingerprint, search, observed_at)
      SELECT id, org, mode, user_id, '', 'other', 'user_direct', sha256(id::bytea), '', now() - n * interval '1 minute'
      FROM ${rows}`),
    // One interaction is new, and the others have waited for a day.
    runStatement(sql`
      INSERT INTO turns (conversation_id, ordinal, id, org_id, mode, deployment_id, deployment_version, state, request, origin,
        message_id, reply_message_id, fence)
      SELECT 'conv_01' || id, 1, 'turn_' || id, org, mode, 'dep_1', 1, 'waiting', '{}', 'user', 'm', 'r', 'f'
      FROM ${rows} WHERE n <= 4000`),
    runStatement(sql`UPDATE turns SET state = 'failed' WHERE ordinal = 1 AND right(id, 1) = '7'`),
    runStatement(sql`
      INSERT INTO interactions (org_id, mode, id, conversation_id, turn_id, run_id, kind, type, status, summary,
        requires_present_user, details, created_at)
      SELECT org, mode, 'int_' || id, 'conv_01' || id, 'turn_' || id, 'r', 'approval', 'approval', 'pending', '', false, '{}'::json,
        now() - CASE WHEN n > 1 THEN interval '1 day' ELSE interval '0' END
      FROM ${rows} WHERE n <= 4000
      UNION ALL SELECT 'org_many', 'live', 'int_many', 'conv_012000', 'turn_many', 'r', 'approval', 'approval', 'pending', '',
        false, '{}'::json, now() - interval '1 day'`),
  ]);
  await run(db, sql`ANALYZE`);
}
