import { newId } from '@vestra/contract/ids';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../../../../../tests/support/test-database.ts';
import { findSettings } from '../../account/orgs/store.ts';
import { closeDatabase, type Database, openDatabase } from '../../platform/db/pool.ts';
import { run } from '../../platform/db/query.ts';
import { sql } from '../../platform/db/sql.ts';
import { transaction } from '../../platform/db/transaction.ts';
import { saveVersion } from '../versions/versions.ts';
import { removeDeployment } from './deployment.ts';
import {
  findDeployment,
  holdDeployment,
  lockDeployment,
  readReference,
  resolveDeployment,
} from './deployment-reference.ts';
import { author, content, newDeployment, newOrg } from './deployments.fixture.ts';
import type { DeploymentRow } from './tables.ts';

let database: TestDatabase;
let db: Database;
let orgId: string;
let desk: DeploymentRow;

beforeAll(async () => {
  database = await createTestDatabase();
  db = await openDatabase({ connectionString: database.connectionString });
  orgId = (await newOrg(db)).id;
  desk = await newDeployment(db, orgId, { slug: 'desk', name: 'Support desk' });
  await transaction(db, (tx) => saveVersion(tx, { deployment: desk, ...content() }));
});

afterAll(async () => {
  await closeDatabase(db);
  await database.drop();
});

describe('a deployment reference in a body', () => {
  it.each([
    ['its slug', 'desk', null],
    ['its name', 'Support desk', null],
    ['its slug and a version', 'desk@2', 2],
    ['its name and a version', 'Support desk@1', 1],
  ])('accepts %s [DEP-011]', async (_what, reference, version) => {
    const found = await resolveDeployment(db, { orgId, mode: 'test' }, reference, 'deployment');
    expect([found.deployment.id, found.version]).toEqual([desk.id, version]);
  });

  it('accepts the id with and without a version [DEP-011]', async () => {
    expect(await resolveDeployment(db, { orgId, mode: 'test' }, desk.id, 'deployment')).toMatchObject({
      version: null,
    });
    expect(await resolveDeployment(db, { orgId, mode: 'test' }, `${desk.id}@2`, 'deployment')).toMatchObject({
      version: 2,
    });
  });

  it.each(['nobody', 'nobody@1', newId('dep'), 'desk@3', 'desk@0', 'desk@latest', 'desk@9999999999', 'Desk'])(
    'refuses %s and names the field',
    async (reference) => {
      const refusal = { code: 'invalid_deployment', status: 400, details: { param: 'deployment' } };
      await expect(resolveDeployment(db, { orgId, mode: 'test' }, reference, 'deployment')).rejects.toMatchObject(
        refusal,
      );
    },
  );

  it('reads a name with a version-like end as a name if nothing else matches', async () => {
    const odd = await newDeployment(db, orgId, { slug: 'odd', name: 'Team@7' });
    expect(await findDeployment(db, orgId, 'Team@7')).toMatchObject({ deployment: { id: odd.id }, version: null });
    const team = await newDeployment(db, orgId, { slug: 'team', name: 'Team' });
    expect(await findDeployment(db, orgId, 'Team@7')).toMatchObject({ deployment: { id: team.id }, version: 7 });
  });

  it('does not find a deployment of another org', async () => {
    const other = await newOrg(db);
    for (const reference of [desk.id, 'desk', 'Support desk', `${desk.id}@1`]) {
      expect(await findDeployment(db, other.id, reference)).toBeUndefined();
    }
  });
});

describe('holding a deployment', () => {
  it('refuses a version', async () => {
    const held = transaction(db, (tx) => holdDeployment(tx, orgId, 'desk@1', 'default_deployment'));
    await expect(held).rejects.toMatchObject({ code: 'invalid_deployment', details: { param: 'default_deployment' } });
    expect((await transaction(db, (tx) => holdDeployment(tx, orgId, 'desk', 'deployment'))).id).toBe(desk.id);
  });

  it('prevents deletion until the referencing row is written', async () => {
    const short = await newDeployment(db, orgId, { slug: 'short-lived' });
    const origin = { orgId, mode: 'live' as const, actor: author, requestId: null, ip: null };
    let removed: Promise<string> | undefined;
    await transaction(db, async (tx) => {
      await holdDeployment(tx, orgId, 'short-lived', 'default_deployment');
      removed = new Promise((resolve, reject) => {
        // Outside this transaction, like a separate request.
        setImmediate(() => deleteApart().then(resolve, reject));
      });
      await new Promise((resolve) => setTimeout(resolve, 100));
      await run(tx, sql`UPDATE org_settings SET default_deployment = ${short.id} WHERE org_id = ${orgId}`);
    });
    await removed;
    expect((await findSettings(db, { orgId, mode: 'live' })).default_deployment).toBeNull();

    async function deleteApart(): Promise<string> {
      const apart = await openDatabase({ connectionString: database.connectionString, max: 1 });
      return transaction(apart, (tx) => removeDeployment(tx, origin, short.id, async () => {})).finally(() =>
        closeDatabase(apart),
      );
    }
  });
});

it('locking a deployment returns its current row', async () => {
  const busy = await newDeployment(db, orgId, { slug: 'busy' });
  const versions = await Promise.all(
    Array.from({ length: 12 }, () =>
      transaction(db, async (tx) => {
        const { newest_version } = await lockDeployment(tx, orgId, 'busy');
        await saveVersion(tx, { deployment: busy, ...content() });
        return newest_version;
      }),
    ),
  );
  expect(versions.sort((a, b) => a - b)).toEqual(Array.from({ length: 12 }, (_, at) => at + 1));
});

describe('reading a reference', () => {
  it.each([
    ['desk', [['desk', null]]],
    ['Support desk', [['Support desk', null]]],
    ['dep_01hzy8q4v6m2c7k9x3w5b1n0', [['dep_01hzy8q4v6m2c7k9x3w5b1n0', null]]],
    [
      'desk@3',
      [
        ['desk', 3],
        ['desk@3', null],
      ],
    ],
    [
      'team@acme@12',
      [
        ['team@acme', 12],
        ['team@acme@12', null],
      ],
    ],
    [
      'desk@999999999',
      [
        ['desk', 999_999_999],
        ['desk@999999999', null],
      ],
    ],
    ['desk@1234567890', [['desk@1234567890', null]]],
    ['desk@0', [['desk@0', null]]],
    ['desk@03', [['desk@03', null]]],
    ['desk@-1', [['desk@-1', null]]],
    ['desk@3.5', [['desk@3.5', null]]],
    ['desk@latest', [['desk@latest', null]]],
    ['desk@', [['desk@', null]]],
    ['@3', [['@3', null]]],
  ] as const)('%s', (text, readings) => {
    expect(readReference(text).map(({ deployment, version }) => [deployment, version])).toEqual(readings);
  });
});
