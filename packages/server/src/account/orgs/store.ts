import type { Mode } from '@vestra/contract/route';
import { modes } from '@vestra/contract/route';
import type { Tenant } from '../../platform/caller.ts';
import { distinct, requestedRows } from '../../platform/db/batch-concurrent-calls.ts';
import type { Executor } from '../../platform/db/pool.ts';
import { insert, insertMany, maybeOne, rowsOf, run, update } from '../../platform/db/query.ts';
import { type Sql, sql } from '../../platform/db/sql.ts';
import { bytes, columnsOf, integer, type NewRowOf, text } from '../../platform/db/table.ts';
import { type OrgRow, type OrgSettings, orgSettings, orgs } from '../tables.ts';

export async function findOrg(db: Executor, orgId: string): Promise<OrgRow> {
  const row = await maybeOne(db, orgs, sql`SELECT ${columnsOf(orgs)} FROM ${orgs} WHERE id = ${orgId}`);
  if (!row) throw new Error(`Org ${orgId} has no row.`);
  return row;
}

export async function findSettings(db: Executor, { orgId, mode }: Tenant): Promise<OrgSettings> {
  const row = await maybeOne(
    db,
    orgSettings,
    sql`SELECT ${columnsOf(orgSettings)} FROM ${orgSettings} WHERE org_id = ${orgId} AND mode = ${mode}`,
  );
  if (!row) throw new Error(`Org ${orgId} has no settings for ${mode} mode.`);
  return row;
}

const inModeShape = { ...orgs.columns, ...orgSettings.columns };

/** An org with its settings for one mode. */
export type OrgInMode = { org: OrgRow; settings: OrgSettings };

/** Reads the orgs in one statement, in the order of `wanted`. An org that does not exist is undefined. */
export async function findOrgsInMode(db: Executor, wanted: readonly Tenant[]): Promise<(OrgInMode | undefined)[]> {
  const each = distinct(wanted, ({ orgId, mode }) => `${orgId} ${mode}`);
  const rows = await rowsOf(
    db,
    inModeShape,
    sql`SELECT ${columnsOf(orgs, 'o')}, ${columnsOf(orgSettings, 's')}
        FROM ${requestedRows(
          each.map(({ orgId, mode }) => ({ org_id: orgId, mode })),
          ['org_id', 'mode'],
        )}
        JOIN ${orgSettings} s USING (org_id, mode) JOIN ${orgs} o ON o.id = s.org_id`,
  );
  // Several callers share one query, so match both org and mode: no caller may get another's row.
  return wanted.map(({ orgId, mode }) => {
    const found = rows.find((row) => row.org_id === orgId && row.mode === mode);
    return found && { org: found, settings: found };
  });
}

/** Whether any org allows pages of this origin to embed sessions. */
export const isEmbedOrigin = async (db: Executor, origin: string): Promise<boolean> =>
  (await run(db, sql`SELECT FROM ${orgSettings} WHERE allowed_embed_origins @> ${[origin]}::text[] LIMIT 1`)) > 0;

/** Locks the row, so that concurrent changes are checked one after the other. */
export async function lockSettings(tx: Executor, { orgId, mode }: Tenant): Promise<OrgSettings> {
  const row = await maybeOne(
    tx,
    orgSettings,
    sql`SELECT ${columnsOf(orgSettings)} FROM ${orgSettings} WHERE org_id = ${orgId} AND mode = ${mode} FOR UPDATE`,
  );
  if (!row) throw new Error(`Org ${orgId} has no settings for ${mode} mode.`);
  return row;
}

/** Inserts an org with the same settings for both modes. */
export async function insertOrg(
  tx: Executor,
  row: NewRowOf<typeof orgs>,
  settings: Partial<OrgSettings> = {},
): Promise<OrgRow> {
  const inserted = await insert(tx, orgs, row);
  await insertMany(
    tx,
    orgSettings,
    modes.map((mode) => ({ ...settings, org_id: row.id, mode })),
  );
  return inserted;
}

export async function renameOrg(tx: Executor, orgId: string, name: string): Promise<void> {
  await run(tx, sql`UPDATE ${orgs} SET name = ${name} WHERE id = ${orgId}`);
}

export async function updateSettings(
  tx: Executor,
  { orgId, mode }: Tenant,
  changes: Partial<OrgSettings>,
): Promise<OrgSettings> {
  if (Object.keys(changes).length === 0) return findSettings(tx, { orgId, mode });
  const [row] = await update(tx, orgSettings, changes, sql`org_id = ${orgId} AND mode = ${mode}`);
  return row as OrgSettings;
}

export const hasOrgs = async (db: Executor): Promise<boolean> => (await run(db, sql`SELECT FROM orgs LIMIT 1`)) > 0;

export const orgExists = async (db: Executor, orgId: string): Promise<boolean> =>
  (await run(db, sql`SELECT FROM orgs WHERE id = ${orgId}`)) > 0;

/** Seals the data key of every org again. Returns the number of orgs. */
export async function resealDataKeys(
  tx: Executor,
  reseal: (wrapped: Buffer, orgId: string) => Buffer,
): Promise<number> {
  const rows = await rowsOf(
    tx,
    { id: text(), wrapped: bytes() },
    sql`SELECT id, wrapped_data_key AS wrapped FROM orgs FOR UPDATE`,
  );
  for (const { id, wrapped } of rows) {
    await run(tx, sql`UPDATE orgs SET wrapped_data_key = ${reseal(wrapped, id)} WHERE id = ${id}`);
  }
  return rows.length;
}

/** The modes of orgs whose conversations are deleted after some days. `bound`: the operator's maximum for all. */
export const conversationRetentions = (
  db: Executor,
  bound: number | null,
): Promise<{ org_id: string; mode: Mode; days: number }[]> =>
  rowsOf(
    db,
    { org_id: text(), mode: text<Mode>(), days: integer() },
    sql`SELECT org_id, mode, least(conversation_retention_days, ${bound}::int) AS days FROM ${orgSettings}
      WHERE conversation_retention_days IS NOT NULL OR ${bound}::int IS NOT NULL ORDER BY org_id, mode`,
  );

/** The default deployment of the org and mode of a row, for queries of other modules. */
export const defaultDeploymentOfRow = (row: Sql): Sql =>
  sql`(SELECT settings.default_deployment FROM ${orgSettings} AS settings
    WHERE settings.org_id = ${row}.org_id AND settings.mode = ${row}.mode)`;
