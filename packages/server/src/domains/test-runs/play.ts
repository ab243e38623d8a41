import { mapLimited } from '../../async/map-limited.ts';
import { isDatabaseAway } from '../../db/away.ts';
import { transaction } from '../../db/transaction.ts';
import { FencedOff } from '../../jobs/fence.ts';
import { manifestOf } from '../engine/api.ts';
import { type Fault, faultOf } from './fault.ts';
import { finishRun } from './finish.ts';
import { judgeModelOf } from './judge-model.ts';
import { playScenario } from './play-scenario.ts';
import type { Player, Playing } from './ports.ts';
import { lockRun, resultsOf, updateRun } from './store.ts';

const sideBySide = 4;

const noJudgeModel: Fault = {
  code: 'no_judge_model',
  message:
    'The built-in `offline` model does not judge what goes live. Set the key of a model provider, such as ' +
    'ANTHROPIC_API_KEY, or name a model with VESTRA_DEFAULT_MODEL, and start the server again.',
};

/**
 * The job. It may be called again after any crash: scenarios that have a verdict keep it, one that was being played goes
 * on in its conversation from where that stands, and the others are begun.
 */
export async function playTestRun(player: Player, runId: string, signal: AbortSignal): Promise<void> {
  const { db, runner, announcer } = player.engine;
  const taken = await transaction(db, async (tx) => {
    const found = await lockRun(tx, runId, 'update');
    if (found?.status !== 'queued' && found?.status !== 'running') return null;
    const run = await runner.take(tx, runId);
    const row = await updateRun(tx, runId, {
      status: 'running',
      started_at: found.started_at ?? new Date(),
      resumes: found.resumes + (found.status === 'running' ? 1 : 0),
    });
    return { row, run };
  });
  if (!taken) return;
  announcer.ring('test_run', runId);
  const of = { ...taken.row, user_id: null };
  await runner.perform(taken.run, of, (ended) => play(player, taken, AbortSignal.any([signal, ended])));
}

async function play(player: Player, playing: Playing, signal: AbortSignal): Promise<void> {
  const { engine } = player;
  const { row } = playing;
  try {
    const { model: named } = await manifestOf(engine.db, row.deployment_id, row.version);
    const model = judgeModelOf(engine, row, named);
    if (!model) return await finishRun(player, playing, noJudgeModel);
    const open = (await resultsOf(engine.db, row.id)).filter(
      ({ status }) => status === 'queued' || status === 'running',
    );
    await mapLimited(sideBySide, open, (result) => playScenario(player, { ...playing, model }, result, signal));
    await finishRun(player, playing, null);
  } catch (error) {
    if (signal.aborted || error instanceof FencedOff || isDatabaseAway(error)) throw error;
    await finishRun(player, playing, faultOf(engine.log, error));
  }
}
