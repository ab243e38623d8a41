import { routes } from '@vestra/contract/api';
import { newId } from '@vestra/contract/ids';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { query } from '../support/database.ts';
import { makeOtherOrg } from '../support/other-org.ts';
import { type ApiResponse, startTestServer, type TestServer } from '../support/server.ts';

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer();
});
afterAll(() => server.stop());

const codeOf = ({ body }: ApiResponse) => body?.error?.code;
const make = (body: object, key?: string) => server.call('POST', '/v1/users', { body, ...(key && { key }) });
const get = (id: string, key?: string) => server.call('GET', `/v1/users/${encodeURIComponent(id)}`, key ? { key } : {});
const patch = (id: string, body: object) => server.call('PATCH', `/v1/users/${id}`, { body });

describe('creating a user', () => {
  it('shows every field [USR-001, USR-007, USR-008, USR-012, USR-013, USR-014, USR-015, USR-016, USR-019, USR-035]', async () => {
    const body = {
      user_id: 'ada',
      name: 'Ada',
      email: 'ada@example.com',
      locale: 'en-GB',
      timezone: 'Europe/London',
      metadata: { plan: { tier: 1 }, tags: ['a'] },
    };
    const made = await make(body);
    expect([made.status, made.body]).toEqual([
      200,
      {
        object: 'user',
        id: 'ada',
        name: 'Ada',
        email: 'ada@example.com',
        locale: 'en-GB',
        timezone: 'Europe/London',
        metadata: { plan: { tier: 1 }, tags: ['a'] },
        status: 'active',
        spend_cap_usd: null,
        monthly_cap_usd: null,
        default_deployment: null,
        memory_mode: 'vestra',
        is_service_user: false,
        created_at: expect.any(String),
        spend_today_usd: 0,
        spend_month_usd: 0,
        caps_remaining: { day_usd: 10, month_usd: null },
      },
    ]);
    expect((await get('ada')).body).toEqual(made.body);
  });

  it('changes nothing of one that is there [USR-017]', async () => {
    const first = await make({ user_id: 'twice', name: 'First' });
    expect((await make({ user_id: 'twice', name: 'Second' })).body).toEqual(first.body);
  });

  it('creates one user for concurrent calls, and emits one event [USR-034]', async () => {
    const answers = await Promise.all(Array.from({ length: 20 }, () => make({ user_id: 'rushed' })));
    expect(new Set(answers.map(({ text }) => text)).size).toBe(1);
    const events = await query(
      server.connectionString,
      `SELECT 1 FROM events WHERE type = 'user.created' AND data->>'id' = 'rushed'`,
    );
    expect(events).toHaveLength(1);
  });

  it.each([
    [{ user_id: '' }, 'invalid_request', 'user_id'],
    [{ user_id: 'a b' }, 'invalid_request', 'user_id'],
    [{ user_id: 'a'.repeat(129) }, 'invalid_request', 'user_id'],
    [{}, 'invalid_request', 'user_id'],
    [{ user_id: 'x', name: 'n'.repeat(201) }, 'invalid_request', 'name'],
    [{ user_id: 'x', email: 'nope' }, 'invalid_request', 'email'],
    [{ user_id: 'x', email: `${'a'.repeat(310)}@example.com` }, 'invalid_request', 'email'],
    [{ user_id: 'x', locale: 'x' }, 'invalid_language', 'locale'],
    [{ user_id: 'x', locale: 'no such tag' }, 'invalid_language', 'locale'],
    [{ user_id: 'x', timezone: 'Mars/Olympus' }, 'invalid_user_timezone', 'timezone'],
    [{ user_id: 'x', timezone: '+02:00' }, 'invalid_user_timezone', 'timezone'],
  ])('refuses %j [USR-002, USR-003, USR-004, USR-005, USR-033]', async (body, code, param) => {
    const answer = await make(body);
    expect([answer.status, codeOf(answer), answer.body.error.param]).toEqual([400, code, param]);
  });

  it('accepts the longest value of every field [USR-033]', async () => {
    const id = `${'a'.repeat(120)}._:@-1`;
    expect(
      (await make({ user_id: id, name: 'n'.repeat(200), timezone: 'America/Argentina/ComodRivadavia' })).status,
    ).toBe(200);
    expect((await get(id)).body.id).toBe(id);
  });
});

