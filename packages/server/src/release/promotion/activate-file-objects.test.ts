import type { Mode } from '@vestra/contract/route';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
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
    const own = body.data.filter((endpoint: { deployment_id: string }) => endpoint.deployment_id === id);
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
});
