import type OpenAI from 'openai';
import { callsOfRuns, messagesOfTurn } from '../../engine/conversations/index.ts';
import type { ClientAnswer } from '../../integrations/index.ts';
import { type AnswerPiece, type ChatAnswer, finalWords, wordsFor, writtenEvents } from '../chat-translation/answer.ts';
import { type ChatExchange, readForcedResults } from '../chat-translation/exchange.ts';

type Response = OpenAI.Responses.Response;
type Item = OpenAI.Responses.ResponseOutputItem;
type Event = OpenAI.Responses.ResponseStreamEvent;
type Message = OpenAI.Responses.ResponseOutputMessage;

/** The response, as far as it is known. */
export function shownResponse(answered: ChatAnswer, isBackground: boolean): Response {
  const { row, state, turn, used } = answered;
  const items = outputOf(answered);
  return {
    ...responseInProgress(row, isBackground),
    status: statusOf(answered),
    error:
      state === 'failed' ? { code: 'server_error', message: turn?.error?.message ?? 'The turn has failed.' } : null,
    incomplete_details: turn?.reply?.truncated ? { reason: 'max_output_tokens' } : null,
    output: items,
    output_text: items.map(textOfItem).join(''),
    completed_at: turn?.settled_at ? seconds(new Date(turn.settled_at)) : null,
    usage: {
      input_tokens: used.input,
      input_tokens_details: { cached_tokens: used.cached, cache_write_tokens: 0 },
      output_tokens: used.output,
      output_tokens_details: { reasoning_tokens: 0 },
      total_tokens: used.input + used.output,
    },
  };
}

const responseInProgress = (row: ClientAnswer, background: boolean): Response => ({
  id: row.id,
  object: 'response',
  created_at: seconds(row.created_at),
  status: 'in_progress',
  background,
  access_programs: null,
  conversation: { id: row.conversation_id },
  previous_response_id: row.previous_id,
  model: row.model,
  error: null,
  incomplete_details: null,
  instructions: null,
  metadata: {},
  output: [],
  output_text: '',
  parallel_tool_calls: true,
  temperature: null,
  top_p: null,
  tool_choice: 'auto',
  tools: [],
});

function statusOf({ state, turn }: ChatAnswer): NonNullable<Response['status']> {
  if (state === 'open') return 'in_progress';
  if (state === 'failed') return 'failed';
  if (state === 'stopped') return 'cancelled';
  return turn?.reply?.truncated ? 'incomplete' : 'completed';
}

function outputOf(answered: ChatAnswer): Item[] {
  const { row, pieces } = answered;
  const final = finalWords(answered, row);
  const items = itemsOf(row, pieces);
  if (final === null) return items.map(({ item }) => item);
  const others = items.filter(({ item }) => item.type !== 'message').map(({ item }) => item);
  return [...others, message(`msg_${row.id}_0`, final, 'completed')];
}

type OutputItem = { item: Item; text: string | null };

/** Joins adjacent text pieces to one message. */
function itemsOf(row: ClientAnswer, pieces: readonly AnswerPiece[]): OutputItem[] {
  const items: OutputItem[] = [];
  for (const piece of pieces) {
    if (piece.kind === 'progress') continue;
    const last = items.at(-1);
    const words = wordsIn(piece, last?.text ?? null);
    if (words === null) items.push({ item: itemOf(piece as InteractionPiece), text: null });
    else if (last && last.text !== null)
      items[items.length - 1] = placedMessage(row, items.length - 1, last.text + words);
    else items.push(placedMessage(row, items.length, words));
  }
  return items;
}

type InteractionPiece = Extract<AnswerPiece, { kind: 'call' | 'approval' }>;

function wordsIn(piece: AnswerPiece, before: string | null): string | null {
  if (piece.kind === 'text') return piece.text;
  if (piece.kind === 'wait') return `${before === null ? '' : '\n\n'}${wordsFor(piece.interaction)}`;
  return null;
}

