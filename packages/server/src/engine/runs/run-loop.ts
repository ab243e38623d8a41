import { listen } from '@vestra/agent/listen';
import { runAgent } from '@vestra/agent/loop';
import type { Message } from '@vestra/agent/message';
import { ModelFailure, type ModelRequest } from '@vestra/agent/model';
import type { Ports, RunEnd } from '@vestra/agent/ports';
import { isReadOnly, ownNameOf } from '@vestra/agent/tool';
import { Failure } from '@vestra/contract/errors';
import { newId } from '@vestra/contract/ids';
import { withFallbacks } from '@vestra/models/fallbacks';
import type { PricedModel } from '@vestra/models/prices';
import { findSettings } from '../../account/index.ts';
import { findDeployment } from '../../agents/deployments/index.ts';
import type { Sample, SampledPrompt } from '../../agents/tool-servers/index.ts';
import { releaseHold } from '../../billing/index.ts';
import { isDatabaseAway } from '../../platform/db/away.ts';
import { type Run, RunTakenOver } from '../../platform/jobs/run-owner.ts';
import { findFiles } from '../files/store.ts';
import { changeConversation } from '../records/change.ts';
import { connectsOf } from '../records/interactions.ts';
import type { Subject } from '../records/subject.ts';
import type { TurnRow } from '../records/tables.ts';
import { findTurn } from '../records/turns.ts';
import { createUnderWay, keepMedia, meteringComputer, priceAboveApproved } from '../tools/tool-calls.ts';
import type { BrokenEnd } from '../transitions/end-run.ts';
import { giveUp } from '../turns/begin-reply.ts';
import { endReply, endRun } from '../turns/end-run.ts';
import type { AcceptedState } from '../turns/ports.ts';
import { RunEnded, RunLeft } from '../turns/runner.ts';
import { type Assembled, assembleRun } from './assemble.ts';
import type { Engine } from './ports.ts';
import type { Recording, RunRecorder } from './recorder.ts';
import { createRunMoney, type RunMoney } from './run-money.ts';

type Taken = { subject: Subject; run: Run } & AcceptedState;

/** What stands when a loop has come to its end. */
export type EndedRun<R extends RunRecorder> = { end: RunEnd; assembled: Assembled; recorder: R; runMoney: RunMoney };

type MakeRecorder<R extends RunRecorder> = (assembled: Assembled, recording: Recording, turn: TurnRow) => R;

/** Runs the agent on a reply or a task until it ends; null where it could not, which has been recorded. */
export async function runLoop<R extends RunRecorder>(
  engine: Engine,
  taken: Taken,
  makeRecorder: MakeRecorder<R>,
  signal: AbortSignal,
): Promise<EndedRun<R> | null> {
  const { subject, run } = taken;
  const sessions = engine.serverTools.openSessions();
  try {
    const isFirstOfConversation = taken.isFirstRun && subject.turn.ordinal === 1;
    let now = taken;
    for (;;) {
      const connected = now.isFirstRun ? 0 : await connectsOf(engine.db, run.runId);
      const assembled = await assembleRun(engine, now.subject, run, {
        isFirstOfConversation,
        asked: taken.asked,
        user: taken.user,
        sessions,
        signal,
      }).catch((error: unknown) => giveBack(engine, now, error));
      const ended = await runAssembled(engine, now, assembled, connected, makeRecorder);
      if (ended.end.kind !== 'take_up_anew') return ended;
      // What it has done so far is recorded, and what was held for it was given back.
      const turn = (await findTurn(engine.db, subject.turn.id)) ?? subject.turn;
      now = { ...taken, subject: { ...subject, turn }, isFirstRun: false, hold: null };
    }
  } catch (error) {
    if (error instanceof RunTakenOver || error instanceof RunEnded || signal.aborted || isDatabaseAway(error))
      throw error;
    await recordBreak(engine, subject, run, error);
    return null;
  } finally {
    sessions.close();
  }
}

/** What was held for a run that ended before its money was counted. */
async function giveBack({ db, money }: Engine, { subject, hold }: Taken, error: unknown): Promise<never> {
  const tenant = { orgId: subject.turn.org_id, mode: subject.turn.mode };
  if (hold) {
    await releaseHold(db, tenant, hold.reservationId);
    money.freed(tenant);
  }
  throw error;
}

