import type { Ask } from '@vestra/agent/question';
import type { PricedModel } from '@vestra/models/prices';
import { costOf } from '../../billing/index.ts';
import { readTranscript, type Transcript } from '../../engine/conversations/index.ts';
import { ask, paidByOrg } from '../../engine/index.ts';
import { transaction } from '../../platform/db/transaction.ts';
import { beginConversation, converse } from './converse.ts';
import { judgeScenario } from './judge.ts';
import { faultOf, holdPlay, isInterrupted, type Player, type Playing } from './playing.ts';
import { recordResult } from './store.ts';
import type { ResultRow } from './tables.ts';
import { brokenBy, type Verdict, verdictOf } from './verdict.ts';

/** Plays one scenario, or goes on with it, until it has a verdict. */
export async function playScenario(
  player: Player,
  playing: Playing & { model: PricedModel },
  result: ResultRow,
  signal: AbortSignal,
): Promise<void> {
  const { engine } = player;
  const { row, model } = playing;
  const tenant = { orgId: row.org_id, mode: row.mode };
  let conversationId = result.conversation_id;
  const startedAt = result.started_at ?? new Date();
  const note = (transcript: Transcript, verdict: Verdict | null) =>
    record(player, playing, { ...result, conversation_id: conversationId, started_at: startedAt }, transcript, verdict);
  try {
    conversationId ??= await beginConversation(player, playing, result, startedAt);
    const payer = paidByOrg(engine, { tenant, model, deploymentId: row.deployment_id, conversationId });
    const asking: Ask = (question) => ask({ ...question, payer, signal });
    const onExchange = (transcript: Transcript) => note(transcript, null);
    const broken = await converse(player, playing, { result, conversationId, ask: asking, onExchange }, signal);
    const transcript = await readTranscript(engine.db, conversationId);
    if (broken !== null) return await note(transcript, brokenBy(broken));
    const judge = { ask: asking, judgedBy: model.id };
    await note(transcript, verdictOf(await judgeScenario(judge, result.scenario, transcript.witnessed)));
  } catch (error) {
    if (isInterrupted(error, signal)) throw error;
    const transcript = conversationId === null ? nothing : await readTranscript(engine.db, conversationId);
    await note(transcript, brokenBy(faultOf(engine.log, error)));
  }
}

const nothing: Transcript = { said: [], witnessed: [] };

/** How far the play is, or its end. */
async function record(
  { engine }: Player,
  { run }: Playing,
  result: ResultRow,
  { said }: Transcript,
  verdict: Verdict | null,
): Promise<void> {
  const { conversation_id: conversationId, started_at: startedAt } = result;
  await transaction(engine.db, async (tx) => {
    await holdPlay(tx, run, 'share');
    const cost = conversationId === null ? null : await costOf(tx, { conversationId });
    const played = {
      transcript: said,
      duration_ms: startedAt === null ? 0 : Math.max(0, Date.now() - startedAt.getTime()),
      cost_micros: cost?.totalMicros ?? 0n,
    };
    await recordResult(tx, result, played, verdict);
  });
  engine.announcer.notify('test_run', result.run_id);
}
