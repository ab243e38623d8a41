import type { Api } from '@vestra/contract/api';
import { fail } from '@vestra/contract/errors';
import { type messageFields, saysSomething } from '@vestra/contract/message';
import type { BodyOf, ResponseOf } from '@vestra/contract/route';
import type { z } from 'zod';
import { readPassage, revisionsToSearch } from '../../agents/notebooks/index.ts';
import type { Caller, Origin } from '../../platform/caller.ts';
import type { Database, Executor, Transaction } from '../../platform/db/pool.ts';
import { enterUser } from '../../users/index.ts';
import { acceptAnswer } from '../interactions/answer.ts';
import { type Change, changeInTransaction } from '../records/change.ts';
import { lockForMessage } from '../records/conversations.ts';
import { findInteraction } from '../records/interactions.ts';
import { findMessage } from '../records/messages.ts';
import { presentTurn, showTurn } from '../records/present.ts';
import type { ConversationRow, TurnRow } from '../records/tables.ts';
import { findTurn } from '../records/turns.ts';
import type { Engine } from '../runs/ports.ts';
import type { NewMessage } from '../transitions/begin-turn.ts';
import { acceptMessage, admit, readAttachments } from '../turns/accept.ts';
import { planMessage } from '../turns/accept-unlocked.ts';
import { interruptReply } from '../turns/stop.ts';

type Body = BodyOf<Api['conversations']['send']>;

/** Plans a message without a lock; null if it needs the lock. */
export async function planSentMessage(engine: Engine, caller: Caller, conversationId: string, body: Body) {
  const { tool_results: results = [], ...sent } = body;
  // Attachments are checked against the user of the conversation, which is read under the lock.
  if (results.length > 0 || !saysSomething(sent) || sent.attachments?.length) return null;
  const read = () => readMessage(engine, engine.db, caller, null, sent);
  const planned = await planMessage(engine, caller, conversationId, read);
  if (!planned?.turn) return null;
  return { ...planned, shown: presentTurn(planned.turn, { interactions: [], costMicros: 0n }) };
}

/** Accepts a message, results of open tool calls, or both. The caller announces the change after the commit. */
export async function sendMessage(
  engine: Engine,
  tx: Transaction,
  { caller, origin }: { caller: Caller; origin: Origin },
  conversationId: string,
  body: Body,
) {
  const locked = await lockForMessage(tx, caller, conversationId);
  if (!locked) throw fail('conversation_not_found');
  const { conversation, deployment } = locked;
  const user = conversation.user_id === null ? null : await enterUser(tx, caller, conversation.user_id);
  const { tool_results: results = [], ...sent } = body;
  const isNew = saysSomething(sent);
  const take = async (change: Change) => {
    // Interrupts before the answers are accepted, so that the message does not interrupt the turns that they resume.
    if (isNew && sent.when_busy === 'interrupt') await interruptReply(engine, change);
    const answered = await answerCalls(engine, change, origin, results);
    if (!isNew) return answered as TurnRow;
    if (!deployment) throw fail('deployment_deleted');
    const message = await readMessage(engine, tx, caller, conversation.user_id, sent);
    return acceptMessage(engine, change, await admit(engine, tx, change.conversation, deployment), message, user);
  };
  const { result: turn, committed } = await changeInTransaction(tx, conversation, take, engine.jobs);
  const shown = isNew ? presentTurn(turn, { interactions: [], costMicros: 0n }) : await showTurn(tx, turn);
  return { shown, committed };
}

/** Returns the turn of the first answered call. */
async function answerCalls(
  engine: Engine,
  change: Change,
  origin: Origin,
  results: NonNullable<Body['tool_results']>,
): Promise<TurnRow | undefined> {
  let first: TurnRow | undefined;
  for (const [at, { call_id, ...answer }] of results.entries()) {
    const row = await findInteraction(change.tx, origin, call_id);
    if (!row || row.conversation_id !== change.conversation.id) {
      throw fail('interaction_not_found', { param: `tool_results.${at}.call_id` });
    }
    await acceptAnswer(engine, change, origin, row, answer);
    first ??= await findTurn(change.tx, row.turn_id);
  }
  return first;
}

export type SentMessage = z.output<z.ZodObject<typeof messageFields>> & { traceparent?: string | undefined };

/** Validates the schemas and files of a message. */
export async function readMessage(
  { openSchemas }: Engine,
  db: Executor,
  caller: Caller,
  userId: string | null,
  sent: SentMessage,
): Promise<NewMessage> {
  if (sent.output_schema !== undefined) {
    const fault = (await openSchemas()).faultOf(sent.output_schema, { isPromised: true });
    if (fault !== null) throw fail('output_schema_invalid', { param: 'output_schema', message: fault });
  }
  for (const [at, tool] of (sent.tools ?? []).entries()) {
    const fault = (await openSchemas()).faultOf(tool.input_schema);
    if (fault !== null) throw fail('invalid_tool_input', { param: `tools.${at}.input_schema`, message: fault });
  }
  return {
    text: sent.message ?? '',
    context: sent.context ?? null,
    attachments: await readAttachments(db, caller, userId, sent.attachments ?? []),
    request: {
      output_schema: sent.output_schema,
      success_criteria: sent.success_criteria,
      tools: sent.tools,
      hand_off: sent.hand_off,
      plan: sent.plan,
      traceparent: sent.traceparent,
    },
    origin: 'message',
  };
}

const traceContext = /^00-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}$/;

/** Adds the caller's trace context if the header is valid. A session token's browser cannot set it. */
export function withTraceparent<Body extends object>(
  body: Body,
  { session }: Pick<Caller, 'session'>,
  headers: Headers,
): Body & Pick<SentMessage, 'traceparent'> {
  const given = session === null ? headers.get('traceparent') : null;
  return given !== null && traceContext.test(given) ? { ...body, traceparent: given } : body;
}

/**
 * The passages that a message cites, read from the documents now: the message stores no text of them. A passage is left out
 * if the agent of this user would not find it any more.
 */
export async function showMessageSources(
  db: Database,
  { id, org_id: orgId, mode, user_id: userId }: ConversationRow,
  messageId: string,
): Promise<ResponseOf<Api['conversations']['messageSources']>> {
  const message = await findMessage(db, id, messageId);
  if (!message) throw fail('message_not_found');
  const cited = message.sources ?? [];
  const revisions = new Map<string, Awaited<ReturnType<typeof revisionsToSearch>>>();
  const data = [];
  // One after the other, so that a request never holds several connections.
  for (const { mark, notebook_id, document_id, position, from } of cited) {
    if (!revisions.has(notebook_id)) {
      revisions.set(notebook_id, await revisionsToSearch(db, { orgId, mode }, notebook_id, {}));
    }
    const reader = { orgId, notebookIds: [notebook_id], revisions: revisions.get(notebook_id) ?? null, userId };
    const place = { documentId: document_id, position, ...(from !== undefined && { from }) };
    const passage = await readPassage(db, reader, place);
    if (passage) data.push({ mark, document_id, notebook_id, ...passage });
  }
  return { object: 'message_sources', message_id: message.id, data };
}
