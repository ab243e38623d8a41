import { fail } from '@vestra/contract/errors';
import type { Caller, Tenant } from '../../platform/caller.ts';
import type { Database, Executor } from '../../platform/db/pool.ts';
import { insert, rowsOf, run } from '../../platform/db/query.ts';
import { sql } from '../../platform/db/sql.ts';
import { columnsOf, text } from '../../platform/db/table.ts';
import { transaction } from '../../platform/db/transaction.ts';
import type { Handlers } from '../../platform/http/handler.ts';
import type { Vault } from '../../platform/secrets/vault.ts';
import { recordAudit } from '../audit/audit-log.ts';
import { findOrg } from '../orgs/store.ts';
import { type SecretRow, secrets } from '../tables.ts';

export function secretRoutes({ db, vault }: { db: Database; vault: Vault }): Handlers<'secrets'> {
  return {
    list: async ({ caller, query, page }) => {
      const userId = ownerOf(caller, query.user_id);
      return page.of(await listSecrets(db, caller, userId, page), presentSecret, (row) => [row.name]);
    },
    put: async ({ caller, origin, params, body }) => {
      const userId = ownerOf(caller, body.user_id);
      const row = await transaction(db, async (tx) => {
        const sealed = await sealSecret(tx, vault, { tenant: caller, userId, name: params.name }, body.value);
        const stored = await upsertSecret(tx, caller, { userId, name: params.name, sealed });
        await recordAudit(tx, origin, {
          action: 'secret.stored',
          target: { type: 'secret', id: params.name },
          details: { user_id: userId || null },
        });
        return stored;
      });
      return presentSecret(row);
    },
    delete: async ({ caller, origin, params, query }) => {
      const userId = ownerOf(caller, query.user_id);
      await transaction(db, async (tx) => {
        if (!(await removeSecret(tx, caller, userId, params.name))) throw fail('secret_not_found');
        await recordAudit(tx, origin, {
          action: 'secret.deleted',
          target: { type: 'secret', id: params.name },
          details: { user_id: userId || null },
        });
      });
      return { object: 'secret', name: params.name, deleted: true };
    },
  };
}

/** Scope `runtime` allows secrets of users. Secrets of the org need `setup`. */
function ownerOf(caller: Caller, userId: string | undefined): string {
  const mayReachCompany = caller.scopes.includes('setup') || caller.scopes.includes('all');
  if (userId === undefined && !mayReachCompany) {
    throw fail('scope_missing', { message: 'A secret of the company needs a key with scope setup or all.' });
  }
  return userId ?? '';
}

const presentSecret = (row: SecretRow) => ({
  object: 'secret' as const,
  name: row.name,
  user_id: row.user_id || null,
  mode: row.mode,
  created_at: row.created_at.toISOString(),
  updated_at: row.updated_at.toISOString(),
});

/** Reads the values of the stored secrets among `names`. `userId` is null for secrets of the org. */
export async function readSecrets(
  db: Executor,
  vault: Vault,
  tenant: Tenant,
  userId: string | null,
  names: readonly string[],
): Promise<Map<string, string>> {
  // Secrets of the org have an empty user id.
  const owner = { tenant, userId: userId ?? '' };
  return openSecrets(db, vault, owner, await findSecrets(db, tenant, owner.userId, [...names]));
}

/** The row of a sealed value. The seal is bound to it, so a value copied to another row cannot be opened. */
type SealContext = { tenant: Tenant; userId: string; name: string };

const boundTo = (kind: string, { tenant, userId, name }: SealContext) => [
  kind,
  tenant.orgId,
  tenant.mode,
  userId,
  name,
];

async function dataKey(db: Executor, { tenant }: Pick<SealContext, 'tenant'>) {
  const org = await findOrg(db, tenant.orgId);
  return { orgId: org.id, wrapped: org.wrapped_data_key };
}

export async function sealSecret(db: Executor, vault: Vault, place: SealContext, value: string): Promise<Buffer> {
  return vault.seal(await dataKey(db, place), Buffer.from(value, 'utf8'), boundTo('secret', place));
}

/** Opens the secrets of one owner, by name. Reads the data key once for all of them. */
async function openSecrets(
  db: Executor,
  vault: Vault,
  owner: Omit<SealContext, 'name'>,
  rows: readonly Pick<SecretRow, 'name' | 'sealed_value'>[],
): Promise<Map<string, string>> {
  if (rows.length === 0) return new Map();
  const key = await dataKey(db, owner);
  return new Map(
    rows.map(({ name, sealed_value }) => [
      name,
      vault.open(key, sealed_value, boundTo('secret', { ...owner, name })).toString('utf8'),
    ]),
  );
}