const placedMessage = (row: ClientAnswer, at: number, text: string): OutputItem => ({
  item: message(`msg_${row.id}_${at}`, text, 'completed'),
  text,
});

const message = (id: string, text: string, status: Message['status']): Message => ({
  id,
  type: 'message',
  role: 'assistant',
  status,
  content: [{ type: 'output_text', text, annotations: [], logprobs: [] }],
});

function itemOf(piece: InteractionPiece): Item {
  if (piece.kind === 'call') {
    const { id, name, arguments: given } = piece;
    return { type: 'function_call', id: `fc_${id}`, call_id: id, name, arguments: given, status: 'completed' };
  }
  const { id, summary, details } = piece.interaction;
  const { tool_name, server, ...shown } = details;
  return {
    type: 'mcp_approval_request',
    id,
    name: tool_name ?? piece.interaction.kind,
    server_label: server ?? 'vestra',
    arguments: JSON.stringify({ summary, ...shown }),
  };
}

const textOfItem = (item: Item): string =>
  item.type === 'message' ? item.content.map((part) => ('text' in part ? part.text : '')).join('') : '';

/** Applies `Omit` to each event of the union. */
type Unnumbered<Each> = Each extends unknown ? Omit<Each, 'sequence_number'> : never;

/** The events of a stream, numbered from 0 in the same order on every request. */
export function responseEvents(row: ClientAnswer, isBackground: boolean) {
  let number = 0;
  let at = -1;
  let open: { id: string; text: string } | null = null;
  const numbered = (events: Unnumbered<Event>[]): Event[] =>
    events.map((event) => ({ ...event, sequence_number: number++ }) as Event);

  function close(): Unnumbered<Event>[] {
    if (!open) return [];
    const { id, text } = open;
    open = null;
    const place = { item_id: id, output_index: at, content_index: 0 };
    const done = message(id, text, 'completed');
    return [
      { type: 'response.output_text.done', ...place, text, logprobs: [] },
      {
        type: 'response.content_part.done',
        ...place,
        part: { type: 'output_text', text, annotations: [], logprobs: [] },
      },
      { type: 'response.output_item.done', output_index: at, item: done },
    ];
  }

  function say(words: string): Unnumbered<Event>[] {
    const added: Unnumbered<Event>[] = [];
    if (!open) {
      at += 1;
      open = { id: `msg_${row.id}_${at}`, text: '' };
      const item: Message = { id: open.id, type: 'message', role: 'assistant', status: 'in_progress', content: [] };
      added.push({ type: 'response.output_item.added', output_index: at, item });
      added.push({
        type: 'response.content_part.added',
        item_id: open.id,
        output_index: at,
        content_index: 0,
        part: { type: 'output_text', text: '', annotations: [], logprobs: [] },
      });
    }
    open.text += words;
    added.push({
      type: 'response.output_text.delta',
      item_id: open.id,
      output_index: at,
      content_index: 0,
      delta: words,
      logprobs: [],
    });
    return added;
  }

  function show(item: Item): Unnumbered<Event>[] {
    const before = close();
    at += 1;
    const place = { output_index: at };
    if (item.type !== 'function_call') {
      return [
        ...before,
        { type: 'response.output_item.added', ...place, item },
        { type: 'response.output_item.done', ...place, item },
      ];
    }
    const item_id = item.id as string;
    const { arguments: given } = item;
    const empty: Item = { ...item, arguments: '', status: 'in_progress' };
    return [
      ...before,
      { type: 'response.output_item.added', ...place, item: empty },
      { type: 'response.function_call_arguments.delta', ...place, item_id, delta: given },
      { type: 'response.function_call_arguments.done', ...place, item_id, arguments: given },
      { type: 'response.output_item.done', ...place, item },
    ];
  }

  return {
    begin: (): Event[] => {
      const response = responseInProgress(row, isBackground);
      return numbered([
        { type: 'response.created', response },
        { type: 'response.in_progress', response },
      ]);
    },
    piece: (piece: AnswerPiece): Event[] => {
      if (piece.kind === 'progress') return [];
      const words = wordsIn(piece, open?.text ?? null);
      return numbered(words === null ? show(itemOf(piece as InteractionPiece)) : say(words));
    },
    end: (answered: ChatAnswer): Event[] => {
      const type = endings[statusOf(answered)] ?? 'response.completed';
      // The final response must equal the streamed items.
      const output = itemsOf(row, answered.pieces).map(({ item }) => item);
      const response = {
        ...shownResponse(answered, isBackground),
        output,
        output_text: output.map(textOfItem).join(''),
      };
      return numbered([...close(), { type, response }]);
    },
  };
}

