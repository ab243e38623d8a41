import { newId } from '@vestra/contract/ids';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../../../../../tests/support/test-database.ts';
import { findSettings } from '../../account/orgs/store.ts';
import { closeDatabase, type Database, openDatabase, type Transaction } from '../../platform/db/pool.ts';
import { one, run, update } from '../../platform/db/query.ts';
import { sql } from '../../platform/db/sql.ts';
import { integer } from '../../platform/db/table.ts';
import { transaction } from '../../platform/db/transaction.ts';
import { content, newDeployment, newOrg } from '../deployments/deployments.fixture.ts';
import { findById } from '../deployments/store.ts';
import { type DeploymentRow, deployments } from '../deployments/tables.ts';
import { defaultManifest, type Manifest } from './manifest.ts';
import { deploymentsUsing, getVersion, listVersions, newestVersion } from './store.ts';
import { deploymentVersions } from './tables.ts';
import { moveDraft, popLive, pushLive, saveVersion } from './versions.ts';

let database: TestDatabase;
let db: Database;
let orgId: string;

beforeAll(async () => {
  database = await createTestDatabase();
  db = await openDatabase({ connectionString: database.connectionString });
  orgId = (await newOrg(db)).id;
});

afterAll(async () => {
  await closeDatabase(db);
  await database.drop();
});

const save = (deployment: DeploymentRow, manifest: Partial<Manifest> = {}) =>
  transaction(db, (tx) => saveVersion(tx, { deployment, ...content(manifest) }));
const push = (deployment: DeploymentRow, version: number) =>
  transaction(db, (tx) => pushLive(tx, { deployment, version }));
const pop = (deployment: DeploymentRow) => transaction(db, (tx) => popLive(tx, { deployment, mode: 'live' }));
const draft = (deployment: DeploymentRow, version: number) =>
  transaction(db, (tx) => moveDraft(tx, { deployment, version }));

async function pointersOf({ id }: DeploymentRow) {
  const row = await findById(db, orgId, id);
  return [row?.newest_version, row?.draft_version, row?.live_version];
}

describe('saving a version', () => {
  it('numbers versions consecutively, also concurrent ones', async () => {
    const deployment = await newDeployment(db, orgId);
    const saved = await Promise.all(
      Array.from({ length: 25 }, (_, at) => save(deployment, { instructions: `Save ${at}` })),
    );
    const numbers = saved.map(({ version }) => version.version).sort((a, b) => a - b);
    expect(numbers).toEqual(Array.from({ length: 25 }, (_, at) => at + 2));
    expect(await pointersOf(deployment)).toEqual([26, 26, null]);
    const newest = saved.find(({ version }) => version.version === 26)?.version;
    const row = await findById(db, orgId, deployment.id);
    expect(await newestVersion(db, row as DeploymentRow)).toEqual(newest);
  });

  it('stores the objects of the file with the manifest', async () => {
    const deployment = await newDeployment(db, orgId);
    const fileObjects = {
      tests: [{ name: 'Greets', ask: 'Say hello.', expect: 'It greets.' }],
      routines: [{ ask: 'Report.', every: 'day at 08:00', enabled: true }],
      webhooks: [{ url: 'https://hooks.example/in', events: ['task.completed' as const] }],
    };
    const saved = await transaction(db, (tx) => saveVersion(tx, { deployment, ...content(), fileObjects }));
    const row = await getVersion(db, saved.deployment, 2);
    expect(row.file_objects).toEqual(fileObjects);
    expect(row.manifest).toEqual(defaultManifest);
  });

  it('leaves no gap in the numbers if it fails', async () => {
    const deployment = await newDeployment(db, orgId);
    const failing = transaction(db, async (tx) => {
      await saveVersion(tx, { deployment, ...content() });
      throw new Error('no');
    });
    await expect(failing).rejects.toThrow('no');
    expect((await save(deployment)).version.version).toBe(2);
  });

  it('adds newer keys to an older version', async () => {
    const deployment = await newDeployment(db, orgId);
    const older = JSON.stringify({
      instructions: 'Be brief.',
      tools: [{ function: 'look_up', description: 'Looks.' }],
    });
    await run(db, sql`UPDATE deployment_versions SET manifest = ${older} WHERE deployment_id = ${deployment.id}`);
    const { manifest } = await newestVersion(db, deployment);
    expect(manifest).toMatchObject({ instructions: 'Be brief.', approvals: defaultManifest.approvals });
    expect(manifest.tools[0]).toMatchObject({ read_only: false, run_without_asking: false, timeout_s: 120 });
  });
});

