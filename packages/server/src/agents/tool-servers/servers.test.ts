import { newId } from '@vestra/contract/ids';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { auditEntries } from '../../../../../tests/support/audit-entries.ts';
import type { Caller } from '../../platform/caller.ts';
import type { Transaction } from '../../platform/db/pool.ts';
import { transaction } from '../../platform/db/transaction.ts';
import { startMcpServers, systemOrigin } from './mcp-servers.fixture.ts';
import { assertMayChange, registerServer, updateServer } from './servers.ts';
import { findByAddress, findById, takenSlugs } from './store.ts';

let server: Awaited<ReturnType<typeof startMcpServers>>;
let orgId: string;
beforeAll(async () => {
  server = await startMcpServers();
});
beforeEach(async () => {
  orgId = (await server.newOrg()).id;
});
afterAll(() => server.stop());

function inTransaction<T>(work: (tx: Transaction) => Promise<T>): Promise<T> {
  return transaction(server.db, work);
}
const register = async (slug: string, url = 'https://mcp.example.com/mcp', org = orgId) => {
  const made = await inTransaction((tx) =>
    registerServer(tx, systemOrigin(org), { slug, name: 'Shop', url, headers: {} }),
  );
  if (!made) throw new Error('The slug is taken.');
  return made;
};
const idsOf = (rows: readonly { id: string }[]) => rows.map(({ id }) => id);

describe('finding tool servers', () => {
  it('by address matches every spelling in the org, oldest first', async () => {
    const one = await register('one', 'https://MCP.example.com:443/mcp');
    const two = await register('two', 'https://mcp.example.com/mcp');
    const root = await register('root', 'https://mcp.example.com');
    await register('other', 'https://mcp.example.com/other');
    await register('one', 'https://mcp.example.com/mcp', (await server.newOrg()).id);
    const addresses = ['https://mcp.example.com/mcp', 'https://mcp.example.com/', 'https://nobody.example.com/'];
    for (const hold of [false, true]) {
      const found = await inTransaction((tx) => findByAddress(tx, orgId, addresses, { hold }));
      expect(idsOf(found)).toEqual([one.id, two.id, root.id]);
      expect(found[0]).toMatchObject({
        slug: 'one',
        name: 'Shop',
        url: 'https://MCP.example.com:443/mcp',
        headers: {},
      });
    }
    expect(await inTransaction((tx) => findByAddress(tx, orgId, [], { hold: true }))).toEqual([]);
  });

  it('by address follows a changed URL', async () => {
    const { id } = await register('one');
    const url = 'https://new.example.com/mcp';
    await inTransaction((tx) => updateServer(tx, systemOrigin(orgId), id, { url }));
    const at = (address: string) => inTransaction((tx) => findByAddress(tx, orgId, [address], { hold: false }));
    expect(idsOf(await at(url))).toEqual([id]);
    expect(await at('https://mcp.example.com/mcp')).toEqual([]);
  });

  it('by id returns those of the org', async () => {
    const one = await register('one');
    const foreign = await register('two', undefined, (await server.newOrg()).id);
    const ids = [newId('mcp'), foreign.id, one.id];
    for (const hold of [false, true]) expect(idsOf(await findById(server.db, orgId, ids, { hold }))).toEqual([one.id]);
    expect(await findById(server.db, orgId, [], { hold: false })).toEqual([]);
  });

  it('returns the taken slugs', async () => {
    await register('one');
    await register('two', undefined, (await server.newOrg()).id);
    const taken = await inTransaction((tx) => takenSlugs(tx, orgId, ['one', 'two', 'three']));
    expect([...taken]).toEqual(['one']);
    expect((await inTransaction((tx) => takenSlugs(tx, orgId, []))).size).toBe(0);
  });

  it('with hold only prevents deletion until the transaction ends', async () => {
    const org = await server.newOrg();
    const { id } = await register('one', undefined, org.id);
    const held = Promise.withResolvers<void>();
    const letGo = Promise.withResolvers<void>();
    const holding = inTransaction(async (tx) => {
      await findById(tx, org.id, [id], { hold: true });
      held.resolve();
      await letGo.promise;
    });
    await held.promise;
    const path = `/v1/mcp-servers/${id}`;
    expect((await server.call('PATCH', path, { key: org.testKey, body: { name: 'Store' } })).status).toBe(200);
    const removing = server.call('DELETE', path, { key: org.testKey });
    const first = await Promise.race([removing, new Promise((done) => setTimeout(done, 300, 'still waiting'))]);
    expect(first).toBe('still waiting');
    letGo.resolve();
    await holding;
    expect((await removing).status).toBe(200);
  });
});

describe('registering a tool server', () => {
  it('creates a server without tool rules and writes an audit entry', async () => {
    const made = await register('one');
    expect(made).toMatchObject({ deny: [], require_approval: [] });
    expect(await auditEntries(server.db, { orgId, targetId: made.id })).toMatchObject([
      { action: 'mcp_server.created', details: { slug: 'one' } },
    ]);
  });

  it('returns undefined if the slug is taken, without ending the transaction', async () => {
    await register('one');
    const again = await inTransaction(async (tx) => {
      const wanted = { name: 'Shop', url: 'https://other.example.com', headers: {} };
      expect(await registerServer(tx, systemOrigin(orgId), { slug: 'one', ...wanted })).toBeUndefined();
      return registerServer(tx, systemOrigin(orgId), { slug: 'one-2', ...wanted });
    });
    expect(again).toMatchObject({ slug: 'one-2' });
  });
});

describe('changing a tool server through a file', () => {
  it('names the field of the file if a live version uses the server', async () => {
    const made = await register('one');
    const { slug } = await server.goLive(orgId, made);
    const caller = (mode: Caller['mode']) => ({ orgId, mode, member: null }) as Caller;
    const ask = (mode: Caller['mode']) =>
      inTransaction((tx) => assertMayChange(tx, caller(mode), made.id, 'tools.0.headers'));
    await expect(ask('test')).rejects.toMatchObject({
      code: 'mcp_server_live',
      details: { param: 'tools.0.headers', deployments: [slug] },
    });
    await expect(ask('live')).resolves.toBeUndefined();
  });

  it('refuses a deleted server', async () => {
    const gone = inTransaction((tx) => updateServer(tx, systemOrigin(orgId), newId('mcp'), { name: 'x' }));
    await expect(gone).rejects.toMatchObject({ code: 'mcp_server_not_found' });
  });
});
