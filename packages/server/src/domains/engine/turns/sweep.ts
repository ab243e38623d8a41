import { sql } from 'drizzle-orm';
import { takeExpiredRuns } from '../../../jobs/fence.ts';
import type { SweepSource } from '../../../jobs/sweep.ts';
import type { TaskRow } from '../records/tables.ts';

type Left = Pick<TaskRow, 'org_id' | 'mode' | 'user_id' | 'conversation_id' | 'id'>;

/** Replies whose process has died, and replies that neither a process nor a job knows of. */
export const unfinishedReplies: SweepSource = {
  name: 'replies',
  async find({ tx, jobs, limit }) {
    const expired = await takeExpiredRuns(tx, { prefix: 'turn_', limit });
    const { rows } = await tx.execute<Left>(sql`
      SELECT org_id, mode, user_id, conversation_id, id FROM turns
      WHERE state = 'replying' AND NOT EXISTS (SELECT FROM runs WHERE runs.id = turns.id) LIMIT ${limit}`);
    const withJob = await jobs.keysWithJob(
      tx,
      'turn.run',
      rows.map(({ id }) => id),
    );
    const left = rows.filter(({ id }) => !withJob.has(id));
    const payloads = left.map(({ id, ...rest }) => ({ ...rest, turn_id: id }));
    await jobs.sendMany(tx, 'turn.run', payloads);
    return Math.max(left.length, expired.length);
  },
};

export const unfinishedTasks: SweepSource = {
  name: 'tasks',
  async find({ tx, jobs, limit }) {
    const expired = await takeExpiredRuns(tx, { prefix: 'task_', limit });
    const { rows } = await tx.execute<Left>(sql`
      SELECT org_id, mode, user_id, conversation_id, id FROM tasks
      WHERE status IN ('queued', 'working') AND NOT EXISTS (SELECT FROM runs WHERE runs.id = tasks.id)
      ORDER BY updated_at LIMIT ${limit}`);
    const withJob = await jobs.keysWithJob(
      tx,
      'task.run',
      rows.map(({ id }) => id),
    );
    const left = rows.filter(({ id }) => !withJob.has(id));
    await jobs.sendMany(
      tx,
      'task.run',
      left.map(({ id, ...rest }) => ({ ...rest, task_id: id })),
    );
    return Math.max(left.length, expired.length);
  },
};
