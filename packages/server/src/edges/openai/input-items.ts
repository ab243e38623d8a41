import { callsOfRuns, messagesOfTurn } from '../../engine/conversations/index.ts';
import type { ClientAnswer } from '../../integrations/index.ts';
import { writtenEvents } from '../chat-translation/answer.ts';
import { type ChatExchange, readForcedResults } from '../chat-translation/exchange.ts';

type InputItem = { id: string; type: string; [field: string]: unknown };

type Query = { order?: 'asc' | 'desc' | undefined; limit: number; after?: string | undefined };

/** A page of the input that a response answers, in OpenAI's form. */
export async function listInputItems(exchange: ChatExchange, row: ClientAnswer, query: Query) {
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
