import { newId } from '@vestra/contract/ids';
import { webhookEventTypes } from '@vestra/contract/webhook-event-types';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { rowsOf, run } from '../../platform/db/query.ts';
import { sql } from '../../platform/db/sql.ts';
import { jsonb, text } from '../../platform/db/table.ts';
import { startWebhooks } from './webhooks.fixture.ts';

type Server = Awaited<ReturnType<typeof startWebhooks>>;
type Org = Awaited<ReturnType<Server['newOrg']>>;

let server: Server;
let org: Org;

beforeAll(async () => {
  server = await startWebhooks();
  org = await server.newOrg();
});
afterAll(() => server.stop());

const url = 'https://hooks.example.com/in';
const wanted = { url, events: ['task.completed'] };
const call = (method: string, path: string, body?: unknown, key = org.key) =>
  server.call(method, path, { key, ...(body !== undefined && { body }) });
const create = (body: object = {}, key?: string) => call('POST', '/v1/webhooks', { ...wanted, ...body }, key);
const pathOf = ({ id }: { id: string }) => `/v1/webhooks/${id}`;
const auditOf = async ({ id }: { id: string }) =>
  await rowsOf(
    server.db,
    { action: text(), target_type: text(), details: jsonb<object>(), request_id: text() },
    sql`SELECT action, target_type, details, request_id FROM audit_entries WHERE target_id = ${id} ORDER BY id`,
  );
/** Makes a change visible in `updated_at` even within the same millisecond. */
const age = () => run(server.db, sql`UPDATE webhook_endpoints SET updated_at = updated_at - interval '1 hour'`);

describe('creating', () => {
  it('answers the endpoint with a secret that no other answer shows [WHK-001, WHK-002, WHK-003, WHK-004]', async () => {
    const { status, body } = await create();
    const { secret, ...endpoint } = body;
    expect([status, endpoint]).toEqual([
      201,
      {
        object: 'webhook_endpoint',
        id: expect.stringMatching(/^whk_[0-9a-z]{24}$/),
        url,
        events: ['task.completed'],
        description: null,
        active: true,
        mode: 'test',
        deployment_id: null,
        managed_by: null,
        created_at: expect.any(String),
        updated_at: endpoint.created_at,
      },
    ]);
    expect((await call('GET', pathOf(body))).body).toEqual(endpoint);
    expect((await call('GET', '/v1/webhooks?limit=1')).body.data).toEqual([endpoint]);
    const changed = await call('PATCH', pathOf(body), { description: 'Other' });
    for (const answer of [changed, await call('GET', '/v1/webhooks?limit=100'), await call('DELETE', pathOf(body))]) {
      expect(answer.text).not.toContain(secret);
      expect(answer.text).not.toContain('"secret"');
    }
  });

  it('makes secrets as Standard Webhooks wants them, never the same twice [WHD-003]', async () => {
    const secrets = await Promise.all(Array.from({ length: 5 }, async () => (await create()).body.secret as string));
    expect(new Set(secrets).size).toBe(5);
    for (const secret of secrets) {
      expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{32}$/);
      expect(Buffer.from(secret.slice('whsec_'.length), 'base64')).toHaveLength(24);
    }
  });

  it('takes a description of 500 characters and an endpoint that is off [WHK-008]', async () => {
    const { body } = await create({ description: '🦊'.repeat(500), active: false });
    expect([body.description, body.active]).toEqual(['🦊'.repeat(500), false]);
    const tooLong = await create({ description: 'x'.repeat(501) });
    expect([tooLong.status, tooLong.body.error.param]).toEqual([400, 'description']);
  });

  it.each(['url', 'events'])('needs %s [WHK-005, WHK-007]', async (field) => {
    const { status, body } = await create({ [field]: undefined });
    expect([status, body.error.code, body.error.param]).toEqual([400, 'invalid_request', field]);
    if (field === 'events') expect(body.error.message).toBe('Send a list of 1 to 40 event types, or `*`.');
  });

  it('refuses a field that it does not know', async () => {
    const { status, body } = await create({ secret: 'whsec_mine' });
    expect([status, body.error.code, body.error.param]).toEqual([400, 'invalid_request', 'secret']);
  });
});

