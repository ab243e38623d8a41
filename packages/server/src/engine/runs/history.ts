import type { AgentMessage, Message, UserMessage, UserPart } from '@vestra/agent/message';
import { asData } from '@vestra/agent/prompt/data';
import type { ModelStep } from '@vestra/agent/step';
import { asEarlier, exchangeOf } from '@vestra/agent/transcript';
import type { Tenant } from '../../platform/caller.ts';
import type { HistoryMessage } from '../records/history-store.ts';
import { modelStepsOf } from '../records/run-steps.ts';
import type { MessageRow, TaskRow, TurnRow } from '../records/tables.ts';
import { startsTask } from '../records/turns.ts';
import { attachedParts, type FileBudget, type FileRendering, type MadeFile } from '../tools/conversation-files.ts';
import type { Engine } from './ports.ts';
import { joinTexts } from './reply-text.ts';

export type History = {
  messages: Message[];
  /** Number of exchanges up to the end of each earlier message, counted like `covers` of a summary. */
  ends: readonly { messageId: string; exchanges: number }[];
};

/**
 * The messages for the model: the conversation before the turn and the current request. Earlier replies are replayed as
 * their steps: calls with results, questions with answers. `passing` is only valid now and is not repeated later.
 */
export async function historyOf(
  engine: Engine,
  tenant: Tenant,
  { turn, task }: { turn: TurnRow; task: TaskRow | null },
  {
    asked,
    before,
    passing,
    made,
  }: { asked: MessageRow; before: readonly HistoryMessage[]; passing: string; made: readonly MadeFile[] },
  shown: FileRendering & { budget: FileBudget },
): Promise<History> {
  const { fence } = shown;
  // A task continues with the results that the reply collected before it handed over.
  const turnIds = new Set(before.filter(({ is_replayed }) => is_replayed).map(({ turn_id }) => turn_id));
  if (task && !startsTask(turn.request)) turnIds.add(turn.id);
  const [steps, files] = await Promise.all([
    turnIds.size === 0 ? new Map<string, ModelStep[]>() : modelStepsOf(engine.db, [...turnIds]),
    attachedParts(engine, tenant, { asked, before }, shown, shown.budget),
  ]);
  const answered = new Set(before.filter(({ role }) => role === 'agent').map(({ turn_id }) => turn_id));
  const messages: Message[] = turn.base_summary === null ? [] : [summaryMessage(fence, turn.base_summary)];
  const ends: { messageId: string; exchanges: number }[] = [];
  let exchanges = messages.length;
  for (const row of before) {
    const shownMessages = earlierMessages(row, { steps, files, answered, made, fence });
    messages.push(...shownMessages);
    exchanges += shownMessages.filter(({ role }) => role !== 'tool').length;
    ends.push({ messageId: row.id, exchanges });
  }
  const brief = task?.brief ?? null;
  const criteria = task ? (turn.request.success_criteria ?? null) : null;
  messages.push(askedMessage(asked, { brief, criteria, files: files.get(asked.id) ?? [], passing }));
  if (task) messages.push(...foundBefore(steps.get(turn.id) ?? [], fence));
  return { messages, ends };
}

const summaryMessage = (fence: string, summary: string): UserMessage =>
  userText(
    `The beginning of this conversation was left out for length. This summary stands for it.\n\n${asData(fence, 'summary', summary)}`,
  );

type Known = {
  steps: ReadonlyMap<string, readonly ModelStep[]>;
  files: ReadonlyMap<string, UserPart[]>;
  /** Turns whose reply has a message. */
  answered: ReadonlySet<string>;
  made: readonly MadeFile[];
  fence: string;
};

function earlierMessages(row: HistoryMessage, { steps, files, answered, made, fence }: Known): Message[] {
  const ofTurn = steps.get(row.turn_id) ?? [];
  switch (row.role) {
    case 'user': {
      const said: UserMessage = { role: 'user', parts: partsOf(row.text, files.get(row.id) ?? []) };
      return answered.has(row.turn_id)
        ? [said]
        : [said, ...replyOf({ ...row, text: '', is_cut: false }, ofTurn, fence)];
    }
    case 'agent':
      return replyOf(row, ofTurn, fence);
    default:
      return [
        taskMessage(
          row,
          made.filter(({ task_id }) => task_id === row.task_id),
          fence,
        ),
      ];
  }
}