describe('changing a user', () => {
  it('changes the fields that are sent, and null clears them [USR-010, USR-020]', async () => {
    await make({ user_id: 'bo', name: 'Bo', metadata: { a: 1 } });
    const changed = await patch('bo', {
      name: null,
      locale: 'de',
      timezone: 'UTC',
      metadata: { b: 2 },
      spend_cap_usd: 5,
      monthly_cap_usd: 50,
    });
    expect(changed.body).toMatchObject({
      name: null,
      locale: 'de',
      timezone: 'UTC',
      metadata: { b: 2 },
      spend_cap_usd: 5,
      monthly_cap_usd: 50,
    });
    expect(changed.body.caps_remaining).toEqual({ day_usd: 5, month_usd: 50 });
    expect((await patch('bo', { spend_cap_usd: null })).body).toMatchObject({
      spend_cap_usd: null,
      monthly_cap_usd: 50,
    });
    expect((await patch('bo', {})).body.locale).toBe('de');
  });

  it.each([
    [{ spend_cap_usd: 100.5 }, 'cap_above_maximum', 'spend_cap_usd'],
    [{ spend_cap_usd: -1 }, 'invalid_request', 'spend_cap_usd'],
    [{ status: 'asleep' }, 'invalid_request', 'status'],
    [{ default_deployment: 'nothing' }, 'invalid_deployment', 'default_deployment'],
    [{ user_id: 'other' }, 'invalid_request', 'user_id'],
  ])('refuses %j [USR-009, USR-011]', async (body, code, param) => {
    await make({ user_id: 'cy' });
    const answer = await patch('cy', body);
    expect([answer.status, codeOf(answer), answer.body.error.param]).toEqual([400, code, param]);
  });

  it('writes an audit row [AUD-002]', async () => {
    await make({ user_id: 'audited' });
    await patch('audited', { name: 'Seen' });
    const { body } = await server.call('GET', '/v1/audit-log?action=user.updated');
    expect(body.data[0]).toMatchObject({ target: { type: 'user', id: 'audited' }, details: { changed: ['name'] } });
  });
});

describe('finding users', () => {
  it('lists them newest first by pages, filtered [USR-018, USR-032]', async () => {
    const before = new Date().toISOString();
    for (let at = 0; at < 5; at++)
      await make({ user_id: `listed-${at}`, email: at === 3 ? 'three@example.com' : null });
    await patch('listed-1', { status: 'disabled' });
    const ids = async (search: string) =>
      (await server.call('GET', `/v1/users?created_after=${before}&${search}`)).body.data.map(
        ({ id }: { id: string }) => id,
      );
    expect(await ids('')).toEqual(['listed-4', 'listed-3', 'listed-2', 'listed-1', 'listed-0']);
    expect(await ids('status=disabled')).toEqual(['listed-1']);
    expect(await ids('email=three@example.com')).toEqual(['listed-3']);
    const walked: string[] = [];
    for (let cursor: string | null = ''; cursor !== null; ) {
      const { body } = await server.call(
        'GET',
        `/v1/users?created_after=${before}&limit=2${cursor && `&cursor=${cursor}`}`,
      );
      walked.push(...body.data.map(({ id }: { id: string }) => id));
      cursor = body.next_cursor;
    }
    expect(walked).toEqual(await ids(''));
  });

  it('separates modes and orgs [USR-036, TEN-004, TEN-005, TEN-007]', async () => {
    await make({ user_id: 'apart', name: 'Test' });
    const other = await makeOtherOrg(server);
    for (const key of [server.liveKey, other]) {
      expect(codeOf(await get('apart', key))).toBe('user_not_found');
      expect((await server.call('GET', '/v1/users', { key })).text).not.toContain('"apart"');
    }
    await make({ user_id: 'apart', name: 'Live' }, server.liveKey);
    expect((await get('apart')).body.name).toBe('Test');
    for (const answer of [
      await get('nobody'),
      await patch('nobody', {}),
      await server.call('DELETE', '/v1/users/nobody'),
    ]) {
      expect([answer.status, codeOf(answer)]).toEqual([404, 'user_not_found']);
    }
  });
});

