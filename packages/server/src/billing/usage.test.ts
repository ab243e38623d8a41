import { newId } from '@vestra/contract/ids';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTestServer, type TestServer } from '../../../../tests/support/server.ts';
import type { Tenant } from '../platform/caller.ts';
import { closeDatabase, type Database, openDatabase } from '../platform/db/pool.ts';
import { transaction } from '../platform/db/transaction.ts';
import { eraseBudgetOwner } from './budget-owner.ts';
import type { ChargeItem } from './charge-items.ts';
import { chargeAll, item } from './ledger.fixture.ts';
import { usageWindow } from './usage.ts';

describe('the usage window', () => {
  const now = new Date('2026-04-30T23:30:00Z');
  it.each([
    ['of the last 30 days by default', {}, { from: '2026-04-01', to: '2026-04-30' }],
    ['up to today', { from: '2026-04-30' }, { from: '2026-04-30', to: '2026-04-30' }],
    ['of 30 days up to a date', { to: '2026-03-01' }, { from: '2026-01-31', to: '2026-03-01' }],
    ['of 366 days', { from: '2024-01-01', to: '2024-12-31' }, { from: '2024-01-01', to: '2024-12-31' }],
    ['in the future', { from: '2030-01-01', to: '2030-01-01' }, { from: '2030-01-01', to: '2030-01-01' }],
  ])('is one %s [USE-006, USE-007]', (_what, asked, window) => {
    expect(usageWindow(asked, now)).toEqual(window);
  });

  it.each([
    ['begins after its end', { from: '2026-04-02', to: '2026-04-01' }],
    ['begins after today', { from: '2026-05-01' }],
    ['has 367 days', { from: '2024-01-01', to: '2025-01-01' }],
    ['begins 367 days ago', { from: '2025-04-29' }],
  ])('is refused if it %s [USE-003, USE-007]', (_what, asked) => {
    expect(() => usageWindow(asked, now)).toThrow(expect.objectContaining({ code: 'invalid_window' }));
  });
});

let server: TestServer;
let db: Database;
let tenant: Tenant;

const conversations = [newId('conv'), newId('conv')] as const;
const tasks = [newId('task'), newId('task')] as const;
const deployments = [newId('dep'), newId('dep')] as const;

const tokens = (unit: 'input_tokens' | 'output_tokens', quantity: number, of: Partial<ChargeItem>): ChargeItem =>
  item(0, {
    kind: 'intelligence',
    model: 'offline',
    unit,
    quantity,
    unitPriceMicros: unit === 'input_tokens' ? 10 : 40,
    ...of,
  });

/** Three days of two users, two deployments, two conversations and two tasks; 28,740 micro-dollars. */
async function spendSomething(): Promise<void> {
  const first = { userId: 'ann', deploymentId: deployments[0], conversationId: conversations[0] };
  const second = { userId: 'bob', deploymentId: deployments[1], conversationId: conversations[1] };
  const at = (text: string) => new Date(text);
  await chargeAll(db, tenant, {
    at: at('2026-03-01T00:00:00Z'),
    items: [
      tokens('input_tokens', 100, { ...first, kind: 'orchestrator' }),
      tokens('output_tokens', 50, { ...first, kind: 'orchestrator' }),
    ],
  });
  await chargeAll(db, tenant, {
    at: at('2026-03-01T23:59:59.999Z'),
    items: [
      tokens('input_tokens', 1_000, { ...first, taskId: tasks[0] }),
      tokens('output_tokens', 200, { ...first, taskId: tasks[0] }),
      item(0, { ...first, taskId: tasks[0], kind: 'compute', quantity: 12.5, unit: 'seconds', unitPriceMicros: 100 }),
    ],
  });
  await chargeAll(db, tenant, {
    at: at('2026-03-02T00:00:00Z'),
    items: [
      item(490, { ...first, taskId: tasks[0], kind: 'tools' }),
      item(1_000, { ...second, taskId: tasks[1], kind: 'tools' }),
    ],
  });
  await chargeAll(db, tenant, { at: at('2026-03-03T12:00:00Z'), items: [item(5_000, { kind: 'background' })] });
  // Other modes and times, which no report below may include.
  await chargeAll(db, { ...tenant, mode: 'live' }, { at: at('2026-03-02T00:00:00Z'), items: [item(777_000, first)] });
  await chargeAll(db, tenant, { at: at('2026-02-28T23:59:59.999Z'), items: [item(777_000, first)] });
  await chargeAll(db, tenant, { at: at('2026-03-04T00:00:00Z'), items: [item(777_000, first)] });
}

