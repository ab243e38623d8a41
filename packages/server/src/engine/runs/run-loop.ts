import { listen } from '@vestra/agent/listen';
import { runAgent } from '@vestra/agent/loop';
import type { Message, ToolCall } from '@vestra/agent/message';
import { type Model, ModelFailure, type ModelRequest } from '@vestra/agent/model';
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
import { isDatabaseUnreachable } from '../../platform/db/unreachable.ts';
import { type RunLease, RunTakenOver } from '../../platform/jobs/run-lease.ts';
import { findFiles } from '../files/store.ts';
import { changeConversation } from '../records/change.ts';
import { countConnectedApps } from '../records/interactions.ts';
import type { RunSubject, TurnRow } from '../records/tables.ts';
import { findTurn } from '../records/turns.ts';
import { missingInTest, recordRejectedTool } from '../tools/missing-tools.ts';
import type { RunTools } from '../tools/ports.ts';
import {
  createProgressReports,
  refusalOfHigherPrice,
  storeMedia,
  trackBackgroundCalls,
  withComputerMeter,
} from '../tools/tool-calls.ts';
import type { BrokenEnd } from '../transitions/end-run.ts';
import { endReply, endRun } from '../turns/end-run.ts';
import type { AcceptedState } from '../turns/ports.ts';
import { RunEnded, RunLeft } from '../turns/runner.ts';
import { giveUpRun } from '../turns/start-run.ts';
import { type AssembledRun, assembleRun } from './assemble.ts';
import type { Engine } from './ports.ts';
import type { Recording, RunRecorder } from './recorder.ts';
import { createRunMoney, type RunMoney } from './run-money.ts';

type TakenRun = { subject: RunSubject; run: RunLease } & AcceptedState;

export type EndedRun<R extends RunRecorder> = { end: RunEnd; assembled: AssembledRun; recorder: R; runMoney: RunMoney };

type MakeRecorder<R extends RunRecorder> = (assembled: AssembledRun, recording: Recording, turn: TurnRow) => R;

/** Runs the agent on a reply or a task until it ends. Null if the run failed, which is then recorded. */
export async function runLoop<R extends RunRecorder>(
  engine: Engine,
  taken: TakenRun,
  makeRecorder: MakeRecorder<R>,
  signal: AbortSignal,
): Promise<EndedRun<R> | null> {
  const { subject, run } = taken;
  const sessions = engine.serverTools.openSessions(subject.task?.id ?? subject.turn.conversation_id);
  let isContinued = false;
  try {
    const isFirstOfConversation = taken.isFirstRun && subject.turn.ordinal === 1;
    let now = taken;
    for (;;) {
      const connected = now.isFirstRun ? 0 : await countConnectedApps(engine.db, run.runId);
      const assembled = await assembleRun(engine, now.subject, run, {
        isFirstOfConversation,
        asked: taken.asked,
        user: taken.user,
        sessions,
        signal,
      }).catch((error: unknown) => releaseAndThrow(engine, now, error));
      const ended = await runAssembled(engine, now, assembled, connected, makeRecorder);
      if (ended.end.kind !== 'take_up_anew') {
        // A task that waits and a conversation continue, and find what their tool servers had open.
        isContinued = subject.task ? ended.end.kind === 'waiting' : ended.end.kind !== 'handed_back';
        return ended;
      }
      // Its steps are recorded and its hold was released, so it starts again with the new tools.
      const turn = (await findTurn(engine.db, subject.turn.id)) ?? subject.turn;
      now = { ...taken, subject: { ...subject, turn }, isFirstRun: false, hold: null };
    }
  } catch (error) {
    if (error instanceof RunTakenOver || error instanceof RunEnded || signal.aborted || isDatabaseUnreachable(error))
      throw error;
    await recordUnexpectedFailure(engine, subject, run, error);
    return null;
  } finally {
    if (isContinued) sessions.release();
    else sessions.close();
  }
}

