import type { StreamEvent } from '@vestra/sdk/stream';
import type { Engine } from '../../engine/index.ts';
import { type ClientAnswer, insertAnswer } from '../../integrations/index.ts';
import { type Begun, type Exchange, following } from './exchange.ts';
import { type Ending, type Piece, piecesOf } from './pieces.ts';
import type { Question } from './question.ts';
import { type TokensUsed, tokensUsed } from './usage.ts';

export type AnswerKind = 'chatcmpl-' | 'resp_' | 'run_';

/** An answer as far as it came. */
export type Answered = Ending & { row: ClientAnswer; pieces: Piece[]; used: TokensUsed };

/** Written down as soon as the turn is known: whoever asks again, or goes on, finds it. */
export function keepAnswer(
  db: Engine['db'],
  { caller }: Exchange,
  question: Question,
  of: Begun & { kind: AnswerKind; requestDigest: string; isKept: boolean; model: string },
): Promise<ClientAnswer> {
  const { kind, turnId, afterSeq, conversationId, requestDigest, isKept, model } = of;
  return insertAnswer(db, {
    // A turn that waited for the client has several answers, each from another place on.
    id: `${kind}${turnId.slice('turn_'.length)}${afterSeq.toString(36)}`,
    org_id: caller.orgId,
    mode: caller.mode,
    conversation_id: conversationId,
    turn_id: turnId,
    after_seq: afterSeq,
    previous_id: question.previous ?? null,
    model,
    tool_names: question.tools.names,
    is_structured: question.outputSchema !== undefined,
    is_kept: isKept,
    request_digest: requestDigest,
  });
}

/** The pieces one by one, and at the end the whole of it. */
export async function* answering(
  exchange: Exchange,
  row: ClientAnswer,
  events: Begun['events'],
): AsyncGenerator<Piece, Answered, undefined> {
  const pieces: Piece[] = [];
  // Of a turn that goes on after it waited, what it used before belongs to the answer before.
  let since: string | null = null;
  const source = {
    events: watched(events, (first) => {
      if (first.type !== 'turn.started') since = first.created_at;
    }),
    rest: (after: { seq: number }) => furtherEvents(exchange, row, after.seq),
    names: row.tool_names,
    isStructured: row.is_structured,
  };
  const coming = piecesOf(source);
  for (let next = await coming.next(); ; next = await coming.next()) {
    if (next.done) return { ...next.value, row, pieces, used: await used(exchange, row, next.value, since) };
    pieces.push(next.value);
    yield next.value;
  }
}

/** All of it at once. */
export async function wholeAnswer(exchange: Exchange, row: ClientAnswer, events: Begun['events']): Promise<Answered> {
  const coming = answering(exchange, row, events);
  for (;;) {
    const next = await coming.next();
    if (next.done) return next.value;
  }
}

/** What is written of its turn, and what will be. */
export const followingAnswer = (exchange: Exchange, row: ClientAnswer): Begun['events'] =>
  following(exchange, { conversationId: row.conversation_id, turnId: row.turn_id, afterSeq: row.after_seq }).events;

/** What is written of its turn by now. */
export async function* writtenEvents({ client }: Exchange, row: ClientAnswer): Begun['events'] {
  const { conversation_id, turn_id } = row;
  const pageAfter = (after: number) =>
    client.conversations.events({ conversation_id, format: 'json', after, limit: 100 });
  for (let page = await pageAfter(row.after_seq); ; page = await pageAfter(page.next_after)) {
    for (const event of page.data) if (event.turn_id === turn_id) yield event;
    if (page.next_after === null) return;
  }
}

/** What one commit wrote stands there together: one page holds it. */
async function furtherEvents({ client }: Exchange, { conversation_id, turn_id }: ClientAnswer, after: number) {
  const { data } = await client.conversations.events({ conversation_id, format: 'json', after, limit: 100 });
  const answered = data.findIndex(({ type }) => type === 'interaction.resolved');
  return data.slice(0, answered === -1 ? data.length : answered).filter((event) => event.turn_id === turn_id);
}

const used = (
  exchange: Exchange,
  { conversation_id: conversationId, turn_id: turnId }: ClientAnswer,
  { turn }: Ending,
  since: string | null,
): Promise<TokensUsed> => tokensUsed(exchange, { conversationId, turnId, taskId: turn?.task_id ?? null, since });

async function* watched(events: Begun['events'], tellFirst: (first: StreamEvent) => void): Begun['events'] {
  let isFirst = true;
  for await (const event of events) {
    if (isFirst) tellFirst(event);
    isFirst = false;
    yield event;
  }
}
