import { createParser } from 'eventsource-parser';
import { Agent, request } from 'undici';
import { monotonicMs, reply } from './model-process.ts';

/** How one server is spoken to over HTTP. */
export type Api = {
  headers: Record<string, string>;
  create: (userId: string) => { path: string; body: unknown };
  /** From the answer of `create`. */
  idOf: (created: unknown) => string;
  send: (conversationId: string, userId: string, message: string) => { path: string; body: unknown };
  read: (conversationId: string) => string;
  messages: (conversationId: string) => string;
  /** The text in a frame of the reply's stream; null for frames of other kinds. */
  textOf: (event: string | undefined, data: string) => string | null;
  /** Appears in the stream with each text. */
  textMark: string;
  /** Each piece repeats the text before it. */
  saysAllSoFar?: true;
  /** Text that ends a complete stream. */
  endMark: string;
};

export type Contender = {
  name: string;
  pid: number;
  stop: () => Promise<void>;
  /** A whole turn: makes a conversation, sends a message, reads the reply's stream to its end. */
  turn: (message?: string) => Promise<Turn>;
  /** Reads one conversation. */
  read: (conversationId: string) => Promise<void>;
  /** Is the reply among the stored messages? */
  hasStored: (conversationId: string) => Promise<boolean>;
  /** Throws unless the stream of a turn says, piece by piece, what the model said. */
  check: (turn: Turn) => void;
};

/** `textAt`: when text arrived. */
type Turn = { conversationId: string; stream: string; sentAt: number; textAt: number[] };

const userCount = 100;
// Far longer than any turn takes: a server that exceeds this has stopped answering.
const patienceMs = 20_000;

export function contend(server: {
  name: string;
  url: string;
  pid: number;
  api: Api;
  stop: () => Promise<void>;
}): Contender {
  const { name, url, pid, api } = server;
  const dispatcher = new Agent({
    connections: 256,
    pipelining: 1,
    headersTimeout: patienceMs,
    bodyTimeout: patienceMs,
  });
  let turns = 0;

  const open = async (method: 'GET' | 'POST', path: string, body?: unknown) => {
    const response = await request(`${url}${path}`, {
      method,
      dispatcher,
      headers: { ...api.headers, ...(body !== undefined && { 'content-type': 'application/json' }) },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    if (response.statusCode < 300) return response.body;
    throw new Error(`${method} ${path} answered ${response.statusCode}: ${(await response.body.text()).slice(0, 300)}`);
  };

  return {
    name,
    pid,
    async turn(message = 'Where is my parcel?') {
      const userId = `user-${turns++ % userCount}`;
      const create = api.create(userId);
      const conversationId = api.idOf(await (await open('POST', create.path, create.body)).json());
      const send = api.send(conversationId, userId, message);
      let stream = '';
      const textAt: number[] = [];
      const sentAt = monotonicMs();
      for await (const chunk of (await open('POST', send.path, send.body)).setEncoding('utf8')) {
        stream += chunk;
        // Frames that are split between two pieces are rare, and only the times of further text depend on them.
        if (textAt.length === 0 ? stream.includes(api.textMark) : chunk.includes(api.textMark))
          textAt.push(monotonicMs());
      }
      if (!stream.includes(api.endMark)) throw new Error(`The stream of ${name} ended with ${stream.slice(-300)}`);
      return { conversationId, stream, sentAt, textAt };
    },
    async read(conversationId) {
      await (await open('GET', api.read(conversationId))).text();
    },
    async hasStored(conversationId) {
      return (await (await open('GET', api.messages(conversationId))).text()).includes(reply);
    },
    check({ stream }) {
      let said = '';
      const parser = createParser({
        onEvent({ event, data }) {
          const text = api.textOf(event, data);
          if (text !== null) said = api.saysAllSoFar ? text : said + text;
        },
      });
      parser.feed(stream);
      if (said !== reply) throw new Error(`${name} replied ${JSON.stringify(said)} in ${stream}`);
    },
    async stop() {
      await dispatcher.destroy();
      await server.stop();
    },
  };
}
