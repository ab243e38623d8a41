import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Mode } from '@vestra/contract/route';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { newDeployment } from '../../agents/deployments/deployments.fixture.ts';
import type { DeploymentRow } from '../../agents/deployments/tables.ts';
import type { FileObjects } from '../../agents/versions/manifest.ts';
import { run } from '../../platform/db/query.ts';
import { sql } from '../../platform/db/sql.ts';
import { transaction } from '../../platform/db/transaction.ts';
import { replaceFileEndpoints } from './endpoints.ts';
import { signingSecrets } from './signatures.ts';
import { startWebhooks } from './webhooks.fixture.ts';

type Server = Awaited<ReturnType<typeof startWebhooks>>;
type Org = Awaited<ReturnType<Server['newOrg']>>;
type Declared = FileObjects['webhooks'];

let server: Server;
let org: Org;
let deployment: DeploymentRow;

beforeAll(async () => {
  server = await startWebhooks();
});
beforeEach(async () => {
  org = await server.newOrg();
  deployment = await newDeployment(server.db, org.id);
});
afterAll(() => server.stop());

const first: Declared[number] = { url: 'https://hooks.example.com/first', events: ['task.completed'] };
const second: Declared[number] = { url: 'https://hooks.example.com/second', events: ['*'], description: 'All' };

const replace = (declared: Declared, mode: Mode = 'test', of = deployment) =>
  transaction(server.db, (tx) => replaceFileEndpoints(tx, server.vault, { deployment: of, mode, declared }));
const listed = async (key = org.key) =>
  (await server.call('GET', '/v1/webhooks', { key })).body.data as Record<string, unknown>[];
const urls = async (key?: string) => (await listed(key)).map(({ url }) => url).sort();
const call = (method: string, id: unknown, { tail = '', ...options }: { tail?: string; body?: unknown } = {}) =>
  server.call(method, `/v1/webhooks/${id}${tail}`, { key: org.key, ...options });
/** Makes a change visible in `updated_at` even within the same millisecond. */
const age = () => run(server.db, sql`UPDATE webhook_endpoints SET updated_at = updated_at - interval '1 hour'`);

describe('an endpoint of a file', () => {
  it('shows that the file manages it, with its deployment [WHK-001, WHK-003, APPLY-011]', async () => {
    const made = await replace([first, second]);
    const endpoints = await listed();
    expect(endpoints).toEqual(
      [second, first].map(({ url, events, description = null }) => ({
        object: 'webhook_endpoint',
        id: made.find((each) => each.url === url)?.endpoint_id,
        url,
        events,
        description,
        active: true,
        mode: 'test',
        deployment_id: deployment.id,
        managed_by: 'file',
        created_at: expect.any(String),
        updated_at: expect.any(String),
      })),
    );
  });

  it('returns a secret for each new endpoint only', async () => {
    const [made] = await replace([first]);
    expect(made).toEqual({
      endpoint_id: expect.stringMatching(/^whk_/),
      mode: 'test',
      url: first.url,
      secret: expect.stringMatching(/^whsec_[A-Za-z0-9+/]{32}$/),
    });
    const place = { id: made?.endpoint_id as string, org_id: org.id, mode: 'test' as const };
    expect(await signingSecrets(server.db, server.vault, place)).toEqual([made?.secret]);
    expect((await replace([first, second])).map(({ url }) => url)).toEqual([second.url]);
    expect(await replace([second, first])).toEqual([]);
    expect(await signingSecrets(server.db, server.vault, place)).toEqual([made?.secret]);
  });

  it('changes in place where its URL was there before', async () => {
    await replace([second]);
    await age();
    const [before] = await listed();
    await replace([{ url: second.url, events: ['key.rolled', 'key.revoked'] }]);
    const [after] = await listed();
    expect(after).toEqual({
      ...before,
      events: ['key.rolled', 'key.revoked'],
      description: null,
      updated_at: expect.any(String),
    });
    expect(String(after?.updated_at) > String(before?.updated_at)).toBe(true);
  });

  it('keeps its time where nothing differs, an empty description counting as none', async () => {
    await replace([first]);
    await age();
    const before = await listed();
    await replace([{ ...first, description: '' }]);
    expect(await listed()).toEqual(before);
  });

  it('is switched on again by the next apply', async () => {
    const [made] = await replace([first]);
    await run(server.db, sql`UPDATE webhook_endpoints SET active = false WHERE id = ${made?.endpoint_id as string}`);
    await replace([first]);
    expect((await call('GET', made?.endpoint_id)).body.active).toBe(true);
  });

  it('takes URLs of every length that a file may have', async () => {
    const url = `https://hooks.example.com/${randomBytes(1011).toString('hex')}`;
    const declared = [url, `${url.slice(0, 1000)}${'ü'.repeat(1048)}`].map((each) => ({ ...first, url: each }));
    expect(declared.map((each) => each.url.length)).toEqual([2048, 2048]);
    expect(await replace(declared)).toHaveLength(2);
    expect(await replace(declared)).toEqual([]);
  });
});