describe('erasing a user', () => {
  it('returns at once, and emits an event when all data is deleted [USR-021, USR-023]', async () => {
    await make({ user_id: 'leaving', email: 'leaving@example.com' });
    await server.call('PUT', '/v1/secrets/THEIRS', { body: { value: 'v', user_id: 'leaving' } });
    await query(
      server.connectionString,
      `INSERT INTO ledger_entries (id, transfer_id, org_id, mode, account, amount_micros, kind, quantity, unit, unit_price_micros, user_id)
       VALUES ('li_spent', 't', $1, 'test', 'spend', 5, 'tools', 1, 'calls', 5, 'leaving'), ('li_paid', 't', $1, 'test', 'wallet', -5, NULL, NULL, NULL, NULL, NULL)`,
      [server.orgId],
    );
    const asked = await server.call('DELETE', '/v1/users/leaving');
    expect([asked.status, asked.body]).toEqual([
      202,
      { object: 'user', id: 'leaving', deleted: false, status: 'deleting' },
    ]);
    expect(codeOf(await get('leaving'))).toBe('user_not_found');
    for (;;) {
      const told = await query(
        server.connectionString,
        `SELECT 1 FROM events WHERE type = 'user.deleted' AND data->>'id' = 'leaving'`,
      );
      if (told.length > 0) break;
      await new Promise((resolve) => setTimeout(resolve, 25));
    }
    const left = await query(
      server.connectionString,
      `SELECT id FROM users WHERE id = 'leaving' UNION ALL SELECT name FROM secrets WHERE user_id = 'leaving' UNION ALL SELECT id FROM ledger_entries WHERE user_id = 'leaving'`,
    );
    expect(left).toEqual([]);
    const spent = await query(server.connectionString, `SELECT user_id FROM ledger_entries WHERE id = 'li_spent'`);
    expect(spent).toEqual([{ user_id: 'unknown' }]);
  });

  it('refuses the id meanwhile, and frees it afterwards', async () => {
    await make({ user_id: 'again', name: 'Old' });
    await server.call('DELETE', '/v1/users/again');
    for (;;) {
      const made = await make({ user_id: 'again', name: 'New' });
      if (made.status === 200) {
        expect(made.body.name).toBe('New');
        return;
      }
      expect([made.status, codeOf(made)]).toEqual([403, 'user_disabled']);
      await new Promise((resolve) => setTimeout(resolve, 25));
    }
  });
});

