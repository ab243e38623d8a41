import { modes } from '@vestra/contract/route';
import { and, eq, sql } from 'drizzle-orm';
import type { Tenant } from '../../caller.ts';
import type { Executor } from '../../db/pool.ts';
import { selectRows } from '../../db/rows.ts';
import { type OrgRow, type OrgSettings, orgSettings, orgs } from './tables.ts';

export async function findOrg(db: Executor, orgId: string): Promise<OrgRow> {
  const [row] = await selectRows(db, orgs, { id: orgId });
  if (!row) throw new Error(`Org ${orgId} has no row.`);
  return row;
}

export async function findSettings(db: Executor, { orgId, mode }: Tenant): Promise<OrgSettings> {
  const [row] = await selectRows(db, orgSettings, { org_id: orgId, mode });
  if (!row) throw new Error(`Org ${orgId} has no settings for ${mode} mode.`);
  return row;
}

/** Locked, so that two changes at once are judged one after the other. */
export async function lockSettings(tx: Executor, { orgId, mode }: Tenant): Promise<OrgSettings> {
  const [row] = await selectRows(tx, orgSettings, { org_id: orgId, mode }, 'FOR UPDATE');
  if (!row) throw new Error(`Org ${orgId} has no settings for ${mode} mode.`);
  return row;
}

/** An org with its settings for both modes, which begin alike. */
export async function insertOrg(
  tx: Executor,
  row: typeof orgs.$inferInsert,
  settings: Partial<OrgSettings> = {},
): Promise<OrgRow> {
  const [inserted] = await tx.insert(orgs).values(row).returning();
  await tx.insert(orgSettings).values(modes.map((mode) => ({ ...settings, org_id: row.id, mode })));
  return inserted as OrgRow;
}

export async function renameOrg(tx: Executor, orgId: string, name: string): Promise<void> {
  await tx.update(orgs).set({ name }).where(eq(orgs.id, orgId));
}

export async function updateSettings(
  tx: Executor,
  { orgId, mode }: Tenant,
  changes: Partial<OrgSettings>,
): Promise<OrgSettings> {
  if (Object.keys(changes).length === 0) return findSettings(tx, { orgId, mode });
  const [row] = await tx
    .update(orgSettings)
    .set(changes)
    .where(and(eq(orgSettings.org_id, orgId), eq(orgSettings.mode, mode)))
    .returning();
  return row as OrgSettings;
}

export async function hasOrgs(db: Executor): Promise<boolean> {
  const { rows } = await db.execute(sql`SELECT 1 FROM orgs LIMIT 1`);
  return rows.length > 0;
}

export async function orgExists(db: Executor, orgId: string): Promise<boolean> {
  return (await selectRows(db, orgs, { id: orgId })).length > 0;
}

/** Seals the data key of every org anew; how many there were. */
export async function resealDataKeys(
  tx: Executor,
  reseal: (wrapped: Buffer, orgId: string) => Buffer,
): Promise<number> {
  const { rows } = await tx.execute<{ id: string; wrapped: Buffer }>(
    sql`SELECT id, wrapped_data_key AS wrapped FROM orgs FOR UPDATE`,
  );
  for (const { id, wrapped } of rows) {
    await tx.execute(sql`UPDATE orgs SET wrapped_data_key = ${reseal(wrapped, id)} WHERE id = ${id}`);
  }
  return rows.length;
}
