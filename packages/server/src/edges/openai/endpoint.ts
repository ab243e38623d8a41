import { type ErrorCode, errorCatalogue, Failure, fail } from '@vestra/contract/errors';
import type { openai } from '@vestra/contract/openai';
import type { BodyOf, ResponseOf } from '@vestra/contract/route';
import type { Client } from '@vestra/sdk/client';
import { VestraError } from '@vestra/sdk/errors';
import type { Turn } from '@vestra/sdk/resources';
import {
  type DeploymentRow,
  findDeployment,
  listDeployments,
  noSuchDeployment,
} from '../../agents/deployments/index.ts';
import type { Engine } from '../../engine/index.ts';
import { type ClientAnswer, findAnswer, latestAnswerTo, noteTalk } from '../../integrations/index.ts';
import type { Upload } from '../../platform/http/multipart.ts';
import type { EdgeRequest, HandleRequest } from '../api-client.ts';
import {
  type AnswerKind,
  answerPieces,
  type ChatAnswer,
  followAnswer,
  saveAnswer,
  wholeAnswer,
  writtenEvents,
} from '../chat-translation/answer.ts';
import { type ChatExchange, type StartedTurn, startTurn } from '../chat-translation/exchange.ts';
import { frame, type OpenExchange, openExchanges, streamPieces } from '../chat-translation/open-exchange.ts';
import { type ChatQuestion, digestOf, forcedCall } from '../chat-translation/question.ts';
import type { HoldOpen } from '../event-stream.ts';
import { apiRefusalOf, asFailure } from '../refusal.ts';
import { chatChunks, chatCompletion, chatText, streamedChatText } from './chat.ts';
import { conversationDigest, readChat, readResponse, userIdFrom } from './read-question.ts';
import { listInputItems, responseEvents, shownResponse } from './response.ts';

type Dependencies = { answer: HandleRequest; hold: HoldOpen; engine: Engine };

type Body<Operation extends keyof typeof openai> = BodyOf<(typeof openai)[Operation]>;

