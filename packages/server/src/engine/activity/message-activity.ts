import type { Executor } from '../../platform/db/pool.ts';
import { rowsOf } from '../../platform/db/query.ts';
import { sql } from '../../platform/db/sql.ts';
import { moment, type RowOf, text } from '../../platform/db/table.ts';
import { type ActivityPeriod, maxTextRead, turnsInPeriod } from './conversation-activity.ts';

const callShape = {
  conversation_id: text(),
  turn_id: text(),
  task_id: text().nullable(),
  name: text(),
  result: text<'error' | 'nothing_found'>(),
  output: text(),
  /** Of a search. */
  query: text().nullable(),
  at: moment(),
};
export type CallActivity = RowOf<typeof callShape>;

/** Results of the loop for calls that a person declined or did not answer. Interactions report them. */
const isOfPerson = sql`(call.result_from = 'person' OR (call.result_from = 'run' AND
  call.output ~ '^(The (company|person) said no|The request was withdrawn|Nobody answered in time|There was no yes)'))`;

/** Searches that found nothing, without those of notebooks that are still being indexed. */
const isEmptySearch = sql`(call.name = 'search_notebooks' AND NOT call.is_error AND call.output = 'Nothing was found.')`;

/** Tool calls that failed and searches of notebooks that found nothing, newest first. */
export const callsWithoutResult = (
  db: Executor,
  conversationIds: readonly string[],
  { limit, ...period }: ActivityPeriod & { limit: number },
): Promise<CallActivity[]> =>
  rowsOf(
    db,
    callShape,
    sql`SELECT t.conversation_id, t.id AS turn_id, run.task_id, call.name,
        CASE WHEN call.is_error THEN 'error' ELSE 'nothing_found' END AS result,
        left(COALESCE(call.output, ''), ${maxTextRead}) AS output, left(call.arguments ->> 'query', ${maxTextRead}) AS query,
        COALESCE(call.finished_at, call.created_at) AS at
      FROM ${turnsInPeriod(conversationIds, period)}
      CROSS JOIN LATERAL (VALUES (t.id, NULL), (t.task_id, t.task_id)) AS run(id, task_id)
      JOIN run_calls AS call ON call.run_id = run.id
      WHERE (call.is_error AND NOT ${isOfPerson}) OR ${isEmptySearch}
      ORDER BY call.id DESC LIMIT ${limit}`,
  );

const messageShape = { conversation_id: text(), turn_id: text(), text: text(), at: moment() };
export type UserMessage = RowOf<typeof messageShape>;

/** The messages of users in the period, without those of routines and batches, in the order in which each conversation has them. */
export const userMessages = (
  db: Executor,
  conversationIds: readonly string[],
  { limit, ...period }: ActivityPeriod & { limit: number },
): Promise<UserMessage[]> =>
  rowsOf(
    db,
    messageShape,
    sql`SELECT t.conversation_id, t.id AS turn_id, left(m.text, ${maxTextRead}) AS text, t.created_at AS at
      FROM ${turnsInPeriod(conversationIds, period)}
      JOIN messages m ON m.conversation_id = t.conversation_id AND m.id = t.message_id
      WHERE t.origin = 'message' ORDER BY t.conversation_id DESC, t.id LIMIT ${limit}`,
  );

/** The turn of each answer, with the message that it answers. Answers that do not exist any more are left out. */
export const questionsOfAnswers = (
  db: Executor,
  answers: readonly { conversation_id: string; message_id: string }[],
): Promise<{ message_id: string; turn_id: string; task_id: string | null; asked: string }[]> =>
  rowsOf(
    db,
    { message_id: text(), turn_id: text(), task_id: text().nullable(), asked: text() },
    sql`SELECT answer.id AS message_id, answer.turn_id, answer.task_id, left(COALESCE(m.text, ''), ${maxTextRead}) AS asked
      FROM unnest(${answers.map((each) => each.conversation_id)}::text[], ${answers.map((each) => each.message_id)}::text[])
        AS wanted(conversation_id, message_id)
      JOIN messages answer ON answer.conversation_id = wanted.conversation_id AND answer.id = wanted.message_id
      JOIN turns t ON t.id = answer.turn_id
      LEFT JOIN messages m ON m.conversation_id = t.conversation_id AND m.id = t.message_id`,
  );

/** The tool that each of these conversations called most often. Conversations without calls are left out. */
export async function mostCalledTools(
  db: Executor,
  conversationIds: readonly string[],
  period: ActivityPeriod,
): Promise<Map<string, string>> {
  const rows = await rowsOf(
    db,
    { conversation_id: text(), name: text() },
    sql`SELECT DISTINCT ON (conversation_id) conversation_id, name FROM (
        SELECT t.conversation_id, call.name, count(*) AS calls
        FROM ${turnsInPeriod(conversationIds, period)}
        JOIN run_calls AS call ON call.run_id IN (t.id, t.task_id)
        GROUP BY t.conversation_id, call.name) AS counted
      ORDER BY conversation_id, calls DESC, name`,
  );
  return new Map(rows.map(({ conversation_id, name }) => [conversation_id, name]));
}
