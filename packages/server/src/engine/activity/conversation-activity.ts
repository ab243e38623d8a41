/** Reads what happened in the conversations of a deployment, for reports. The number of rows of each read has a limit. */

import type { Tenant } from '../../platform/caller.ts';
import { idAfterMoment } from '../../platform/db/ids-of-period.ts';
import type { Executor } from '../../platform/db/pool.ts';
import { one, rowsOf } from '../../platform/db/query.ts';
import { type Sql, sql } from '../../platform/db/sql.ts';
import { count, moment, type RowOf, text } from '../../platform/db/table.ts';
import { interactions } from '../records/tables.ts';

/** `until` is exclusive. */
type ActivityPeriod = { since: Date; until: Date };

/** A conversation that lives for years has more. Its newest ones are read. */
const maxTurnsOfConversation = 200;

const activeShape = {
  id: text(),
  created_at: moment(),
  /** The turns of the period that have started since `middle`, and those before it. */
  turns: count(),
  turns_before: count(),
  last_turn_at: moment(),
  /** The maximum of the turns since `middle`, or of the others if there are none. */
  longest_reply_ms: count(),
};
export type ActiveConversation = RowOf<typeof activeShape>;

/**
 * The newest conversations of a deployment with a turn in the period, newest first. Conversations of test runs, replays
 * and interviews are hidden and left out. If there are more than `limit`, `readSince` is the time from which on
 * all conversations that began were read.
 */
export async function activeConversations(
  db: Executor,
  { orgId, mode }: Tenant,
  deploymentId: string,
  { since, until, middle, limit }: ActivityPeriod & { middle: Date; limit: number },
): Promise<{ conversations: ActiveConversation[]; readSince: Date | null }> {
  const newest = idAfterMoment('conv', until);
  const isSince = sql`t.created_at >= ${middle}`;
  const rows = await rowsOf(
    db,
    { ...activeShape, last_turn_at: moment().nullable() },
    sql`WITH newest AS MATERIALIZED (
        SELECT id, created_at, last_active_at FROM conversations
        WHERE org_id = ${orgId} AND mode = ${mode} AND deployment_id = ${deploymentId} AND id < ${newest} AND NOT is_hidden
        ORDER BY id DESC LIMIT ${limit})
      SELECT newest.id, newest.created_at, active.*
      FROM newest CROSS JOIN LATERAL (
        SELECT count(*) FILTER (WHERE ${isSince}) AS turns, count(*) FILTER (WHERE NOT ${isSince}) AS turns_before,
          max(t.created_at) AS last_turn_at,
          COALESCE(max(t.active_ms) FILTER (WHERE ${isSince}), max(t.active_ms), 0) AS longest_reply_ms
        FROM ${recentTurns(sql`newest.id`)} AS t
        WHERE newest.last_active_at >= ${since} AND t.created_at >= ${since} AND t.created_at < ${until}) AS active
      ORDER BY newest.id DESC`,
  );
  return {
    conversations: rows.filter((row): row is ActiveConversation => row.last_turn_at !== null),
    readSince: rows.length === limit ? (rows.at(-1)?.created_at ?? null) : null,
  };
}

const markShape = {
  conversations: count(),
  oldest: text().nullable(),
  newest: text().nullable(),
  redactions: text().nullable(),
};

/** Changes if one of the conversations is deleted, or something that was said in one. */
export type ConversationsMark = RowOf<typeof markShape>;

const markOf = (rows: Sql): Sql =>
  sql`SELECT count(*) AS conversations, min(id) AS oldest, max(id) AS newest,
    sum(extract(epoch FROM redacted_at))::text AS redactions FROM ${rows}`;

/** The mark of the newest conversations of a deployment. Read it before their content. */
export const markConversations = (
  db: Executor,
  { orgId, mode }: Tenant,
  deploymentId: string,
  { until, limit }: { until: Date; limit: number },
): Promise<ConversationsMark> =>
  one(
    db,
    markShape,
    markOf(sql`(SELECT id, redacted_at FROM conversations
      WHERE org_id = ${orgId} AND mode = ${mode} AND deployment_id = ${deploymentId} AND id < ${idAfterMoment('conv', until)}
      ORDER BY id DESC LIMIT ${limit}) AS newest`),
  );

