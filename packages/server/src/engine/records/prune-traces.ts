import type { Database } from '../../platform/db/pool.ts';
import { one } from '../../platform/db/query.ts';
import { sql } from '../../platform/db/sql.ts';
import { count } from '../../platform/db/table.ts';

/**
 * Forgets old steps and their calls; false: none was left. A run that has not ended goes on from its steps, however long
 * it has waited, and keeps them all. What is open is looked up row by row: as a join it would read every open turn.
 */
export async function pruneTraces(db: Database, before: Date, limit: number): Promise<boolean> {
  const { steps } = await one(
    db,
    { steps: count() },
    sql`
    WITH old AS (
      SELECT run_id, step_index FROM run_steps AS step
      WHERE created_at < ${before}
        AND (SELECT true FROM turns
          WHERE id = step.run_id AND state IN ('queued', 'replying', 'waiting', 'working')) IS NULL
        AND (SELECT true FROM tasks
          WHERE id = step.run_id AND status IN ('queued', 'working', 'waiting') LIMIT 1) IS NULL
      ORDER BY created_at LIMIT ${limit} FOR UPDATE SKIP LOCKED
    ), calls AS (
      DELETE FROM run_calls AS call USING old WHERE call.run_id = old.run_id AND call.step_index = old.step_index
    ), steps AS (
      DELETE FROM run_steps AS step USING old
      WHERE step.run_id = old.run_id AND step.step_index = old.step_index RETURNING 1
    )
    SELECT count(*) AS steps FROM steps`,
  );
  return steps === limit;
}
