import type { ToolCall } from '@vestra/agent/message';
import type { Usage } from '@vestra/agent/model';
import type { RunEnd, RunStore } from '@vestra/agent/ports';
import type { ModelStep, SummaryStep } from '@vestra/agent/step';
import { idAfter } from '@vestra/contract/ids';
import type { Run } from '../../../jobs/fence.ts';
import { appendDelta } from '../../events/api.ts';
import { costOf, costOfTurn } from '../../ledger/api.ts';
import { type Change, changeConversation } from '../records/change.ts';
import { pendingInteractions } from '../records/interactions.ts';
import { streamedText } from '../records/log.ts';
import { storableText } from '../records/storable-text.ts';
import type { Subject } from '../records/subject.ts';
import type { InteractionRow } from '../records/tables.ts';
import { updateTask } from '../records/tasks.ts';
import { tellDelta } from '../records/tell.ts';
import { presentTraceStep } from '../records/trace.ts';
import {
  insertAside,
  insertModelStep,
  insertSummaryStep,
  loadSteps,
  markNotStarted,
  markStarted,
  writeResult,
} from '../records/trace-store.ts';
import { updateTurn } from '../records/turns.ts';
import { writePlan } from '../tools/own/work-tools.ts';
import { isPlanApproved, PlanApproved } from '../tools/plan.ts';
import { beginNext, giveUp, sendReplyJob } from '../turns/begin-reply.ts';
import { sendTaskJob } from '../turns/begin-task.ts';
import { completeTask, failTask } from '../turns/end-task.ts';
import { endReply } from '../turns/end-turn.ts';
import { openWait } from '../turns/open-wait.ts';
import type { Engine } from '../turns/ports.ts';
import { settleInteraction } from '../turns/settle.ts';
import { AppConnected, connectedTo } from '../turns/settle-connects.ts';
import { settleReply } from '../turns/settle-reply.ts';
import type { Purse } from './purse.ts';
import { createReplyText, joinTexts, type ReplyText } from './reply-text.ts';

export type SubjectRunStore = RunStore & {
  /** Ends a task once its answer has been judged: the loop itself ends no task that has criteria. */
  complete: (
    answer: { text: string; data: unknown; isCut: boolean; outcome: { met: boolean; reason: string } | null },
    usage: Usage | null,
  ) => Promise<void>;
  /** Gives the run back for another process to go on with. */
  handBack: () => Promise<void>;
};

type Options = {
  isFirstRun: boolean;
  purse: Purse;
  /** The text of a structured answer is JSON: it is told whole and never in pieces. */
  isStreamed: boolean;
  /** The answer is judged before it counts. */
  isJudged: boolean;
  /** The run has only the tools of before the yes to its plan. */
  awaitsPlan: boolean;
  /** Whether what is said may be worth remembering. */
  remembers: boolean;
  /** How many apps it had asked for and got before its tools were looked up. */
  connected: number;
  onSummary: (change: Change, step: SummaryStep) => void;
};

