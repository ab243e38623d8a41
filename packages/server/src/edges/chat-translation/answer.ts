import type { Interaction, Task, Turn } from '@vestra/sdk/resources';
import type { StreamEvent } from '@vestra/sdk/stream';
import type { Engine } from '../../engine/index.ts';
import { type ClientAnswer, insertAnswer } from '../../integrations/index.ts';
import { type ChatExchange, followTurnAfter, type StartedTurn } from './exchange.ts';
import { type ChatQuestion, forcedCall, forcedCallId, forcedCallIn } from './question.ts';

export type AnswerKind = 'chatcmpl-' | 'resp_' | 'run_';

/** An answer, as far as it is known. */
export type ChatAnswer = AnswerEnding & { row: ClientAnswer; pieces: AnswerPiece[]; used: TokensUsed };

/** Stored as soon as the turn is known, so that a retry or a later request finds it. */
export function saveAnswer(
  db: Engine['db'],
  { caller }: ChatExchange,
  question: ChatQuestion,
  of: StartedTurn & { kind: AnswerKind; requestDigest: string; isKept: boolean; model: string },
): Promise<ClientAnswer> {
  const { kind, turnId, afterSeq, conversationId, requestDigest, isKept, model } = of;
  return insertAnswer(db, {
    // A turn that waited for the client has several answers, each from another event on.
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

/** Yields the pieces, and returns the whole answer at the end. */
export async function* answerPieces(
  exchange: ChatExchange,
  row: ClientAnswer,
  events: StartedTurn['events'],
): AsyncGenerator<AnswerPiece, ChatAnswer, undefined> {
  const pieces: AnswerPiece[] = [];
  // If the turn continues after a wait, earlier usage belongs to the previous answer.
  let since: string | null = null;
  const source = {
    events: watched(events, (first) => {
      if (first.type !== 'turn.started') since = first.created_at;
    }),
    rest: (after: { seq: number }) => furtherEvents(exchange, row, after.seq),
    names: row.tool_names,
    isStructured: row.is_structured,
    answerId: row.id,
  };
  const coming = piecesOf(source);
  for (let next = await coming.next(); ; next = await coming.next()) {
    if (next.done) return { ...next.value, row, pieces, used: await used(exchange, row, next.value, since) };
    pieces.push(next.value);
    yield next.value;
  }
}

export async function wholeAnswer(
  exchange: ChatExchange,
  row: ClientAnswer,
  events: StartedTurn['events'],
): Promise<ChatAnswer> {
  const coming = answerPieces(exchange, row, events);
  for (;;) {
    const next = await coming.next();
    if (next.done) return next.value;
  }
}

/** Past and future events of the turn. */
export const followAnswer = (exchange: ChatExchange, row: ClientAnswer): StartedTurn['events'] =>
  followTurnAfter(exchange, { conversationId: row.conversation_id, turnId: row.turn_id, afterSeq: row.after_seq })
    .events;

/** Events of the turn until now. */
export async function* writtenEvents({ client }: ChatExchange, row: ClientAnswer): StartedTurn['events'] {
  const { conversation_id, turn_id } = row;
  const pageAfter = (after: number) =>
    client.conversations.events({ conversation_id, format: 'json', after, limit: 100 });
  for (let page = await pageAfter(row.after_seq); ; page = await pageAfter(page.next_after)) {
    for (const event of page.data) if (event.turn_id === turn_id) yield event;
    if (page.next_after === null) return;
  }
}

/** Events of one commit are adjacent, so one page contains them all. */
async function furtherEvents({ client }: ChatExchange, { conversation_id, turn_id }: ClientAnswer, after: number) {
  const { data } = await client.conversations.events({ conversation_id, format: 'json', after, limit: 100 });
  const answered = data.findIndex(({ type }) => type === 'interaction.resolved');
  return data.slice(0, answered === -1 ? data.length : answered).filter((event) => event.turn_id === turn_id);
}

const used = (
  exchange: ChatExchange,
  { conversation_id: conversationId, turn_id: turnId }: ClientAnswer,
  { turn }: AnswerEnding,
  since: string | null,
): Promise<TokensUsed> => tokensUsed(exchange, { conversationId, turnId, taskId: turn?.task_id ?? null, since });

async function* watched(events: StartedTurn['events'], tellFirst: (first: StreamEvent) => void): StartedTurn['events'] {
  let isFirst = true;
  for await (const event of events) {
    if (isFirst) tellFirst(event);
    isFirst = false;
    yield event;
  }
}

/** The parts of an answer, in order. */
export type AnswerPiece =
  | { kind: 'text'; text: string }
  /** The client must call one of its functions. */
  | { kind: 'call'; id: string; name: string; arguments: string }
  | { kind: 'approval'; interaction: Extract<Interaction, { type: 'approval' }> }
  /** Another interaction that a person must answer first. */
  | { kind: 'wait'; interaction: Interaction }
  /** The progress of a running task. */
  | { kind: 'progress'; taskId: string; title: string | null; progress: Task['progress'] };

/** `open`: the turn is still running and waits for nothing. */
type AnswerEnding = { turn: Turn | null; state: 'settled' | 'stopped' | 'failed' | 'waiting' | 'open' };

type Source = {
  events: AsyncIterable<StreamEvent>;
  /** Later events of the same turn. */
  rest: (after: StreamEvent) => Promise<readonly StreamEvent[]>;
  /** From our name of a function to the client's name. */
  names: Readonly<Record<string, string>>;
  /** The answer is data, sent at the end as JSON. */
  isStructured: boolean;
  answerId: string;
};

/** The events of a turn as pieces, until it ends or waits for the client or a person. */
async function* piecesOf({
  events,
  rest,
  names,
  isStructured,
  answerId,
}: Source): AsyncGenerator<AnswerPiece, AnswerEnding, undefined> {
  let shown = '';
  /** True if the turn continues after a wait: earlier text belongs to the previous answer. */
  let isContinued: boolean | undefined;
  let turn: Turn | null = null;
  const askedIn = readAsked(names);
  const text = (added: string): AnswerPiece => {
    shown += added;
    return { kind: 'text', text: added };
  };
  for await (const event of events) {
    isContinued ??= event.type !== 'turn.started';
    if ('turn' in event.data) turn = event.data.turn;
    if (event.type === 'reply.delta' && !isStructured) {
      // Text after a wait begins with the gap to the text before it.
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
    const forced = forcedCallIn(names, reply?.data);
    if (forced) yield { kind: 'call', id: forcedCallId(answerId), ...forced };
    const hasData = isStructured && reply && (reply.data !== null || names[forcedCall] === undefined);
    const said = forced ? '' : hasData ? JSON.stringify(reply.data) : (reply?.text ?? '');
    // Send the whole reply if it was not streamed: results of tasks, data, and unstreamed text.
    const isUnsaid = task_id !== null || isStructured || (shown === '' && !isContinued);
    if (said !== '' && isUnsaid) yield text(shown === '' ? said : `\n\n${said}`);
    return { turn: event.data.turn, state: status === 'failed' || status === 'stopped' ? status : 'settled' };
  }
  return { turn, state: 'open' };
}

function progressIn({ type, task_id, data }: StreamEvent): AnswerPiece | null {
  if ((type !== 'task.started' && type !== 'task.progress') || task_id === null) return null;
  const { title, progress } = 'task' in data ? data.task : data;
  return { kind: 'progress', taskId: task_id, title, progress };
}

/** The client answers a call only if its message declared the function: the org may have one of the same name. */
function readAsked(names: Source['names']): (event: StreamEvent) => AnswerPiece | null {
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

/** The final text of a settled task is its result, without the text from its start. */
export function finalWords(
  { turn, state }: AnswerEnding,
  { is_structured }: { is_structured: boolean },
): string | null {
  const isOfWork = state === 'settled' && !is_structured && turn?.task_id != null;
  return isOfWork ? (turn?.reply?.text ?? '') : null;
}

/** An interaction as text, for formats that have no field for it. */
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

/** Tokens of the turn and of its task. For a continued turn, only those since it continued. */
async function tokensUsed(
  { client }: ChatExchange,
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
