import type { AgentMessage, Message, UserMessage, UserPart } from '@vestra/agent/message';
import { asData } from '@vestra/agent/prompt/data';
import type { ModelStep } from '@vestra/agent/step';
import { asEarlier, exchangeOf } from '@vestra/agent/transcript';
import type { Tenant } from '../../platform/caller.ts';
import type { EarlierMessage } from '../records/earlier-store.ts';
import type { MessageRow, TaskRow, TurnRow } from '../records/tables.ts';
import { modelStepsOf } from '../records/trace-store.ts';
import { goesStraightToWork } from '../records/turn.ts';
import { attachedParts, type FileRendering, type Room } from '../tools/conversation-files.ts';
import type { Engine } from './ports.ts';
import { joinTexts } from './reply-text.ts';

export type History = {
  messages: Message[];
  /** How many exchanges stand before the end of each earlier message, as a summary of the run counts them. */
  ends: readonly { messageId: string; exchanges: number }[];
};

/**
 * What was said and done before the turn and what is asked now. Replies come back as the steps that they were: calls with
 * their results, questions with their answers. `passing`: what holds now and is not said again.
 */
export async function historyOf(
  engine: Engine,
  tenant: Tenant,
  { turn, task }: { turn: TurnRow; task: TaskRow | null },
  { asked, before, passing }: { asked: MessageRow; before: readonly EarlierMessage[]; passing: string },
  shown: FileRendering & { room: Room },
): Promise<History> {
  const { fence } = shown;
  // Work goes on from what the reply has found out before it handed over.
  const doers = new Set(before.filter(({ is_replayed }) => is_replayed).map(({ turn_id }) => turn_id));
  if (task && !goesStraightToWork(turn.request)) doers.add(turn.id);
  const [steps, files] = await Promise.all([
    doers.size === 0 ? new Map<string, ModelStep[]>() : modelStepsOf(engine.db, [...doers]),
    attachedParts(engine, tenant, { asked, before }, shown, shown.room),
  ]);
  const answered = new Set(before.filter(({ role }) => role === 'agent').map(({ turn_id }) => turn_id));
  const messages: Message[] = turn.base_summary === null ? [] : [summaryMessage(fence, turn.base_summary)];
  const ends: { messageId: string; exchanges: number }[] = [];
  let exchanges = messages.length;
  for (const row of before) {
    const told = earlierMessages(row, { steps, files, answered, fence });
    messages.push(...told);
    exchanges += told.filter(({ role }) => role !== 'tool').length;
    ends.push({ messageId: row.id, exchanges });
  }
  messages.push(askedMessage(asked, { brief: task?.brief ?? null, files: files.get(asked.id) ?? [], passing }));
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
  /** The turns whose replies have a message. */
  answered: ReadonlySet<string>;
  fence: string;
};

function earlierMessages(row: EarlierMessage, { steps, files, answered, fence }: Known): Message[] {
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
      return [workMessage(row, fence)];
  }
}

/** The reply as it was made; where its steps are gone or there were none but the answer, what it said. */
function replyOf(row: EarlierMessage, steps: readonly ModelStep[], fence: string): Message[] {
  const made = steps.map(asEarlier);
  const spoken = joinTexts(made);
  const exchanges = made.map((step) => withHandOff(step, row.text)).flatMap((step) => exchangeOf(step, fence).messages);
  // What was streamed of a step that came to no end was seen by the person.
  const left = row.text.startsWith(spoken) ? row.text.slice(spoken.length).trimStart() : '';
  const rest = [...(steps.length === 0 ? [row.text] : [left]), markOf(row)].filter((text) => text.trim() !== '');
  return [...exchanges, ...(rest.length === 0 ? [] : [agentText(rest.join('\n'))])];
}

/** What the model called is done; what came of it stands later in the conversation. */
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

/** Without it the agent would take half an answer for all that it had to say, and silence for an answer. */
function markOf({ turn_state, is_cut }: EarlierMessage): string {
  if (is_cut) return cutMark;
  if (turn_state === 'stopped') return '[This reply was stopped here, before it was finished.]';
  if (turn_state === 'failed') return '[This reply failed here. The person was told that something went wrong.]';
  return '';
}

const cutMark = '[This reply was cut off here: it ran into the limit of length. The person has read no more of it.]';

/** What work came to, which the person has read: it is no word of the agent's that it could take up in the middle. */
function workMessage(
  { text, work_title, work_error, work_unread, is_cut }: EarlierMessage,
  fence: string,
): UserMessage {
  const title = work_title === null ? 'The work that was handed over' : `The work “${work_title}”`;
  const lines =
    work_error === null
      ? [`${title} is done. You told the person:`, text, ...(is_cut ? [cutMark] : [])]
      : [`${title} ended without a result. ${work_error}`.trim(), `You told the person: ${text}`];
  if (work_unread !== null) lines.push(`It ended before it read what the person had added: ${work_unread}`);
  return userText(asData(fence, 'work', lines.join('\n')));
}

function askedMessage(
  { text }: MessageRow,
  { brief, files, passing }: { brief: string | null; files: readonly UserPart[]; passing: string },
): UserMessage {
  const handed =
    brief === null ? [] : [{ kind: 'text' as const, text: `What is to be done, as it was handed over:\n${brief}` }];
  const parts = partsOf(text, [...handed, ...files]);
  return { role: 'user', parts: [...parts, { kind: 'text', text: passing, isPassing: true }] };
}

function partsOf(text: string, more: readonly UserPart[]): UserPart[] {
  const parts: UserPart[] = [...(text.trim() === '' ? [] : [{ kind: 'text' as const, text }]), ...more];
  return parts.length === 0 ? [{ kind: 'text', text: '[nothing]' }] : parts;
}

/** Calls of the reply that led to the work, without the one that handed it over. */
const foundBefore = (steps: readonly ModelStep[], fence: string): Message[] =>
  steps
    .map((step) => ({ ...step, calls: step.calls.filter(({ call }) => call.name !== 'hand_off_to_work') }))
    .filter(({ calls }) => calls.length > 0)
    .flatMap((step) => exchangeOf(asEarlier(step), fence).messages);

const userText = (text: string): UserMessage => ({ role: 'user', parts: [{ kind: 'text', text }] });

const agentText = (text: string): AgentMessage => ({ role: 'agent', text, calls: [] });
