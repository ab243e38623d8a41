import { routes } from '@vestra/contract/api';
import { newId } from '@vestra/contract/ids';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { auditEntries } from '../../../../../tests/support/audit-entries.ts';
import { countWhere } from '../../../../../tests/support/rows.ts';
import { findSettings } from '../../account/orgs/store.ts';
import type { Transaction } from '../../platform/db/pool.ts';
import { run } from '../../platform/db/query.ts';
import { sql } from '../../platform/db/sql.ts';
import { transaction } from '../../platform/db/transaction.ts';
import { deploymentVersions } from '../versions/tables.ts';
import { moveDraft, pushLive, saveVersion } from '../versions/versions.ts';
import { lockDeployment } from './deployment-reference.ts';
import { author, content, newDeployment, startDeployments } from './deployments.fixture.ts';
import type { DeploymentRow } from './tables.ts';

type Server = Awaited<ReturnType<typeof startDeployments>>;
type Org = Awaited<ReturnType<Server['newOrg']>>;

const testRuns = new Map<number, { run_id: string; status: 'passed' }>();
let server: Server;
let org: Org;

beforeAll(async () => {
  server = await startDeployments({
    latestTestRuns: async (_db, _deploymentId, versions) =>
      new Map([...testRuns].filter(([version]) => versions.includes(version))),
  });
  org = await server.newOrg();
});

afterAll(() => server.stop());

const call = (method: string, path: string, body?: unknown, key = org.testKey) =>
  server.call(method, path, { key, ...(body !== undefined && { body }) });
const create = (body: unknown, key?: string) => call('POST', '/v1/deployments', body, key);

/** Other routes lock a deployment by its name in the path and continue in that transaction. */
function lock<T>(reference: string, work: (tx: Transaction, deployment: DeploymentRow) => Promise<T>): Promise<T> {
  return transaction(server.db, async (tx) => work(tx, await lockDeployment(tx, org.id, reference)));
}

const save = (reference: string, manifest: Parameters<typeof content>[0] = {}) =>
  lock(reference, (tx, deployment) => saveVersion(tx, { deployment, ...content(manifest) }));
const promote = (reference: string, version: number) =>
  lock(reference, (tx, deployment) => pushLive(tx, { deployment, version }));

describe('a deployment reference in a path', () => {
  it('accepts an id, slug or name in every route [DEP-005, DEP-010]', async () => {
    const { body: made } = await create({ name: 'Büro & Söhne', slug: 'buero' });
    for (const reference of [made.id, 'buero', encodeURIComponent('Büro & Söhne')]) {
      const path = `/v1/deployments/${reference}`;
      expect((await call('GET', path)).body.id).toBe(made.id);
      expect((await call('GET', `${path}/versions`)).body.data[0].deployment_id).toBe(made.id);
      expect((await call('GET', `${path}/versions/1`)).body.deployment_id).toBe(made.id);
      expect((await call('POST', `${path}/archive`)).body.id).toBe(made.id);
      expect((await call('POST', `${path}/unarchive`)).body.id).toBe(made.id);
    }
    expect((await call('DELETE', '/v1/deployments/buero')).body).toEqual({
      object: 'deployment',
      id: made.id,
      deleted: true,
    });
  });

  it('prefers a slug to a name, and the oldest deployment with a name', async () => {
    const named = await newDeployment(server.db, org.id, { slug: 'x-named', name: 'shared-word' });
    expect((await call('GET', '/v1/deployments/shared-word')).body.id).toBe(named.id);
    await newDeployment(server.db, org.id, { slug: 'x-named-later', name: 'shared-word' });
    expect((await call('GET', '/v1/deployments/shared-word')).body.id).toBe(named.id);
    const slugged = await newDeployment(server.db, org.id, { slug: 'shared-word', name: 'Another' });
    expect((await call('GET', '/v1/deployments/shared-word')).body.id).toBe(slugged.id);
  });

  it.each(['no-such-desk', 'No such desk', 'x'.repeat(120), newId('dep')])(
    'answers 404 for %j if no deployment matches [DEP-020]',
    async (reference) => {
      for (const [method, tail] of [
        ['GET', ''],
        ['GET', '?format=yaml'],
        ['DELETE', ''],
        ['GET', '/versions'],
        ['GET', '/versions/1'],
        ['POST', '/archive'],
        ['POST', '/unarchive'],
      ] as const) {
        const { status, body } = await call(method, `/v1/deployments/${encodeURIComponent(reference)}${tail}`);
        expect([method, tail, status, body.error.code]).toEqual([method, tail, 404, 'deployment_not_found']);
      }
    },
  );

  it('answers 404 for a deployment of another org by id, slug or name', async () => {
    const other = await server.newOrg();
    const { body: made } = await create({ name: 'Not yours' }, other.testKey);
    for (const reference of [made.id, made.slug, 'Not%20yours']) {
      expect((await call('GET', `/v1/deployments/${reference}`)).status).toBe(404);
      expect((await call('DELETE', `/v1/deployments/${reference}`)).status).toBe(404);
    }
  });

  it('refuses a version', async () => {
    await create({ name: 'Pinned', slug: 'pinned' });
    expect((await call('GET', '/v1/deployments/pinned@1')).status).toBe(404);
  });
});