describe('a user who was erased', () => {
  /** Other path parameters beside the user: well formed, but of things that do not exist. */
  const named: Record<string, string> = {
    user_id: 'eve',
    deployment_id: 'desk',
    version: '1',
    conversation_id: newId('conv'),
    interaction_id: newId('int'),
    task_id: newId('task'),
    name: 'NO_SUCH',
  };
  const queries: Record<string, string> = {
    'memory.search': 'q=a',
    'browser.cookies': 'domain=shop.example&names=a',
    'usage.lineItems': `task_id=${newId('task')}`,
  };
  const isMade = async () => (await query(server.connectionString, `SELECT id FROM users WHERE id = 'eve'`)).length > 0;
  const toldOf = async (type: string) =>
    (await query(server.connectionString, `SELECT 1 FROM events WHERE type = $1 AND data ->> 'id' = 'eve'`, [type]))
      .length;

  beforeAll(async () => {
    await server.call('PUT', '/v1/deployments/desk?promote=now', {
      body: { name: 'desk', browser: { allowed_domains: ['shop.example'] } },
    });
    await make({ user_id: 'eve' });
    await server.call('DELETE', '/v1/users/eve');
    await vi.waitFor(async () => expect(await isMade()).toBe(false), { timeout: 20_000 });
  });

  it('is brought back by no look and no deletion, on any route [USR-201]', async () => {
    const asked: string[] = [];
    for (const { name, route } of routes) {
      const takesUser = route.path.includes('{user_id}') || 'user_id' in (route.query?.shape ?? {});
      if (!takesUser || !['GET', 'DELETE'].includes(route.method)) continue;
      const path = route.path.replace(/\{(\w+)\}/g, (_, param: string) => named[param] ?? newId('mem'));
      const byQuery = route.path.includes('{user_id}') ? '' : 'user_id=eve';
      const search = [byQuery, queries[name] ?? ''].filter(Boolean).join('&');
      const answer = await server.call(route.method, `${path}?${search}`);
      // A query that is not understood would show nothing: what it needs belongs into the table above.
      expect([name, answer.status, codeOf(answer) ?? '']).not.toEqual([name, 400, expect.any(String)]);
      const wanted = route.path.includes('{user_id}') ? [name, 404, 'user_not_found'] : null;
      if (wanted) expect([name, answer.status, codeOf(answer)]).toEqual(wanted);
      expect([name, await isMade()]).toEqual([name, false]);
      asked.push(name);
    }
    expect(asked).toEqual(expect.arrayContaining(['memory.list', 'memory.deleteAll', 'browser.watch']));
    // The erasure has taken away what told of the first making.
    expect([await toldOf('user.created'), await toldOf('user.deleted')]).toEqual([0, 1]);
  });

  it.each([
    ['/v1/conversations', { user_id: 'eve', deployment: 'nowhere', message: 'Hello' }],
    ['/v1/conversations', { user_id: 'eve', message: 'Hello', attachments: [{ file_id: newId('file') }] }],
    ['/v1/sessions', { user_id: 'eve', memory: true }],
    ['/v1/memory', { user_id: 'eve', text: 'My card is 4111 1111 1111 1111' }],
    ['/v1/connections', { user_id: 'eve', app: 'nowhere' }],
    ['/v1/routines', { user_id: 'eve', ask: 'Look.', every: 'now and then' }],
    ['/v1/users/eve/browser/fetch', { url: 'https://elsewhere.example/' }],
    ['/v1/users/eve/browser/fetch', { url: 'https://shop.example/', capture: [{ match: '/(/' }] }],
    ['/v1/users/eve/browser/fetch', { tab: 'tab_1' }],
    ['/v1/users/eve/warm', { keep_ms: 1 }],
  ])('is brought back by no call that is refused: %s %j [USR-202]', async (path, body) => {
    const answer = await server.call('POST', path, { body });
    expect([answer.status >= 400 && answer.status < 500, codeOf(answer)]).toEqual([true, expect.any(String)]);
    expect(await isMade()).toBe(false);
  });
});

describe('a look at a browser that wakes it', () => {
  it.each(['screenshot', 'browser/cookies?domain=shop.example&names=a', 'browser/watch'])(
    '%s: is not caused by a link on another site [MBR-203]',
    async (what) => {
      const login = await server.call('POST', '/v1/console/login', { key: null, body: server.owner });
      const cookie = (login.headers.get('set-cookie') ?? '').split(';', 1)[0] as string;
      const look = async (headers: Record<string, string>) =>
        codeOf(await server.call('GET', `/v1/users/nobody/${what}`, { key: null, headers: { cookie, ...headers } }));
      expect(await look({})).toBe('csrf_required');
      expect(await look({ 'sec-fetch-site': 'cross-site' })).toBe('csrf_required');
      expect(await look({ 'sec-fetch-site': 'none' })).toBe('csrf_required');
      expect(await look({ 'sec-fetch-site': 'same-origin' })).toBe('user_not_found');
      expect(await look({ 'x-csrf-token': login.body.csrf_token })).toBe('user_not_found');
    },
  );
});
