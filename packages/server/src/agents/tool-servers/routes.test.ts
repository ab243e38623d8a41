import { newId } from '@vestra/contract/ids';
import { reservedServerSlugs } from '@vestra/contract/reserved-names';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { auditEntries } from '../../../../../tests/support/audit-entries.ts';
import { startMcpServers } from './mcp-servers.fixture.ts';

let server: Awaited<ReturnType<typeof startMcpServers>>;
let org: Awaited<ReturnType<typeof server.newOrg>>;
beforeAll(async () => {
  server = await startMcpServers();
});
beforeEach(async () => {
  org = await server.newOrg();
});
afterAll(() => server.stop());

const shop = { name: 'Shop', slug: 'shop', url: 'https://mcp.example.com/mcp' };
const create = (body: object, key = org.testKey) => server.call('POST', '/v1/mcp-servers', { key, body });
const newServer = async (more: object = {}) => (await create({ ...shop, ...more })).body;
const change = (id: string, body: object, key = org.testKey) =>
  server.call('PATCH', `/v1/mcp-servers/${id}`, { key, body });
const get = (id: string, key = org.testKey) => server.call('GET', `/v1/mcp-servers/${id}`, { key });
const auditOf = (targetId: string) => auditEntries(server.db, { orgId: org.id, targetId });
const refused = (code: string, param?: string, status = 400) => ({
  status,
  body: { error: { code, ...(param && { param }) } },
});