describe('the live version', () => {
  it('rolls back one promotion at a time, down to the first [VER-024, VER-031, VER-032]', async () => {
    const deployment = await newDeployment(db, orgId);
    await expect(pop(deployment)).rejects.toMatchObject({ code: 'nothing_to_roll_back', status: 409 });
    for (let round = 0; round < 3; round++) await save(deployment);
    for (const version of [1, 4, 2]) await push(deployment, version);
    expect(await pop(deployment)).toMatchObject({ from: 2, deployment: { live_version: 4, draft_version: 4 } });
    expect(await pop(deployment)).toMatchObject({ from: 4, deployment: { live_version: 1 } });
    await expect(pop(deployment)).rejects.toMatchObject({ code: 'nothing_to_roll_back' });
    expect(await pointersOf(deployment)).toEqual([4, 4, 1]);
    await push(deployment, 3);
    expect(await pop(deployment)).toMatchObject({ from: 3, deployment: { live_version: 1 } });
  });

  it('needs one rollback if it was promoted twice', async () => {
    const deployment = await newDeployment(db, orgId);
    await save(deployment);
    await push(deployment, 1);
    expect(await push(deployment, 2)).toMatchObject({ moved: true });
    expect(await push(deployment, 2)).toMatchObject({ moved: false, deployment: { live_version: 2 } });
    expect(await pop(deployment)).toMatchObject({ deployment: { live_version: 1 } });
  });

  it('is one of several concurrent promotions, each of which can be rolled back', async () => {
    const deployment = await newDeployment(db, orgId);
    for (let round = 0; round < 9; round++) await save(deployment);
    const versions = Array.from({ length: 10 }, (_, at) => at + 1);
    await Promise.all(versions.map((version) => push(deployment, version)));
    const [, , live] = await pointersOf(deployment);
    const seen = [live];
    for (let round = 0; round < 9; round++) seen.push((await pop(deployment)).deployment.live_version);
    expect(seen.sort((a, b) => Number(a) - Number(b))).toEqual(versions);
    await expect(pop(deployment)).rejects.toMatchObject({ code: 'nothing_to_roll_back' });
  });

  it('is rolled back only with a live key', async () => {
    const deployment = await newDeployment(db, orgId);
    await save(deployment);
    await push(deployment, 1);
    await push(deployment, 2);
    const attempt = transaction(db, (tx) => popLive(tx, { deployment, mode: 'test' }));
    await expect(attempt).rejects.toMatchObject({ code: 'live_key_required', status: 403 });
    expect(await pointersOf(deployment)).toEqual([2, 2, 2]);
  });

  it('moves independently of the draft [VER-021, VER-022]', async () => {
    const deployment = await newDeployment(db, orgId);
    await save(deployment);
    await push(deployment, 1);
    expect(await pointersOf(deployment)).toEqual([2, 2, 1]);
    expect(await draft(deployment, 1)).toMatchObject({ moved: true });
    expect(await draft(deployment, 1)).toMatchObject({ moved: false });
    await push(deployment, 2);
    expect(await pointersOf(deployment)).toEqual([2, 1, 2]);
    expect((await save(deployment)).deployment.draft_version).toBe(3);
  });

  it('must exist', async () => {
    const deployment = await newDeployment(db, orgId);
    for (const promote of [push, draft]) {
      await expect(promote(deployment, 2)).rejects.toMatchObject({ code: 'version_not_found', status: 404 });
    }
    expect(await pointersOf(deployment)).toEqual([1, 1, null]);
  });
});

describe('the org’s default', () => {
  it('is the first promoted deployment and stays it', async () => {
    const own = (await newOrg(db)).id;
    const first = await newDeployment(db, own);
    const second = await newDeployment(db, own);
    expect(await push(first, 1)).toMatchObject({ becameDefault: true });
    expect(await push(first, 1)).toMatchObject({ becameDefault: false });
    expect(await push(second, 1)).toMatchObject({ becameDefault: false });
    expect((await findSettings(db, { orgId: own, mode: 'live' })).default_deployment).toBe(first.id);
  });

  it('is one of several concurrently promoted deployments', async () => {
    const own = (await newOrg(db)).id;
    const made = await Promise.all(Array.from({ length: 10 }, () => newDeployment(db, own)));
    const pushed = await Promise.all(made.map((deployment) => push(deployment, 1)));
    const chosen = pushed.filter(({ becameDefault }) => becameDefault);
    expect(chosen.map(({ deployment }) => deployment.id)).toEqual([
      (await findSettings(db, { orgId: own, mode: 'live' })).default_deployment,
    ]);
  });
});

