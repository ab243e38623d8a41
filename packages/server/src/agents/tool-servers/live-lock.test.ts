import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Role } from '@vestra/contract/route';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { migrationsFolder } from '../../main/postgres.ts';
import { transaction } from '../../platform/db/transaction.ts';
import { content, newDeployment } from '../deployments/deployments.fixture.ts';
import { noContent } from '../versions/manifest.ts';
import { getVersion } from '../versions/store.ts';
import { saveVersion } from '../versions/versions.ts';
import { type Browser, startMcpServers } from './mcp-servers.fixture.ts';
import { mayChangeLiveTraffic } from './server-settings.ts';

let server: Awaited<ReturnType<typeof startMcpServers>>;
let org: Awaited<ReturnType<typeof server.newOrg>>;
let made: { id: string; slug: string; url: string };
beforeAll(async () => {
  server = await startMcpServers();
});
beforeEach(async () => {
  org = await server.newOrg();
  const body = { name: 'Shop', slug: 'shop', url: 'https://mcp.example.com/mcp' };
  made = (await server.call('POST', '/v1/mcp-servers', { key: org.testKey, body })).body;
});
afterAll(() => server.stop());

type By = { key?: string; browser?: Browser; headers?: Record<string, string> };
const rename = (by: By, name = 'Store') =>
  server.call('PATCH', `/v1/mcp-servers/${made.id}`, { ...by, body: { name } });
const remove = (by: By) => server.call('DELETE', `/v1/mcp-servers/${made.id}`, by);
const locked = (deployments: string[]) => ({
  status: 409,
  body: { error: { code: 'mcp_server_live', deployments } },
});

describe('a server that a live version uses', () => {
  it('cannot be changed or removed with a test key [MCPS-020]', async () => {
    const one = await server.goLive(org.id, made);
    const two = await server.goLive(org.id, made);
    const slugs = [one.slug, two.slug].sort();
    expect(await rename({ key: org.testKey })).toMatchObject(locked(slugs));
    for (const body of [
      { url: 'https://other.example.com' },
      { auth: { type: 'headers', headers: { 'X-Region': 'eu' } } },
      { tools: { deny: ['wipe'] } },
      { tools: { require_approval: ['refund'] } },
    ]) {
      const refused = await server.call('PATCH', `/v1/mcp-servers/${made.id}`, { key: org.testKey, body });
      expect(refused).toMatchObject(locked(slugs));
    }
    expect(await remove({ key: org.testKey })).toMatchObject(locked(slugs));
    expect((await server.call('GET', `/v1/mcp-servers/${made.id}`, { key: org.testKey })).body).toEqual(made);
  });

  it('accepts a change without effect with a test key', async () => {
    await server.goLive(org.id, made);
    expect((await rename({ key: org.testKey }, 'Shop')).status).toBe(200);
    expect((await server.call('PATCH', `/v1/mcp-servers/${made.id}`, { key: org.testKey, body: {} })).status).toBe(200);
  });

  it('can be changed and removed with a live key [MCPS-021]', async () => {
    await server.goLive(org.id, made);
    expect(await rename({ key: org.liveKey })).toMatchObject({ status: 200, body: { name: 'Store' } });
    expect(await remove({ key: org.liveKey })).toMatchObject({ status: 200, body: { deleted: true } });
  });

  it.each(['test', 'live'])('can be changed and removed by an owner or admin in %s mode', async (mode) => {
    await server.goLive(org.id, made);
    const headers = { 'service-mode': mode };
    const admin = await server.logIn(org.id, 'admin');
    expect(await rename({ browser: admin, headers })).toMatchObject({ status: 200, body: { name: 'Store' } });
    const owner = await server.logIn(org.id, 'owner');
    expect(await remove({ browser: owner, headers })).toMatchObject({ status: 200, body: { deleted: true } });
  });

  it.each(['test', 'live'])('cannot be changed or removed by a developer in %s mode', async (mode) => {
    const { slug } = await server.goLive(org.id, made);
    const by = { browser: await server.logIn(org.id, 'developer'), headers: { 'service-mode': mode } };
    expect(await rename(by)).toMatchObject(locked([slug]));
    expect(await remove(by)).toMatchObject(locked([slug]));
  });
});