describe('the address', () => {
  const long = (length: number) => `https://hooks.example.com/${'x'.repeat(length - 26)}`;
  let endpoint: { id: string };
  beforeAll(async () => {
    endpoint = (await create()).body;
  });

  it.each([
    ['https on a host by its name', 'https://hooks.example.com:8443/in?source=vestra'],
    ['a public address', 'https://93.184.215.14/in'],
    ['2048 characters', long(2048)],
  ])('takes %s [WHK-005]', async (_what, address) => {
    expect((await create({ url: address })).body.url).toBe(address);
    expect((await call('PATCH', pathOf(endpoint), { url: address })).body.url).toBe(address);
  });

  it.each([
    ['2049 characters', long(2049)],
    ['plain http', 'http://hooks.example.com/in'],
    ['another protocol', 'ftp://hooks.example.com/in'],
    ['no URL', 'hooks.example.com'],
    ['a user name and password', 'https://ada:hunter2@hooks.example.com/in'],
    ['a user name', 'https://hunter2@hooks.example.com/in'],
    ['a backslash', 'https://hooks.example.com\\@10.0.0.1/'],
    ['a number', 7],
  ])('refuses %s when creating and when changing [WHK-005]', (_what, address) => assertRefused(address));

  it.each([
    ['localhost', 'https://localhost/in'],
    ['loopback', 'https://127.0.0.1/in'],
    ['loopback as one number', 'https://2130706433/in'],
    ['loopback in octal', 'https://0177.0.0.1/in'],
    ['IPv6 loopback', 'https://[::1]/in'],
    ['IPv4 inside IPv6', 'https://[::ffff:10.0.0.1]/in'],
    ['a private network', 'https://10.1.2.3/in'],
    ['another private network', 'https://192.168.1.1/in'],
    ['a unique local address', 'https://[fd12:3456::1]/in'],
    ['the metadata service', 'https://169.254.169.254/latest/meta-data/'],
    ['an internal name', 'https://metadata.google.internal/'],
    ['a local name', 'https://printer.local/'],
    ['nothing at all', 'https://0.0.0.0/'],
  ])('refuses %s when creating and when changing [WHK-006]', (_what, address) => assertRefused(address));

  it.each([
    ['a host without a dot', 'https://intranet/in'],
    ['a host with its dot at the end', 'https://intranet./in'],
    ['168.63.129.16', 'https://168.63.129.16/in'],
  ])('refuses %s when creating and when changing [WHK-029]', (_what, address) => assertRefused(address));

  async function assertRefused(address: unknown) {
    const before = (await call('GET', pathOf(endpoint))).body;
    for (const { status, body, text } of [
      await create({ url: address }),
      await call('PATCH', pathOf(endpoint), { url: address, active: false }),
    ]) {
      expect([status, body.error.code, body.error.param]).toEqual([400, 'invalid_request', 'url']);
      expect(text).not.toContain('hunter2');
    }
    expect((await call('GET', pathOf(endpoint))).body).toEqual(before);
  }

  it('may be a private one over http where the operator allows it', async () => {
    const open = await startWebhooks({ allowPrivate: true });
    const { key } = await open.newOrg();
    const post = (address: string) => open.call('POST', '/v1/webhooks', { key, body: { url: address, events: '*' } });
    expect((await post('http://127.0.0.1:4700/in')).status).toBe(201);
    expect((await post('http://hooks.example.com/in')).status).toBe(400);
    expect((await post('http://169.254.169.254/in')).status).toBe(400);
    await open.stop();
  });
});