describe('the uses of a resource', () => {
  const using = (id: string): Partial<Manifest> => ({
    mcp_servers: [{ id, slug: 'shop', url: 'https://shop.example/mcp' }],
  });

  it('are found in live, draft and newest versions only', async () => {
    const shop = newId('mcp');
    const [live, old, mixed] = [
      await newDeployment(db, orgId, { manifest: using(shop) }),
      await newDeployment(db, orgId, { manifest: using(shop) }),
      await newDeployment(db, orgId),
    ];
    await newDeployment(db, orgId, { manifest: using(newId('mcp')) });
    await push(live, 1);
    await save(live);
    await save(old);
    await save(mixed, using(shop));
    await save(mixed);
    await draft(mixed, 2);
    const flags = async () =>
      (await deploymentsUsing(db, orgId, shop)).map(({ id, isLive, isDraft, isNewest }) => [
        id,
        isLive,
        isDraft,
        isNewest,
      ]);
    expect(await flags()).toEqual([
      [live.id, true, false, false],
      [mixed.id, false, true, false],
    ]);
    await draft(old, 1);
    await save(mixed, using(shop));
    expect(await flags()).toEqual([
      [live.id, true, false, false],
      [old.id, false, true, false],
      [mixed.id, false, true, true],
    ]);
    expect(await deploymentsUsing(db, (await newOrg(db)).id, shop)).toEqual([]);
  });

  it.each([
    ['skills', newId('skl'), (id: string) => ({ skills: [{ name: 'spreadsheets' }, { id }] })],
    ['notebooks', newId('nb'), (id: string) => ({ notebooks: [newId('nb'), id] })],
    [
      'files',
      newId('file'),
      (id: string) => ({ environment: { repos: [], env: {}, files: [{ file_id: id, path: 'a' }] } }),
    ],
  ])('include %s', async (_what, id, manifest) => {
    const deployment = await newDeployment(db, orgId, { manifest: manifest(id) });
    expect(await deploymentsUsing(db, orgId, id)).toEqual([
      {
        id: deployment.id,
        slug: deployment.slug,
        name: deployment.name,
        status: 'active',
        isLive: false,
        isDraft: true,
        isNewest: true,
      },
    ]);
  });
});

describe('ten thousand versions', () => {
  it('are listed, read and searched as cheaply as a few', async () => {
    const own = (await newOrg(db)).id;
    const shop = newId('mcp');
    const manifest = { mcp_servers: [{ id: shop, slug: 'shop', url: 'https://shop.example/mcp' }] };
    const deployment = await newDeployment(db, own, { manifest });
    await multiply(deployment, 10_000);
    for (let round = 0; round < 20; round++) await newDeployment(db, own);
    await run(db, sql`ANALYZE deployments, deployment_versions`);

    const page = { limit: 20, below: null };
    const [newest] = await listVersions(db, deployment.id, page);
    expect(newest?.version).toBe(10_000);
    expect(await rowsRead((tx) => listVersions(tx, deployment.id, page))).toBeLessThanOrEqual(21);
    expect(await rowsRead((tx) => listVersions(tx, deployment.id, { ...page, below: 5_000 }))).toBeLessThanOrEqual(21);
    expect(await rowsRead((tx) => getVersion(tx, deployment, 4_711))).toBe(1);
    expect(await rowsRead((tx) => deploymentsUsing(tx, own, shop))).toBeLessThanOrEqual(100);
    expect((await deploymentsUsing(db, own, shop)).map(({ id }) => id)).toEqual([deployment.id]);
  });

  it('of as many deployments are not read to find one use', async () => {
    const own = (await newOrg(db)).id;
    const notebook = newId('nb');
    const pattern = await newDeployment(db, own);
    await run(
      db,
      sql`
      INSERT INTO deployments (id, org_id, slug, name)
      SELECT id || n, org_id, slug || n, name FROM deployments, generate_series(1, 10000) AS n WHERE id = ${pattern.id}`,
    );
    await run(
      db,
      sql`
      INSERT INTO deployment_versions
      SELECT d.id, 1, v.org_id, note, manifest, file_objects, changed, uses,
        created_by_type, created_by_id, created_by_name, v.created_at, content, missing
      FROM deployment_versions v, deployments d
      WHERE v.deployment_id = ${pattern.id} AND d.org_id = ${own} AND d.id <> v.deployment_id`,
    );
    const found = await newDeployment(db, own, { manifest: { notebooks: [notebook] } });
    await run(db, sql`ANALYZE deployments, deployment_versions`);
    expect(await rowsRead((tx) => deploymentsUsing(tx, own, notebook))).toBeLessThanOrEqual(100);
    expect((await deploymentsUsing(db, own, notebook)).map(({ id }) => id)).toEqual([found.id]);
  });

  /** Counts the version rows that PostgreSQL fetches for the work. */
  function rowsRead(work: (tx: Transaction) => Promise<unknown>): Promise<number> {
    return transaction(db, async (tx) => {
      const before = await counted(tx);
      await work(tx);
      return (await counted(tx)) - before;
    });
  }

  async function counted(tx: Transaction): Promise<number> {
    const { read } = await one(
      tx,
      { read: integer() },
      sql`SELECT (seq_tup_read + idx_tup_fetch)::int AS read FROM pg_stat_xact_user_tables
          WHERE relname = 'deployment_versions'`,
    );
    return read;
  }

  async function multiply({ id }: DeploymentRow, newest: number): Promise<void> {
    await run(
      db,
      sql`
      INSERT INTO deployment_versions
      SELECT deployment_id, number, org_id, note, manifest, file_objects, changed, uses,
        created_by_type, created_by_id, created_by_name, created_at, content, missing
      FROM ${deploymentVersions}, generate_series(2, ${newest}::int) AS number WHERE deployment_id = ${id}`,
    );
    const pointers = { last_version: newest, newest_version: newest, draft_version: newest };
    await update(db, deployments, pointers, sql`id = ${id}`);
  }
});
