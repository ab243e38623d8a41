import { newId } from '@vestra/contract/ids';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createTestDatabase } from '../../../../../tests/support/test-database.ts';
import { readBalances } from '../../billing/roll-up-balances.ts';
import type { Tenant } from '../../platform/caller.ts';
import { closeDatabase, type Database, openDatabase } from '../../platform/db/pool.ts';
import { run } from '../../platform/db/query.ts';
import { sql } from '../../platform/db/sql.ts';
import { findOrgsInMode, insertOrg, updateSettings } from './store.ts';

let database: Awaited<ReturnType<typeof createTestDatabase>>;
let db: Database;
beforeAll(async () => {
  database = await createTestDatabase();
  db = await openDatabase({ connectionString: database.connectionString });
});
afterAll(async () => {
  await closeDatabase(db);
  await database.drop();
});

it('reads org, mode and balance of many tenants in one query, in the requested order [TEN-520]', async () => {
  const [one, other, missing] = [newId('org'), newId('org'), newId('org')];
  const tenants: Tenant[] = [one, other].flatMap((orgId) => [
    { orgId, mode: 'test' },
    { orgId, mode: 'live' },
  ]);
  for (const orgId of [one, other]) await insertOrg(db, { id: orgId, name: orgId, wrapped_data_key: Buffer.alloc(1) });
  for (const [at, { orgId, mode }] of tenants.entries()) {
    await updateSettings(db, { orgId, mode }, { allowed_return_urls: [`https://${at}.example/`] });
    await run(
      db,
      sql`INSERT INTO wallets (org_id, mode, balance_micros) VALUES (${orgId}, ${mode}, ${BigInt(at + 1)})`,
    );
  }
  // Request one twice, in another order, and one that does not exist.
  const wanted = [...tenants.toReversed(), { orgId: missing, mode: 'test' } as Tenant, ...tenants];
  const places = [3, 2, 1, 0, null, 0, 1, 2, 3];
  const found = await findOrgsInMode(db, wanted);
  expect(
    found.map((each) => each && [each.org.name, each.settings.mode, each.settings.allowed_return_urls[0]]),
  ).toEqual(
    places.map((at) => {
      if (at === null) return undefined;
      const { orgId, mode } = tenants[at] as Tenant;
      return [orgId, mode, `https://${at}.example/`];
    }),
  );
  expect(await readBalances(db, wanted)).toEqual(places.map((at) => (at === null ? 0n : BigInt(at + 1))));
});