async function runAssembled<R extends RunRecorder>(
  engine: Engine,
  taken: Taken,
  assembled: Assembled,
  connected: number,
  makeRecorder: MakeRecorder<R>,
): Promise<EndedRun<R>> {
  const { subject, run, isFirstRun, hold } = taken;
  const { turn } = subject;
  const tenant = { orgId: turn.org_id, mode: turn.mode };
  const { model, agentRun } = assembled;
  const runMoney = createRunMoney(engine, { tenant, subject, run, model, hold, signal: agentRun.signal });
  const recorder = makeRecorder(assembled, { run, isFirstRun, runMoney, connected }, turn);
  const underWay = createUnderWay(assembled.tools);
  try {
    const newSample = createSampling(engine, { subject, run, runMoney }, assembled);
    const ports = portsOf(
      engine,
      { subject, run },
      { ...assembled, tools: underWay.tools },
      recorder,
      runMoney,
      newSample,
    );
    const end = await runAgent(agentRun, ports).catch(handedBack);
    if (end.kind === 'handed_back') await recorder.handBack();
    if (end.kind === 'stopped' || end.kind === 'failed') underWay.cancel();
    return { end, assembled, recorder, runMoney };
  } catch (error) {
    if (error instanceof RunEnded) underWay.cancel();
    throw error;
  } finally {
    await runMoney.close().catch(() => {});
  }
}

/** Where the process leaves while the run waits for money. */
function handedBack(error: unknown): RunEnd {
  if (error instanceof RunLeft) return { kind: 'handed_back' };
  throw error;
}

/** Nobody goes on with a run that breaks each time it is taken up: it ends, and says so. */
async function recordBreak(engine: Engine, { turn, task }: Subject, run: Run, error: unknown): Promise<void> {
  const isKnown = error instanceof Failure;
  if (!isKnown) engine.log.error({ err: error, run_id: run.runId }, 'a run broke');
  const end: BrokenEnd = {
    kind: 'failed',
    said: { whole: '', unstreamed: '' },
    error: isKnown
      ? { code: error.code, message: error.message }
      : { code: 'internal', message: 'Something broke on our side. Send the message again.' },
  };
  await changeConversation(engine, turn.conversation_id, run, async (change) => {
    await giveUp(change, run);
    if (task) await endRun(engine, change, { turn, task }, end);
    else await endReply(engine, change, turn, end, end.said);
    const tenant = { orgId: turn.org_id, mode: turn.mode };
    change.afterwards(() => engine.traces.ended(tenant, { kind: task ? 'task' : 'turn', id: run.runId }));
  });
}

function portsOf(
  engine: Engine,
  { subject, run }: Pick<Taken, 'subject' | 'run'>,
  { tools, model }: Assembled,
  store: RunRecorder,
  runMoney: RunMoney,
  newSample: () => Sample,
): Ports {
  const { turn, task } = subject;
  const tenant = { orgId: turn.org_id, mode: turn.mode };
  return {
    model: withFallbacks(runMoney.metered(engine.models.model(model.id)), async () =>
      (await fallbacksOf(engine, turn, model.id)).map((other) =>
        runMoney.meteredInstead(other, engine.models.model(other.id)),
      ),
    ),
    store,
    budget: runMoney,
    tools: {
      validate: async (call, tool) => {
        const schemas = await engine.openSchemas();
        const validity = schemas.validate(tool.definition.inputSchema, call.arguments);
        return validity.ok ? { kind: 'ok' } : { kind: 'error', message: validity.message };
      },
      async run(call, tool, signal, of) {
        const isBegun = of.underWay !== undefined;
        const risen = isBegun ? null : await priceAboveApproved(engine.db, task?.id ?? turn.id, call, tool);
        if (risen !== null) return { kind: 'result', output: risen, isError: true };
        const price = tools.priceOf(tool);
        if (price !== null && price > 0) runMoney.willCharge(call.id, price);
        const outcome = await meteringComputer(
          () => runMoney.meterComputer(call.id),
          () => tools.run(call, tool, signal, { ...of, sample: newSample() }),
        );
        if (outcome.kind !== 'result') return outcome;
        const { output, isError, computerSeconds = 0, media: answered = [] } = outcome;
        runMoney.willChargeSeconds(call.id, computerSeconds);
        if (answered.length === 0) return { kind: 'result', output, isError };
        const { media, notes } = await keepMedia(engine, subject, run, answered);
        return { kind: 'result', output: [output, ...notes].join('\n'), isError, media };
      },
    },
    async readMedia({ fileId }) {
      const [file] = await findFiles(engine.db, tenant, [fileId]);
      return file ? engine.files.read(tenant.orgId, file.sha256) : null;
    },
    hook: {
      mayRun: (call, tool) =>
        isReadOnly(tool)
          ? Promise.resolve({ kind: 'allowed' })
          : engine.hook.mayRun({
              org_id: turn.org_id,
              mode: turn.mode,
              user_id: turn.user_id,
              conversation_id: turn.conversation_id,
              task_id: task?.id ?? null,
              deployment_id: turn.deployment_id,
              deployment_version: turn.deployment_version,
              tool: { name: ownNameOf(tool), server: tool.server },
              arguments: call.arguments,
            }),
    },
    clock: { now: Date.now, alarm },
    newCallId: () => newId('call'),
    // A caller who follows a reply here gets it from this process, which waits for the end of the stream anyway. A task may
    // take an hour: another process takes over at its next step.
    isLeaving: () => engine.runner.isLeaving() && !(task === null && engine.isFollowed(turn.conversation_id)),
  };
}

