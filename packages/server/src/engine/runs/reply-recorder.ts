import type { FinalEnd, RunStore } from '@vestra/agent/ports';
import type { ModelStep, SummaryStep } from '@vestra/agent/step';
import { beginningIn } from '@vestra/agent/transcript';
import { idAfter } from '@vestra/contract/ids';
import { reservedToolNames } from '@vestra/contract/reserved-names';
import { mayHaveMarks } from '@vestra/contract/source-marks';
import { costOfTurn } from '../../billing/index.ts';
import { storableText } from '../../platform/db/sql.ts';
import type { Change } from '../records/change.ts';
import { streamedText } from '../records/conversation-log.ts';
import { publishDelta, publishStartedCall } from '../records/publish.ts';
import type { TurnRow } from '../records/tables.ts';
import { updateTurn } from '../records/turns.ts';
import type { StreamedReply } from '../transitions/end-run.ts';
import { type AnsweredRun, endAnsweredReply, endReply } from '../turns/end-run.ts';
import { giveUpRun, sendReplyJob, startNextReply } from '../turns/start-run.ts';
import type { Engine } from './ports.ts';
import { createRecorder, type Recording, type RunRecorder } from './recorder.ts';
import { createReplyText, joinTexts, type ReplyText } from './reply-text.ts';

type Options = {
  /** Whether memories may be extracted from the conversation. */
  remembers: boolean;
  /** Whether the agent reads notebooks, whose passages it may cite. */
  hasNotebooks: boolean;
  storeSummary: (change: Change, step: SummaryStep) => void;
};

const emptyReply: StreamedReply = { whole: '', unstreamed: '' };

