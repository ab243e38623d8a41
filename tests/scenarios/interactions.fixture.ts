import type { NormalisedRequest, ScriptedAnswer } from '@vestra/models/testing/scripted-answer';
import { type AgentServer, type Respond, type StreamEvent, startAgentServer } from '../support/agent.ts';
import { query } from '../support/database.ts';
import type { ApiResponse, TestServerOptions } from '../support/server.ts';

type Body = ApiResponse['body'];

/** A server with an agent, and the words in which these tests speak of what it waits for. */
export type Desk = AgentServer & {
  /** Begins a conversation with a message. */
  say: (body: Record<string, unknown>, key?: string) => Promise<Body>;
  /** Waits until so many interactions of the conversation are open; the oldest first. */
  open: (conversationId: string, count?: number) => Promise<Body[]>;
  answer: (id: string, body?: Record<string, unknown>, key?: string) => Promise<ApiResponse>;
  /** Waits until nothing runs in the conversation. */
  rest: (conversationId: string) => Promise<Body>;
  /** The whole log of the conversation. */
  log: (conversationId: string) => Promise<StreamEvent[]>;
  /** Events of a conversation sent to webhooks. */
  told: (type: string, conversationId: string) => Promise<Body[]>;
  sql: (text: string, values?: unknown[]) => Promise<Body[]>;
  /** A conversation that waits, and what it waits for. */
  waiting: (body?: Record<string, unknown>) => Promise<{ conversationId: string; interaction: Body }>;
  /** A message that goes straight to work: its task, once it has come so far. */
  work: (body: Record<string, unknown>, isThere?: (task: { status: string }) => boolean) => Promise<Body>;
};

export async function startDesk(
  env: Record<string, string> = {},
  runs: NonNullable<TestServerOptions['runs']> = {},
): Promise<Desk> {
  const server = await startAgentServer({ env, runs });
  const sql = (text: string, values: unknown[] = []) => query(server.connectionString, text, values);
  const desk: Desk = {
    ...server,
    sql,
    async waiting(body = {}) {
      const { id } = await desk.say({ message: 'Go on', ...body });
      const [interaction] = await desk.open(id);
      return { conversationId: id, interaction };
    },
    async work(body, isThere = isOver) {
      const { id } = await desk.say({ message: 'Do it', hand_off: 'always', ...body });
      const { data } = await desk.until(`/v1/tasks?conversation_id=${id}`, ({ data: rows }) => rows.some(isThere));
      return (await desk.call('GET', `/v1/tasks/${data[0].id}`)).body;
    },
    async say(body, key = server.testKey) {
      const answer = await server.call('POST', '/v1/conversations', { key, body });
      if (answer.status !== 201) throw new Error(answer.text);
      return answer.body;
    },
    async open(conversationId, count = 1) {
      const path = `/v1/interactions?conversation_id=${conversationId}`;
      const { data } = await server.until(path, ({ data: rows }) => rows.length === count);
      return data.reverse();
    },
    answer: (id, body, key = server.testKey) =>
      server.call('POST', `/v1/interactions/${id}/answer`, { key, ...(body && { body }) }),
    rest: (conversationId) => server.until(`/v1/conversations/${conversationId}`, ({ status }) => status === 'idle'),
    async log(conversationId) {
      const path = `/v1/conversations/${conversationId}/events?format=json&limit=100`;
      return (await server.call('GET', path)).body.data;
    },
    async told(type, conversationId) {
      const { body } = await server.call('GET', `/v1/events?type=${type}&limit=100`);
      return body.data
        .filter(({ data }: Body) => data.conversation_id === conversationId)
        .map(({ data }: Body) => data);
    },
  };
  return desk;
}

export const isOver = ({ status }: { status: string }) => status === 'done' || status === 'failed';
export const isWaiting = ({ status }: { status: string }) => status === 'waiting';

/** Answers by how often the agent has spoken since the person did, whichever conversation it is. */
export const inTurn =
  (...answers: ScriptedAnswer[]): Respond =>
  (request) =>
    answers[Math.min(stepOf(request), answers.length - 1)] as ScriptedAnswer;

const stepOf = ({ messages }: NormalisedRequest) => {
  const asked = messages.findLastIndex(({ role }) => role === 'user');
  return messages.slice(asked).filter(({ role }) => role === 'agent').length;
};

export const calling = (name: string, given: unknown = {}): ScriptedAnswer => ({ calls: [{ name, arguments: given }] });

/** Results of its calls that the model read, oldest first. */
export const resultsIn = (request: NormalisedRequest | undefined): string[] =>
  (request?.messages ?? []).flatMap((each) => (each.role === 'tool' ? each.results.map(({ output }) => output) : []));

export const toolNamesIn = (request: NormalisedRequest | undefined) => request?.tools.map(({ name }) => name) ?? [];

/** A deployment with a function that only reads and one that needs approval. */
export const paperDesk = {
  name: 'desk',
  memory: 'none',
  tools: [
    { function: 'find_stock', description: 'Find stock.', input: { sku: 'string' }, read_only: true, timeout_s: 30 },
    { function: 'order_paper', description: 'Order paper.', input: { sheets: 'integer' } },
  ],
};

export const asksForSize = inTurn(calling('ask_question', { question: 'Which size?', options: ['S', 'M'] }), {
  text: 'Thanks.',
});
export const findsStock = inTurn(calling('find_stock', { sku: 'A4' }), { text: 'Found.' });
