import { fail } from '@vestra/contract/errors';
import type { openai } from '@vestra/contract/openai';
import type { BodyOf } from '@vestra/contract/route';
import { type DeploymentRow, listDeployments, requireDeployment } from '../../domains/deployments/api.ts';
import type { Engine } from '../../domains/engine/api.ts';
import { findAnswer, latestAnswerTo, type OpenaiAnswer } from '../../domains/openai-answers/api.ts';
import type { HoldOpen } from '../held-answer.ts';
import { type AnswerRequest, type EdgeRequest, idempotencyKeyOf, ownClient } from '../own-client.ts';
import { toldIfCutShort } from '../refusal.ts';
import { streamAnswer } from '../stream-answer.ts';
import {
  type Answered,
  type AnswerKind,
  answering,
  keepAnswer,
  noteWhatWasSaid,
  wholeAnswer,
  writtenEvents,
} from './answer.ts';
import { chatChunks, chatCompletion, chatText, streamedChatText } from './chat.ts';
import { type Begun, begin, type Exchange, following } from './exchange.ts';
import type { Piece } from './pieces.ts';
import { digestOf, type Question, readChat, readResponse } from './question.ts';
import { asOwnFailure, errorWords, failedTurn } from './refused.ts';
import { responseEvents, shownResponse } from './response.ts';

type Dependencies = { answer: AnswerRequest; hold: HoldOpen; engine: Engine };

type Body<Operation extends keyof typeof openai> = BodyOf<(typeof openai)[Operation]>;

/** What is open for one request until it has been answered. */
type Held = { exchange: Exchange; release: () => void; requestId: string };