describe('reading deployments', () => {
  it('lists the deployments of the org in pages, newest first, in both modes [DEP-012]', async () => {
    const own = await server.newOrg();
    const ids: string[] = [];
    for (const name of ['One', 'Two', 'Three', 'Four', 'Five'])
      ids.unshift((await create({ name }, own.testKey)).body.id);
    const seen: string[] = [];
    let cursor = '';
    do {
      const { body } = await call('GET', `/v1/deployments?limit=2${cursor}`, undefined, own.liveKey);
      seen.push(...body.data.map(({ id }: { id: string }) => id));
      cursor = body.next_cursor && `&cursor=${body.next_cursor}`;
    } while (cursor);
    expect(seen).toEqual(ids);
  });

  it('answers JSON without `format` and with `format=json` [DEP-017]', async () => {
    const { body: made } = await create({ name: 'As JSON' });
    expect((await call('GET', `/v1/deployments/${made.id}`)).body).toEqual(made);
    expect((await call('GET', `/v1/deployments/${made.id}?format=json`)).body).toEqual(made);
    const refused = await call('GET', `/v1/deployments/${made.id}?format=toml`);
    expect([refused.status, refused.body.error.code]).toEqual([400, 'invalid_query']);
  });

  it('answers the YAML of the newest version, whatever is draft or live', async () => {
    await create({ name: 'As YAML' });
    await save('as-yaml');
    await save('as-yaml');
    await promote('as-yaml', 1);
    await lock('as-yaml', (tx, deployment) => moveDraft(tx, { deployment, version: 2 }));
    const { status, headers, text } = await call('GET', '/v1/deployments/as-yaml?format=yaml');
    expect([status, headers.get('content-type')]).toEqual([200, 'application/yaml; charset=utf-8']);
    expect(text).toBe('name: as-yaml\n# version 3\n');
  });

  it('needs the scope `setup` or `all`, like every configuration route [DEP-019]', async () => {
    const families = ['deployments', 'scenarios', 'testRuns', 'notebooks', 'skills', 'mcpServers'];
    const configuration = routes.filter(({ family }) => families.includes(family));
    expect(new Set(configuration.map(({ family }) => family)).size).toBe(families.length);
    const runtime = await org.newKey('test', ['runtime', 'admin']);
    for (const { name, route } of configuration) {
      const { status, body } = await call(route.method, route.path.replace(/\{\w+\}/g, 'x'), undefined, runtime);
      expect([name, status, body.error.code]).toEqual([name, 403, 'scope_missing']);
    }
    expect((await call('GET', '/v1/deployments', undefined, await org.newKey('test', ['all']))).status).toBe(200);
  });
});

