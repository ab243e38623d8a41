import type { Executor } from '../../platform/db/pool.ts';
import { pipelined, rowsStatement } from '../../platform/db/query.ts';
import { sql } from '../../platform/db/sql.ts';
import { boolean, columnsOf, type RowOf, text } from '../../platform/db/table.ts';
import { interactionsOfRuns, pendingInteractionsStatement } from './interactions.ts';
import { allMessages } from './messages.ts';
import { callsOfRuns } from './run-steps.ts';
import { type CallRow, type InteractionRow, type MessageRow, messages, type TaskRow, type TurnRow } from './tables.ts';
import { openTasksStatement } from './tasks.ts';
import { turnsOf } from './turns.ts';

/** A message with the state of its turn and, if a task wrote it, the outcome of the task. */
const earlierShape = {
  ...messages.columns,
  turn_state: text<TurnRow['state']>().nullable(),
  /** True if the reply called tools, or if its model needs its own reasoning back. */
  is_replayed: boolean(),
  /** True if the task that wrote it was deleted. */
  is_deleted: boolean(),
  work_title: text().nullable(),
  work_error: text().nullable(),
  /** Notes that the task did not read before it ended. */
  work_unread: text().nullable(),
};
export type HistoryMessage = RowOf<typeof earlierShape>;

const columns = columnsOf(messages, 'm');

/** The messages before a reply, oldest first, without those that an earlier summary covers. */
const historyStatement = (turn: TurnRow) =>
  rowsStatement(
    earlierShape,
    sql`SELECT ${columns}, t.state AS turn_state,
        m.role <> 'work' AND (EXISTS (SELECT FROM run_calls c WHERE c.run_id = m.turn_id)
          OR EXISTS (SELECT FROM run_steps s WHERE s.run_id = m.turn_id AND s.reasoning IS NOT NULL)) AS is_replayed,
        m.role = 'work' AND w.id IS NULL AS is_deleted, w.title AS work_title, w.error_message AS work_error,
        (SELECT string_agg(n.text, E'\n' ORDER BY n.id) FROM work_notes n
          WHERE n.task_id = m.task_id AND n.step_index IS NULL) AS work_unread
      FROM messages m
      LEFT JOIN turns t ON t.conversation_id = m.conversation_id AND t.ordinal = m.turn_ordinal
      LEFT JOIN tasks w ON w.org_id = t.org_id AND w.mode = t.mode AND w.id = m.task_id
      WHERE m.conversation_id = ${turn.conversation_id}
        AND (${turn.base_from}::text IS NULL OR m.id > ${turn.base_from})
        AND m.id <= ${turn.history_until} AND m.turn_ordinal < ${turn.ordinal}
      ORDER BY m.id`,
  );

/** The messages before a turn, and the tasks and interactions that are still open. */
export type TurnHistory = { before: HistoryMessage[]; openTasks: TaskRow[]; pending: InteractionRow[] };

export async function readHistory(db: Executor, turn: TurnRow): Promise<TurnHistory> {
  const ids = [turn.conversation_id];
  const [before, openTasks, pending] = await pipelined(db, [
    historyStatement(turn),
    openTasksStatement(ids),
    pendingInteractionsStatement(ids),
  ]);
  return { before, openTasks, pending };
}

/** The stored tool calls of a run and its interactions. */
type RunActivity = { calls: CallRow[]; waits: InteractionRow[] };

/** One turn in the order in which it happened: message, reply and, if it was handed off, task. */
export type Exchange = {
  turn: TurnRow;
  user: MessageRow[];
  reply: RunActivity;
  agent: MessageRow[];
  work: RunActivity;
  /** Messages of the task. */
  told: MessageRow[];
};

export async function readExchanges(db: Executor, conversationId: string): Promise<Exchange[]> {
  const turns = await turnsOf(db, conversationId);
  const allOfConversation = await allMessages(db, conversationId);
  const runIds = turns.flatMap(({ id, task_id }) => (task_id === null ? [id] : [id, task_id]));
  const calls = await callsOfRuns(db, runIds);
  const waits = await interactionsOfRuns(db, runIds);
  const activityOf = (runId: string | null): RunActivity => ({
    calls: calls.filter(({ run_id }) => run_id === runId),
    waits: waits.filter(({ run_id }) => run_id === runId),
  });
  return turns.map((turn) => {
    const ofTurn = allOfConversation.filter(({ turn_id }) => turn_id === turn.id);
    const by = (role: MessageRow['role']) => ofTurn.filter((message) => message.role === role);
    return {
      turn,
      user: by('user'),
      reply: activityOf(turn.id),
      agent: by('agent'),
      work: activityOf(turn.task_id),
      told: by('work'),
    };
  });
}

/**
 * The messages of a conversation (`said`), and the messages with the tool calls between them (`witnessed`) for a judge.
 */
export type Transcript = {
  said: { role: MessageRow['role']; text: string }[];
  witnessed: { speaker: 'User' | 'Agent' | 'Tool'; text: string }[];
};

const maxPartLength = 4000;

export const readTranscript = async (db: Executor, conversationId: string): Promise<Transcript> =>
  transcriptOf(await readExchanges(db, conversationId));

export const transcriptOf = (exchanges: readonly Exchange[]): Transcript => ({
  said: exchanges
    .flatMap(({ user, reply, agent, work, told }) => [
      ...user,
      ...reply.waits.flatMap(askedAndAnswered),
      ...agent,
      ...work.waits.flatMap(askedAndAnswered),
      ...told,
    ])
    .map(({ role, text }) => ({ role, text })),
  witnessed: exchanges.flatMap(({ user, reply, agent, work, told }) => [
    ...user.map(witnessedMessage),
    ...reply.calls.map(transcriptLineOf),
    ...agent.map(witnessedMessage),
    ...work.calls.map(transcriptLineOf),
    ...told.map(witnessedMessage),
  ]),
});

const witnessedMessage = ({ role, text }: MessageRow) => ({
  speaker: role === 'user' ? ('User' as const) : ('Agent' as const),
  text,
});

export const transcriptLineOf = ({ name, arguments: given, output, is_error }: CallRow) => ({
  speaker: 'Tool' as const,
  text: `${name}(${bounded(JSON.stringify(given))}) ${is_error ? 'failed' : 'answered'}: ${bounded(output ?? '')}`,
});

/** Names the cut, because a judge takes text that it cannot see for missing. */
const bounded = (text: string) =>
  text.length <= maxPartLength
    ? text
    : `${text.slice(0, maxPartLength).toWellFormed()} [cut: the first ${maxPartLength} of ${text.length} characters]`;

/** An open question is left out: its answer will add both the question and the answer. */
function askedAndAnswered({ type, status, questions, answers }: InteractionRow): Transcript['said'] {
  if (type !== 'question' || status === 'pending') return [];
  return (questions ?? []).flatMap((question, at) => [
    { role: 'agent' as const, text: questionText(question) },
    ...(answers ? [{ role: 'user' as const, text: answers[at] ?? '' }] : []),
  ]);
}

/** A question with its options, as shown to a person. */
export const questionText = ({ question, options }: { question: string; options: readonly string[] }) =>
  options.length === 0 ? question : `${question}\n${options.map((each) => `- ${each}`).join('\n')}`;