/** Records the reply of a turn, and streams its text while the model writes. */
export function createReplyRecorder(
  engine: Engine,
  given: TurnRow,
  recording: Recording,
  { remembers, hasNotebooks, storeSummary }: Options,
): RunRecorder {
  const { db } = engine;
  const { run, runMoney } = recording;
  const conversationId = given.conversation_id;
  const recorder = createRecorder(
    engine,
    {
      kind: 'turn',
      turn: given,
      taskId: null,
      activeMs: given.active_ms,
      spentSoFar: () => costOfTurn(db, conversationId, given.id),
    },
    recording,
  );
  // A structured answer is JSON, which is published whole.
  const isStreamed = given.request.output_schema === undefined;
  let turn = given;
  let replyText: ReplyText | null = null;

  async function load(): ReturnType<RunStore['load']> {
    const loaded = await recorder.load();
    if (loaded.kind === 'take_up_anew' || !isStreamed || replyText !== null) return loaded;
    const said = joinTexts(loaded.steps);
    if (!recording.isFirstRun) await restartStream(said);
    const beginning = beginningIn(loaded.steps);
    replyText = openReplyText(said, beginning && loaded.steps.indexOf(beginning));
    return loaded;
  }

  /** A process that died within a step has streamed text that no step records. A new message replaces that text. */
  async function restartStream(said: string): Promise<void> {
    await recorder.change(async (changing) => {
      if ((await streamedText(changing.tx, turn)) === said) return;
      turn = await updateTurn(changing.tx, turn.id, { reply_message_id: idAfter(turn.reply_message_id) });
      publishDelta(changing, { turnId: turn.id }, { text: said, message_id: turn.reply_message_id });
    });
  }

  const openReplyText = (before: string, lastStep: number | null) =>
    createReplyText({
      before,
      lastStep,
      write: (text, whole) =>
        recorder.outlastOutage(async (isRetry) => {
          // The text of the attempt before may be in the log, although its confirmation was lost.
          const isStored = isRetry && (await streamedText(db, turn)).length >= storableText(whole).length;
          if (isStored) return null;
          return engine.appendDelta(run, {
            conversationId,
            turnId: turn.id,
            data: { text: storableText(text), message_id: turn.reply_message_id },
            inUse: runMoney.inUse(),
          });
        }),
      onWritten: (written) => {
        const { conversations } = engine.seen;
        if (written === null) {
          conversations.forget(conversationId);
          engine.announcer.notify('conversation', conversationId);
          return;
        }
        const { entry, versionBefore, version } = written;
        const seen = conversations.get(conversationId);
        // Another process changed the conversation since it was cached, so the cached row is stale.
        if (seen?.version !== versionBefore) conversations.forget(conversationId);
        else conversations.set(conversationId, { row: { ...seen.row, last_event_seq: entry.seq }, version });
        engine.announcer.followers.publish(conversationId, [entry]);
        engine.announcer.notify('conversation', conversationId);
      },
    });

  const drainText = async (): Promise<StreamedReply> => (replyText === null ? emptyReply : replyText.drain());

  async function recordModelStep(step: ModelStep, end: FinalEnd | null): Promise<void> {
    const said = await drainText();
    if (end?.kind === 'answered' && step.calls.length === 0) return recordAnswer(step, end, said);
    await recorder.recordModelStep(step, async (changing) => {
      await conclude(changing, end, said, step.text);
      if (end === null) publishStartedCalls(changing, turn, step);
    });
  }

  async function recordAnswer(
    step: ModelStep,
    end: Extract<FinalEnd, { kind: 'answered' }>,
    said: StreamedReply,
  ): Promise<void> {
    const { micros, statement } = runMoney.priced(step.usage);
    const answered: AnsweredRun = {
      subject: { turn: { ...turn, active_ms: recorder.activeMs() }, task: null },
      end: { ...end, isCut: step.isCut, said: isStreamed ? said : unstreamedReply(end, step.text) },
      last: { run, step, ...recorder.nextStep(step.usage, micros) },
      charge: statement,
      turnMicros: runMoney.spent() + micros,
      remembers,
      mayCite: hasNotebooks && mayHaveMarks(said.whole),
    };
    await recorder.outlastOutage(() => endAnsweredReply(engine, answered));
    runMoney.charged(micros);
    recorder.exportTrace();
  }

  /** Ends the reply in the transaction of its last step, whose text is `text`. If `end` is null, the reply continues. */
  async function conclude(changing: Change, end: FinalEnd | null, said: StreamedReply, text: string): Promise<void> {
    if (end === null) {
      publishDelta(changing, { turnId: turn.id }, { text: said.unstreamed, message_id: turn.reply_message_id });
      return noteActivity(changing);
    }
    await giveUpRun(changing, run);
    turn = { ...turn, active_ms: recorder.activeMs() };
    await endReply(engine, changing, turn, end, isStreamed ? said : unstreamedReply(end, text));
    changing.afterwards(recorder.exportTrace);
  }

  async function noteActivity({ tx }: Change): Promise<void> {
    turn = await updateTurn(tx, turn.id, { active_ms: recorder.activeMs() });
  }

  return {
    load,
    /** A message that arrives during a reply starts its own turn. */
    takeNotes: async () => [],
    recordModelStep,
    recordSummary: (step) => recorder.recordSummary(step, (changing) => storeSummary(changing, step)),
    recordStart: recorder.recordStart,
    recordUnderWay: recorder.recordUnderWay,
    async recordResult(callId, result, end) {
      const said = end === null ? emptyReply : await drainText();
      await recorder.recordResult(callId, result, (changing) => conclude(changing, end, said, ''));
    },
    async recordEnd(end, failure) {
      const said = await drainText();
      await recorder.recordEnd(failure, (changing) => conclude(changing, end, said, ''));
    },
    appendText: async (stepIndex, text) => replyText?.append(stepIndex, text),
    wait: (waits) =>
      recorder.change(async (changing) => {
        const isAnswered = await recorder.openWaits(changing, waits, { page: null, onOpened: async () => {} });
        await noteActivity(changing);
        if (isAnswered) return 'answered';
        await recorder.suspend(changing);
        await startNextReply(engine, changing);
        return 'waiting';
      }),
    handBack: () =>
      recorder.change(async (changing) => {
        await giveUpRun(changing, run);
        await noteActivity(changing);
        sendReplyJob(changing, turn);
      }),
  };
}

/** Functions of the deployment have other events. */
function publishStartedCalls(changing: Change, { id }: TurnRow, { calls }: ModelStep): void {
  for (const { call, result } of calls) {
    const isOwn = reservedToolNames.has(call.name) || call.name.startsWith('mcp__');
    if (isOwn && result === null) publishStartedCall(changing, id, { call_id: call.id, name: call.name });
  }
}

/** The text to publish whole. Empty for an answer that never matched its schema. */
function unstreamedReply(end: FinalEnd, text: string): StreamedReply {
  const whole = end.kind === 'answered' ? end.text : end.kind === 'handed_off' ? text : '';
  return { whole, unstreamed: whole };
}