describe('the versions of a deployment', () => {
  it('show their author, their changed keys and the pointers [VER-001, VER-005, VER-006, VER-014]', async () => {
    const { body: made } = await create({ name: 'Versioned' });
    await save('versioned', { language: 'de' });
    await save('versioned', { language: 'fr' });
    await promote('versioned', 2);
    const { body } = await call('GET', '/v1/deployments/versioned/versions');
    expect(body.next_cursor).toBeNull();
    const shown = body.data.map((row: Record<string, unknown>) => [
      row.version,
      row.is_draft,
      row.is_live,
      row.changed,
    ]);
    expect(shown).toEqual([
      [3, true, false, ['language']],
      [2, false, true, ['language']],
      [1, false, false, []],
    ]);
    expect(body.data[2]).toEqual({
      object: 'deployment_version',
      deployment_id: made.id,
      version: 1,
      note: null,
      manifest: expect.objectContaining({ language: 'auto' }),
      changed: [],
      missing: [],
      tests: null,
      is_draft: false,
      is_live: false,
      created_by: { type: 'key', id: expect.stringMatching(/^key_/), name: 'test key' },
      created_at: made.created_at,
    });
    expect(body.data[0].created_by).toEqual(author);
    expect((await call('GET', '/v1/deployments/versioned/versions/2')).body).toEqual(body.data[1]);
  });

  it('show their latest test run, or null', async () => {
    await create({ name: 'Tested' });
    await save('tested');
    const run = { run_id: newId('trun'), status: 'passed' as const };
    testRuns.set(2, run);
    const { body } = await call('GET', '/v1/deployments/tested/versions');
    expect(body.data.map(({ tests }: { tests: unknown }) => tests)).toEqual([run, null]);
    expect((await call('GET', '/v1/deployments/tested/versions/2')).body.tests).toEqual(run);
    expect((await call('GET', '/v1/deployments/tested/versions/1')).body.tests).toBeNull();
    testRuns.clear();
  });

  it('are listed in pages, newest first, with a cursor per deployment [VER-007]', async () => {
    await create({ name: 'Paged' });
    await create({ name: 'Paged too' });
    for (let round = 0; round < 11; round++) await save('paged');
    const first = await call('GET', '/v1/deployments/paged/versions?limit=5');
    const second = await call('GET', `/v1/deployments/paged/versions?limit=5&cursor=${first.body.next_cursor}`);
    const third = await call('GET', `/v1/deployments/paged/versions?limit=5&cursor=${second.body.next_cursor}`);
    const numbers = [first, second, third].map(({ body }) =>
      body.data.map(({ version }: { version: number }) => version),
    );
    expect(numbers).toEqual([
      [12, 11, 10, 9, 8],
      [7, 6, 5, 4, 3],
      [2, 1],
    ]);
    expect(third.body.next_cursor).toBeNull();
    const foreign = await call('GET', `/v1/deployments/paged-too/versions?cursor=${first.body.next_cursor}`);
    expect([foreign.status, foreign.body.error.code]).toEqual([400, 'invalid_cursor']);
  });

  it('are read one by one, and an unknown version is 404 [VER-008]', async () => {
    await create({ name: 'Single' });
    expect((await call('GET', '/v1/deployments/single/versions/1')).body.version).toBe(1);
    for (const version of ['2', '0', '-1', 'x', '1.5', '999999999', '9999999999']) {
      const { status, body } = await call('GET', `/v1/deployments/single/versions/${version}`);
      expect([version, status, body.error.code]).toEqual([version, 404, 'version_not_found']);
    }
  });
});

describe('changing a deployment', () => {
  const patch = (reference: string, body: unknown, key?: string) =>
    call('PATCH', `/v1/deployments/${reference}`, body, key);

  it('changes its name and description, but not its slug or versions [DEP-261]', async () => {
    const { body: made } = await create({ name: 'Old name', description: 'Old.' });
    const renamed = (await patch('old-name', { name: 'New name' })).body;
    expect(renamed).toEqual({ ...made, name: 'New name', updated_at: renamed.updated_at });
    const described = (await patch('old-name', { description: '' })).body;
    expect(described).toEqual({ ...renamed, description: '', updated_at: described.updated_at });
    expect((await patch('old-name', { name: 'New name' })).body).toEqual(described);
    expect((await call('GET', '/v1/deployments/old-name')).body).toEqual(described);
    for (const body of [{ name: '' }, { description: 'x'.repeat(2001) }, { slug: 'other' }]) {
      expect((await patch('old-name', body)).body.error.code).toBe('invalid_request');
    }
    const rows = await auditEntries(server.db, { targetId: made.id });
    expect(rows.filter(({ action }) => action === 'deployment.updated').map(({ details }) => details)).toEqual([
      { slug: 'old-name', changed: ['name'] },
      { slug: 'old-name', changed: ['description'] },
    ]);
  });

  it('needs a live key if a version is live, because the agent card shows both [DEP-262]', async () => {
    await create({ name: 'Shown' });
    await promote('shown', 1);
    const { body: before } = await call('GET', '/v1/deployments/shown');
    for (const body of [{ name: 'Other' }, { description: 'Other.' }]) {
      const refused = await patch('shown', body);
      expect([refused.status, refused.body.error.code]).toEqual([403, 'live_key_required']);
      expect(refused.body.error.message).toContain('change its name and description with a live key');
    }
    expect((await call('GET', '/v1/deployments/shown')).body).toEqual(before);
    expect((await patch('shown', { description: 'Other.' }, org.liveKey)).body.description).toBe('Other.');
  });

  it('answers 404 for a deployment of another org', async () => {
    const { body: made } = await create({ name: 'Ours' });
    const other = await server.newOrg();
    expect((await patch(made.id, { name: 'Theirs' }, other.testKey)).body.error.code).toBe('deployment_not_found');
    expect((await call('GET', `/v1/deployments/${made.id}`)).body.name).toBe('Ours');
  });
});

