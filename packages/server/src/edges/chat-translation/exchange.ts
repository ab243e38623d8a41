import { conversations } from '@vestra/contract/conversations';
import { fail } from '@vestra/contract/errors';
import { idPattern } from '@vestra/contract/ids';
import { bodyLimitOf } from '@vestra/contract/route';
import type { Client } from '@vestra/sdk/client';
import type { Conversation } from '@vestra/sdk/resources';
import { followTurn, type StreamEvent } from '@vestra/sdk/stream';
import { findDeployment } from '../../agents/deployments/index.ts';
import { latestTurn } from '../../engine/conversations/index.ts';
import { findFiles } from '../../engine/files/index.ts';
import type { Engine } from '../../engine/index.ts';
import { findInteraction } from '../../engine/interactions/index.ts';
import { answerOfTalk, type ClientAnswer, findAnswer } from '../../integrations/index.ts';
import type { Caller } from '../../platform/caller.ts';
import { answerOfForcedCall, type ChatQuestion, forcedCall, type InteractionAnswer } from './question.ts';

/** One request of a client. */
export type ChatExchange = {
  client: Client;
  caller: Caller;
  db: Engine['db'];
  files: Engine['files'];
  /** The key of the client, for the one request that creates something. */
  idempotencyKey: string | undefined;
};

/** The answering turn; `events` starts after `afterSeq`. */
export type StartedTurn = {
  conversationId: string;
  turnId: string;
  afterSeq: number;
  events: AsyncGenerator<StreamEvent, void, undefined>;
};

/** Sends the question to the right route and follows the turn. */
export async function startTurn(exchange: ChatExchange, question: ChatQuestion): Promise<StartedTurn> {
  const { toolResults, answers } = question;
  if (toolResults.some(({ call_id }) => answerOfForcedCall(call_id) !== null))
    return continueForced(exchange, question);
  if (toolResults.length > 0) return answerCalls(exchange, question);
  if (answers.length > 0) return answerWaits(exchange, question);
  const { client, idempotencyKey } = exchange;
  const known = await conversationOf(exchange, question);
  const unheard = known ? [] : question.earlier;
  const conversation = known ?? (question.match?.isWhole === false ? await newThread(exchange, question) : null);
  if (!conversation) {
    const { model, user, metadata } = question;
    if (model === undefined) throw fail('invalid_request', { param: 'model', message: 'Name the deployment.' });
    const message = await messageOf(exchange, question, { userId: user, unheard });
    const body = sendable({ ...message, user_id: user, deployment: model, metadata, stream: true });
    return startedBy((await client.request('conversations.create', { body }, { idempotencyKey })) as Events);
  }
  const message = await messageOf(exchange, question, { userId: conversation.user_id ?? undefined, unheard });
  const placed = { params: { conversation_id: conversation.id }, body: sendable({ ...message, stream: true }) };
  return startedBy((await client.request('conversations.send', placed, { idempotencyKey })) as Events);
}

type Events = AsyncGenerator<StreamEvent, void, undefined>;

const maxMessageBytes = bodyLimitOf(conversations.send, { session: false });

/** Refuses a body that the message route would refuse, before megabytes are serialised. */
function sendable<Body extends object>(body: Body): Body {
  if (textWithin(body, maxMessageBytes) <= maxMessageBytes) return body;
  throw fail('body_too_large', { message: `A message takes at most ${maxMessageBytes} bytes besides its files.` });
}

/** The characters of all strings in a value. Stops counting above `most`. */
function textWithin(value: unknown, most: number): number {
  if (typeof value === 'string') return value.length;
  if (typeof value !== 'object' || value === null) return 0;
  let sum = 0;
  for (const part of Object.values(value)) {
    sum += textWithin(part, most - sum);
    if (sum > most) break;
  }
  return sum;
}

/** The first event names the turn. */
async function startedBy(events: Events): Promise<StartedTurn> {
  const { value: first, done } = await events.next();
  if (done || !first.conversation_id || !first.turn_id) throw fail('not_ready', { message: 'The turn has not begun.' });
  async function* withFirst(): Events {
    yield first as StreamEvent;
    yield* events;
  }
  return { conversationId: first.conversation_id, turnId: first.turn_id, afterSeq: first.seq - 1, events: withFirst() };
}

/** Tool results continue the turn that asked for them. */
async function answerCalls(exchange: ChatExchange, question: ChatQuestion): Promise<StartedTurn> {
  const [first] = question.toolResults;
  const asked = await askedBy(exchange, first?.call_id ?? '');
  const conversation = await ownConversation(exchange, question, asked.conversation_id);
  const afterSeq = conversation.last_event_seq;
  const isSaid = question.message !== '' || question.files.length + question.fileIds.length > 0;
  const said = isSaid ? await messageOf(exchange, question, { userId: conversation.user_id ?? undefined }) : {};
  const placed = {
    params: { conversation_id: conversation.id },
    body: sendable({ ...said, tool_results: question.toolResults }),
  };
  const { idempotencyKey } = exchange;
  const sent = (await exchange.client.request('conversations.send', placed, { idempotencyKey })) as { id: string };
  return followTurnAfter(exchange, { conversationId: conversation.id, turnId: sent.id, afterSeq });
}