/** Deployments as models of OpenAI's API. Every operation calls a route of our API. */
export function openaiEndpoint({ answer, hold, engine }: Dependencies) {
  const { db } = engine;

  const withExchange = openExchanges({ answer, hold, engine, asFailure: asOwnFailure });

  const chat = withExchange<EdgeRequest>(async (incoming, held) => {
    const body = incoming.body as Body<'chat'>;
    const question = readChat(body);
    const { row, events } = await startOnce(held.exchange, incoming, question, { kind: 'chatcmpl-', isKept: false });
    if (!body.stream) {
      const answered = await wholeAnswer(held.exchange, row, events);
      if (answered.state !== 'failed') await noteWhatWasSaid(question, row, chatText(answered));
      held.release();
      return answered.state === 'failed' ? failedTurn(answered.turn) : Response.json(chatCompletion(answered));
    }
    const chunks = chatChunks(row, { withUsage: body.stream_options?.include_usage ?? false });
    return streamPieces(held, answerPieces(held.exchange, row, events), {
      begin: () => [frame(chunks.begin())],
      piece: (piece) => chunks.piece(piece).map(frame),
      end: async (answered) => {
        if (answered.state === 'failed') return [frame({ error: turnError(answered) })];
        await noteWhatWasSaid(question, row, streamedChatText(answered));
        return [...chunks.end(answered).map(frame), 'data: [DONE]\n\n'];
      },
      fail: (error) => frame({ error: errorWords(error, held.requestId) }),
    });
  });

  const respond = withExchange<EdgeRequest>(async (incoming, held) => {
    const body = incoming.body as Body<'respond'>;
    const isBackground = body.background ?? false;
    const question = readResponse(body);
    const { row, events } = await startOnce(held.exchange, incoming, question, {
      kind: 'resp_',
      isKept: body.store ?? true,
    });
    if (body.stream) return streamedResponse(held, row, events, { isBackground, question });
    const coming = isBackground ? writtenEvents(held.exchange, row) : events;
    const answered = await wholeAnswer(held.exchange, row, coming);
    const shown = shownResponse(answered, isBackground);
    if (answered.state === 'settled') await noteWhatWasSaid(question, row, shown.output_text);
    held.release();
    return Response.json(shown);
  });

  const response = withExchange<EdgeRequest & ByResponse & { query: { stream?: string; starting_after?: string } }>(
    async ({ params, query, caller }, held) => {
      const row = await keptAnswer(caller, params.response_id);
      if (query.stream !== 'true') {
        const shown = shownResponse(await wholeAnswer(held.exchange, row, writtenEvents(held.exchange, row)), true);
        held.release();
        return Response.json(shown);
      }
      const events = followAnswer(held.exchange, row);
      const after = query.starting_after === undefined ? -1 : Number(query.starting_after);
      return streamedResponse(held, row, events, { isBackground: true, after });
    },
  );

  const cancel = withExchange<EdgeRequest & ByResponse>(async ({ params, caller }, held) => {
    const row = await keptAnswer(caller, params.response_id);
    await held.exchange.client.conversations.stop({ conversation_id: row.conversation_id });
    const answered = await wholeAnswer(held.exchange, row, writtenEvents(held.exchange, row));
    held.release();
    return Response.json(shownResponse(answered, true));
  });

  const inputItems = withExchange<EdgeRequest & ByResponse & { query: Parameters<typeof listInputItems>[2] }>(
    async ({ params, query, caller }, { exchange, release }) => {
      const listed = await listInputItems(exchange, await keptAnswer(caller, params.response_id), query);
      release();
      return Response.json(listed);
    },
  );

  const createFile = withExchange<EdgeRequest & { upload: Upload | null }>(
    async ({ upload }, { exchange, release }) => {
      if (!upload) throw fail('file_required', { param: 'file' });
      const stored = await uploadFile(exchange.client, upload, exchange.idempotencyKey);
      release();
      return Response.json(stored);
    },
  );

  const file = withExchange<EdgeRequest & ByFile>(async ({ params }, { exchange, release }) => {
    const found = await exchange.client.files.get(params);
    release();
    return Response.json(shownFile(found));
  });

  const deleteFile = withExchange<EdgeRequest & ByFile>(async ({ params }, { exchange, release }) => {
    await exchange.client.files.delete(params);
    release();
    return Response.json({ id: params.file_id, object: 'file', deleted: true });
  });

  const createConversation = withExchange<EdgeRequest>(async (incoming, { exchange, release }) => {
    const { metadata } = incoming.body as Body<'createConversation'>;
    const { model } = metadata ?? {};
    const user = userIdFrom(metadata?.user);
    const of = { metadata: metadata ?? {}, ...(model && { deployment: model }), ...(user && { user_id: user }) };
    const made = await exchange.client.conversations.create(of, { idempotencyKey: exchange.idempotencyKey });
    release();
    return Response.json(shownConversation(made));
  });

  const conversation = withExchange<EdgeRequest & { params: { conversation_id: string } }>(
    async ({ params }, { exchange, release }) => {
      const found = await exchange.client.conversations.get(params);
      release();
      return Response.json(shownConversation(found));
    },
  );

  async function models({ caller }: EdgeRequest): Promise<Response> {
    const data: DeploymentRow[] = [];
    for (let after: readonly string[] | null = []; after !== null; ) {
      const rows: DeploymentRow[] = await listDeployments(db, caller.orgId, {
        limit: 100,
        after: after[0] ? after : null,
      });
      data.push(...rows.slice(0, 100));
      after = rows.length > 100 ? [(rows[99] as DeploymentRow).id] : null;
    }
    const usable = data.filter(
      ({ status, live_version }) => status === 'active' && (caller.mode === 'test' || live_version !== null),
    );
    return Response.json({ object: 'list', data: usable.map(shownModel) });
  }

  async function model({ caller, params }: EdgeRequest & { params: { model: string } }): Promise<Response> {
    const found = await findDeployment(db, caller.orgId, params.model);
    if (!found) throw unknownModel(await noSuchDeployment(db, caller.orgId, params.model));
    const { last_version } = found.deployment;
    if ((found.version ?? 0) > last_version) {
      throw unknownModel(`No such version: the last one of \`${found.deployment.slug}\` is ${last_version}.`);
    }
    return Response.json(shownModel(found.deployment));
  }

  /**
   * Starts the turn. OpenAI's clients retry an interrupted request and mark the retry, which then gets the turn of the
   * first request.
   */
  async function startOnce(
    exchange: ChatExchange,
    { headers, bodyDigest, caller }: EdgeRequest,
    question: ChatQuestion,
    { kind, isKept }: { kind: AnswerKind; isKept: boolean },
  ): Promise<{ row: ClientAnswer; events: StartedTurn['events'] }> {
    const requestDigest = digestOf([kind, caller.actor.id, bodyDigest]);
    const isRetry = Number(headers.get('x-stainless-retry-count') ?? 0) > 0;
    const before = isRetry ? await latestAnswerTo(db, caller, requestDigest) : undefined;
    if (before) return { row: before, events: followAnswer(exchange, before) };
    const started = await startWithSchema(exchange, question);
    const model = question.model ?? (await deploymentOf(exchange, started.conversationId));
    const row = await saveAnswer(db, exchange, question, { ...started, kind, isKept, requestDigest, model });
    return { row, events: started.events };
  }

  /** Lets a later request that repeats all messages find this conversation. */
  async function noteWhatWasSaid(question: ChatQuestion, row: ClientAnswer, text: string): Promise<void> {
    const asked = question.message === '' ? [] : [{ role: 'user' as const, text: question.message }];
    const said = [...question.earlier, ...asked, { role: 'assistant' as const, text }];
    await noteTalk(db, row, conversationDigest(question, said));
  }

  async function keptAnswer(caller: EdgeRequest['caller'], id: string): Promise<ClientAnswer> {
    const row = await findAnswer(db, caller, id);
    if (!row?.is_kept) throw fail('response_not_found', { param: 'response_id' });
    return row;
  }

  function streamedResponse(
    held: OpenExchange,
    row: ClientAnswer,
    events: StartedTurn['events'],
    { isBackground, question, after = -1 }: { isBackground: boolean; question?: ChatQuestion; after?: number },
  ): Promise<Response> {
    const writing = responseEvents(row, isBackground);
    const frames = (written: ReturnType<typeof writing.begin>) =>
      written
        .filter(({ sequence_number }) => sequence_number > after)
        .map((event) => `event: ${event.type}\n${frame(event)}`);
    return streamPieces(held, answerPieces(held.exchange, row, events), {
      begin: () => frames(writing.begin()),
      piece: (piece) => frames(writing.piece(piece)),
      end: async (answered) => {
        if (question && answered.state === 'settled') {
          await noteWhatWasSaid(question, row, streamedChatText(answered));
        }
        return frames(writing.end(answered));
      },
      fail: (thrown) => {
        const error = errorWords(thrown, held.requestId);
        return `event: error\n${frame({ ...error, type: 'error', error })}`;
      },
    });
  }

  return {
    ...{ chat, respond, response, cancel, inputItems, createFile, file, deleteFile },
    ...{ createConversation, conversation, models, model },
  };
}