beforeAll(async () => {
  server = await startTestServer();
  db = await openDatabase({ connectionString: server.connectionString, max: 2 });
  tenant = { orgId: server.orgId, mode: 'test' };
  await spendSomething();
});
afterAll(async () => {
  await closeDatabase(db);
  await server.stop();
});

const get = (path: string) => server.call('GET', path);
const march = 'from=2026-03-01&to=2026-03-03';
type Row = {
  key: string;
  label: string | null;
  cost_usd: number;
  task_count: number;
  input_tokens: number;
  output_tokens: number;
};
const brief = ({ key, cost_usd, task_count, input_tokens, output_tokens }: Row) => [
  key,
  cost_usd,
  task_count,
  input_tokens,
  output_tokens,
];

describe('the usage report', () => {
  const total = { cost_usd: 0.02874, task_count: 2, input_tokens: 1_100, output_tokens: 250 };

  it.each([
    [
      'day',
      [
        ['2026-03-03', 0.005, 0, 0, 0],
        ['2026-03-02', 0.00149, 2, 0, 0],
        ['2026-03-01', 0.02225, 1, 1_100, 250],
      ],
    ],
    [
      'user',
      [
        ['ann', 0.02274, 1, 1_100, 250],
        ['', 0.005, 0, 0, 0],
        ['bob', 0.001, 1, 0, 0],
      ],
    ],
    [
      'deployment',
      [
        [deployments[0], 0.02274, 1, 1_100, 250],
        ['', 0.005, 0, 0, 0],
        [deployments[1], 0.001, 1, 0, 0],
      ],
    ],
    [
      'conversation',
      [
        [conversations[0], 0.02274, 1, 1_100, 250],
        ['', 0.005, 0, 0, 0],
        [conversations[1], 0.001, 1, 0, 0],
      ],
    ],
    [
      'task',
      [
        [tasks[0], 0.01974, 1, 1_000, 200],
        ['', 0.008, 0, 100, 50],
        [tasks[1], 0.001, 1, 0, 0],
      ],
    ],
    [
      'model',
      [
        ['offline', 0.021, 1, 1_100, 250],
        ['', 0.00774, 2, 0, 0],
      ],
    ],
    [
      'kind',
      [
        ['intelligence', 0.018, 1, 1_000, 200],
        ['background', 0.005, 0, 0, 0],
        ['orchestrator', 0.003, 0, 100, 50],
        ['tools', 0.00149, 2, 0, 0],
        ['compute', 0.00125, 1, 0, 0],
      ],
    ],
  ])('by %s has every group and the same total [USE-001, USE-005, USE-009, USE-010, USE-011]', async (group, rows) => {
    const { status, body } = await get(`/v1/usage?group_by=${group}&${march}`);
    expect(status).toBe(200);
    expect(body.data.map(brief)).toEqual(rows);
    expect(body.total).toEqual(total);
    expect(body.next_cursor).toBeNull();
  });

  it('groups by day without group_by, and covers the last 30 days without dates [USE-005, USE-006]', async () => {
    const days = (count: number) => new Date(Date.now() - count * 86_400_000);
    const conversationId = newId('conv');
    for (const [count, micros] of [
      [0, 1_000],
      [29, 2_000],
      [30, 4_000],
    ] as const) {
      await chargeAll(db, tenant, { at: days(count), items: [item(micros, { conversationId })] });
    }
    const { body } = await get(`/v1/usage?conversation_id=${conversationId}`);
    expect(body.data.map(({ key, cost_usd }: Row) => [key, cost_usd])).toEqual([
      [days(0).toISOString().slice(0, 10), 0.001],
      [days(29).toISOString().slice(0, 10), 0.002],
    ]);
  });

  it.each([
    ['user_id=ann', 0.02274],
    ['user_id=nobody', 0],
    [`deployment_id=${deployments[1]}`, 0.001],
    [`conversation_id=${conversations[0]}`, 0.02274],
    [`conversation_id=${conversations[0]}&user_id=bob`, 0],
  ])('has only the spend that %s names [USE-002, USE-008]', async (filter, cost) => {
    const { body } = await get(`/v1/usage?group_by=kind&${march}&${filter}`);
    expect(body.total.cost_usd).toBe(cost);
    expect(body.data.length > 0).toBe(cost > 0);
  });

  it.each(['day', 'user', 'deployment', 'conversation', 'task', 'model', 'kind'])(
    'by %s has pages that add up to the whole, each with the total of all [USE-010]',
    async (group) => {
      const whole = await get(`/v1/usage?group_by=${group}&${march}`);
      const pages: Row[] = [];
      let cursor = '';
      do {
        const { body } = await get(`/v1/usage?group_by=${group}&${march}&limit=1${cursor}`);
        expect(body.data).toHaveLength(1);
        expect(body.total).toEqual(total);
        pages.push(...body.data);
        cursor = body.next_cursor ? `&cursor=${body.next_cursor}` : '';
      } while (cursor);
      expect(pages).toEqual(whole.body.data);
    },
  );

  it('orders groups of equal cost by key, also across pages', async () => {
    const conversationId = newId('conv');
    const users = ['b', 'B', 'a', '_', 'c:1', 'a.b'];
    await chargeAll(db, tenant, { items: users.map((userId) => item(10, { userId, conversationId })) });
    const seen: string[] = [];
    let cursor = '';
    do {
      const { body } = await get(`/v1/usage?group_by=user&conversation_id=${conversationId}&limit=2${cursor}`);
      seen.push(...body.data.map(({ key }: Row) => key));
      cursor = body.next_cursor ? `&cursor=${body.next_cursor}` : '';
    } while (cursor);
    expect(seen).toEqual(users.toSorted());
  });

  it('accepts a cursor only for its own report', async () => {
    const { body } = await get(`/v1/usage?group_by=kind&${march}&limit=1`);
    const cursor = `cursor=${body.next_cursor}`;
    expect((await get(`/v1/usage?group_by=kind&${cursor}`)).body.data).toHaveLength(4);
    for (const other of [`group_by=user&${march}`, march, 'group_by=kind&from=2026-03-02&to=2026-03-03']) {
      expect((await get(`/v1/usage?${other}&${cursor}`)).body.error).toMatchObject({
        code: 'invalid_cursor',
        param: 'cursor',
      });
    }
  });

  it.each([
    ['from=2026-03-02&to=2026-03-01', 'invalid_window', 'from'],
    ['from=2024-01-01&to=2025-01-01', 'invalid_window', 'from'],
    ['from=yesterday', 'invalid_window', 'from'],
    ['to=2026-02-30', 'invalid_window', 'to'],
    ['group_by=colour', 'invalid_query', 'group_by'],
    ['conversation_id=conv_x', 'invalid_conversation_id', 'conversation_id'],
  ])('is refused for %s as %s [USE-003]', async (query, code, param) => {
    const { status, body } = await get(`/v1/usage?${query}`);
    expect(status).toBe(400);
    expect(body.error).toMatchObject({ code, param });
  });

  it.each(['from=0000-01-01&to=0000-12-31', 'from=9999-01-01&to=9999-12-31'])('is empty for %s', async (query) => {
    const { status, body } = await get(`/v1/usage?${query}`);
    expect(status).toBe(200);
    expect(body).toMatchObject({ data: [], total: { cost_usd: 0, task_count: 0, input_tokens: 0, output_tokens: 0 } });
  });

  it('has the spend of an erased user under unknown [USE-016]', async () => {
    const conversationId = newId('conv');
    await chargeAll(db, tenant, { items: [item(10, { userId: 'gone', conversationId })] });
    await transaction(db, (tx) => eraseBudgetOwner(tx, tenant, 'gone'));
    const { body } = await get(`/v1/usage?group_by=user&conversation_id=${conversationId}`);
    expect(body.data.map(({ key }: Row) => key)).toEqual(['unknown']);
  });
});

