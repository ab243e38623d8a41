import { emit } from '../../account/index.ts';
import { versionOf } from '../../agents/versions/index.ts';
import { mapLimited } from '../../platform/async/map-limited.ts';
import { transaction } from '../../platform/db/transaction.ts';
import { releaseRun, takeExpiredRuns } from '../../platform/jobs/run-owner.ts';
import type { SweepSource } from '../../platform/jobs/sweep.ts';
import { judgeModelOf } from '../test-runs/judge.ts';
import { faultOf, isInterrupted } from '../test-runs/playing.ts';
import type { Fault } from '../test-runs/verdict.ts';
import { holdReplay, type Replayer, type Replaying } from './playing.ts';
import { presentReplay } from './present.ts';
import { replayTalk } from './replay-talk.ts';
import {
  endOpenTalks,
  findReplay,
  lockReplay,
  talksOf,
  unplayedReplays,
  updateReplay,
  type WholeReplay,
} from './store.ts';

const sideBySide = 4;

/**
 * The job. It may be called again after any crash: talks that have a result keep it, one that was being replayed goes on
 * in its conversation from where that stands, and the others are begun.
 */
export async function playReplay(replayer: Replayer, replayId: string, signal: AbortSignal): Promise<void> {
  const { db, runner } = replayer.engine;
  const taken = await transaction(db, async (tx) => {
    const found = await lockReplay(tx, replayId, 'update');
    if (found?.status !== 'queued' && found?.status !== 'running') return null;
    const run = await runner.take(tx, replayId);
    const row = await updateReplay(tx, replayId, {
      status: 'running',
      started_at: found.started_at ?? new Date(),
      resumes: found.resumes + (found.status === 'running' ? 1 : 0),
    });
    return { row, run };
  });
  if (!taken) return;
  const of = { ...taken.row, user_id: null };
  await runner.perform(taken.run, of, (ended) => play(replayer, taken, AbortSignal.any([signal, ended])));
}

async function play(replayer: Replayer, replaying: Replaying, signal: AbortSignal): Promise<void> {
  const { engine } = replayer;
  const { row } = replaying;
  try {
    const { manifest } = await versionOf(engine.db, row.deployment_id, row.version);
    const judge = judgeModelOf(engine, row, manifest.model);
    const talks = await talksOf(engine.db, [row.id]);
    const open = talks.filter(({ status }) => status === 'queued' || status === 'running');
    await mapLimited(sideBySide, open, (talk) => replayTalk(replayer, replaying, { talk, judge }, signal));
    await finish(replayer, replaying, null);
  } catch (error) {
    if (isInterrupted(error, signal)) throw error;
    await finish(replayer, replaying, faultOf(engine.log, error));
  }
}

/** The end and the event that tells of it are one transaction. */
async function finish({ engine }: Replayer, { row, run }: Replaying, fault: Fault | null): Promise<void> {
  const tenant = { orgId: row.org_id, mode: row.mode };
  await transaction(engine.db, async (tx) => {
    await holdReplay(tx, run, 'update');
    if (fault) await endOpenTalks(tx, row.id, { status: 'failed', ...fault });
    await updateReplay(tx, row.id, {
      status: fault ? 'error' : 'completed',
      error_code: fault?.code ?? null,
      finished_at: new Date(),
    });
    await releaseRun(tx, run);
    const shown = presentReplay((await findReplay(tx, tenant, row.id)) as WholeReplay);
    // An event goes to other systems, and is kept when the person is erased: whose talks they were is not for it to say.
    await emit(tx, {
      ...tenant,
      type: 'replay.completed',
      deploymentId: row.deployment_id,
      data: { ...shown, talks: [] },
    });
  });
  engine.announcer.notify('test_run', row.id);
}

/** Replays whose process has died, and those that neither a process nor a job knows of. */
export const unfinishedReplays: SweepSource = {
  name: 'replays',
  async find({ tx, jobs, limit }) {
    const expired = await takeExpiredRuns(tx, { prefix: 'rpl_', limit });
    const found = await unplayedReplays(tx, limit);
    const withJob = await jobs.keysWithJob(
      tx,
      'replay.play',
      found.map(({ id }) => id),
    );
    const left = found.filter(({ id }) => !withJob.has(id));
    await jobs.sendMany(
      tx,
      'replay.play',
      left.map(({ id, org_id }) => ({ org_id, replay_id: id })),
    );
    return Math.max(left.length, expired.length);
  },
};