type ByResponse = { params: { response_id: string } };
type ByFile = { params: { file_id: string } };

const turnError = ({ turn }: ChatAnswer) => ({
  message: turn?.error?.message ?? 'The turn has failed.',
  type: 'server_error',
  param: null,
  code: turn?.error?.code ?? 'internal_error',
});

const deploymentOf = async ({ client }: ChatExchange, conversation_id: string): Promise<string> =>
  (await client.conversations.get({ conversation_id })).deployment_id ?? '';

const shownModel = ({ slug, created_at, org_id }: DeploymentRow) => ({
  id: slug,
  object: 'model' as const,
  created: Math.floor(created_at.getTime() / 1000),
  owned_by: org_id,
});

const shownConversation = (of: { id: string; created_at: string; metadata: Record<string, string> }) => ({
  id: of.id,
  object: 'conversation' as const,
  created_at: Math.floor(Date.parse(of.created_at) / 1000),
  metadata: of.metadata,
});

/** Our field names to the names in the client's request. */
const paramNames: Readonly<Record<string, string>> = {
  message: 'input',
  deployment: 'model',
  user_id: 'user',
  output_schema: 'response_format',
  tool_results: 'input',
};

const howToBePresent =
  'This needs the approval of a person who is present: send `metadata: {"present_user": "true"}` if a person has approved.';