/** A sealed value of another module: its kind and the id of the row that owns it. */
type OwnedSealContext = {
  kind:
    | 'webhook_secret'
    | 'function_endpoint'
    | 'connection'
    | 'app_client'
    | 'own_app_client'
    | 'identity_provider'
    | 'memory_endpoint';
  tenant: Tenant;
  owner: string;
};

const boundToOwner = ({ kind, tenant, owner }: OwnedSealContext) => [kind, tenant.orgId, tenant.mode, owner];

export async function sealOwned(db: Executor, vault: Vault, place: OwnedSealContext, value: string): Promise<Buffer> {
  return vault.seal(await dataKey(db, place), Buffer.from(value, 'utf8'), boundToOwner(place));
}

/** Opens the sealed values of one owner and kind, in the given order. */
export async function openOwned(
  db: Executor,
  vault: Vault,
  place: OwnedSealContext,
  sealed: readonly Buffer[],
): Promise<string[]> {
  const key = await dataKey(db, place);
  return sealed.map((value) => vault.open(key, value, boundToOwner(place)).toString('utf8'));
}

/** Seals stored responses that contain a secret. Idempotent retries get them again. */
export function createAnswerSeal(vault: Vault) {
  const place = (tenant: Tenant, route: string, key: string): SealContext => ({ tenant, userId: route, name: key });
  // An org keeps its data key. Only the master key that wraps it changes, with a restart.
  const known = new Map<string, Awaited<ReturnType<typeof dataKey>>>();
  async function keyOf(tx: Executor, at: SealContext) {
    const key = known.get(at.tenant.orgId) ?? (await dataKey(tx, at));
    if (known.size >= 1000) known.clear();
    known.set(at.tenant.orgId, key);
    return key;
  }
  return {
    async seal(tx: Executor, tenant: Tenant, route: string, key: string, body: string): Promise<Buffer> {
      const at = place(tenant, route, key);
      return vault.seal(await keyOf(tx, at), Buffer.from(body, 'utf8'), boundTo('answer', at));
    },
    async open(tx: Executor, tenant: Tenant, route: string, key: string, sealed: Buffer): Promise<string> {
      const at = place(tenant, route, key);
      return vault.open(await keyOf(tx, at), sealed, boundTo('answer', at)).toString('utf8');
    },
  };
}

const columns = columnsOf(secrets);
const owned = ({ orgId, mode }: Tenant, userId: string) =>
  sql`org_id = ${orgId} AND mode = ${mode} AND user_id = ${userId}`;

export async function upsertSecret(
  tx: Executor,
  { orgId, mode }: Tenant,
  { userId, name, sealed }: { userId: string; name: string; sealed: Buffer },
): Promise<SecretRow> {
  const row = await insert(
    tx,
    secrets,
    { org_id: orgId, mode, user_id: userId, name, sealed_value: sealed },
    {
      onConflict: sql`(org_id, mode, user_id, name) DO UPDATE SET sealed_value = excluded.sealed_value, updated_at = now()`,
    },
  );
  return row as SecretRow;
}

/** Lists secrets by name, which is their only key. */
function listSecrets(
  db: Executor,
  tenant: Tenant,
  userId: string,
  page: { limit: number; after: readonly string[] | null },
): Promise<SecretRow[]> {
  const conditions = sql.and(owned(tenant, userId), page.after && sql`name > ${page.after[0] as string}`);
  return rowsOf(
    db,
    secrets,
    sql`SELECT ${columns} FROM ${secrets} WHERE ${conditions} ORDER BY name LIMIT ${page.limit + 1}`,
  );
}

async function removeSecret(tx: Executor, tenant: Tenant, userId: string, name: string): Promise<boolean> {
  return (await run(tx, sql`DELETE FROM ${secrets} WHERE ${owned(tenant, userId)} AND name = ${name}`)) > 0;
}

/** Returns those of the names under which the org has stored a secret in this mode. */
export async function storedSecretNames(
  db: Executor,
  tenant: Tenant,
  names: readonly string[],
): Promise<ReadonlySet<string>> {
  if (names.length === 0) return new Set();
  const rows = await rowsOf(
    db,
    { name: text() },
    sql`SELECT name FROM ${secrets} WHERE ${owned(tenant, '')} AND name = ANY(${names})`,
  );
  return new Set(rows.map(({ name }) => name));
}

export async function removeSecretsOfUser(tx: Executor, tenant: Tenant, userId: string): Promise<void> {
  await run(tx, sql`DELETE FROM ${secrets} WHERE ${owned(tenant, userId)}`);
}

async function findSecrets(db: Executor, tenant: Tenant, userId: string, names: string[]): Promise<SecretRow[]> {
  if (names.length === 0) return [];
  return rowsOf(
    db,
    secrets,
    sql`SELECT ${columns} FROM ${secrets} WHERE ${owned(tenant, userId)} AND name = ANY(${names})`,
  );
}