describe('the events', () => {
  it('are any of the types, all together or one by one [WHK-007, WHK-024]', async () => {
    const documented = [
      ...['conversation.created', 'reply.completed', 'task.started', 'task.completed', 'task.failed', 'task.stopped'],
      ...['interaction.created', 'interaction.resolved', 'interaction.expired', 'file.created', 'routine.ran'],
      ...['batch.completed', 'test_run.completed', 'deployment.promoted', 'deployment.rolled_back', 'user.created'],
      ...['user.deleted', 'key.created', 'key.rolled', 'key.revoked', 'usage.threshold_reached', 'usage.cap_reached'],
      ...['mcp_grant.created', 'mcp_grant.revoked'],
      ...[
        'turn.failed',
        'routine.failed',
        'tool_server.away',
        'connection.failed',
        'message.feedback',
        'replay.completed',
        'improvement.completed',
      ],
      ...['webhook.disabled', 'webhook.test'],
    ];
    expect([...webhookEventTypes].sort()).toEqual([...documented].sort());
    expect((await create({ events: documented })).body.events).toEqual(documented);
    for (const type of documented) expect((await create({ events: [type] })).body.events).toEqual([type]);
  });

  it('are all of them as `*`, in a list or not [WHK-007, WHK-028]', async () => {
    expect((await create({ events: '*' })).body.events).toEqual(['*']);
    const { body } = await create({ events: ['*'] });
    expect(body.events).toEqual(['*']);
    expect((await call('PATCH', pathOf(body), { events: ['key.rolled'] })).body.events).toEqual(['key.rolled']);
    expect((await call('PATCH', pathOf(body), { events: '*' })).body.events).toEqual(['*']);
  });

  it('are kept once each', async () => {
    const { body } = await create({ events: ['task.failed', 'task.completed', 'task.failed'] });
    expect(body.events).toEqual(['task.failed', 'task.completed']);
  });

  it.each([
    ['none', [], 'events'],
    ['41', Array(41).fill('task.failed'), 'events'],
    ['an unknown type', ['task.completed', 'task.melted'], 'events.1'],
    ['a type of the stream alone', ['reply.delta'], 'events.0'],
    ['`*` beside a type', ['*', 'task.completed'], 'events'],
    ['one outside a list', 'task.completed', 'events'],
    ['null', null, 'events'],
  ])('are refused as %s [WHK-007]', async (_what, events, param) => {
    const { body: endpoint } = await create();
    for (const { status, body } of [await create({ events }), await call('PATCH', pathOf(endpoint), { events })]) {
      expect([status, body.error.code, body.error.param]).toEqual([400, 'invalid_request', param]);
    }
  });

  it('are 40 at most, the same ones counted each time [WHK-007]', async () => {
    expect((await create({ events: Array(40).fill('task.failed') })).body.events).toEqual(['task.failed']);
  });
});

describe('listing', () => {
  it('goes by pages, newest first, through every endpoint once [WHK-009]', async () => {
    const { key } = await server.newOrg();
    const made: string[] = [];
    for (let count = 0; count < 5; count++) made.unshift((await create({}, key)).body.id);
    const seen: string[][] = [];
    let cursor: string | null = '';
    while (cursor !== null) {
      const { body }: { body: { data: { id: string }[]; next_cursor: string | null } } = await call(
        'GET',
        `/v1/webhooks?limit=2${cursor && `&cursor=${cursor}`}`,
        undefined,
        key,
      );
      seen.push(body.data.map(({ id }) => id));
      cursor = body.next_cursor;
    }
    expect(seen.map((page) => page.length)).toEqual([2, 2, 1]);
    expect(seen.flat()).toEqual(made);
  });
});

describe('changing', () => {
  it('takes each field alone and leaves the others [WHK-010]', async () => {
    const { body: made } = await create({ description: 'First' });
    let { secret: _, ...expected } = made;
    for (const change of [
      { url: 'https://hooks.example.com/other' },
      { events: ['key.rolled', 'key.created'] },
      { description: 'Second' },
      { description: null },
      { active: false },
      { active: true },
    ]) {
      await age();
      const { status, body } = await call('PATCH', pathOf(made), change);
      expect(Date.parse(body.updated_at)).toBeGreaterThan(Date.now() - 60_000);
      expected = { ...expected, ...change, updated_at: body.updated_at };
      expect([status, body]).toEqual([200, expected]);
      expect((await call('GET', pathOf(made))).body).toEqual(expected);
    }
  });

  it('writes nothing where nothing changes', async () => {
    const { body: made } = await create({ description: 'Same' });
    await age();
    const { body: endpoint } = await call('GET', pathOf(made));
    const same = { url, events: ['task.completed'], description: 'Same', active: true };
    for (const change of [{}, same]) expect((await call('PATCH', pathOf(made), change)).body).toEqual(endpoint);
    expect((await auditOf(made)).map(({ action }) => action)).toEqual(['webhook_endpoint.created']);
  });

  it.each([
    [{ mode: 'live' }, 'mode'],
    [{ managed_by: 'file' }, 'managed_by'],
    [{ secret: 'whsec_x' }, 'secret'],
    [{ url: null }, 'url'],
    [{ active: null }, 'active'],
    [{ active: 'yes' }, 'active'],
    [{ description: 'x'.repeat(501) }, 'description'],
  ])('refuses %j [WHK-010]', async (change, param) => {
    const { status, body } = await call('PATCH', pathOf((await create()).body), change);
    expect([status, body.error.code, body.error.param]).toEqual([400, 'invalid_request', param]);
  });
});

