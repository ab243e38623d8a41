import type { Embeddings } from '@vestra/server/agents/index';
import { createCachedReports, findInsights, insightWindow } from '@vestra/server/evaluation/insights/insights';
import { closeDatabase, type Database, openDatabase } from '@vestra/server/platform/db/pool';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { query } from '../support/database.ts';
import { scrape } from '../support/scrape.ts';
import { type Desk, startDesk } from './interactions.fixture.ts';

let desk: Desk;
let db: Database;
let deploymentId: string;
let conversations: string[];
let taskId: string;

/** A deployment with more than 1,000 conversations, one of them with a task. */
beforeAll(async () => {
  desk = await startDesk({});
  db = await openDatabase({ connectionString: desk.connectionString });
  await desk.apply({ name: 'shop', memory: 'none' });
  desk.script(() => ({ fail: 400 }));
  const { id } = await desk.say({ deployment: 'shop', message: 'Where is my order?' });
  await desk.rest(id);
  const copied = (row: string, fields: string) => `(jsonb_populate_record(${row}, jsonb_build_object(${fields}))).*`;
  const idOf = (prefix: string) => `'${prefix}_' || substr('${id}', 6, 10) || lpad(n::text, 14, '0')`;
  await query(
    desk.connectionString,
    `SET session_replication_role = replica;
     INSERT INTO conversations SELECT ${copied('c', `'id', ${idOf('conv')}`)}
       FROM (SELECT t AS c, n FROM conversations t, generate_series(1, 1000) n WHERE t.id = '${id}') AS copies;
     INSERT INTO turns SELECT ${copied('t', `'id', ${idOf('turn')}, 'conversation_id', ${idOf('conv')}`)}
       FROM (SELECT t, n FROM turns t, generate_series(1, 1000) n WHERE t.conversation_id = '${id}') AS copies;`,
  );
  desk.script(() => ({ text: 'Done.' }));
  const { id: working } = await desk.say({ deployment: 'shop', message: 'Please look it up', hand_off: 'always' });
  await desk.rest(working);
  [{ id: taskId }] = (await desk.call('GET', `/v1/tasks?conversation_id=${working}`)).body.data;
  ({ id: deploymentId } = (await desk.call('GET', '/v1/deployments/shop')).body);
  conversations = (
    await query(desk.connectionString, `SELECT id FROM conversations WHERE turn_count > 0 ORDER BY id`)
  ).map(({ id: each }) => String(each));
});
afterAll(async () => {
  await closeDatabase(db);
  await desk.stop();
});

const words = { understands: () => false } as unknown as Embeddings;
const tenant = () => ({ orgId: desk.orgId, mode: 'test' as const });
const find = () =>
  findInsights(db, { embeddings: words, signal: new AbortController().signal }, tenant(), {
    deploymentId,
    window: insightWindow({}),
    kind: undefined,
  });
const remove = (path: string) => desk.call('DELETE', path);

describe('the report of a busy deployment', () => {
  it('is read again after a minute, and at once if something was deleted or hidden [INS-718]', async () => {
    let now = 0;
    const cached = createCachedReports(() => now);
    const get = () => cached.get(db, tenant(), deploymentId, 'key');
    const put = async () => {
      const report = await find();
      cached.set('key', report);
      return report;
    };
    expect(await get()).toBeNull();
    const report = await put();
    expect(report.mark.conversations).toBeGreaterThan(1000);
    now = 59_999;
    expect(await get()).toBe(report);
    now = 60_000;
    expect(await get()).toBeNull();

    const second = await put();
    expect(await get()).toBe(second);
    expect((await remove(`/v1/conversations/${conversations[500]}`)).status).toBe(200);
    expect(await get()).toBeNull();

    const third = await put();
    expect(await get()).toBe(third);
    expect((await remove(`/v1/tasks/${taskId}`)).status).toBe(200);
    expect(await get()).toBeNull();

    const fourth = await put();
    await desk.call('PATCH', '/v1/org', { body: { improvement_conversations: 'none' } });
    expect(await get()).toBeNull();
    await desk.call('PATCH', '/v1/org', { body: { improvement_conversations: 'all' } });
    cached.set('key', { ...fourth, mark: { ...fourth.mark, conversations: 999 } });
    expect(await get()).toBeNull();
  });

  it('leaves out a deleted conversation at once [INS-718]', async () => {
    const read = async () => (await desk.call('GET', '/v1/deployments/shop/insights?kind=failed_reply')).body;
    const before = await read();
    expect(before.total_conversations).toBeGreaterThan(1000 - 5);
    expect(await read()).toEqual(before);
    await remove(`/v1/conversations/${before.data[0].examples[0].conversation_id}`);
    const after = await read();
    expect(after.data[0].count).toBe(before.data[0].count - 1);
    expect(after.data[0].examples).not.toContainEqual(before.data[0].examples[0]);
  });

  it('is given up without an error when its reader leaves the queue', async () => {
    const lock = new pg.Client(desk.connectionString);
    const onlooker = new pg.Client(desk.connectionString);
    await Promise.all([lock.connect(), onlooker.connect()]);
    const waiting = `SELECT FROM pg_stat_activity
      WHERE datname = current_database() AND wait_event_type = 'Lock' AND query LIKE '%message_feedback%'`;
    const isReading = async () => (await onlooker.query(waiting)).rowCount === 1;
    const headers = { authorization: `Bearer ${desk.testKey}` };
    const ask = (kind: string, signal?: AbortSignal) =>
      fetch(`${desk.url}/v1/deployments/shop/insights?kind=${kind}`, { headers, ...(signal && { signal }) });
    await lock.query('BEGIN; LOCK TABLE message_feedback IN ACCESS EXCLUSIVE MODE');
    const first = ask('bad_rating');
    await expect.poll(isReading).toBe(true);
    const leaving = new AbortController();
    const second = ask('tool_error', leaving.signal);
    // It is answered after the second request has come.
    expect((await desk.call('GET', '/v1/me')).status).toBe(200);
    leaving.abort();
    await expect(second).rejects.toThrow('aborted');
    await lock.query('ROLLBACK');
    expect((await first).status).toBe(200);
    const { samples } = await scrape(desk.url);
    const route = 'method="GET",route="/v1/deployments/{deployment_id}/insights"';
    expect(samples.get(`vestra_http_requests_total{${route},status="499"}`)).toBe(1);
    await Promise.all([lock.end(), onlooker.end()]);
  });
});
