import type { Mode } from '@vestra/contract/route';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { signingSecrets } from '../../automation/webhooks/signatures.ts';
import { sql } from '../../platform/db/sql.ts';
import { type Org, rowsOf, startApply } from '../apply.fixture.ts';

let server: Awaited<ReturnType<typeof startApply>>;
let org: Org;

beforeAll(async () => {
  server = await startApply();
  org = await server.newOrg();
});

afterAll(() => server.stop());

const put = (name: string, number: number, mode: Mode, promote: string, more: object = {}) =>
  org.put({ name, instructions: `${number}.`, ...more }, { mode, promote });
const promote = (name: string, mode: Mode, body: object = {}) =>
  org.call('POST', `/v1/deployments/${name}/promote`, { mode, body });
const rollback = (name: string) => org.call('POST', `/v1/deployments/${name}/rollback`, { mode: 'live' });

describe('routines and endpoints of a file', () => {
  const one = {
    routines: [
      { ask: 'Report.', every: 'day at 08:00', for: ['ann', 'bob'] },
      { name: 'Sweep', ask: 'Sweep.', every: '30 minutes' },
    ],
  };
  const two = { routines: [{ name: 'Sweep', ask: 'Sweep well.', every: '60 minutes' }] };
  const hook = (path: string) => ({ url: `https://hooks.example.com/${path}`, events: '*' });
  type Alive = { id: string; name: string; user_id: string | null; ask: string };
  const routines = async (id: string, mode: Mode) =>
    rowsOf<Alive>(
      server.db,
      sql`SELECT id, name, user_id, ask FROM routines
        WHERE deployment_id = ${id} AND mode = ${mode} AND managed_by = 'file' ORDER BY name, user_id`,
    );
  const endpoints = async (id: string, mode: Mode): Promise<{ id: string; url: string }[]> => {
    const { body } = await org.call('GET', '/v1/webhooks?limit=100', { mode });
    const own = body.data.filter(
      ({ deployment_id, active }: { deployment_id: string; active: boolean }) => deployment_id === id && active,
    );
    return own.sort((a: { url: string }, b: { url: string }) => a.url.localeCompare(b.url));
  };
  const alive = async (id: string, mode: Mode) => [
    (await routines(id, mode)).map(({ name, user_id }) => `${name} ${user_id ?? ''}`),
    (await endpoints(id, mode)).map(({ url }) => url.split('/').at(-1)),
  ];

  it('are created in a mode with the version that it runs, and deleted with it [APPLY-010, APPLY-026, APPLY-027]', async () => {
    const { body } = await put('alive', 1, 'test', 'no', { ...one, webhooks: [hook('a'), hook('b')] });
    const { id } = body;
    const first = [
      ['Report. ann', 'Report. bob', 'Sweep '],
      ['a', 'b'],
    ];
    const second = [['Sweep '], ['b', 'c']];
    expect(await alive(id, 'test')).toEqual(first);
    expect(await alive(id, 'live')).toEqual([[], []]);
    await promote('alive', 'live');
    expect(await alive(id, 'live')).toEqual(first);
    await put('alive', 2, 'test', 'no', { ...two, webhooks: [hook('b'), hook('c')] });
    expect(await alive(id, 'test')).toEqual(second);
    expect(await alive(id, 'live')).toEqual(first);
    await promote('alive', 'live');
    expect(await alive(id, 'live')).toEqual(second);
    await rollback('alive');
    expect(await alive(id, 'live')).toEqual(first);
    await promote('alive', 'test', { version: 1 });
    expect(await alive(id, 'test')).toEqual(first);
    await put('alive', 3, 'live', 'now');
    expect([await alive(id, 'test'), await alive(id, 'live')]).toEqual([
      [[], []],
      [[], []],
    ]);
  });

  it('are changed if the name stays, not created again [DFILE-037]', async () => {
    const { body } = await put('kept', 1, 'test', 'no', { ...one, webhooks: [hook('a')] });
    const [before] = (await routines(body.id, 'test')).filter(({ name }) => name === 'Sweep');
    const [endpoint] = await endpoints(body.id, 'test');
    await put('kept', 2, 'test', 'no', { ...two, webhooks: [hook('a')] });
    const [after] = await routines(body.id, 'test');
    expect(after).toMatchObject({ id: before?.id, ask: 'Sweep well.' });
    expect((await endpoints(body.id, 'test'))[0]?.id).toBe(endpoint?.id);
  });

  it('are managed by the file, and the request that creates an endpoint shows its secret [APPLY-011, APPLY-028]', async () => {
    const made = await put('shown', 1, 'test', 'no', { webhooks: [hook('a'), hook('b')] });
    const urls = ({ body }: typeof made) =>
      body.webhook_secrets.map(({ url }: { url: string }) => url.split('/').at(-1));
    expect(urls(made)).toEqual(['a', 'b']);
    const ids = (await endpoints(made.body.id, 'test')).map(({ id }) => id);
    expect((await org.call('GET', `/v1/webhooks/${ids[0]}`)).body).toMatchObject({
      managed_by: 'file',
      deployment_id: made.body.id,
      mode: 'test',
      events: ['*'],
    });
    expect(made.body.webhook_secrets.map(({ endpoint_id }: { endpoint_id: string }) => endpoint_id).sort()).toEqual(
      ids.sort(),
    );
    expect(urls(await put('shown', 1, 'test', 'no', { webhooks: [hook('a'), hook('b')] }))).toEqual([]);
    expect(urls(await put('shown', 2, 'test', 'no', { webhooks: [hook('b'), hook('c')] }))).toEqual(['c']);
    expect(urls(await put('shown', 3, 'live', 'now', { webhooks: [hook('c'), hook('d')] }))).toEqual(['d', 'c', 'd']);
  });

  type Shown = { endpoint_id: string; url: string; mode: Mode; secret: string };
  const secretsOf = ({ body }: { body: { webhook_secrets: Shown[] } }) =>
    body.webhook_secrets.map(({ url, mode }) => `${mode} ${url.split('/').at(-1)}`);
  const inLive = (id: string) => org.call('GET', `/v1/webhooks/${id}`, { mode: 'live' });
  const isSignedBy = async (endpointId: string, mode: Mode) =>
    signingSecrets(server.db, server.dependencies.vault, { id: endpointId, org_id: org.id, mode });

  it('show the secret of the live endpoint to the live key that saves it, before it is live [VER-720]', async () => {
    const tests = [{ name: 'Greets', ask: 'Hello?', expect: 'It greets.' }];
    for (const when of ['no', 'after_tests']) {
      const name = `early-${when.slice(0, 2)}`;
      const saved = await put(name, 1, 'live', when, { tests, webhooks: [hook('a')] });
      expect(secretsOf(saved)).toEqual(['test a', 'live a']);
      const { endpoint_id, secret } = saved.body.webhook_secrets[1];
      expect((await inLive(endpoint_id)).body).toMatchObject({ mode: 'live', active: false, managed_by: 'file' });
      const promoted = await promote(name, 'live', { when: 'now' });
      expect(secretsOf(promoted)).toEqual([]);
      expect((await inLive(endpoint_id)).body).toMatchObject({ active: true });
      expect(await isSignedBy(endpoint_id, 'live')).toEqual([secret]);
    }
    // A version that a test key saved shows its secret when a live key asks for the promotion.
    const tested = await put('late', 1, 'test', 'no', { tests, webhooks: [hook('a')] });
    expect(secretsOf(tested)).toEqual(['test a']);
    expect(secretsOf(await promote('late', 'live'))).toEqual(['live a']);
    expect(secretsOf(await promote('late', 'live'))).toEqual([]);
    // An endpoint of a version that never went live goes with the version.
    await put('late', 2, 'live', 'now');
    const { body } = await org.call('GET', '/v1/webhooks?limit=100', { mode: 'live' });
    expect(
      body.data.filter(({ deployment_id }: { deployment_id: string }) => deployment_id === tested.body.id),
    ).toEqual([]);
  });

  it('come back with a rollback, with their id and secret [VER-721]', async () => {
    const first = await put('again', 1, 'live', 'now', { webhooks: [hook('a'), hook('b')] });
    const [, , made] = first.body.webhook_secrets;
    expect(made).toMatchObject({ mode: 'live', url: hook('a').url });
    await put('again', 2, 'live', 'now', { webhooks: [hook('b')] });
    expect((await inLive(made.endpoint_id)).body.active).toBe(false);
    // A test key that drops it from the draft does not drop it from the live versions.
    await put('again', 3, 'test', 'now');
    expect(secretsOf(await rollback('again'))).toEqual([]);
    expect((await inLive(made.endpoint_id)).body).toMatchObject({ active: true, url: made.url });
    expect(await isSignedBy(made.endpoint_id, 'live')).toEqual([made.secret]);
  });

  it('sign with the secret that the file names, in each mode its own [VER-722]', async () => {
    const store = (name: string, value: string, mode: Mode) => server.storeSecret({ orgId: org.id, mode }, name, value);
    const [ofTest, ofLive, other] = [1, 2, 3].map((byte) => `whsec_${Buffer.alloc(24, byte).toString('base64')}`);
    const named = { ...hook('a'), secret: '${HOOK_SECRET}' };
    const missing = await put('named', 1, 'test', 'no', { webhooks: [named] });
    expect([missing.status, missing.body.error.code, missing.body.error.names]).toEqual([
      ...[400, 'secret_missing', ['HOOK_SECRET']],
    ]);
    await store('HOOK_SECRET', 'short', 'test');
    const weak = await put('named', 1, 'test', 'no', { webhooks: [named] });
    expect([weak.body.error.code, weak.body.error.param]).toEqual(['invalid_manifest', 'webhooks.0.secret']);
    await store('HOOK_SECRET', ofTest as string, 'test');
    const saved = await put('named', 1, 'test', 'no', { webhooks: [named] });
    expect(secretsOf(saved)).toEqual([]);
    const [inTest] = await endpoints(saved.body.id, 'test');
    expect(await isSignedBy(inTest?.id as string, 'test')).toEqual([ofTest]);
    const refused = await promote('named', 'live');
    expect([refused.body.error.code, refused.body.error.names]).toEqual(['secret_missing', ['HOOK_SECRET']]);
    await store('HOOK_SECRET', ofLive as string, 'live');
    expect((await promote('named', 'live')).body).toMatchObject({ promoted: true, webhook_secrets: [] });
    const [live] = await endpoints(saved.body.id, 'live');
    const id = live?.id as string;
    expect(await isSignedBy(id, 'live')).toEqual([ofLive]);
    // Another value signs the next delivery, and the file is the only place to change the name.
    await store('HOOK_SECRET', other as string, 'live');
    expect(await isSignedBy(id, 'live')).toEqual([other]);
    const rolled = await org.call('POST', `/v1/webhooks/${id}/roll-secret`, { mode: 'live' });
    expect([rolled.status, rolled.body.error.code]).toEqual([409, 'managed_by_file']);
    // Without a name a secret is created again, and shown.
    const unnamed = await put('named', 2, 'live', 'now', { webhooks: [hook('a')] });
    expect(secretsOf(unnamed)).toEqual(['test a', 'live a']);
    expect(await isSignedBy(id, 'live')).toEqual([unnamed.body.webhook_secrets[1].secret]);
    // The other way round, receivers have a day to change.
    await put('named', 3, 'live', 'now', { webhooks: [named] });
    expect(await isSignedBy(id, 'live')).toEqual([other, unnamed.body.webhook_secrets[1].secret]);
    // The file that is read back names the secret, and not its value.
    const yaml = (await org.call('GET', '/v1/deployments/named?format=yaml')).text;
    expect([yaml.includes('secret: ${HOOK_SECRET}'), yaml.includes('whsec_')]).toEqual([true, false]);
  });
});