/** Whether nothing has been deleted since the mark was read. */
export async function isMarkValid(
  db: Executor,
  { orgId, mode }: Tenant,
  deploymentId: string,
  { oldest, newest, conversations, redactions }: ConversationsMark,
): Promise<boolean> {
  const now = await one(
    db,
    markShape,
    markOf(sql`conversations WHERE org_id = ${orgId} AND mode = ${mode} AND deployment_id = ${deploymentId}
      AND id >= ${oldest} AND id <= ${newest}`),
  );
  return now.conversations === conversations && now.redactions === redactions;
}

const recentTurns = (conversationId: Sql): Sql =>
  sql`(SELECT id, created_at, active_ms, origin, task_id, message_id, error_code, error_message FROM turns
    WHERE conversation_id = ${conversationId} ORDER BY ordinal DESC LIMIT ${maxTurnsOfConversation})`;

/** The turns of these conversations in the period, as `t`. */
const turnsInPeriod = (conversationIds: readonly string[], { since, until }: ActivityPeriod): Sql =>
  sql`(SELECT wanted.conversation_id, recent.* FROM unnest(${conversationIds}::text[]) AS wanted(conversation_id)
      CROSS JOIN LATERAL ${recentTurns(sql`wanted.conversation_id`)} AS recent
      WHERE recent.created_at >= ${since} AND recent.created_at < ${until}) AS t`;

/** Longer texts are cut. A report compares and quotes only the first words. */
const maxTextRead = 400;

const replyShape = {
  conversation_id: text(),
  turn_id: text(),
  task_id: text().nullable(),
  code: text(),
  error: text().nullable(),
  /** The message of the user. */
  asked: text(),
  at: moment(),
};
type ReplyActivity = RowOf<typeof replyShape>;

/** The turns that ended with an error, newest first. */
export const turnsThatFailed = (
  db: Executor,
  conversationIds: readonly string[],
  { limit, ...period }: ActivityPeriod & { limit: number },
): Promise<ReplyActivity[]> =>
  rowsOf(
    db,
    replyShape,
    sql`SELECT t.conversation_id, t.id AS turn_id, t.task_id, t.error_code AS code,
        left(t.error_message, ${maxTextRead}) AS error, left(COALESCE(m.text, ''), ${maxTextRead}) AS asked,
        t.created_at AS at
      FROM ${turnsInPeriod(conversationIds, period)}
      LEFT JOIN messages m ON m.conversation_id = t.conversation_id AND m.id = t.message_id
      WHERE t.error_code IS NOT NULL ORDER BY t.id DESC LIMIT ${limit}`,
  );

const interactionShape = {
  conversation_id: text(),
  turn_id: text(),
  task_id: text().nullable(),
  type: interactions.columns.type,
  kind: interactions.columns.kind,
  status: interactions.columns.status,
  summary: text(),
  question: text().nullable(),
  tool: text().nullable(),
  app: text().nullable(),
  at: moment(),
};
export type InteractionActivity = RowOf<typeof interactionShape>;

/**
 * Approvals that a person declined, and requests to a person that expired, newest first. Calls of functions are left
 * out: a program answers them.
 */
export const interactionsWithoutConsent = (
  db: Executor,
  { orgId, mode }: Tenant,
  conversationIds: readonly string[],
  { since, until, limit }: ActivityPeriod & { limit: number },
): Promise<InteractionActivity[]> =>
  rowsOf(
    db,
    interactionShape,
    sql`SELECT * FROM (
        SELECT id, conversation_id, turn_id, task_id, type, kind, status, left(summary, ${maxTextRead}) AS summary,
          left(questions -> 0 ->> 'question', ${maxTextRead}) AS question, details ->> 'tool_name' AS tool,
          details ->> 'app' AS app, COALESCE(resolved_at, expires_at, created_at) AS at
        FROM interactions
        WHERE conversation_id = ANY(${conversationIds}::text[]) AND org_id = ${orgId} AND mode = ${mode}
          AND NOT is_hidden AND type <> 'tool_call'
          AND ((status = 'resolved' AND type = 'approval' AND decision = 'denied') OR status = 'expired')) AS ended
      WHERE at >= ${since} AND at < ${until} ORDER BY id DESC LIMIT ${limit}`,
  );

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