describe('line items', () => {
  it('are the charges of a conversation, newest first and in pages [USE-004, USE-014]', async () => {
    const path = `/v1/usage/line-items?conversation_id=${conversations[0]}`;
    const { body } = await get(path);
    const ids = body.data.map(({ id }: { id: string }) => id);
    expect(ids).toHaveLength(8);
    expect(ids).toEqual(ids.toSorted().toReversed());
    const first = await get(`${path}&limit=5`);
    const second = await get(`${path}&limit=5&cursor=${first.body.next_cursor}`);
    expect([...first.body.data, ...second.body.data]).toEqual(body.data);
    expect(second.body.next_cursor).toBeNull();
  });

  it('of a task show quantity and price', async () => {
    const { body } = await get(`/v1/usage/line-items?task_id=${tasks[0]}`);
    expect(body.data).toHaveLength(4);
    expect(body.data.find(({ kind }: { kind: string }) => kind === 'compute')).toMatchObject({
      object: 'line_item',
      model: null,
      quantity: 12.5,
      unit: 'seconds',
      unit_price_usd: 0.0001,
      cost_usd: 0.00125,
      task_id: tasks[0],
      conversation_id: conversations[0],
      created_at: '2026-03-01T23:59:59.999Z',
    });
  });

  it('show a fractional micro-dollar price as it was set', async () => {
    const conversationId = newId('conv');
    await chargeAll(db, tenant, { items: [item(0, { conversationId, quantity: 1_000, unitPriceMicros: 0.1 })] });
    const { body } = await get(`/v1/usage/line-items?conversation_id=${conversationId}`);
    expect(body.data[0]).toMatchObject({ unit_price_usd: 1e-7, cost_usd: 0.0001 });
  });

  it.each([
    ['', 'task_id'],
    [`?task_id=${tasks[0]}&conversation_id=${conversations[0]}`, 'conversation_id'],
  ])('require exactly one of task and conversation, not %j [USE-013]', async (query, param) => {
    const { status, body } = await get(`/v1/usage/line-items${query}`);
    expect(status).toBe(400);
    expect(body.error).toMatchObject({ code: 'invalid_request', param });
  });

  it('are not found for unknown ids or ids of another mode', async () => {
    expect((await get(`/v1/usage/line-items?task_id=${newId('task')}`)).body.error.code).toBe('task_not_found');
    const path = `/v1/usage/line-items?conversation_id=${conversations[1]}`;
    const other = await server.call('GET', path, { key: server.liveKey });
    expect(other.status).toBe(404);
    expect(other.body.error.code).toBe('conversation_not_found');
  });
});

it.each(['/v1/usage', `/v1/usage/line-items?task_id=${tasks[0]}`])(
  '%s needs a key with admin [USE-012]',
  async (path) => {
    const { body } = await server.call('POST', '/v1/keys', { body: { name: 'Runtime', scopes: ['runtime'] } });
    const refused = await server.call('GET', path, { key: body.key });
    expect(refused.status).toBe(403);
    expect(refused.body.error.code).toBe('scope_missing');
  },
);
