import { takeExpiredRuns } from '../../platform/jobs/run-owner.ts';
import type { SweepSource } from '../../platform/jobs/sweep.ts';
import type { TaskRow } from '../records/tables.ts';
import { unownedTasks } from '../records/tasks.ts';
import { unownedReplies } from '../records/turns.ts';

type Left = Pick<TaskRow, 'org_id' | 'mode' | 'user_id' | 'conversation_id'>;

const placeOf = ({ org_id, mode, user_id, conversation_id }: Left): Left => ({
  org_id,
  mode,
  user_id,
  conversation_id,
});

/** Replies whose process has died, and replies that neither a process nor a job knows of. */
export const unfinishedReplies: SweepSource = {
  name: 'replies',
  async find({ tx, jobs, limit }) {
    const expired = await takeExpiredRuns(tx, { prefix: 'turn_', limit });
    const rows = await unownedReplies(tx, limit);
    const withJob = await jobs.keysWithJob(
      tx,
      'turn.run',
      rows.map(({ id }) => id),
    );
    const left = rows.filter(({ id }) => !withJob.has(id));
    const payloads = left.map((row) => ({ ...placeOf(row), turn_id: row.id }));
    await jobs.sendMany(tx, 'turn.run', payloads);
    return Math.max(left.length, expired.length);
  },
};

export const unfinishedTasks: SweepSource = {
  name: 'tasks',
  async find({ tx, jobs, limit }) {
    const expired = await takeExpiredRuns(tx, { prefix: 'task_', limit });
    const rows = await unownedTasks(tx, limit);
    const withJob = await jobs.keysWithJob(
      tx,
      'task.run',
      rows.map(({ id }) => id),
    );
    const left = rows.filter(({ id }) => !withJob.has(id));
    await jobs.sendMany(
      tx,
      'task.run',
      left.map((row) => ({ ...placeOf(row), task_id: row.id })),
    );
    return Math.max(left.length, expired.length);
  },
};
