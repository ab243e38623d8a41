import type { NormalisedRequest } from '@vestra/models/testing/scripted-answer';
import { credit } from '@vestra/server/billing/charge';
import { closeDatabase, openDatabase } from '@vestra/server/platform/db/pool';
import { transaction } from '@vestra/server/platform/db/transaction';
import { type AgentServer, type StreamEvent, startAgentServer } from '../support/agent.ts';
import type { ApiResponse } from '../support/server.ts';

type Body = ApiResponse['body'];

/** A server with one agent that is live, and the words in which these tests talk with it. */
export type Talk = AgentServer & {
  /** Begins a conversation. */
  begin: (body?: Record<string, unknown>, key?: string) => Promise<Body>;
  /** Sends a message and waits until its turn has settled. */
  tell: (conversationId: string, body: Record<string, unknown> | string, key?: string) => Promise<Body>;
  /** Sends a message, with what it answers. */
  send: (
    conversationId: string,
    body: Record<string, unknown>,
    options?: { key?: string; headers?: Record<string, string> },
  ) => Promise<ApiResponse>;
  show: (conversationId: string, key?: string) => Promise<Body>;
  rest: (conversationId: string, key?: string) => Promise<Body>;
  /** Oldest first. */
  messages: (conversationId: string) => Promise<Body[]>;
  log: (conversationId: string) => Promise<StreamEvent[]>;
};

/** `memory: none`: the only calls of the model are those of the conversations. */
export const desk = { name: 'desk', instructions: 'Be kind.', memory: 'none' };

export async function startTalk(env: Record<string, string> = {}): Promise<Talk> {
  const server = await startAgentServer({ env });
  await server.apply(desk, server.liveKey);
  await payOrg(server, server.orgId);
  const path = (id: string) => `/v1/conversations/${id}`;
  return {
    ...server,
    async begin(body = {}, key = server.testKey) {
      const answer = await server.call('POST', '/v1/conversations', { key, body });
      if (answer.status !== 201) throw new Error(answer.text);
      return answer.body;
    },
    async tell(id, said, key = server.testKey) {
      const body = typeof said === 'string' ? { message: said } : said;
      const answer = await server.call('POST', `${path(id)}/messages`, { key, body, headers: { prefer: 'wait=60' } });
      if (answer.status !== 200) throw new Error(answer.text);
      return answer.body;
    },
    send: (id, body, options = {}) => server.call('POST', `${path(id)}/messages`, { body, ...options }),
    show: async (id, key = server.testKey) => (await server.call('GET', path(id), { key })).body,
    rest: (id, key = server.testKey) => server.until(path(id), ({ status }) => status === 'idle', key),
    async messages(id) {
      return (await server.call('GET', `${path(id)}/messages?limit=100`)).body.data.reverse();
    },
    async log(id) {
      const events: StreamEvent[] = [];
      for (let after: number | null = 0; after !== null; ) {
        const page: Body = (await server.call('GET', `${path(id)}/events?format=json&limit=100&after=${after}`)).body;
        events.push(...page.data);
        after = page.next_after;
      }
      return events;
    },
  };
}

/** In both modes. */
export async function payOrg(
  { connectionString }: Pick<AgentServer, 'connectionString'>,
  orgId: string,
): Promise<void> {
  const db = await openDatabase({ connectionString });
  await transaction(db, (tx) => credit(tx, { orgId, mode: 'live' }, 100_000_000n));
  await transaction(db, (tx) => credit(tx, { orgId, mode: 'test' }, 100_000_000n));
  await closeDatabase(db);
}

/** A door that stays shut until it is opened: what stands behind it waits, however fast the machine is. */
export function door() {
  const { promise, resolve } = Promise.withResolvers<void>();
  return { opened: promise, open: resolve };
}

/** The newest message of the user in the request. */
export const askedFor = ({ messages }: NormalisedRequest) =>
  messages.findLast((message) => message.role === 'user')?.text ?? '';

/** Tool results since the newest message of the user. */
export function heardSince({ messages }: Pick<NormalisedRequest, 'messages'>) {
  const asked = messages.findLastIndex(({ role }) => role === 'user');
  return messages.slice(asked + 1).flatMap((message) => (message.role === 'tool' ? message.results : []));
}

export const spoken = ({ messages }: NormalisedRequest) =>
  messages.map((message) => (message.role === 'tool' ? message.results.map(({ output }) => output) : message.text));

export const typesOf = (events: readonly StreamEvent[]) => events.map(({ type }) => type);
export const codeOf = ({ status, body }: ApiResponse) => [status, body?.error?.code];