const endings: Partial<Record<string, 'response.completed' | 'response.failed' | 'response.incomplete'>> = {
  failed: 'response.failed',
  incomplete: 'response.incomplete',
  cancelled: 'response.incomplete',
};

const seconds = (at: Date) => Math.floor(at.getTime() / 1000);

type InputItem = { id: string; type: string; [field: string]: unknown };

type InputItemsQuery = { order?: 'asc' | 'desc' | undefined; limit: number; after?: string | undefined };

/** A page of the input that a response answers, in OpenAI's form. */
export async function listInputItems(exchange: ChatExchange, row: ClientAnswer, query: InputItemsQuery) {
  const items = await inputItemsOf(exchange, row);
  if (query.order !== 'asc') items.reverse();
  const start = query.after === undefined ? 0 : items.findIndex(({ id }) => id === query.after) + 1;
  const { limit } = query;
  const data = items.slice(start, start + limit);
  return {
    object: 'list' as const,
    data,
    first_id: data[0]?.id ?? null,
    last_id: data.at(-1)?.id ?? null,
    has_more: start + limit < items.length,
  };
}

async function inputItemsOf(exchange: ChatExchange, row: ClientAnswer): Promise<InputItem[]> {
  const items: InputItem[] = [];
  const answered: string[] = [];
  let taskId: string | null = null;
  for await (const event of writtenEvents(exchange, row)) {
    if (event.type === 'turn.started') return messageItems(exchange, row);
    // Later answers belong to the next response.
    if (event.type === 'interaction.created' || event.type === 'turn.settled') break;
    if (event.type !== 'interaction.resolved') continue;
    const { id, type, outcome, task_id } = event.data.interaction;
    taskId ??= task_id;
    if (type === 'tool_call') answered.push(id);
    const approve = outcome?.decision === 'approved';
    if (type === 'approval') {
      items.push({ id: `in_${id}`, type: 'mcp_approval_response', approval_request_id: id, approve });
    }
  }
  const runs = [row.turn_id, ...(taskId === null ? [] : [taskId])];
  const calls = answered.length === 0 ? [] : await callsOfRuns(exchange.db, runs);
  const outputs = new Map(calls.map(({ id, output }) => [id, output ?? '']));
  return [...items, ...answered.map((id) => resultItem(id, outputs.get(id) ?? ''))];
}

async function messageItems({ db }: ChatExchange, row: ClientAnswer): Promise<InputItem[]> {
  const said = (await messagesOfTurn(db, row.conversation_id, row.turn_id)).filter(({ role }) => role === 'user');
  return said.flatMap(({ id, text, context, attachments }): InputItem[] => {
    const results = readForcedResults(text, context);
    const files = attachments.map(({ file_id, filename }) => ({ type: 'input_file', file_id, filename }));
    const content = [...(results.text === '' ? [] : [{ type: 'input_text', text: results.text }]), ...files];
    const message = { id, type: 'message', role: 'user', status: 'completed', content };
    const called = results.results.map(({ call_id, output }) => resultItem(call_id, output ?? ''));
    return content.length === 0 ? called : [...called, message];
  });
}

const resultItem = (callId: string, output: unknown): InputItem => ({
  id: `in_${callId}`,
  type: 'function_call_output',
  call_id: callId,
  output: typeof output === 'string' ? output : JSON.stringify(output),
  status: 'completed',
});