/** The steps of the reply. If none are stored, its text. */
function replyOf(row: HistoryMessage, steps: readonly ModelStep[], fence: string): Message[] {
  const made = steps.map(asEarlier);
  const spoken = joinTexts(made);
  const exchanges = made.map((step) => withHandOff(step, row.text)).flatMap((step) => exchangeOf(step, fence).messages);
  // The person also saw the text that an unfinished step had streamed.
  const left = row.text.startsWith(spoken) ? row.text.slice(spoken.length).trimStart() : '';
  const rest = [...(steps.length === 0 ? [row.text] : [left]), markOf(row)].filter((text) => text.trim() !== '');
  return [...exchanges, ...(rest.length === 0 ? [] : [agentText(rest.join('\n'))])];
}

/** Gives `hand_off_to_work` a result. The result of the task itself follows later in the conversation. */
function withHandOff(step: ModelStep, said: string): ModelStep {
  const output =
    step.text.trim() === '' ? `The work was started. The person was told: ${said}` : 'The work was started.';
  return {
    ...step,
    calls: step.calls.map((each) =>
      each.call.name === 'hand_off_to_work' && each.result?.isError === false
        ? { ...each, result: { ...each.result, output } }
        : each,
    ),
  };
}

/** Without this note the agent would take a partial reply, or none, for a complete answer. */
function markOf({ turn_state, is_cut }: HistoryMessage): string {
  if (is_cut) return cutMark;
  if (turn_state === 'stopped') return '[This reply was stopped here, before it was finished.]';
  if (turn_state === 'failed') return '[This reply failed here. The person was told that something went wrong.]';
  return '';
}

const cutMark = '[This reply was cut off here: it ran into the limit of length. The person has read no more of it.]';

/** The result of a task, which the person has read. A user message, so that the model does not continue it as its own text. */
function taskMessage(
  { text, is_deleted, work_title, work_error, work_unread, is_cut }: HistoryMessage,
  made: readonly MadeFile[],
  fence: string,
): UserMessage {
  if (is_deleted) return userText(asData(fence, 'work', text));
  const title = work_title === null ? 'The work that was handed over' : `The work “${work_title}”`;
  const lines =
    work_error === null
      ? [`${title} is done. You told the person:`, text, ...(is_cut ? [cutMark] : [])]
      : [`${title} ended without a result. ${work_error}`.trim(), `You told the person: ${text}`];
  if (work_unread !== null) lines.push(`It ended before it read what the person had added: ${work_unread}`);
  if (made.length > 0) {
    const names = made.toReversed().map(({ filename, file_id }) => `${filename} (${file_id})`);
    lines.push(`Files that it made, which you can open with read_conversation_file: ${names.join(', ')}`);
  }
  return userText(asData(fence, 'work', lines.join('\n')));
}

function askedMessage(
  { text }: MessageRow,
  {
    brief,
    criteria,
    files,
    passing,
  }: { brief: string | null; criteria: string | null; files: readonly UserPart[]; passing: string },
): UserMessage {
  const handed = [
    ...(brief === null ? [] : [`What is to be done, as it was handed over:\n${brief}`]),
    // The caller wrote the criteria as well as the message, so they are instructions and not data.
    ...(criteria === null
      ? []
      : [`The result is checked against these success criteria. Meet all of them:\n${criteria}`]),
  ];
  const parts = partsOf(text, [...handed.map((each) => ({ kind: 'text' as const, text: each })), ...files]);
  return { role: 'user', parts: [...parts, { kind: 'text', text: passing, isPassing: true }] };
}

function partsOf(text: string, more: readonly UserPart[]): UserPart[] {
  const parts: UserPart[] = [...(text.trim() === '' ? [] : [{ kind: 'text' as const, text }]), ...more];
  return parts.length === 0 ? [{ kind: 'text', text: '[nothing]' }] : parts;
}

/** Calls of the reply that led to the task, without the hand-off itself. */
const foundBefore = (steps: readonly ModelStep[], fence: string): Message[] =>
  steps
    .map((step) => ({ ...step, calls: step.calls.filter(({ call }) => call.name !== 'hand_off_to_work') }))
    .filter(({ calls }) => calls.length > 0)
    .flatMap((step) => exchangeOf(asEarlier(step), fence).messages);

const userText = (text: string): UserMessage => ({ role: 'user', parts: [{ kind: 'text', text }] });

const agentText = (text: string): AgentMessage => ({ role: 'agent', text, calls: [] });