describe('what a file no longer declares', () => {
  it('ends, and is a new endpoint when it comes back', async () => {
    const [made] = await replace([first, second]);
    await replace([second]);
    expect(await urls()).toEqual([second.url]);
    expect((await call('GET', made?.endpoint_id)).body.error.code).toBe('webhook_not_found');
    const [again] = await replace([first, second]);
    expect(again?.url).toBe(first.url);
    expect(again?.endpoint_id).not.toBe(made?.endpoint_id);
    expect(again?.secret).not.toBe(made?.secret);
    await replace([]);
    expect(await urls()).toEqual([]);
  });

  it('leaves alone the other mode, other deployments and endpoints of the API', async () => {
    const other = await newDeployment(server.db, org.id);
    const byHand = await server.call('POST', '/v1/webhooks', { key: org.key, body: first });
    expect(byHand.status).toBe(201);
    await replace([first]);
    await replace([first], 'live');
    await replace([first], 'test', other);
    expect([await urls(), await urls(org.liveKey)]).toEqual([[first.url, first.url, first.url], [first.url]]);
    await replace([]);
    const left = await listed();
    expect(left.map(({ deployment_id, managed_by }) => [deployment_id, managed_by])).toEqual([
      [other.id, 'file'],
      [null, null],
    ]);
    expect(left[1]?.id).toBe(byHand.body.id);
    expect(await urls(org.liveKey)).toEqual([first.url]);
  });

  it('goes with its deployment', async () => {
    await replace([first]);
    await run(server.db, sql`DELETE FROM deployments WHERE id = ${deployment.id}`);
    expect(await urls()).toEqual([]);
  });
});

describe('over the API', () => {
  it.each([
    ['PATCH', { active: false }],
    ['PATCH', { url: first.url }],
    ['PATCH', {}],
    ['DELETE', undefined],
  ])('%s %j answers 409 managed_by_file [WHK-025]', async (method, body) => {
    const [made] = await replace([first]);
    const before = await listed();
    const answer = await call(method, made?.endpoint_id, body && { body });
    expect([answer.status, answer.body.error.code]).toEqual([409, 'managed_by_file']);
    expect(await listed()).toEqual(before);
  });

  it('allows rolling its secret, which an apply keeps [WHK-012]', async () => {
    const [made] = await replace([first]);
    const rolled = await call('POST', made?.endpoint_id, { tail: '/roll-secret' });
    expect([rolled.status, rolled.body.managed_by]).toEqual([200, 'file']);
    expect(await replace([first])).toEqual([]);
    const place = { id: made?.endpoint_id as string, org_id: org.id, mode: 'test' as const };
    expect(await signingSecrets(server.db, server.vault, place)).toEqual([rolled.body.secret, made?.secret]);
  });

  it('is not visible to another org or in the other mode [TEN-004, TEN-011]', async () => {
    const [made] = await replace([first]);
    const other = await server.newOrg();
    for (const key of [other.key, org.liveKey]) {
      const answer = await server.call('DELETE', `/v1/webhooks/${made?.endpoint_id}`, { key });
      expect([answer.status, answer.body.error.code]).toEqual([404, 'webhook_not_found']);
    }
  });
});

describe('concurrent applies', () => {
  it('are serialised and create one endpoint for one URL', async () => {
    const written = Promise.withResolvers<void>();
    const release = Promise.withResolvers<void>();
    const earlier = transaction(server.db, async (tx) => {
      const made = await replaceFileEndpoints(tx, server.vault, { deployment, mode: 'test', declared: [first] });
      written.resolve();
      await release.promise;
      return made;
    });
    await written.promise;
    const later = replace([first, second]);
    // An apply that did not wait would be done by then.
    await Promise.race([later, sleep(500)]);
    release.resolve();
    expect((await earlier).map(({ url }) => url)).toEqual([first.url]);
    expect((await later).map(({ url }) => url)).toEqual([second.url]);
    expect(await urls()).toEqual([first.url, second.url]);
  });
});