describe('archiving a deployment', () => {
  it('changes only its status, and so does unarchiving [DEP-008, DEP-021, DEP-028]', async () => {
    await create({ name: 'Put away' });
    await save('put-away');
    await promote('put-away', 1);
    const { body: before } = await call('GET', '/v1/deployments/put-away');
    expect([before.draft_version, before.live_version]).toEqual([2, 1]);
    const archived = await call('POST', '/v1/deployments/put-away/archive', undefined, org.liveKey);
    expect(archived.body).toEqual({ ...before, status: 'archived', updated_at: archived.body.updated_at });
    expect(archived.body.updated_at > before.updated_at).toBe(true);
    expect((await call('POST', '/v1/deployments/put-away/archive', undefined, org.liveKey)).body).toEqual(
      archived.body,
    );
    expect((await call('GET', '/v1/deployments/put-away')).body.status).toBe('archived');
    const back = await call('POST', '/v1/deployments/put-away/unarchive', undefined, org.liveKey);
    expect(back.body).toEqual({ ...before, updated_at: back.body.updated_at });
    expect((await save('put-away')).version.version).toBe(3);
  });

  it('prevents new versions, promotions and drafts [VER-035]', async () => {
    await create({ name: 'Closed' });
    await call('POST', '/v1/deployments/closed/archive');
    await expect(save('closed')).rejects.toMatchObject({ code: 'deployment_archived', status: 409 });
    await expect(promote('closed', 1)).rejects.toMatchObject({ code: 'deployment_archived', status: 409 });
    const { body } = await call('GET', '/v1/deployments/closed/versions');
    expect(body.data).toHaveLength(1);
  });
});

describe('deleting a deployment', () => {
  it('deletes its versions and frees its slug [DEP-023]', async () => {
    const { body: made } = await create({ name: 'Gone' });
    await save('gone');
    expect((await call('DELETE', `/v1/deployments/${made.id}`)).status).toBe(200);
    expect((await call('GET', `/v1/deployments/${made.id}`)).status).toBe(404);
    expect((await call('DELETE', `/v1/deployments/${made.id}`)).status).toBe(404);
    expect(await countWhere(server.db, deploymentVersions, sql`deployment_id = ${made.id}`)).toBe(0);
    expect((await create({ name: 'Gone' })).body.slug).toBe('gone');
  });

  it('is refused while a version is live, until a live key archived it [DEP-024]', async () => {
    await create({ name: 'Alive' });
    await promote('alive', 1);
    const remove = async (key: string) => {
      const { status, body } = await call('DELETE', '/v1/deployments/alive', undefined, key);
      return [status, body.error?.code];
    };
    for (const key of [org.testKey, org.liveKey]) expect(await remove(key)).toEqual([409, 'deployment_live']);
    await call('POST', '/v1/deployments/alive/archive', undefined, org.liveKey);
    expect(await remove(org.testKey)).toEqual([403, 'live_key_required']);
    expect((await call('GET', '/v1/deployments/alive')).status).toBe(200);
    expect(await remove(org.liveKey)).toEqual([200, undefined]);
    expect((await call('GET', '/v1/deployments/alive')).status).toBe(404);
  });

  it('leaves the org without a default if it was the default', async () => {
    const own = await server.newOrg();
    const { body: made } = await create({ name: 'Default' }, own.testKey);
    const { body: kept } = await create({ name: 'Other' }, own.testKey);
    await run(server.db, sql`UPDATE org_settings SET default_deployment = ${made.id} WHERE org_id = ${own.id}`);
    await call('DELETE', `/v1/deployments/${kept.id}`, undefined, own.testKey);
    expect((await findSettings(server.db, { orgId: own.id, mode: 'test' })).default_deployment).toBe(made.id);
    await call('DELETE', `/v1/deployments/${made.id}`, undefined, own.testKey);
    expect((await findSettings(server.db, { orgId: own.id, mode: 'test' })).default_deployment).toBeNull();
  });
});

it('writes an audit entry for each change, and none for a request without effect', async () => {
  const { body: made } = await create({ name: 'Audited' });
  for (const step of ['archive', 'archive', 'unarchive', 'unarchive']) {
    await call('POST', `/v1/deployments/${made.id}/${step}`);
  }
  await call('DELETE', '/v1/deployments/audited');
  const rows = await auditEntries(server.db, { targetId: made.id });
  expect(rows.map(({ action, target_type, details }) => [action, target_type, details])).toEqual([
    ['deployment.created', 'deployment', { slug: 'audited' }],
    ['deployment.archived', 'deployment', { slug: 'audited' }],
    ['deployment.unarchived', 'deployment', { slug: 'audited' }],
    ['deployment.deleted', 'deployment', { slug: 'audited', versions: 1 }],
  ]);
  expect(rows.every(({ actor_type, request_id }) => actor_type === 'key' && request_id !== null)).toBe(true);
});
