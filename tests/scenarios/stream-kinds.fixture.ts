import { HttpAgent } from '@ag-ui/client';
import { connectA2a, saying, TaskState } from '@vestra/server/edges/a2a/client.fixture';
import { connectMcp } from '@vestra/server/edges/mcp/client.fixture';
import OpenAI from 'openai';
import { openStream } from '../support/agent.ts';
import { call } from '../support/server.ts';

/** A server, or a proxy before several of them, with a deployment `desk`. */
export type StreamPlace = { url: string; testKey: string; deploymentId: string };

/** `whole`: everything that was asked for arrived. Otherwise the named last event, or null for a cut connection. */
type StreamEnd = { whole: boolean; named: string | null; why?: string };

type StreamKind = {
  /** The routes of the contract that it streams from. */
  routes: readonly string[];
  /** The name of the last event, or the status of the answer, if the server restarts before the reply. */
  atRestart: string;
  /** The stream opens after the message was sent: `follow` calls `opened` then. */
  opensLate?: true;
  /** Sends the message. Resolves when the stream has ended. */
  follow: (at: StreamPlace, message: string, opened: () => void) => Promise<StreamEnd>;
};

export const replyOfKinds = 'To the end.';

const whole: StreamEnd = { whole: true, named: null };
const named = (name: string | null): StreamEnd => ({ whole: false, named: name });
const isReply = (text: unknown) => text === replyOfKinds;

/** Every kind of open answer that waits for a reply, as its official client reads it. */
export const replyStreams: Record<string, StreamKind> = {
  'the stream of a new conversation': {
    routes: ['conversations.create'],
    atRestart: 'server_restarting',
    follow: async (at, message) =>
      endOfTurn(await opened(at, 'POST', '/v1/conversations', { deployment: 'desk', message, stream: true })),
  },
  'the stream of a message': {
    routes: ['conversations.send'],
    atRestart: 'server_restarting',
    async follow(at, message) {
      const { id } = await newConversation(at);
      return endOfTurn(await opened(at, 'POST', `/v1/conversations/${id}/messages`, { message, stream: true }));
    },
  },
  'a follower of a conversation': {
    routes: ['conversations.events'],
    atRestart: 'server_restarting',
    async follow(at, message) {
      const { id } = await newConversation(at);
      const stream = await opened(at, 'GET', `/v1/conversations/${id}/events`);
      await post(at, `/v1/conversations/${id}/messages`, { message });
      const last = stream.waitFor(({ type }) => type === 'turn.settled' || type === 'stream.closed');
      await last.catch(() => null);
      stream.close();
      return endOfTurn(stream);
    },
  },
  'Prefer: wait': {
    routes: [],
    atRestart: 'replying',
    async follow(at, message) {
      const { id } = await newConversation(at);
      const headers = { prefer: 'wait=60' };
      const path = `/v1/conversations/${id}/messages`;
      const { status, body } = await call(at.url, at.testKey, 'POST', path, { body: { message }, headers });
      return isReply(body.reply?.text) ? whole : named(status === 202 ? body.status : null);
    },
  },
  'a stream of OpenAI’s chat': {
    routes: ['openai.chat'],
    atRestart: 'not_ready',
    follow: (at, message) =>
      ofOpenai(async () => {
        const chunks = await allOf(await openai(at).chat.completions.create({ ...chat(message), stream: true }));
        const text = chunks.map(({ choices: [choice] }) => choice?.delta.content ?? '').join('');
        return isReply(text) && chunks.some(({ choices: [choice] }) => choice?.finish_reason === 'stop');
      }),
  },
  'an answer of OpenAI’s chat': {
    routes: [],
    atRestart: 'not_ready',
    follow: (at, message) =>
      ofOpenai(async () =>
        isReply(
          (await openai(at).chat.completions.create({ ...chat(message), stream: false })).choices[0]?.message.content,
        ),
      ),
  },
  'a stream of OpenAI’s responses': {
    routes: ['openai.respond'],
    atRestart: 'not_ready',
    follow: (at, message) =>
      ofOpenai(async () => {
        const events = await allOf(await openai(at).responses.create({ model: 'desk', input: message, stream: true }));
        return events.at(-1)?.type === 'response.completed';
      }),
  },
  'a follower of one of OpenAI’s responses': {
    routes: ['openai.response'],
    atRestart: 'not_ready',
    opensLate: true,
    follow: (at, message, opened) =>
      ofOpenai(async () => {
        const { id } = await openai(at).responses.create({ model: 'desk', input: message, background: true });
        const stream = await openai(at).responses.retrieve(id, { stream: true });
        opened();
        const events = await allOf(stream);
        return events.at(-1)?.type === 'response.completed';
      }),
  },
  'a run of AG-UI': {
    routes: ['agUi.run'],
    atRestart: 'not_ready',
    async follow({ url, testKey }, message) {
      const headers = { authorization: `Bearer ${testKey}`, 'service-user': 'ada' };
      const agent = new HttpAgent({ url: `${url}/v1/agui/desk`, headers, threadId: message });
      agent.addMessage({ id: 'm-1', role: 'user', content: message });
      const events: { type: string; code?: unknown }[] = [];
      await agent.runAgent({}, { onEvent: ({ event }) => void events.push(event) }).catch(() => {});
      const last = events.at(-1);
      if (last?.type === 'RUN_FINISHED') return whole;
      return named(last?.type === 'RUN_ERROR' ? String(last.code) : null);
    },
  },
  'a stream of A2A': {
    routes: ['protocols.a2a'],
    atRestart: 'not_ready',
    async follow({ url, deploymentId, testKey }, message) {
      const client = await connectA2a(url, deploymentId, testKey);
      try {
        const last = (await allOf(client.sendMessageStream(saying(message)))).at(-1);
        return last?.payload?.$case === 'message' ? whole : named(null);
      } catch (error) {
        return isRestart(error) ? named('not_ready') : cutBy(error);
      }
    },
  },
  'a follower of a task of A2A': {
    routes: ['protocols.a2a'],
    atRestart: 'not_ready',
    opensLate: true,
    async follow({ url, deploymentId, testKey }, message, opened) {
      const client = await connectA2a(url, deploymentId, testKey);
      const begun = await client.sendMessage(
        saying(message, { metadata: { hand_off: 'always' } }, { returnImmediately: true }),
      );
      if (!('id' in begun)) throw new Error('No task was begun.');
      try {
        const states = await allOf(client.resubscribeTask({ tenant: '', id: begun.id }), opened);
        const isDone = states.some(
          ({ payload }) =>
            (payload?.$case === 'statusUpdate' || payload?.$case === 'task') &&
            payload.value.status?.state === TaskState.TASK_STATE_COMPLETED,
        );
        return isDone ? whole : named(null);
      } catch (error) {
        return isRestart(error) ? named('not_ready') : cutBy(error);
      }
    },
  },
  'a tool of MCP': {
    routes: ['protocols.mcp'],
    atRestart: 'replying',
    async follow({ url, testKey }, message) {
      const client = await connectMcp(url, testKey);
      const { structuredContent } = await client.callTool({
        name: 'ask',
        arguments: { deployment: 'desk', message },
      });
      const turn = structuredContent as { status: string; turn_id?: string; reply?: { text: string } };
      return isReply(turn.reply?.text) ? whole : named(turn.turn_id ? turn.status : null);
    },
  },
};

