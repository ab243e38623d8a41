import type { AgentMessage, Message, ToolDefinition } from '@vestra/agent/message';
import type { ModelEvent, ModelRequest } from '@vestra/agent/model';
import { createOfflineModel } from './offline-model.ts';

export const user = (text: string): Message => ({ role: 'user', parts: [{ kind: 'text', text }] });
export const agent = (text: string, calls: AgentMessage['calls'] = []): Message => ({ role: 'agent', text, calls });
export const tool = (
  name: string,
  description: string,
  properties: object,
  required = Object.keys(properties),
): ToolDefinition => ({
  name,
  description,
  inputSchema: { type: 'object', properties, required },
});
export const text = { type: 'string' };

export async function answer(messages: Message[], request: Partial<ModelRequest> = {}) {
  const events: ModelEvent[] = [];
  const signal = new AbortController().signal;
  const all = { model: 'offline', system: ['You are a helpful agent.'], messages, tools: [], signal, ...request };
  for await (const event of createOfflineModel().stream(all)) events.push(event);
  const end = events.at(-1);
  if (end?.type !== 'end') throw new Error('the call did not end');
  return {
    events,
    end,
    text: events.map((event) => (event.type === 'text' ? event.text : '')).join(''),
    calls: events.flatMap((event) => (event.type === 'call' ? [event.call] : [])),
  };
}

/** Runs the loop: answers every call with `results` until the model sends text. */
export async function converse(
  messages: Message[],
  tools: ToolDefinition[],
  results: Record<string, string>,
  request: Partial<ModelRequest> = {},
) {
  const history = [...messages];
  const called: string[] = [];
  for (let step = 0; step < 12; step++) {
    const { text, calls } = await answer(history, { tools, ...request });
    if (calls.length === 0) return { text, called, history: [...history, agent(text)] };
    called.push(...calls.map(({ name }) => name));
    history.push(agent(text, calls));
    history.push({
      role: 'tool',
      results: calls.map(({ id, name }) => ({
        callId: id,
        name,
        output: results[name] ?? '',
        isError: !(name in results),
      })),
    });
  }
  throw new Error(`no end: ${called.join(', ')}`);
}

export const search = tool('search_notebooks', 'Searches the notebooks.', { query: text });
export const recall = tool('recall', 'Finds facts about the user.', { query: text });
export const askQuestion = tool('ask_question', 'Asks the user.', {
  questions: {
    type: 'array',
    minItems: 1,
    items: {
      type: 'object',
      properties: { question: text, options: { type: 'array', items: text } },
      required: ['question'],
    },
  },
});
export const handOff = tool('hand_off_to_work', 'Starts longer work.', { task: text, acknowledgement: text }, ['task']);
export const refund = tool('refund_order', 'Refunds an order of the shop.', {
  order_id: text,
  amount: { type: 'number' },
});
const weather = tool('get_weather', 'The weather forecast of a city.', { city: text });
const lookup = tool('lookup_order', 'Looks up an order of the shop by its id.', { order_id: text });
const mail = tool(
  'send_email',
  'Sends an email to a person.',
  { to: { type: 'string', format: 'email' }, subject: text, body: text },
  ['to', 'body'],
);
const ticket = tool('create_ticket', 'Opens a support ticket.', {
  priority: { enum: ['low', 'high'] },
  description: text,
});
const booking = tool('mcp__hotel__book_room', 'Books a room in the hotel.', {
  date: { type: 'string', format: 'date' },
  guests: { type: 'integer' },
});
export const shop = [refund, weather, lookup, mail, ticket, booking];
