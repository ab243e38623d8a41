import { eq } from 'drizzle-orm';
import type { Executor } from '../../db/pool.ts';
import { selectRows } from '../../db/rows.ts';
import { type OrgRow, orgs } from './tables.ts';

export async function findOrg(db: Executor, orgId: string): Promise<OrgRow> {
  const [row] = await selectRows(db, orgs, { id: orgId });
  if (!row) throw new Error(`Org ${orgId} has no row.`);
  return row;
}

/** Locked, so that two changes at once are judged one after the other. */
export async function lockOrg(tx: Executor, orgId: string): Promise<OrgRow> {
  const [row] = await tx.select().from(orgs).where(eq(orgs.id, orgId)).for('update');
  if (!row) throw new Error(`Org ${orgId} has no row.`);
  return row;
}

export async function insertOrg(tx: Executor, row: typeof orgs.$inferInsert): Promise<OrgRow> {
  const [inserted] = await tx.insert(orgs).values(row).returning();
  return inserted as OrgRow;
}

export async function updateOrg(tx: Executor, orgId: string, changes: Partial<OrgRow>): Promise<OrgRow> {
  if (Object.keys(changes).length === 0) return findOrg(tx, orgId);
  const [row] = await tx.update(orgs).set(changes).where(eq(orgs.id, orgId)).returning();
  return row as OrgRow;
}