const chat = (content: string) => ({ model: 'desk', messages: [{ role: 'user' as const, content }] });

const openai = ({ url, testKey }: StreamPlace) =>
  new OpenAI({ apiKey: testKey, baseURL: `${url}/v1/openai`, maxRetries: 0 });

async function ofOpenai(isWhole: () => Promise<boolean>): Promise<StreamEnd> {
  try {
    return (await isWhole()) ? whole : cutBy('The stream ended early.');
  } catch (error) {
    return error instanceof OpenAI.APIError && error.code && isRestart(error) ? named(error.code) : cutBy(error);
  }
}

const isRestart = (error: unknown) =>
  String(error).includes('The server is restarting. Send the request again shortly.');
const cutBy = (error: unknown): StreamEnd => ({ whole: false, named: null, why: String(error) });

async function opened(at: StreamPlace, method: string, path: string, body?: unknown) {
  const stream = await openStream(at, method, path, body === undefined ? {} : { body });
  if (stream.status !== 200) throw new Error(`${method} ${path} was answered with ${stream.status}.`);
  return stream;
}

async function endOfTurn(stream: Awaited<ReturnType<typeof openStream>>): Promise<StreamEnd> {
  const events = await stream.events.catch(() => stream.seen);
  const settled = events.find(({ type }) => type === 'turn.settled');
  if (settled) return isReply(settled.data.turn.reply?.text) ? whole : named(null);
  return named(events.find(({ type }) => type === 'stream.closed')?.data.reason ?? null);
}

async function post({ url, testKey }: StreamPlace, path: string, body: unknown) {
  const answer = await call(url, testKey, 'POST', path, { body });
  if (answer.status >= 300) throw new Error(`${path} was answered with ${answer.text}`);
  return answer.body;
}

const newConversation = (at: StreamPlace): Promise<{ id: string }> =>
  post(at, '/v1/conversations', { deployment: 'desk' });

async function allOf<Item>(items: AsyncIterable<Item>, seen: () => void = () => {}): Promise<Item[]> {
  const all: Item[] = [];
  for await (const item of items) {
    all.push(item);
    if (all.length === 1) seen();
  }
  return all;
}
