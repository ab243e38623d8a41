import { newId } from '@vestra/contract/ids';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startWebhooks } from '../../automation/webhooks/webhooks.fixture.ts';
import { emit } from './emit.ts';
import { someTask } from './events.fixture.ts';

type Server = Awaited<ReturnType<typeof startWebhooks>>;
type Org = Awaited<ReturnType<Server['newOrg']>>;
type Listed = { id: string; type: string; created_at: string; data: { id: string } };

let server: Server;
let org: Org;

beforeAll(async () => {
  server = await startWebhooks();
  org = await server.newOrg();
});
afterAll(() => server.stop());

const list = (search = '', key = org.key) => server.call('GET', `/v1/events${search}`, { key });
const makeKey = async (key = org.key) =>
  (await server.call('POST', '/v1/keys', { key, body: { name: 'made', scopes: ['runtime'] } })).body;

describe('GET /v1/events', () => {
  it('lists events in the envelope of a delivery, even if no endpoint listens [WHK-026, WHK-027]', async () => {
    const { key: secret, ...made } = await makeKey();
    const { status, body, text } = await list('?limit=1');
    expect([status, body.data]).toEqual([
      200,
      [
        {
          id: expect.stringMatching(/^evt_[0-9a-z]{24}$/),
          object: 'event',
          type: 'key.created',
          created_at: expect.any(String),
          mode: 'test',
          org_id: org.id,
          data: made,
        },
      ],
    ]);
    expect(Object.keys(body.data[0])).toEqual(['id', 'object', 'type', 'created_at', 'mode', 'org_id', 'data']);
    expect(text).not.toContain(secret);
    const { data: keys } = (await server.call('GET', '/v1/keys?limit=100', { key: org.key })).body;
    expect(keys).toContainEqual(body.data[0].data);
  });

  it('includes the extra fields of a type beside the resource [WHK-027]', async () => {
    const data = { ...someTask(), reason: 'max_budget', message: null };
    const id = await emit(server.db, { orgId: org.id, mode: 'test', type: 'task.stopped', data });
    expect((await list('?type=task.stopped')).body.data.map((event: Listed) => [event.id, event.data])).toEqual([
      [id, data],
    ]);
  });

  it('pages through every event once, newest first [WHK-016]', async () => {
    const own = await server.newOrg();
    const made: string[] = [];
    for (let count = 0; count < 5; count++) made.unshift((await makeKey(own.key)).id);
    const pages = await allPages('', own.key);
    expect(pages.map((page) => page.length)).toEqual([2, 2, 2]);
    const seen = pages.flat();
    // The first event of an org is that of its test key.
    expect(seen.slice(0, 5).map(({ data }) => data.id)).toEqual(made);
    expect(new Set(seen.map(({ id }) => id)).size).toBe(6);
  });

  it('filters by type on every page [WHK-016]', async () => {
    const own = await server.newOrg();
    const made: string[] = [];
    for (let count = 0; count < 3; count++) {
      const { id } = await makeKey(own.key);
      await server.call('POST', `/v1/keys/${id}/roll`, { key: own.key, body: {} });
      made.unshift(id);
    }
    const rolled = (await allPages('&type=key.rolled', own.key)).flat();
    expect(rolled.map(({ type, data }) => [type, data.id])).toEqual(made.map((id) => ['key.rolled', id]));
    expect((await list('?type=user.deleted', own.key)).body).toEqual({ data: [], next_cursor: null });
  });

  it.each(['reply.delta', 'key.melted', '*', ''])('refuses the type %j [WHK-016]', async (type) => {
    const { status, body } = await list(`?type=${encodeURIComponent(type)}`);
    expect([status, body.error.code, body.error.param]).toEqual([400, 'invalid_query', 'type']);
  });

  async function allPages(search: string, key: string): Promise<Listed[][]> {
    const pages: Listed[][] = [];
    let cursor: string | null = '';
    while (cursor !== null) {
      const { body }: { body: { data: Listed[]; next_cursor: string | null } } = await list(
        `?limit=2${search}${cursor && `&cursor=${cursor}`}`,
        key,
      );
      pages.push(body.data);
      cursor = body.next_cursor;
    }
    return pages;
  }
});

describe('GET /v1/events/{id}', () => {
  it('returns the event as the list shows it [WHK-017]', async () => {
    await makeKey();
    const [newest] = (await list('?limit=1')).body.data;
    const { status, body } = await server.call('GET', `/v1/events/${newest.id}`, { key: org.key });
    expect([status, body]).toEqual([200, newest]);
  });

  it.each([newId('evt'), newId('key'), 'evt_1', 'x'])('returns 404 for %s [WHK-032]', async (id) => {
    const { status, body } = await server.call('GET', `/v1/events/${id}`, { key: org.key });
    expect([status, body.error.code]).toEqual([404, 'event_not_found']);
  });
});

describe('access to events', () => {
  it('denies events of another org and of the other mode [TEN-004, TEN-005, TEN-011]', async () => {
    const [own, other] = [await server.newOrg(), await server.newOrg()];
    await makeKey(own.key);
    const [event] = (await list('?limit=1', own.key)).body.data;
    for (const key of [other.key, own.liveKey]) {
      const { status, body } = await server.call('GET', `/v1/events/${event.id}`, { key });
      expect([status, body.error.code]).toEqual([404, 'event_not_found']);
      const listed = (await list('?limit=100', key)).body.data;
      expect(listed.length).toBeGreaterThan(0);
      expect(listed.map(({ id }: Listed) => id)).not.toContain(event.id);
    }
    expect((await list('?limit=100', own.liveKey)).body.data.map(({ mode }: { mode: string }) => mode)).toEqual([
      'live',
    ]);
  });

  it('requires scope runtime or all [WHK-018]', async () => {
    const [setup, runtime] = [await org.newKey('test', ['setup', 'admin']), await org.newKey('test', ['runtime'])];
    const [event] = (await list('?limit=1', runtime)).body.data;
    for (const path of ['/v1/events', `/v1/events/${event.id}`]) {
      expect((await server.call('GET', path, { key: runtime })).status).toBe(200);
      const { status, body } = await server.call('GET', path, { key: setup });
      expect([status, body.error.code]).toEqual([403, 'scope_missing']);
    }
  });
});
