import { rowsOf } from '../../platform/db/query.ts';
import { sql } from '../../platform/db/sql.ts';
import type { SweepSource } from '../../platform/jobs/sweep.ts';
import { mostOfOwnAgent } from './slots.ts';
import { batches } from './tables.ts';

const { org_id, mode, id } = batches.columns;
const left = { org_id, mode, id };

/**
 * Batches that could go on and have for a while not done so: whoever should have seen to it has died. Within that while
 * it is a process that lives which sees to it.
 */
export const unfinishedBatches: SweepSource = {
  name: 'batches',
  async find({ tx, jobs, limit }) {
    const rows = await rowsOf(
      tx,
      left,
      sql`SELECT b.org_id, b.mode, b.id FROM batches b
      CROSS JOIN LATERAL (
        SELECT count(*) FILTER (WHERE slot = 'held') AS held, count(*) FILTER (WHERE slot = 'wanted') AS wanted,
          count(*) AS running
        FROM batch_items i WHERE i.batch_id = b.id AND i.status = 'running') s
      CROSS JOIN LATERAL (
        SELECT EXISTS (SELECT FROM batch_items i WHERE i.batch_id = b.id AND i.status = 'queued' AND i.user_id IS NOT NULL) AS of_users,
          EXISTS (SELECT FROM batch_items i WHERE i.batch_id = b.id AND i.status = 'queued' AND i.user_id IS NULL) AS of_org) q
      CROSS JOIN LATERAL (
        SELECT count(*) < ${mostOfOwnAgent} AS has_room FROM batch_items i
        WHERE i.org_id = b.org_id AND i.mode = b.mode AND i.slot = 'held' AND i.user_id IS NULL) own
      WHERE b.completed_at IS NULL AND b.advanced_at < now() - interval '5 seconds' AND (
        (s.held < b.concurrency AND (s.wanted > 0 OR q.of_users OR (q.of_org AND own.has_room)))
        OR (s.running = 0 AND NOT q.of_users AND NOT q.of_org))
      LIMIT ${limit}`,
    );
    const withJob = await jobs.keysWithJob(
      tx,
      'batch.advance',
      rows.map(({ id }) => id),
    );
    const forgotten = rows.filter(({ id }) => !withJob.has(id));
    await jobs.sendMany(
      tx,
      'batch.advance',
      forgotten.map(({ id, ...rest }) => ({ ...rest, batch_id: id })),
    );
    return forgotten.length;
  },
};
