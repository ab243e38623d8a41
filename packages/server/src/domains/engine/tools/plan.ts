import type { Database } from '../../../db/pool.ts';
import { hasApprovedPlan } from '../records/interactions.ts';
import type { Subject } from '../records/subject.ts';

/** The yes to a plan came while a run was under way with the tools of before: it is taken up anew, with all of them. */
export class PlanApproved extends Error {
  override readonly name = 'PlanApproved';
}

/** Work that was asked to show its plan first may change nothing until a person has said yes to one. */
export const isPlanApproved = async (db: Database, { task }: Subject): Promise<boolean> =>
  task !== null && hasApprovedPlan(db, task.id);
