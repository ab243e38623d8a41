import pg from 'pg';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { hearStatements, isPageOf, type Sent } from '../support/list-plans.ts';
import { fillRows } from '../support/many-rows.ts';
import { startTestServer, type TestServer } from '../support/server.ts';

const count = 6_000;
/** A page reads its rows and a few that its filter rejects. A search for words reads the newest 10,000 rows. */
const maxRead = 1_000;
const maxReadInSearch = 12_000;

let server: TestServer;
let client: pg.Client;
let statements: ReturnType<typeof hearStatements>;
beforeAll(async () => {
  statements = hearStatements();
  server = await startTestServer({ env: { VESTRA_DEFAULT_MODEL: 'offline' } });
  const ids: string[] = [];
  for (const name of ['busy', 'rare']) {
    const { body } = await server.call('POST', '/v1/deployments', { body: { name } });
    ids.push(body.id);
  }
  const [busy = '', rare = ''] = ids;
  client = new pg.Client({ connectionString: server.connectionString });
  await client.connect();
  await fillRows(client, { orgId: server.orgId, mode: 'test', count, deployments: { busy, rare } });
});
afterAll(async () => {
  statements.stop();
  await client.end();
  await server.stop();
});

const idOf = async (table: string) =>
  (await client.query(`SELECT id FROM ${table} WHERE org_id = $1 ORDER BY id LIMIT 1 OFFSET 777`, [server.orgId]))
    .rows[0].id;
const old = new Date(Date.now() - 250 * 86_400_000);
const oldDay = old.toISOString().slice(0, 10);

it('every filter of a list with many rows reads few of them [LIST-700]', async () => {
  const conversation = await idOf('conversations');
  const task = await idOf('tasks');
  const pages: Record<string, readonly string[]> = {
    conversations: [
      'user_id=user-17',
      'deployment=rare',
      'failed=true',
      'failed=true&deployment=rare',
      'status=working',
      'status=idle',
      `created_before=${old.toISOString()}`,
      `created_after=${old.toISOString()}&deployment=rare`,
      'q=refund',
      'q=seldom4711',
      'q=sourdough',
    ],
    tasks: [
      'user_id=user-17',
      'deployment_id=rare',
      'status=failed',
      'status=working',
      `conversation_id=${conversation}`,
      `created_before=${old.toISOString()}`,
      'q=refund',
      'q=sourdough',
    ],
    users: ['status=disabled', 'email=ada17@shop.example', `created_after=${old.toISOString()}`, 'q=sourdough'],
    interactions: [
      'user_id=user-0',
      'user_id=user-17&status=resolved',
      `conversation_id=${conversation}&status=resolved`,
      `task_id=${task}&status=resolved`,
      'type=approval&status=resolved',
    ],
    files: ['user_id=user-17&source=output', `task_id=${task}`, `conversation_id=${conversation}`],
    'deployments/busy/feedback': ['rating=good', 'rating=bad', 'version=3'],
    'audit-log': ['action=key.created', 'actor_id=key_17', `from=${oldDay}&to=${oldDay}`, `to=${oldDay}`],
  };
  const wrong: string[] = [];
  for (const [list, filters] of Object.entries(pages)) {
    for (const filter of ['limit=20', ...filters]) {
      statements.taken();
      const { status, body } = await server.call('GET', `/v1/${list}?${filter}`);
      const sent = statements.taken().filter(isPageOf(20));
      const read = await rowsRead(sent);
      const most = /\bq=/.test(filter) ? maxReadInSearch : maxRead;
      if (status !== 200 || sent.length === 0 || read > most) {
        wrong.push(
          `${list}?${filter}: ${status} ${sent.length} pages, ${read} rows read ${JSON.stringify(body.error ?? '')}`,
        );
      }
    }
  }
  expect(wrong).toEqual([]);
});

/** The rows of tables that PostgreSQL read for these statements, also those that it did not return. */
async function rowsRead(sent: readonly Sent[]): Promise<number> {
  let read = 0;
  for (const { text, values } of sent) {
    const given = values.map((value) => (value === null ? 'NULL' : client.escapeLiteral(String(value))));
    await client.query(`PREPARE page AS ${text}`);
    const execute = `EXECUTE page${given.length > 0 ? `(${given.join(', ')})` : ''}`;
    const { rows } = await client.query(`EXPLAIN (ANALYZE, FORMAT JSON) ${execute}`);
    await client.query('DEALLOCATE page');
    read += rowsOfPlan(rows[0]['QUERY PLAN'][0].Plan);
  }
  return read;
}

type Plan = {
  'Relation Name'?: string;
  'Actual Rows': number;
  'Actual Loops': number;
  'Rows Removed by Filter'?: number;
  Plans?: Plan[];
};

function rowsOfPlan(plan: Plan): number {
  const { 'Actual Rows': rows, 'Actual Loops': loops, 'Rows Removed by Filter': removed = 0, Plans = [] } = plan;
  const own = plan['Relation Name'] === undefined ? 0 : (rows + removed) * loops;
  return Plans.reduce((sum, each) => sum + rowsOfPlan(each), own);
}