/** Releases the hold of a run that failed before `createRunMoney` took it over. */
async function releaseAndThrow({ db, money }: Engine, { subject, hold }: TakenRun, error: unknown): Promise<never> {
  const tenant = { orgId: subject.turn.org_id, mode: subject.turn.mode };
  if (hold) {
    await releaseHold(db, tenant, hold.reservationId);
    money.freed(tenant);
  }
  throw error;
}

async function runAssembled<R extends RunRecorder>(
  engine: Engine,
  taken: TakenRun,
  assembled: AssembledRun,
  connected: number,
  makeRecorder: MakeRecorder<R>,
): Promise<EndedRun<R>> {
  const { subject, run, isFirstRun, hold } = taken;
  const { turn } = subject;
  const tenant = { orgId: turn.org_id, mode: turn.mode };
  const { model, agentRun } = assembled;
  const runMoney = createRunMoney(engine, { tenant, subject, run, model, hold, signal: agentRun.signal });
  const recording = { run, isFirstRun, runMoney, connected, signal: agentRun.signal };
  const recorder = makeRecorder(assembled, recording, turn);
  const background = trackBackgroundCalls(assembled.tools);
  try {
    const newSample = createSampling(engine, { subject, run, runMoney }, assembled);
    const ports = portsOf(
      engine,
      { subject, run },
      { ...assembled, tools: background.tools },
      recorder,
      runMoney,
      newSample,
    );
    const end = await runAgent(agentRun, ports).catch(asHandBack);
    if (end.kind === 'handed_back') await recorder.handBack();
    if (end.kind === 'stopped' || end.kind === 'failed') background.cancel();
    return { end, assembled, recorder, runMoney };
  } catch (error) {
    if (error instanceof RunEnded) background.cancel();
    throw error;
  } finally {
    await runMoney.close().catch(() => {});
  }
}

/** The process shuts down while the run waits for money. */
function asHandBack(error: unknown): RunEnd {
  if (error instanceof RunLeft) return { kind: 'handed_back' };
  throw error;
}

/** Ends the run, because a run that fails unexpectedly would fail again each time it is resumed. */
async function recordUnexpectedFailure(
  engine: Engine,
  { turn, task }: RunSubject,
  run: RunLease,
  error: unknown,
): Promise<void> {
  const isKnown = error instanceof Failure;
  if (!isKnown) engine.log.error({ err: error, run_id: run.runId }, 'a run failed unexpectedly');
  const end: BrokenEnd = {
    kind: 'failed',
    said: { whole: '', unstreamed: '' },
    error: isKnown
      ? { code: error.code, message: error.message }
      : { code: 'internal', message: 'The server failed to finish the reply. Send the message again.' },
  };
  await changeConversation(engine, turn.conversation_id, run, async (change) => {
    await giveUpRun(change, run);
    if (task) await endRun(engine, change, { turn, task }, end);
    else await endReply(engine, change, turn, end, end.said);
    const tenant = { orgId: turn.org_id, mode: turn.mode };
    change.afterwards(() => engine.traces.ended(tenant, { kind: task ? 'task' : 'turn', id: run.runId }));
  });
}

