import { newId } from '@vestra/contract/ids';
import type { Mode } from '@vestra/contract/route';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../../../../../tests/support/test-database.ts';
import { closeDatabase, type Database, openDatabase } from '../../platform/db/pool.ts';
import { run } from '../../platform/db/query.ts';
import { sql } from '../../platform/db/sql.ts';
import { createVault, openMasterKeys, VaultFailure } from '../../platform/secrets/vault.ts';
import { insertOrg } from '../orgs/store.ts';
import { secrets } from '../tables.ts';
import { readSecrets, sealSecret, upsertSecret } from './secrets.ts';

const vault = createVault(openMasterKeys({ dataDir: '', masterKey: 'cd'.repeat(32) }));
let database: TestDatabase;
let db: Database;
beforeAll(async () => {
  database = await createTestDatabase();
  db = await openDatabase({ connectionString: database.connectionString });
});
afterAll(async () => {
  await closeDatabase(db);
  await database.drop();
});

async function newOrg() {
  const id = newId('org');
  await insertOrg(db, { id, name: 'Org', wrapped_data_key: vault.newDataKey(id) });
  return id;
}

async function store(
  orgId: string,
  name: string,
  value: string,
  { mode = 'test', userId = '' }: { mode?: Mode; userId?: string } = {},
) {
  const tenant = { orgId, mode };
  await upsertSecret(db, tenant, {
    userId,
    name,
    sealed: await sealSecret(db, vault, { tenant, userId, name }, value),
  });
}

it('reads only the requested names of this org, mode and owner', async () => {
  const [orgId, other] = [await newOrg(), await newOrg()];
  await store(orgId, 'TOKEN', 'of the company ✓');
  await store(orgId, 'TOKEN', 'of live', { mode: 'live' });
  await store(orgId, 'TOKEN', 'of ada', { userId: 'ada' });
  await store(orgId, 'UNASKED', 'x');
  await store(other, 'TOKEN', 'of another org');
  await store(other, 'KEY', 'of another org');
  const read = (mode: Mode, userId: string | null) => readSecrets(db, vault, { orgId, mode }, userId, ['TOKEN', 'KEY']);
  expect(await read('test', null)).toEqual(new Map([['TOKEN', 'of the company ✓']]));
  expect(await read('live', null)).toEqual(new Map([['TOKEN', 'of live']]));
  expect(await read('test', 'ada')).toEqual(new Map([['TOKEN', 'of ada']]));
  expect(await read('live', 'ada')).toEqual(new Map());
  expect(await readSecrets(db, vault, { orgId, mode: 'test' }, null, [])).toEqual(new Map());
});

it('does not open a value that was copied to another row', async () => {
  const orgId = await newOrg();
  await store(orgId, 'TOKEN', 'abc');
  await run(db, sql`UPDATE ${secrets} SET name = 'OTHER' WHERE org_id = ${orgId}`);
  const reading = readSecrets(db, vault, { orgId, mode: 'test' }, null, ['OTHER']);
  await expect(reading).rejects.toBeInstanceOf(VaultFailure);
});