export function createRunStore(engine: Engine, subject: Subject, run: Run, options: Options): SubjectRunStore {
  const { db } = engine;
  const { purse } = options;
  let { turn, task } = subject;
  const conversationId = turn.conversation_id;
  const startedAt = performance.now();
  const activeBefore = (task ?? turn).active_ms;
  let stepCount = 0;
  let stepStartedAt = new Date();
  let seenPending: ReadonlySet<string> = new Set();
  let reply: ReplyText | null = null;
  let arguments_ = new Map<string, unknown>();

  const activeMs = () => Math.round(activeBefore + performance.now() - startedAt);
  const change = <T>(work: (change: Change) => Promise<T>) => changeConversation(engine, conversationId, run, work);

  const tellTraces = () =>
    engine.traces.ended({ orgId: turn.org_id, mode: turn.mode }, { kind: task ? 'task' : 'turn', id: run.runId });

  const openReply = (before: string) =>
    createReplyText({
      before,
      write: (text) =>
        appendDelta(engine.writes, run, {
          conversationId,
          turnId: turn.id,
          data: { text: storableText(text), message_id: turn.reply_message_id },
          inUse: purse.inUse(),
        }),
      onWritten: ({ entry, versionBefore, version }) => {
        const seen = engine.seen.conversations.get(conversationId);
        // Somebody else has changed the conversation since it was seen: what else is new in it nobody knows here.
        if (seen?.version !== versionBefore) engine.seen.conversations.forget(conversationId);
        else
          engine.seen.conversations.set(conversationId, { row: { ...seen.row, last_event_seq: entry.seq }, version });
        engine.announcer.followers.publish(conversationId, [entry]);
        engine.announcer.ring('conversation', conversationId);
      },
    });

  async function load() {
    stepStartedAt = new Date();
    if (options.isFirstRun && stepCount === 0) {
      reply = openReply('');
      return { steps: [], activeMs: 0 };
    }
    const loaded = await loadSteps(db, run.runId);
    if (options.awaitsPlan && (await isPlanApproved(db, { turn, task }))) throw new PlanApproved();
    if (loaded.connected > options.connected) throw new AppConnected();
    stepCount = loaded.steps.length;
    seenPending = loaded.pending;
    purse.setRunCost(await spentSoFar());
    arguments_ = new Map(
      loaded.steps.flatMap((step) =>
        step.kind === 'model' ? step.calls.map(({ call }) => [call.id, call.arguments]) : [],
      ),
    );
    if (task === null && options.isStreamed && reply === null) {
      const said = joinTexts(loaded.steps.flatMap((step) => (step.kind === 'model' ? [step.text] : [])));
      await mendStream(said);
      reply = openReply(said);
    }
    return { steps: loaded.steps, activeMs: activeBefore };
  }

  /** Tools that cost something and the model alike. */
  const spentSoFar = async () =>
    task ? (await costOf(db, { taskId: task.id })).totalMicros : costOfTurn(db, conversationId, turn.id);

  /** A process that died in the middle of a step has streamed what nobody recorded: the message is written anew. */
  async function mendStream(said: string): Promise<void> {
    await change(async (changing) => {
      if ((await streamedText(changing.tx, turn)) === said) return;
      turn = await updateTurn(changing.tx, turn.id, { reply_message_id: idAfter(turn.reply_message_id) });
      tellDelta(changing, { turnId: turn.id }, { text: said, message_id: turn.reply_message_id });
    });
  }

  const nothingSaid = { whole: '', unstreamed: '' };
  const drained = async () => (reply && options.isStreamed ? reply.drain() : nothingSaid);

  async function recordModelStep(step: ModelStep, end: RunEnd | null): Promise<void> {
    const said = await drained();
    if (task === null && end?.kind === 'answered' && step.calls.length === 0) return settlePlainly(step, end, said);
    await change(async (changing) => {
      const costMicros = await purse.charge(changing, step.usage);
      await insertModelStep(changing.tx, run.runId, stepCount, step, stepCost(costMicros));
      for (const { call, result } of step.calls) if (result !== null) tellRefusal(changing, call, result.output);
      await conclude(changing, end, said, step.text);
    });
    for (const { call } of step.calls) arguments_.set(call.id, call.arguments);
    stepCount += 1;
    stepStartedAt = new Date();
  }

  async function settlePlainly(
    step: ModelStep,
    end: Extract<RunEnd, { kind: 'answered' }>,
    said: { whole: string; unstreamed: string },
  ): Promise<void> {
    const answer = options.isStreamed
      ? { text: said.whole, unstreamed: said.unstreamed }
      : { text: end.text, unstreamed: end.text };
    const { micros, statement } = purse.priced(step.usage);
    await settleReply(engine, {
      turn: { ...turn, active_ms: activeMs() },
      run,
      step,
      index: stepCount,
      cost: stepCost(micros),
      charge: statement,
      turnMicros: purse.spent() + micros,
      answer: { ...answer, data: end.data },
      remembers: options.remembers,
    });
    purse.charged(micros);
    tellTraces();
  }

  async function recordSummary(step: SummaryStep): Promise<void> {
    await change(async (changing) => {
      const costMicros = await purse.charge(changing, step.usage);
      await insertSummaryStep(changing.tx, run.runId, stepCount, step, stepCost(costMicros));
      options.onSummary(changing, step);
    });
    stepCount += 1;
    stepStartedAt = new Date();
  }

  /** Paid for in the run, and no step that anybody goes on from. */
  async function chargeAside(changing: Change, kind: 'failed' | 'judge', usage: Usage): Promise<void> {
    const costMicros = await purse.charge(changing, usage);
    await insertAside(changing.tx, run.runId, stepCount, { kind, usage }, stepCost(costMicros));
  }

  const stepCost = (costMicros: bigint) => ({ model: purse.model, costMicros, startedAt: stepStartedAt });

  async function recordResult(...[callId, result, end]: Parameters<RunStore['recordResult']>): Promise<void> {
    const said = end === null ? nothingSaid : await drained();
    await change(async (changing) => {
      const row = await writeResult(changing.tx, callId, result);
      if (task) tellStep(changing, presentTraceStep(row));
      await purse.chargeCall(changing, callId, result);
      await conclude(changing, end, said, '');
    });
    stepStartedAt = new Date();
  }

  function tellRefusal(changing: Change, call: ToolCall, output: string): void {
    if (!task) return;
    const at = new Date();
    tellStep(
      changing,
      presentTraceStep({
        ...call,
        output,
        is_error: true,
        started_at: at,
        finished_at: at,
        created_at: at,
      }),
    );
  }

  function tellStep(changing: Change, step: ReturnType<typeof presentTraceStep>): void {
    if (task) changing.log({ type: 'task.step', taskId: task.id, turnId: turn.id, data: { step } });
  }

  /** The end of the run, in the transaction of its last step. Null: it goes on. */
  async function conclude(
    changing: Change,
    end: RunEnd | null,
    said: { whole: string; unstreamed: string },
    text: string,
  ) {
    if (end === null || end.kind === 'handed_back' || end.kind === 'waiting') {
      if (said.unstreamed !== '') {
        tellDelta(changing, { turnId: turn.id }, { text: said.unstreamed, message_id: turn.reply_message_id });
      }
      await noteActivity(changing);
      return;
    }
    if (end.kind === 'answered' && options.isJudged) return;
    await giveUp(changing, run);
    if (task) task = { ...task, active_ms: activeMs() };
    else turn = { ...turn, active_ms: activeMs() };
    if (task === null) {
      await endReply(engine, changing, turn, end, options.isStreamed ? said : saidWhole(end, text));
    } else if (end.kind === 'answered') {
      await completeTask(engine, changing, task, turn, { ...end, outcome: null });
    } else if (end.kind !== 'handed_off') {
      await failTask(engine, changing, task, turn, end);
    }
    changing.afterwards(tellTraces);
  }

  /** The person may have connected the app since the run looked at what is connected. */
  async function settleIfConnected(changing: Change, wait: InteractionRow): Promise<boolean> {
    const app = engine.apps.find(String(wait.details.app));
    if (!app || turn.request.test) return false;
    const tenant = { orgId: turn.org_id, mode: turn.mode };
    if (!(await engine.apps.isConnected(changing.tx, tenant, { userId: turn.user_id, app: app.id }))) return false;
    await settleInteraction(engine, changing, wait, connectedTo(app.name));
    return true;
  }

  async function noteActivity({ tx }: Change): Promise<void> {
    if (task) task = await updateTask(tx, task, { active_ms: activeMs() });
    else turn = await updateTurn(tx, turn.id, { active_ms: activeMs() });
  }

  return {
    load,
    recordModelStep,
    recordSummary,
    recordResult,
    recordStart: (callId) => markStarted(db, run, callId),
    async recordEnd(end, usage) {
      const said = await drained();
      await change(async (changing) => {
        if (usage) await chargeAside(changing, 'failed', usage);
        await conclude(changing, end, said, '');
      });
    },
    appendText: async (stepIndex, text) => {
      if (task === null && options.isStreamed) reply?.append(stepIndex, text);
    },
    async wait(waits) {
      // Taken before anything is held: a page that hangs must not hold the conversation up.
      const handOffs = waits.filter(({ draft }) => draft.type === 'handoff');
      const isSecret = handOffs.some(({ draft }) => draft.details.asks_for_secret === true);
      const page = task && handOffs.length > 0 ? await engine.workBrowsers.handOver(task, { isSecret }) : null;
      return change(async (changing) => {
        const { tx } = changing;
        const open = await pendingInteractions(tx, [conversationId]);
        const stillPending = new Set(open.filter(({ run_id }) => run_id === run.runId).map(({ id }) => id));
        let isAnswered = [...seenPending].some((id) => !stillPending.has(id));
        await markNotStarted(
          tx,
          waits.map(({ callId }) => callId),
        );
        for (const wait of waits) {
          const of = { turn, taskId: task?.id ?? null, runId: run.runId, given: arguments_.get(wait.callId), page };
          const opened = await openWait(changing, of, wait);
          if (opened.type === 'connect' && (await settleIfConnected(changing, opened))) isAnswered = true;
          if (task && wait.draft.kind === 'exit_plan') await writePlan(changing, task, of.given);
        }
        await noteActivity(changing);
        if (isAnswered) return 'answered';
        await giveUp(changing, run);
        turn = await updateTurn(tx, turn.id, { state: 'waiting' });
        if (turn.origin === 'batch') await engine.batchItems.waits(changing, turn);
        if (task) task = await updateTask(tx, task, { status: 'waiting' });
        else await beginNext(engine, changing);
        return 'waiting';
      });
    },
    complete: (answer, usage) =>
      change(async (changing) => {
        if (usage) await chargeAside(changing, 'judge', usage);
        await giveUp(changing, run);
        if (task) await completeTask(engine, changing, task, turn, answer);
        changing.afterwards(tellTraces);
      }),
    handBack: () =>
      change(async (changing) => {
        await giveUp(changing, run);
        await noteActivity(changing);
        if (task) await sendTaskJob(engine, changing, task);
        else await sendReplyJob(engine, changing.tx, turn);
      }),
  };
}

/** What is told in one piece: of an answer that never fitted its schema nothing. */
function saidWhole(end: RunEnd, text: string): { whole: string; unstreamed: string } {
  const whole = end.kind === 'answered' ? end.text : end.kind === 'handed_off' ? text : '';
  return { whole, unstreamed: whole };
}