const unknownModel = (reason: string) =>
  fail('model_not_found', {
    param: 'model',
    message: `${reason} A model is a deployment here: GET /v1/openai/models lists them.`,
  });

/** The schema of a forced call comes from the client's functions, so its fault is one of `tools`. */
async function startWithSchema(exchange: ChatExchange, question: ChatQuestion): Promise<StartedTurn> {
  try {
    return await startTurn(exchange, question);
  } catch (thrown) {
    const isForced = Object.hasOwn(question.tools.names, forcedCall);
    if (!isForced || !(thrown instanceof VestraError) || !thrown.code.startsWith('output_schema_')) throw thrown;
    const { briefSchema } = question;
    if (briefSchema && briefSchema !== question.outputSchema) {
      return startTurn(exchange, { ...question, outputSchema: briefSchema });
    }
    throw fail(thrown.code as ErrorCode, { param: 'tools', message: thrown.message });
  }
}

/** The refusal of an inner route, with the field name of the client. */
function asOwnFailure(thrown: unknown, requestId: string): unknown {
  const failure = asFailure(thrown, requestId);
  if (!(failure instanceof Failure) || failure === thrown) return failure;
  const { code, message, details } = failure;
  if (code === 'invalid_deployment' || code === 'deployment_not_found') {
    return unknownModel(message);
  }
  if (code === 'present_user_required') return fail(code, { param: 'metadata', message: howToBePresent });
  const field = details.param?.split(/[.[]/)[0] ?? '';
  const param = paramNames[field] ?? details.param;
  return fail(code, { ...details, message, ...(param !== undefined && { param }) });
}

/** The error body of OpenAI's API. */
const errorWords = (thrown: unknown, requestId: string) => {
  const { code, message, param = null } = apiRefusalOf(thrown, requestId);
  return { message, type: 'server_error', param, code, request_id: requestId };
};

/** A failed turn may have had effects, so clients must not retry it automatically. */
function failedTurn(turn: Turn | null): Response {
  const { code, message } = turn?.error ?? { code: 'internal_error', message: 'The turn has failed.' };
  const status = Object.hasOwn(errorCatalogue, code) ? errorCatalogue[code as ErrorCode].status : 502;
  const error = { message, type: 'server_error', param: null, code };
  return Response.json({ error }, { status: Math.max(status, 400), headers: { 'x-should-retry': 'false' } });
}

type ShownFile = ResponseOf<(typeof openai)['createFile']>;
type StoredFile = Awaited<ReturnType<Client['files']['create']>>;

/** Uploads through our own route, which checks the name and the size. */
async function uploadFile(
  client: Client,
  { filename, contentType, bytes, form }: Upload,
  idempotencyKey: string | undefined,
): Promise<ShownFile> {
  const file = new File([new Uint8Array(bytes)], filename ?? '', { type: contentType });
  const stored = await client.files.create({ user_id: userIdFrom(form.user), file }, { idempotencyKey });
  return shownFile(stored, form.purpose?.slice(0, 100));
}

/** The purpose is not stored: a file here is always data for a message. */
const shownFile = (
  { id, size_bytes, created_at, filename }: StoredFile,
  purpose: string | undefined = 'user_data',
): ShownFile => ({
  id,
  object: 'file',
  bytes: size_bytes ?? 0,
  created_at: Math.floor(Date.parse(created_at) / 1000),
  filename: filename ?? id,
  purpose,
  status: 'processed',
});
