import { and, eq } from 'drizzle-orm';
import type { Database } from '../../../db/pool.ts';
import type { Subject } from '../records/subject.ts';
import { interactions } from '../records/tables.ts';

/** The yes to a plan came while a run was under way with the tools of before: it is taken up anew, with all of them. */
export class PlanApproved extends Error {
  override readonly name = 'PlanApproved';
}

/** Work that was asked to show its plan first may change nothing until a person has said yes to one. */
export async function isPlanApproved(db: Database, { task }: Subject): Promise<boolean> {
  if (!task) return false;
  const found = await db
    .select({ id: interactions.id })
    .from(interactions)
    .where(
      and(eq(interactions.run_id, task.id), eq(interactions.kind, 'exit_plan'), eq(interactions.decision, 'approved')),
    )
    .limit(1);
  return found.length > 0;
}