describe('creating a tool server', () => {
  it('returns the server, which is readable in both modes [MCPS-001, MCPS-014, MCPS-015]', async () => {
    const { status, body } = await create({
      ...shop,
      auth: { type: 'headers', headers: { Authorization: 'Bearer ${TOKEN}' } },
      tools: { deny: ['wipe'], require_approval: ['refund'] },
    });
    expect(status).toBe(201);
    expect(body).toEqual({
      object: 'mcp_server',
      id: expect.stringMatching(/^mcp_[0-9a-z]{24}$/),
      ...shop,
      auth: { type: 'headers', headers: { Authorization: 'Bearer ${secret:TOKEN}' } },
      tools: { deny: ['wipe'], require_approval: ['refund'] },
      sampling: false,
      secrets: ['TOKEN'],
      user_secrets: [],
      created_at: expect.any(String),
      updated_at: body.created_at,
    });
    for (const key of [org.testKey, org.liveKey]) expect((await get(body.id, key)).body).toEqual(body);
    expect(await auditOf(body.id)).toMatchObject([{ action: 'mcp_server.created', details: { slug: 'shop' } }]);
  });

  it('defaults to no auth and no tool rules [MCPS-007, MCPS-010]', async () => {
    const made = { auth: { type: 'none' }, tools: { deny: [], require_approval: [] }, secrets: [], user_secrets: [] };
    expect(await newServer()).toMatchObject(made);
    expect(await newServer({ slug: 'two', auth: { type: 'none' }, tools: {} })).toMatchObject(made);
    expect(await newServer({ slug: 'three', auth: { type: 'headers', headers: {} } })).toMatchObject(made);
  });

  it.each([undefined, '', 'Shop', '1shop', '-shop', 'sh_op', 'a'.repeat(41), 7])(
    'refuses the slug %j [MCPS-002]',
    async (slug) => {
      expect(await create({ ...shop, slug })).toMatchObject(refused('invalid_request', 'slug'));
    },
  );

  it('accepts a slug of 1 and of 40 characters [MCPS-002]', async () => {
    for (const slug of ['a', `a${'-1'.repeat(19)}z`]) expect((await create({ ...shop, slug })).status).toBe(201);
  });

  it('refuses reserved slugs [MCPS-003, MCPS-022]', async () => {
    const own = ['browser-control', 'os-hands', 'memory-keeper', 'app-connector'];
    for (const slug of own)
      expect(await create({ ...shop, slug })).toMatchObject(refused('tool_name_reserved', 'slug'));
    expect([...reservedServerSlugs].sort()).toEqual(own.toSorted());
    expect((await create({ ...shop, slug: 'browser-control-2' })).status).toBe(201);
  });

  it('refuses a slug that another server of the org has [MCPS-023]', async () => {
    await newServer();
    expect(await create({ ...shop, url: 'https://other.example.com' })).toMatchObject(
      refused('slug_taken', 'slug', 409),
    );
    const other = await server.newOrg();
    expect((await create(shop, other.testKey)).status).toBe(201);
  });

  it('creates one server for two concurrent requests with one slug [MCPS-023]', async () => {
    const answers = await Promise.all(Array.from({ length: 6 }, () => create(shop)));
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 409, 409, 409, 409, 409]);
  });

  it('creates one server per Idempotency-Key', async () => {
    const options = { key: org.testKey, body: shop, headers: { 'idempotency-key': 'k1' } };
    const first = await server.call('POST', '/v1/mcp-servers', options);
    const second = await server.call('POST', '/v1/mcp-servers', options);
    expect([second.text, second.headers.get('idempotent-replayed')]).toEqual([first.text, 'true']);
  });

  it.each([undefined, '', 'x'.repeat(81), 7])('refuses the name %j [MCPS-004]', async (name) => {
    expect(await create({ ...shop, name })).toMatchObject(refused('invalid_request', 'name'));
    expect((await create({ ...shop, name: '😀'.repeat(80) })).status).toBe(201);
  });

  it.each([
    undefined,
    '',
    'mcp.example.com',
    'ftp://mcp.example.com',
    'http://mcp.example.com/mcp',
    'https://intranet/mcp',
    `https://mcp.example.com/${'a'.repeat(2025)}`,
  ])('refuses the URL %s [MCPS-005]', async (url) => {
    expect(await create({ ...shop, url })).toMatchObject(refused('invalid_request', 'url'));
  });

  it('accepts a URL of 2048 characters in any script [MCPS-005]', async () => {
    const url = `https://mcp.example.com/${'a'.repeat(2024)}`;
    expect(await newServer({ url })).toMatchObject({ url });
    const far = `https://mcp.example.com/${'路'.repeat(1000)}`;
    expect(await newServer({ slug: 'far', url: far })).toMatchObject({ url: far });
  });

  it.each([
    'http://127.0.0.1:9000/mcp',
    'https://10.0.0.1/mcp',
    'https://localhost/mcp',
    'https://169.254.169.254/mcp',
  ])('refuses the private address %s [MCPS-031]', async (url) => {
    expect(await create({ ...shop, url })).toMatchObject(refused('invalid_request', 'url'));
  });

  it.each([
    'https://user:hunter2@mcp.example.com/mcp',
    'https://user@mcp.example.com/mcp',
    'https://mcp.example.com/mcp?key=hunter2',
    'https://mcp.example.com/mcp?region=eu&api_key=hunter2',
    'https://mcp.example.com/mcp?accessToken=hunter2',
    'https://mcp.example.com/mcp?client-secret=hunter2',
    'https://mcp.example.com/mcp?PASSWORD=hunter2',
    'https://mcp.example.com/mcp?auth=hunter2',
    'http://user:hunter2@127.0.0.1/mcp',
  ])('refuses the credential in %s and does not repeat it [MCPS-006, MCPS-024]', async (url) => {
    const answer = await create({ ...shop, url });
    expect(answer).toMatchObject(refused('secret_in_url', 'url'));
    expect(answer.text).not.toContain('hunter2');
  });

  it('accepts a query without a credential [MCPS-024]', async () => {
    const url = 'https://mcp.example.com/mcp?author=ada&monkey=yes&region=eu';
    expect(await newServer({ url })).toMatchObject({ url });
  });
});