describe('a server that only other versions use', () => {
  it('can be changed and removed with a test key', async () => {
    const manifest = { mcp_servers: [made] };
    await newDeployment(server.db, org.id, { manifest });
    const other = { id: `${made.id.slice(0, -4)}0000`, slug: 'other', url: made.url };
    const live = await server.goLive(org.id, other);
    await transaction(server.db, (tx) => saveVersion(tx, { deployment: live, ...content(manifest) }));
    expect((await rename({ key: org.testKey })).status).toBe(200);
    expect((await remove({ key: org.testKey })).status).toBe(200);
  });

  it('in another org locks nothing', async () => {
    const stranger = await server.newOrg();
    await server.goLive(stranger.id, made);
    expect((await rename({ key: org.testKey })).status).toBe(200);
  });
});

it.each([
  ['owner', 'live', true],
  ['admin', 'live', true],
  ['developer', 'live', false],
  ['owner', 'test', false],
] as [Role, 'test' | 'live', boolean][])(
  'an MCP client of an %s with a grant in %s mode may change live traffic: %s [MCPS-620]',
  (role, mode, may) => {
    expect(mayChangeLiveTraffic({ member: null, grant: { id: 'mcg_1', memberId: 'mem_1', role }, mode })).toBe(may);
  },
);

it('the migration fixes the current URL in live versions and lists deleted servers [MCPS-621, MCPS-622]', async () => {
  const live = await server.goLive(org.id, made);
  const other = { ...made, id: `${made.id.slice(0, -4)}0000`, slug: 'gone' };
  const draft = await newDeployment(server.db, org.id, { manifest: { mcp_servers: [other, made] } });
  const sql = (text: string, values: unknown[] = []) => server.db.$client.query(text, values);
  await sql('UPDATE mcp_servers SET url = $2 WHERE id = $1', [made.id, 'https://moved.example.com/mcp']);
  await sql(await readFile(join(migrationsFolder, '0129-servers-of-versions.sql'), 'utf8'));
  const after = [await getVersion(server.db, live, 1), await getVersion(server.db, draft, 1)];
  expect(after.map(({ manifest, missing }) => [manifest.mcp_servers.map(({ url }) => url), missing])).toEqual([
    [['https://moved.example.com/mcp'], []],
    [[other.url, made.url], [other.id]],
  ]);
  expect(after[0]?.manifest).toEqual({ ...after[1]?.manifest, mcp_servers: after[0]?.manifest.mcp_servers });
});

it('the migration fixes the headers that each version sends today, once [VER-700]', async () => {
  const live = await server.goLive(org.id, made);
  const moved = await newDeployment(server.db, org.id, {
    manifest: { mcp_servers: [{ ...made, url: 'https://old.example.com/mcp' }] },
  });
  const sql = (text: string, values: unknown[] = []) => server.db.$client.query(text, values);
  const migrate = async () => sql(await readFile(join(migrationsFolder, '0145-headers-of-versions.sql'), 'utf8'));
  const headers = { Authorization: 'Bearer ${secret:TOKEN}' };
  await sql('UPDATE mcp_servers SET headers = $2 WHERE id = $1', [made.id, headers]);
  await migrate();
  await sql('UPDATE mcp_servers SET headers = $2 WHERE id = $1', [made.id, {}]);
  await migrate();
  expect((await getVersion(server.db, live, 1)).content).toEqual({ ...noContent, servers: { [made.id]: { headers } } });
  // It has no headers for the URL that it fixed, so it runs without the server.
  expect((await getVersion(server.db, moved, 1)).content).toEqual(noContent);
});
