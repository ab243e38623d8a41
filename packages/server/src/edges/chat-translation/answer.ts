import type { Interaction, Task, Turn } from '@vestra/sdk/resources';
import type { StreamEvent } from '@vestra/sdk/stream';
import type { Engine } from '../../engine/index.ts';
import { type ClientAnswer, insertAnswer } from '../../integrations/index.ts';
import { type Begun, type Exchange, following } from './exchange.ts';
import type { Question } from './question.ts';

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

/** What an answer is made of, in the order in which it came. */
export type Piece =
  | { kind: 'text'; text: string }
  /** A function of the client's own is to be called. */
  | { kind: 'call'; id: string; name: string; arguments: string }
  | { kind: 'approval'; interaction: Extract<Interaction, { type: 'approval' }> }
  /** Something else that a person has to do before it goes on. */
  | { kind: 'wait'; interaction: Interaction }
  /** How far work has come that goes on. */
  | { kind: 'progress'; taskId: string; title: string | null; progress: Task['progress'] };

/** How far it came. `open`: it goes on, and nobody waits for anything. */
type Ending = { turn: Turn | null; state: 'settled' | 'stopped' | 'failed' | 'waiting' | 'open' };

type Source = {
  events: AsyncIterable<StreamEvent>;
  /** What stands in the log after an event, of the same turn. */
  rest: (after: StreamEvent) => Promise<readonly StreamEvent[]>;
  /** From the name of a function here to the client's. */
  names: Readonly<Record<string, string>>;
  /** The answer is data, and its words come at its end as JSON. */
  isStructured: boolean;
};

/** The events of a turn as pieces, until it ends or waits for the client or for a person. */
async function* piecesOf({ events, rest, names, isStructured }: Source): AsyncGenerator<Piece, Ending, undefined> {
  let shown = '';
  /** A turn that goes on after it waited: what it said before belongs to the answer before. */
  let isContinued: boolean | undefined;
  let turn: Turn | null = null;
  const askedIn = readAsked(names);
  const text = (added: string): Piece => {
    shown += added;
    return { kind: 'text', text: added };
  };
  for await (const event of events) {
    isContinued ??= event.type !== 'turn.started';
    if ('turn' in event.data) turn = event.data.turn;
    if (event.type === 'reply.delta' && !isStructured) {
      // What goes on after a wait begins with the gap to what was said before it.
      const added = shown === '' ? event.data.text.trimStart() : event.data.text;
      if (added !== '') yield text(added);
    }
    const progress = progressIn(event);
    if (progress) yield progress;
    const asked = askedIn(event);
    if (asked) {
      yield asked;
      for (const further of await rest(event)) {
        const alsoAsked = askedIn(further);
        if (alsoAsked) yield alsoAsked;
      }
      return { turn, state: 'waiting' };
    }
    if (event.type !== 'turn.settled') continue;
    const { reply, status, task_id } = event.data.turn;
    const said = isStructured && reply ? JSON.stringify(reply.data) : (reply?.text ?? '');
    // The answer of work comes whole, after what was said when it began; so do data, and words that were not streamed.
    const isUnsaid = task_id !== null || isStructured || (shown === '' && !isContinued);
    if (said !== '' && isUnsaid) yield text(shown === '' ? said : `\n\n${said}`);
    return { turn: event.data.turn, state: status === 'failed' || status === 'stopped' ? status : 'settled' };
  }
  return { turn, state: 'open' };
}

function progressIn({ type, task_id, data }: StreamEvent): Piece | null {
  if ((type !== 'task.started' && type !== 'task.progress') || task_id === null) return null;
  const { title, progress } = 'task' in data ? data.task : data;
  return { kind: 'progress', taskId: task_id, title, progress };
}

/** A call is the client's to answer where its message declared the function: one of the same name may be the company's. */
function readAsked(names: Source['names']): (event: StreamEvent) => Piece | null {
  const ofMessage = new Set<string>();
  return (event) => {
    if (event.type === 'tool_call.created') {
      const { call_id: id, name, arguments: given } = event.data.call;
      if (!ofMessage.has(id)) return null;
      return { kind: 'call', id, name: names[name] ?? name, arguments: JSON.stringify(given ?? {}) };
    }
    if (event.type !== 'interaction.created') return null;
    const { interaction } = event.data;
    if (interaction.status !== 'pending') return null;
    if (interaction.type === 'approval') return { kind: 'approval', interaction };
    if (interaction.type !== 'tool_call') return { kind: 'wait', interaction };
    // Its arguments follow with the next event.
    if (interaction.details.declared_by === 'message') ofMessage.add(interaction.id);
    return null;
  };
}

/** What is read of an answer that has come to its end: of work the answer alone, without what was said when it began. */
export function finalWords({ turn, state }: Ending, { is_structured }: { is_structured: boolean }): string | null {
  const isOfWork = state === 'settled' && !is_structured && turn?.task_id != null;
  return isOfWork ? (turn?.reply?.text ?? '') : null;
}

/** What neither form can say otherwise, in words. */
export function wordsFor({ id, type, summary, questions = [] }: Interaction): string {
  if (type === 'question') {
    return questions
      .map(({ question, options }) => [question, ...options.map((option) => `- ${option}`)].join('\n'))
      .join('\n\n');
  }
  if (type === 'connect') return summary;
  return `${summary}\n\n(This waits for a person: interaction ${id}, answered by POST /v1/interactions/${id}/answer.)`;
}

export type TokensUsed = { input: number; cached: number; output: number };

/** What the models read and wrote for an answer, in the work that it began too; of a turn that went on, since then. */
async function tokensUsed(
  { client }: Exchange,
  of: { conversationId: string; turnId: string; taskId: string | null; since: string | null },
): Promise<TokensUsed> {
  const { conversationId, turnId, taskId, since } = of;
  const reply = await client.conversations.trace({ conversation_id: conversationId, turn_id: turnId });
  const work = taskId === null ? [] : (await client.tasks.trace({ task_id: taskId })).turns;
  const calls = [...reply.turns, ...work].filter(({ started_at }) => since === null || started_at >= since);
  const sum = (of: (call: (typeof calls)[number]) => number) => calls.reduce((total, call) => total + of(call), 0);
  return {
    input: sum((call) => call.input_tokens + call.cache_read_tokens + call.cache_write_tokens),
    cached: sum(({ cache_read_tokens }) => cache_read_tokens),
    output: sum(({ output_tokens }) => output_tokens),
  };
}