/** A forced call ended its turn, so its result is a new message of the same conversation. */
async function continueForced(exchange: ChatExchange, question: ChatQuestion): Promise<StartedTurn> {
  const [{ call_id: first }] = question.toolResults as [ChatQuestion['toolResults'][number]];
  const isOther = ({ call_id }: { call_id: string }) => call_id !== first;
  const before = await findAnswer(exchange.db, exchange.caller, answerOfForcedCall(first) ?? '');
  if (!before || question.toolResults.some(isOther)) {
    throw fail('interaction_not_found', { message: `Nothing is asked for under \`${first.slice(0, 100)}\`.` });
  }
  const conversation = await ownConversation(exchange, question, before.conversation_id);
  if (!(await isNewest(exchange, before))) throw fail('already_answered');
  const { client, idempotencyKey } = exchange;
  const asked = await messageOf(exchange, question, { userId: conversation.user_id ?? undefined });
  const name = before.tool_names[forcedCall];
  const results = question.toolResults.map((result) => ({ ...(name && { function: name }), ...result }));
  const context = { ...(asked.context as object | undefined), [forcedResults]: results };
  const body = sendable({ message: afterForcedCall, ...asked, context, stream: true });
  const placed = { params: { conversation_id: conversation.id }, body };
  return startedBy((await client.request('conversations.send', placed, { idempotencyKey })) as Events);
}

const forcedResults = 'function_results';
const afterForcedCall = `The function has been called. Its result is in the context, under \`${forcedResults}\`.`;

/** The results of forced calls in a message, and the text that the client itself sent with them. */
export function readForcedResults(
  text: string,
  context: Record<string, unknown> | null,
): { text: string; results: { call_id: string; output?: unknown }[] } {
  const results = context?.[forcedResults];
  if (!Array.isArray(results) || text !== afterForcedCall)
    return { text, results: Array.isArray(results) ? results : [] };
  return { text: '', results };
}

async function answerWaits(exchange: ChatExchange, question: ChatQuestion): Promise<StartedTurn> {
  const asked = await Promise.all(question.answers.map(({ id }) => askedBy(exchange, id)));
  const [first] = asked;
  if (!first || asked.some(({ turn_id }) => turn_id !== first.turn_id)) {
    throw fail('invalid_request', { message: 'Answer what one turn asked at a time.' });
  }
  const { last_event_seq: afterSeq } = await ownConversation(exchange, question, first.conversation_id);
  for (const given of question.answers) await answerWait(exchange, given);
  return followTurnAfter(exchange, { conversationId: first.conversation_id, turnId: first.turn_id, afterSeq });
}

async function answerWait({ client }: ChatExchange, { id: interaction_id, answer }: InteractionAnswer): Promise<void> {
  if (answer === 'cancel') await client.interactions.cancel({ interaction_id });
  else await client.interactions.answer({ interaction_id, ...answer });
}

async function askedBy({ db, caller }: ChatExchange, id: string) {
  const asked =
    idPattern('call').test(id) || idPattern('int').test(id) ? await findInteraction(db, caller, id) : undefined;
  if (!asked) throw fail('interaction_not_found', { message: `Nothing is asked for under \`${id}\`.` });
  return asked;
}

/** Follows an existing turn from the event after `afterSeq`. */
export function followTurnAfter({ client }: ChatExchange, of: Omit<StartedTurn, 'events'>): StartedTurn {
  return { ...of, events: followTurn(client, of.conversationId, of.turnId, { after: of.afterSeq }) };
}

/** The conversation to continue; null: start a new one. */
async function conversationOf(exchange: ChatExchange, question: ChatQuestion): Promise<Conversation | null> {
  const { previous, conversation, match } = question;
  if (previous !== undefined) {
    const before = await findAnswer(exchange.db, exchange.caller, previous);
    if (!before) throw fail('response_not_found', { param: 'previous_response_id' });
    if (!(await isNewest(exchange, before))) {
      throw fail('invalid_request', {
        param: 'previous_response_id',
        message:
          'The conversation has continued since this response: use its last response, or start a new conversation.',
      });
    }
    return ownConversation(exchange, question, before.conversation_id);
  }
  if (conversation !== undefined) return ownConversation(exchange, question, conversation);
  const before = match && (await answerOfTalk(exchange.db, exchange.caller, match.digest));
  // The conversation took another course, so a new one gets the earlier messages.
  if (!before || (match.isWhole && !(await isNewest(exchange, before)))) return null;
  const found = await exchange.client.conversations.get({ conversation_id: before.conversation_id });
  // The slug may belong to another deployment by now.
  return (await isWithNamed(exchange, question, found)) ? found : null;
}

