import { sql } from 'drizzle-orm';
import type { SweepSource } from '../../jobs/sweep.ts';
import { mostOfOwnAgent } from './slots.ts';
import type { BatchRow } from './tables.ts';

type Left = Pick<BatchRow, 'org_id' | 'mode' | 'id'>;

/**
 * Batches that could go on and have for a while not done so: whoever should have seen to it has died. Within that while
 * it is a process that lives which sees to it.
 */
export const unfinishedBatches: SweepSource = {
  name: 'batches',
  async find({ tx, jobs, limit }) {
    const { rows } = await tx.execute<Left>(sql`
      SELECT b.org_id, b.mode, b.id FROM batches b
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
      LIMIT ${limit}`);
    const withJob = await jobs.keysWithJob(
      tx,
      'batch.advance',
      rows.map(({ id }) => id),
    );
    const left = rows.filter(({ id }) => !withJob.has(id));
    await jobs.sendMany(
      tx,
      'batch.advance',
      left.map(({ id, ...rest }) => ({ ...rest, batch_id: id })),
    );
    return left.length;
  },
};