/** Deployments in the form of models, for whoever speaks OpenAI's API. Nothing is done here that a route does not do. */
export function openaiEndpoint({ answer, hold, engine }: Dependencies) {
  const { db } = engine;

  /** Held until `work` releases it, or fails. */
  const holding =
    <Incoming extends EdgeRequest>(work: (incoming: Incoming, held: Held) => Promise<Response>) =>
    async (incoming: Incoming): Promise<Response> => {
      const { caller, signal, requestId } = incoming;
      const gone = new AbortController();
      const held = hold(caller, AbortSignal.any([signal, gone.signal]));
      const release = () => {
        gone.abort();
        held.close();
      };
      const client = ownClient(answer, { ...incoming, signal: held.signal });
      const exchange = { client, caller, db, idempotencyKey: idempotencyKeyOf(incoming) };
      try {
        return await work(incoming, { exchange, release, requestId });
      } catch (error) {
        const told = asOwnFailure(toldIfCutShort(error, held.signal), requestId);
        release();
        throw told;
      }
    };

  const chat = holding<EdgeRequest>(async (incoming, held) => {
    const body = incoming.body as Body<'chat'>;
    const question = readChat(body);
    const { row, events } = await begun(held.exchange, incoming, question, { kind: 'chatcmpl-', isKept: false });
    if (!body.stream) {
      const answered = await wholeAnswer(held.exchange, row, events);
      if (answered.state !== 'failed') await noteWhatWasSaid(db, question, row, chatText(answered));
      held.release();
      return answered.state === 'failed' ? failedTurn(answered.turn) : Response.json(chatCompletion(answered));
    }
    const chunks = chatChunks(row, { withUsage: body.stream_options?.include_usage ?? false });
    return streamed(held, answering(held.exchange, row, events), {
      begin: () => [frame(chunks.begin())],
      piece: (piece) => [frame(chunks.piece(piece))],
      end: async (answered) => {
        if (answered.state === 'failed') return [frame({ error: turnError(answered) })];
        await noteWhatWasSaid(db, question, row, streamedChatText(answered));
        return [...chunks.end(answered).map(frame), 'data: [DONE]\n\n'];
      },
      fail: (error) => frame({ error }),
    });
  });

  const respond = holding<EdgeRequest>(async (incoming, held) => {
    const body = incoming.body as Body<'respond'>;
    const isBackground = body.background ?? false;
    const question = readResponse(body);
    const { row, events } = await begun(held.exchange, incoming, question, {
      kind: 'resp_',
      isKept: body.store ?? true,
    });
    if (body.stream) return streamedResponse(held, row, events, { isBackground, question });
    const coming = isBackground ? writtenEvents(held.exchange, row) : events;
    const answered = await wholeAnswer(held.exchange, row, coming);
    const shown = shownResponse(answered, isBackground);
    if (answered.state === 'settled') await noteWhatWasSaid(db, question, row, shown.output_text);
    held.release();
    return Response.json(shown);
  });

  const response = holding<EdgeRequest & ByResponse & { query: { stream?: string; starting_after?: string } }>(
    async ({ params, query, caller }, held) => {
      const row = await keptAnswer(caller, params.response_id);
      if (query.stream !== 'true') {
        const shown = shownResponse(await wholeAnswer(held.exchange, row, writtenEvents(held.exchange, row)), true);
        held.release();
        return Response.json(shown);
      }
      const { events } = following(held.exchange, placeOf(row));
      const after = query.starting_after === undefined ? -1 : Number(query.starting_after);
      return streamedResponse(held, row, events, { isBackground: true, after });
    },
  );

  const cancel = holding<EdgeRequest & ByResponse>(async ({ params, caller }, held) => {
    const row = await keptAnswer(caller, params.response_id);
    await held.exchange.client.conversations.stop({ conversation_id: row.conversation_id });
    const answered = await wholeAnswer(held.exchange, row, writtenEvents(held.exchange, row));
    held.release();
    return Response.json(shownResponse(answered, true));
  });

  const createConversation = holding<EdgeRequest>(async (incoming, { exchange, release }) => {
    const { metadata } = incoming.body as Body<'createConversation'>;
    const { model, user } = metadata ?? {};
    const of = { metadata: metadata ?? {}, ...(model && { deployment: model }), ...(user && { user_id: user }) };
    const made = await exchange.client.conversations.create(of, { idempotencyKey: exchange.idempotencyKey });
    release();
    return Response.json(shownConversation(made));
  });

  const conversation = holding<EdgeRequest & { params: { conversation_id: string } }>(
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
    return Response.json(shownModel(await requireDeployment(db, caller.orgId, params.model)));
  }

  /**
   * Begins the turn that answers. OpenAI's clients send a request that was cut once more by themselves, and say so: it is
   * the turn of the first that they are shown then.
   */
  async function begun(
    exchange: Exchange,
    { headers, body, caller }: EdgeRequest,
    question: Question,
    { kind, isKept }: { kind: AnswerKind; isKept: boolean },
  ): Promise<{ row: OpenaiAnswer; events: Begun['events'] }> {
    const requestDigest = digestOf([kind, caller.actor.id, body]);
    const isRetry = Number(headers.get('x-stainless-retry-count') ?? 0) > 0;
    const before = isRetry ? await latestAnswerTo(db, caller, requestDigest) : undefined;
    if (before) return { row: before, events: following(exchange, placeOf(before)).events };
    const begun = await begin(exchange, question);
    const model = question.model ?? (await deploymentOf(exchange, begun.conversationId));
    const row = await keepAnswer(db, exchange, question, { ...begun, kind, isKept, requestDigest, model });
    return { row, events: begun.events };
  }

  async function keptAnswer(caller: EdgeRequest['caller'], id: string): Promise<OpenaiAnswer> {
    const row = await findAnswer(db, caller, id);
    if (!row?.is_kept) throw fail('response_not_found', { param: 'response_id' });
    return row;
  }

  function streamedResponse(
    held: Held,
    row: OpenaiAnswer,
    events: Begun['events'],
    { isBackground, question, after = -1 }: { isBackground: boolean; question?: Question; after?: number },
  ): Promise<Response> {
    const writing = responseEvents(row, isBackground);
    const frames = (written: ReturnType<typeof writing.begin>) =>
      written
        .filter(({ sequence_number }) => sequence_number > after)
        .map((event) => `event: ${event.type}\n${frame(event)}`);
    return streamed(held, answering(held.exchange, row, events), {
      begin: () => frames(writing.begin()),
      piece: (piece) => frames(writing.piece(piece)),
      end: async (answered) => {
        if (question && answered.state === 'settled') {
          await noteWhatWasSaid(db, question, row, streamedChatText(answered));
        }
        return frames(writing.end(answered));
      },
      fail: (error) => `event: error\n${frame({ ...error, type: 'error', error })}`,
    });
  }

  return { chat, respond, response, cancel, createConversation, conversation, models, model };
}

type ByResponse = { params: { response_id: string } };

type Writing = {
  begin: () => string[];
  piece: (piece: Piece) => string[];
  end: (answered: Answered) => Promise<string[]>;
  fail: (error: ReturnType<typeof errorWords>) => string;
};

function streamed(
  { release, requestId }: Held,
  pieces: AsyncGenerator<Piece, Answered, undefined>,
  writing: Writing,
): Promise<Response> {
  async function* written(): AsyncGenerator<string, void, undefined> {
    yield* writing.begin();
    for (let next = await pieces.next(); ; next = await pieces.next()) {
      if (next.done) {
        yield* await writing.end(next.value);
        return;
      }
      yield* writing.piece(next.value);
    }
  }
  return streamAnswer({
    answers: written(),
    // The beginning is written before anything can fail.
    refuse: (error) => Response.json({ error: errorWords(error, requestId) }, { status: 500 }),
    lastWords: (error) => writing.fail(errorWords(error, requestId)),
    abandon: release,
  });
}

const frame = (data: unknown) => `data: ${JSON.stringify(data)}\n\n`;

const turnError = ({ turn }: Answered) => ({
  message: turn?.error?.message ?? 'The turn has failed.',
  type: 'server_error',
  param: null,
  code: turn?.error?.code ?? 'internal_error',
});

const placeOf = ({ conversation_id, turn_id, after_seq }: OpenaiAnswer) => ({
  conversationId: conversation_id,
  turnId: turn_id,
  afterSeq: after_seq,
});

const deploymentOf = async ({ client }: Exchange, conversation_id: string): Promise<string> =>
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