/**
 * Concurrent runs of a new thread share one conversation: its creation uses the thread as Idempotency-Key. Each run
 * then sends its message.
 */
async function newThread({ client }: ChatExchange, { model, user, match }: ChatQuestion): Promise<Conversation> {
  const body = { user_id: user, deployment: model };
  return (await client.conversations.create(body, { idempotencyKey: `thread.${match?.digest}` })) as Conversation;
}

const isNewest = async ({ db }: ChatExchange, { conversation_id, turn_id }: ClientAnswer): Promise<boolean> =>
  (await latestTurn(db, conversation_id))?.id === turn_id;

/** Refuses a conversation of another user, or of a deployment other than the named one. */
async function ownConversation(exchange: ChatExchange, question: ChatQuestion, id: string): Promise<Conversation> {
  if (!idPattern('conv').test(id)) throw fail('conversation_not_found', { param: 'conversation' });
  const conversation = await exchange.client.conversations.get({ conversation_id: id });
  if (question.user !== undefined && conversation.user_id !== question.user) {
    throw fail('conversation_user_mismatch', { param: 'user', message: 'The conversation belongs to another user.' });
  }
  if (await isWithNamed(exchange, question, conversation)) return conversation;
  throw fail('invalid_deployment', {
    param: 'model',
    message: `The conversation began with ${await nameOf(exchange, conversation)}, and cannot change it: name that one, or start a conversation with another by its \`metadata.model\`.`,
  });
}

async function nameOf({ db, caller }: ChatExchange, { deployment_id }: Conversation): Promise<string> {
  const found = deployment_id === null ? undefined : await findDeployment(db, caller.orgId, deployment_id);
  return found ? `the deployment \`${found.deployment.slug}\`` : 'a deployment that is gone';
}

async function isWithNamed(
  { db, caller }: ChatExchange,
  { model }: ChatQuestion,
  { deployment_id }: Conversation,
): Promise<boolean> {
  if (model === undefined) return true;
  return (await findDeployment(db, caller.orgId, model))?.deployment.id === deployment_id;
}

/** `unheard`: earlier messages that no conversation here contains. */
async function messageOf(
  exchange: ChatExchange,
  question: ChatQuestion,
  { userId, unheard = [] }: { userId: string | undefined; unheard?: ChatQuestion['earlier'] },
): Promise<Record<string, unknown>> {
  const { client, idempotencyKey } = exchange;
  const { message, files, fileIds, tools, outputSchema, system } = question;
  const attachments = await attachmentsFor(exchange, fileIds, userId);
  for (const [at, { filename, mediaType, bytes }] of files.entries()) {
    const file = new File([bytes], filename, { type: mediaType });
    const key = idempotencyKey === undefined ? undefined : `${idempotencyKey}.${at}`;
    const { id } = await client.files.create({ user_id: userId, file }, { idempotencyKey: key });
    attachments.push({ file_id: id });
  }
  const context = {
    ...(system !== '' && { from_the_application: system }),
    ...(unheard.length > 0 && { earlier_in_this_talk: unheard }),
  };
  return {
    ...(message !== '' && { message }),
    ...(attachments.length > 0 && { attachments }),
    ...(tools.declared.length > 0 && { tools: tools.declared }),
    ...(outputSchema && { output_schema: outputSchema }),
    ...(Object.keys(context).length > 0 && { context }),
  };
}

/** More are refused by the message route. */
const maxAttachments = 10;

/** OpenAI's uploads name no user, so a message for a user gets a copy of such a file. */
async function attachmentsFor(
  { client, caller, db, files, idempotencyKey }: ChatExchange,
  fileIds: readonly string[],
  userId: string | undefined,
): Promise<{ file_id: string }[]> {
  const attached = fileIds.map((file_id) => ({ file_id }));
  if (userId === undefined || fileIds.length === 0 || fileIds.length > maxAttachments) return attached;
  const rows = new Map((await findFiles(db, caller, fileIds)).map((row) => [row.id, row]));
  for (const [at, each] of attached.entries()) {
    const row = rows.get(each.file_id);
    if (row?.user_id !== null || row.source !== 'upload' || row.conversation_id !== null) continue;
    const bytes = await files.read(caller.orgId, row.sha256);
    if (!bytes) continue;
    const copy = new File([new Uint8Array(bytes)], row.filename ?? row.id, { type: row.mime_type ?? '' });
    const key = idempotencyKey === undefined ? undefined : `${idempotencyKey}.copy.${at}`;
    each.file_id = (await client.files.create({ user_id: userId, file: copy }, { idempotencyKey: key })).id;
  }
  return attached;
}