describe('deleting', () => {
  it('answers what is gone, and takes the secrets with it [WHK-011, WHK-030]', async () => {
    const { body: made } = await create();
    const { status, body } = await call('DELETE', pathOf(made));
    expect([status, body]).toEqual([200, { object: 'webhook_endpoint', id: made.id, deleted: true }]);
    for (const [method, path, change] of reaching(made.id)) {
      const again = await call(method, path, change);
      expect([again.status, again.body.error.code]).toEqual([404, 'webhook_not_found']);
    }
    const rows = await rowsOf(server.db, {}, sql`SELECT 1 FROM webhook_secrets WHERE endpoint_id = ${made.id}`);
    expect(rows).toEqual([]);
  });
});

describe('whose it is', () => {
  it.each([newId('whk'), newId('key'), 'whk_1', 'x'])('answers 404 for %s [WHK-030]', async (id) => {
    for (const [method, path, change] of reaching(id)) {
      const { status, body } = await call(method, path, change);
      expect([status, body.error.code]).toEqual([404, 'webhook_not_found']);
    }
  });

  it('is not visible to another org or in the other mode [TEN-004, TEN-005, TEN-011]', async () => {
    const other = await server.newOrg();
    const { body: made } = await create();
    const { secret: _, ...endpoint } = made;
    for (const key of [other.key, org.liveKey]) {
      for (const [method, path, change] of reaching(made.id)) {
        const { status, body } = await call(method, path, change, key);
        expect([status, body.error.code]).toEqual([404, 'webhook_not_found']);
      }
      expect((await call('GET', '/v1/webhooks', undefined, key)).body.data).toEqual([]);
    }
    expect((await call('GET', pathOf(made))).body).toEqual(endpoint);
  });

  it('has the mode of the key that created it [WHK-001]', async () => {
    const live = await server.newOrg();
    const { body: made } = await create({}, live.liveKey);
    expect(made.mode).toBe('live');
    const listed = await call('GET', '/v1/webhooks', undefined, live.liveKey);
    expect(listed.body.data.map(({ id }: { id: string }) => id)).toEqual([made.id]);
  });

  it('needs scope setup or all [WHK-018]', async () => {
    const { body: made } = await create();
    const runtime = await org.newKey('test', ['runtime', 'admin']);
    const setup = await org.newKey('test', ['setup']);
    for (const [method, path, change] of [
      ['GET', '/v1/webhooks'],
      ['POST', '/v1/webhooks', wanted],
      ...reaching(made.id),
    ]) {
      const { status, body } = await call(method as string, path as string, change, runtime);
      expect([status, body.error?.code]).toEqual([403, 'scope_missing']);
    }
    expect((await create({}, setup)).status).toBe(201);
    for (const [method, path, change] of reaching(made.id))
      expect((await call(method, path, change, setup)).status).toBe(200);
  });
});

describe('the audit log', () => {
  it('records every change, without secret and URL [AUD-002]', async () => {
    const { body: made } = await create();
    await call('PATCH', pathOf(made), { url: `${url}?token=abc`, active: false });
    const rolled = await call('POST', `${pathOf(made)}/roll-secret`);
    await call('DELETE', pathOf(made));
    const entries = await auditOf(made);
    expect(entries.map(({ action, details }) => [action, details])).toEqual([
      ['webhook_endpoint.created', { events: ['task.completed'], active: true }],
      ['webhook_endpoint.updated', { changed: ['url', 'active'] }],
      ['webhook_endpoint.secret_rolled', {}],
      ['webhook_endpoint.deleted', {}],
    ]);
    for (const { target_type, request_id } of entries) {
      expect([target_type, request_id]).toEqual(['webhook_endpoint', expect.stringMatching(/^req_/)]);
    }
    for (const hidden of [made.secret, rolled.body.secret, 'hooks.example.com'])
      expect(JSON.stringify(entries)).not.toContain(hidden);
  });

  it('records nothing if the change is refused', async () => {
    const { body: made } = await create();
    await call('PATCH', pathOf(made), { url: 'https://localhost/' });
    expect(await auditOf(made)).toHaveLength(1);
  });
});

/** Every route with an endpoint id, the delete last. */
const reaching = (id: string): [string, string, unknown?][] => [
  ['GET', `/v1/webhooks/${id}`],
  ['PATCH', `/v1/webhooks/${id}`, { description: 'Changed' }],
  ['POST', `/v1/webhooks/${id}/roll-secret`],
  ['DELETE', `/v1/webhooks/${id}`],
];