function alarm(ms: number, ring: () => void): () => void {
  const timer = setTimeout(ring, ms);
  return () => clearTimeout(timer);
}

/** Of one call of a tool. */
const mostAnswers = 10;
const longestMs = 100_000;

/**
 * The run's own model for a server whose tool is being called. It reads what the server wrote and nothing else. Its cost is
 * the run's and so the user's: held before, under the same caps, and charged at once, whatever becomes of the call.
 */
function createSampling(
  engine: Engine,
  { subject, run, runMoney }: { subject: Subject; run: Run; runMoney: RunMoney },
  { model, agentRun }: Assembled,
): () => Sample {
  const { turn } = subject;
  const tenant = { orgId: turn.org_id, mode: turn.mode };

  async function answer(prompt: SampledPrompt, signal: AbortSignal): ReturnType<Sample> {
    const either = AbortSignal.any([signal, agentRun.signal]);
    // Tools that only read are called side by side, and each holds its own money.
    const own = createRunMoney(engine, { tenant, subject, run, model, hold: null, signal: either });
    try {
      const request = requestOf(prompt, model.id, either);
      const allowance = await own.mayContinue(request, { msLeft: longestMs });
      if (allowance.kind === 'refused') return { refused: `The model is not asked: ${allowance.stop.message}` };
      const ears = { onText: async () => {}, ended: either, timeUp: AbortSignal.timeout(longestMs) };
      const said = await listen(own.metered(engine.models.model(model.id)), request, ears);
      const { usage } = said;
      if (usage) {
        const micros = await changeConversation(engine, turn.conversation_id, run, (change) =>
          own.charge(change, usage),
        );
        runMoney.spentBeside(micros);
      }
      if (said instanceof ModelFailure) return { refused: 'The model gave no answer.' };
      return { text: said.text, model: model.id, isCut: said.isCut };
    } finally {
      await own.close().catch(() => {});
    }
  }

  return () => {
    let answers = 0;
    return async (prompt, signal) => {
      answers += 1;
      if (answers > mostAnswers) return { refused: `A call asks the model ${mostAnswers} times at most.` };
      return answer(prompt, signal);
    };
  };
}

const requestOf = (
  { system, messages, maxTokens }: SampledPrompt,
  model: string,
  signal: AbortSignal,
): ModelRequest => ({
  model,
  system: system === null ? [] : [system],
  messages: messages.map(
    ({ role, text }): Message =>
      role === 'user' ? { role, parts: [{ kind: 'text', text }] } : { role: 'agent', text, calls: [] },
  ),
  tools: [],
  maxOutputTokens: maxTokens,
  signal,
});

/** What the org has answer in this model's place while its vendor is away; what this mode may not run is passed over. */
async function fallbacksOf(
  { db, models: { catalogue } }: Pick<Engine, 'db' | 'models'>,
  { org_id: orgId, mode, deployment_id }: TurnRow,
  instead: string,
): Promise<PricedModel[]> {
  const { model_fallbacks: all } = await findSettings(db, { orgId, mode });
  if (Object.keys(all).length === 0) return [];
  const slug = (await findDeployment(db, orgId, deployment_id))?.deployment.slug ?? '*';
  const ids = (Object.hasOwn(all, slug) ? all[slug] : all['*']) ?? [];
  return ids
    .filter((id) => id !== instead)
    .flatMap((id) => catalogue.find(mode, id) ?? [])
    .filter((model) => !model.isRefused);
}