function portsOf(
  engine: Engine,
  { subject, run }: Pick<TakenRun, 'subject' | 'run'>,
  { tools, model }: AssembledRun,
  store: RunRecorder,
  runMoney: RunMoney,
  newSample: () => Sample,
): Ports {
  const { turn, task } = subject;
  const tenant = { orgId: turn.org_id, mode: turn.mode };
  const rejected = new Set<string>();
  const reportsOf = (call: ToolCall) => createProgressReports(engine, subject, run, call);
  const asked = withFallbacks(runMoney.metered(engine.models.model(model.id)), async () =>
    (await fallbacksOf(engine, turn, model.id)).map((other) =>
      runMoney.meteredInstead(other, engine.models.model(other.id)),
    ),
  );
  return {
    model: turn.request.test ? endedWithItsServer(asked, tools) : asked,
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
        const refusal = isBegun ? null : await refusalOfHigherPrice(engine.db, task?.id ?? turn.id, call, tool);
        if (refusal !== null) return { kind: 'result', output: refusal, isError: true };
        const price = tools.priceOf(tool);
        if (price !== null && price > 0) runMoney.willCharge(call.id, price);
        const outcome = await withComputerMeter(
          () => runMoney.meterComputer(call.id),
          () => tools.run(call, tool, signal, { ...of, sample: newSample(), onProgress: reportsOf(call) }),
        );
        if (outcome.kind !== 'result') return outcome;
        const { output, isError, computerSeconds = 0, media: answered = [], sources, passages } = outcome;
        runMoney.willChargeSeconds(call.id, computerSeconds);
        if (answered.length === 0)
          return { kind: 'result', output, isError, ...(sources && { sources }), ...(passages && { passages }) };
        const { media, notes } = await storeMedia(engine, subject, run, answered);
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
    async warn({ tool: name, message }) {
      if (rejected.has(name)) return;
      rejected.add(name);
      const tool = tools.all.find(({ definition }) => definition.name === name);
      await recordRejectedTool(engine, subject, run, { server: tool?.server ?? name, message }).catch(
        (error: unknown) => {
          // The model is answering. Losing its answer would be worse than losing this line of the trace.
          if (!isDatabaseUnreachable(error)) throw error;
          rejected.delete(name);
        },
      );
    },
    // Shutdown waits for open streams anyway, so a streamed reply is finished here. A task may take an hour, so another
    // process takes it over at its next step.
    isLeaving: () => engine.runner.isLeaving() && !(task === null && engine.isFollowed(turn.conversation_id)),
  };
}

/** A test ends when a call finds its server down, since the next answers would not be those of the version. */
function endedWithItsServer(model: Model, { lost }: RunTools): Model {
  return {
    stream(request) {
      if (lost.server) throw missingInTest(lost.server);
      return model.stream(request);
    },
  };
}

function alarm(ms: number, ring: () => void): () => void {
  const timer = setTimeout(ring, ms);
  return () => clearTimeout(timer);
}

/** Per tool call. */
const maxAnswers = 10;
const answerTimeoutMs = 100_000;

/**
 * Lets a tool server ask the run's model (MCP sampling). The model reads only the server's prompt. The cost counts toward
 * the run and the user's caps: it is held before and charged at once, even if the tool call fails.
 */
function createSampling(
  engine: Engine,
  { subject, run, runMoney }: { subject: RunSubject; run: RunLease; runMoney: RunMoney },
  { model, agentRun }: AssembledRun,
): () => Sample {
  const { turn } = subject;
  const tenant = { orgId: turn.org_id, mode: turn.mode };

  async function answer(prompt: SampledPrompt, signal: AbortSignal): ReturnType<Sample> {
    const either = AbortSignal.any([signal, agentRun.signal]);
    // Read-only tools run in parallel, so each request holds its own money.
    const samplingMoney = createRunMoney(engine, { tenant, subject, run, model, hold: null, signal: either });
    try {
      const request = requestOf(prompt, model.id, either);
      const allowance = await samplingMoney.mayContinue(request, { msLeft: answerTimeoutMs });
      if (allowance.kind === 'refused') return { refused: `The model is not asked: ${allowance.stop.message}` };
      const listener = { onText: async () => {}, ended: either, timeUp: AbortSignal.timeout(answerTimeoutMs) };
      const said = await listen(samplingMoney.metered(engine.models.model(model.id)), request, listener);
      const { usage } = said;
      if (usage) {
        const micros = await changeConversation(engine, turn.conversation_id, run, (change) =>
          samplingMoney.charge(change, usage),
        );
        runMoney.addCost(micros);
      }
      if (said instanceof ModelFailure) return { refused: 'The model gave no answer.' };
      return { text: said.text, model: model.id, isCut: said.isCut };
    } finally {
      await samplingMoney.close().catch(() => {});
    }
  }

  return () => {
    let answers = 0;
    return async (prompt, signal) => {
      answers += 1;
      if (answers > maxAnswers) return { refused: `A call asks the model ${maxAnswers} times at most.` };
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

/** The org's fallback models for this model, without those that this mode may not use. */
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