describe('headers of a tool server', () => {
  const withHeaders = (headers: object) => create({ ...shop, auth: { type: 'headers', headers } });

  it('show secret references, and the server lists their names [MCPS-008, MCPS-012]', async () => {
    const { body } = await withHeaders({
      Authorization: 'Bearer ${TOKEN}',
      'X-Pair': '${secret:USER}:${PASS}:${TOKEN}',
      'X-Own': 'a ${user_secret:MINE} b',
      'X-Region': 'eu',
    });
    expect(body).toMatchObject({
      auth: {
        type: 'headers',
        headers: {
          Authorization: 'Bearer ${secret:TOKEN}',
          'X-Pair': '${secret:USER}:${secret:PASS}:${secret:TOKEN}',
          'X-Own': 'a ${user_secret:MINE} b',
          'X-Region': 'eu',
        },
      },
      secrets: ['TOKEN', 'USER', 'PASS'],
      user_secrets: ['MINE'],
    });
    expect(Object.keys(body.auth.headers)).toEqual(['Authorization', 'X-Pair', 'X-Own', 'X-Region']);
    const again = await change(body.id, { auth: body.auth });
    expect(again.body).toEqual(body);
  });

  it.each([
    'Authorization',
    'authorization',
    'Proxy-Authorization',
    'Cookie',
    'X-Api-Key',
    'apikey',
    'X-Auth-Token',
    'X-Client-Secret',
  ])('refuse a raw credential in %s and do not repeat it [MCPS-009, MCPS-025]', async (name) => {
    for (const value of ['Bearer hunter2', 'hunter2 ${token}', 'hunter2 $TOKEN']) {
      const answer = await withHeaders({ 'X-Region': 'eu', [name]: value });
      expect(answer).toMatchObject(refused('raw_secret_in_header', `auth.headers.${name}`));
      expect(answer.text).not.toContain('hunter2');
    }
    expect((await withHeaders({ [name]: 'Bearer ${TOKEN}' })).status).toBe(201);
  });

  it('without a credential are stored unchanged [MCPS-026]', async () => {
    const headers = { 'X-Region': 'eu', 'X-Monkey': 'yes', 'X-Author': 'ada' };
    expect((await withHeaders(headers)).body.auth).toEqual({ type: 'headers', headers });
  });

  it.each([
    [{ 'X Region': 'eu' }, 'auth.headers'],
    [{ 'X-Region': '' }, 'auth.headers.X-Region'],
    [{ 'X-Region': 'eu\r\nX-Admin: 1' }, 'auth.headers.X-Region'],
    [{ 'X-Region': 'eu', 'x-region': 'us' }, 'auth.headers.x-region'],
  ])('refuse %j', async (headers, param) => {
    const answer = await withHeaders(headers);
    expect(answer).toMatchObject(refused('invalid_request'));
    expect(answer.body.error.param).toContain(param);
  });

  it.each([{ type: 'basic' }, { type: 'headers' }, { type: 'none', headers: {} }, 'none'])(
    'have one of two forms, not %j [MCPS-007]',
    async (auth) => {
      expect(await create({ ...shop, auth })).toMatchObject(refused('invalid_request'));
    },
  );
});

describe('the tool rules of a server', () => {
  it('accept at most 200 names each [MCPS-010]', async () => {
    const names = Array.from({ length: 201 }, (_, at) => `tool_${at}`);
    const most = { deny: names.slice(1), require_approval: names.slice(1) };
    expect((await newServer({ tools: most })).tools).toEqual(most);
    for (const list of ['deny', 'require_approval']) {
      const answer = await create({ ...shop, slug: 'other', tools: { [list]: names } });
      expect(answer).toMatchObject(refused('invalid_request', `tools.${list}`));
    }
  });

  it('remove repeated names', async () => {
    expect((await newServer({ tools: { deny: ['b', 'a', 'b'] } })).tools.deny).toEqual(['b', 'a']);
  });

  it('are replaced list by list, and an omitted list stays [MCPS-017]', async () => {
    const { id } = await newServer({ tools: { deny: ['a'], require_approval: ['b', 'c'] } });
    expect((await change(id, { tools: { deny: ['x', 'y'] } })).body.tools).toEqual({
      deny: ['x', 'y'],
      require_approval: ['b', 'c'],
    });
    expect((await change(id, { tools: { require_approval: [] } })).body.tools).toEqual({
      deny: ['x', 'y'],
      require_approval: [],
    });
    expect((await change(id, { tools: {} })).body.tools).toEqual({ deny: ['x', 'y'], require_approval: [] });
  });
});

describe('changing a tool server', () => {
  it('accepts name, url, auth and tools for both modes and writes an audit entry [MCPS-016]', async () => {
    const made = await newServer();
    const changes = {
      name: 'Store',
      url: 'https://store.example.com/mcp',
      auth: { type: 'headers', headers: { 'X-Api-Key': '${KEY}' } },
      tools: { deny: ['wipe'] },
    };
    const { status, body } = await change(made.id, changes);
    expect(status).toBe(200);
    expect(body).toMatchObject({
      ...made,
      ...changes,
      auth: { type: 'headers', headers: { 'X-Api-Key': '${secret:KEY}' } },
      tools: { deny: ['wipe'], require_approval: [] },
      secrets: ['KEY'],
      updated_at: expect.any(String),
    });
    expect(body.updated_at > made.updated_at).toBe(true);
    expect((await get(made.id, org.liveKey)).body).toEqual(body);
    expect((await auditOf(made.id)).at(-1)).toMatchObject({
      action: 'mcp_server.updated',
      details: { changed: ['name', 'url', 'headers', 'deny'] },
    });
    expect((await change(made.id, { auth: { type: 'none' } })).body).toMatchObject({
      auth: { type: 'none' },
      secrets: [],
    });
  });

  it('to the current values has no effect', async () => {
    const made = await newServer({ tools: { deny: ['a'] } });
    const same = { name: made.name, url: made.url, auth: made.auth, tools: made.tools };
    for (const body of [{}, same]) expect((await change(made.id, body)).body).toEqual(made);
    expect(await auditOf(made.id)).toHaveLength(1);
  });

  it('has the same rules as creating', async () => {
    const { id } = await newServer();
    const raw = { type: 'headers', headers: { Cookie: 'session=hunter2' } };
    expect(await change(id, { auth: raw })).toMatchObject(refused('raw_secret_in_header', 'auth.headers.Cookie'));
    expect(await change(id, { url: 'https://x.example.com?token=1' })).toMatchObject(refused('secret_in_url', 'url'));
    expect(await change(id, { url: 'https://10.0.0.1' })).toMatchObject(refused('invalid_request', 'url'));
    expect(await change(id, { slug: 'other' })).toMatchObject(refused('invalid_request', 'slug'));
    expect((await get(id)).body).toMatchObject(shop);
  });
});

describe('an unknown tool server', () => {
  it('answers 404 on every route, also in another org [MCPS-030]', async () => {
    const other = await server.newOrg();
    const { id } = (await create(shop, other.testKey)).body;
    for (const missing of [newId('mcp'), id, 'mcp_x', 'shop']) {
      const path = `/v1/mcp-servers/${missing}`;
      const answers = [
        await get(missing),
        await change(missing, { name: 'x' }),
        await change(missing, {}),
        await server.call('DELETE', path, { key: org.liveKey }),
        await server.call('POST', `${path}/check`, { key: org.testKey }),
      ];
      for (const answer of answers) expect(answer).toMatchObject(refused('mcp_server_not_found', undefined, 404));
    }
    expect((await get(id, other.testKey)).status).toBe(200);
  });
});

describe('listing tool servers', () => {
  it('returns the servers of the org in pages, newest first, in both modes [MCPS-013]', async () => {
    const other = await server.newOrg();
    await create(shop, other.testKey);
    const ids: string[] = [];
    for (const slug of ['a', 'b', 'c', 'd', 'e']) ids.unshift((await newServer({ slug })).id);
    for (const key of [org.testKey, org.liveKey]) {
      const seen: string[] = [];
      for (let cursor: string | null = ''; cursor !== null; ) {
        const query: string = cursor && `&cursor=${cursor}`;
        const { body } = await server.call('GET', `/v1/mcp-servers?limit=2${query}`, { key });
        seen.push(...body.data.map(({ id }: { id: string }) => id));
        cursor = body.next_cursor;
      }
      expect(seen).toEqual(ids);
    }
  });
});

describe('removing a tool server', () => {
  it('deletes the server and frees its slug [MCPS-018]', async () => {
    const { id } = await newServer();
    const gone = await server.call('DELETE', `/v1/mcp-servers/${id}`, { key: org.testKey });
    expect(gone).toMatchObject({ status: 200, body: { object: 'mcp_server', id, deleted: true } });
    expect(await get(id)).toMatchObject(refused('mcp_server_not_found', undefined, 404));
    expect((await auditOf(id)).at(-1)).toMatchObject({ action: 'mcp_server.deleted', details: { slug: 'shop' } });
    expect((await create(shop)).status).toBe(201);
  });
});
