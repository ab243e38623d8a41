import type { NormalisedRequest, ScriptedAnswer } from '@vestra/models/testing/scripted-answer';
import { startScriptedModelServer } from '@vestra/models/testing/scripted-server';
import { createParser } from 'eventsource-parser';
import { assertStreamEvent } from './contract.ts';
import { untilAnswered } from './failure-notes.ts';
import { type ApiResponse, startTestServer, type TestServer, type TestServerOptions } from './server.ts';

// biome-ignore lint/suspicious/noExplicitAny: tests read events field by field.
export type StreamEvent = { id: string; type: string; seq: number; data: any; [field: string]: any };

export type Respond = (request: NormalisedRequest) => ScriptedAnswer | Promise<ScriptedAnswer>;

export type AgentServer = TestServer & {
  /** With what another process on the same database has the same model. */
  env: Record<string, string>;
  /** Decides what the model answers from now on. */
  script: (respond: Respond) => void;
  /** Every request the model has had since the last `script`, oldest first. */
  asked: NormalisedRequest[];
  /** Applies a deployment file, with `promote=now`, and makes it the default of the org where it is the first. */
  apply: (file: Record<string, unknown> & { name: string }, key?: string) => Promise<ApiResponse>;
  /** Opens an event stream. `events` resolves when the stream ends. */
  stream: (method: 'GET' | 'POST', path: string, options?: StreamOptions) => Promise<OpenStream>;
  /** Calls again and again until the answer is as wanted. */
  until: (path: string, isWanted: (body: ApiResponse['body']) => boolean, key?: string) => Promise<ApiResponse['body']>;
};

type StreamOptions = { key?: string; body?: unknown; headers?: Record<string, string> };

type OpenStream = {
  status: number;
  headers: Headers;
  /** Events received so far. */
  seen: StreamEvent[];
  comments: string[];
  /** Resolves with all of them when the stream ends. */
  events: Promise<StreamEvent[]>;
  /** Resolves as soon as one such event has come. */
  waitFor: (isWanted: (event: StreamEvent) => boolean) => Promise<StreamEvent>;
  close: () => void;
};

/** A whole server whose model is a scripted one, behind a real socket and a vendor's real wire format. */
export async function startAgentServer(
  options: {
    env?: Record<string, string>;
    respond?: Respond;
    /** Every vendor is there, and the same script answers for each in its own format. */
    vendors?: boolean;
    voice?: TestServerOptions['voice'];
    runs?: NonNullable<TestServerOptions['runs']>;
  } = {},
): Promise<AgentServer> {
  let respond: Respond = options.respond ?? (() => ({ text: 'Hello.' }));
  const asked: NormalisedRequest[] = [];
  const model = await startScriptedModelServer({
    respond: (request) => {
      asked.push(request);
      return untilAnswered(request.messages.at(-1), respond(request));
    },
  });
  const env = {
    OPENAI_COMPATIBLE_BASE_URL: model.baseUrls.compatible,
    OPENAI_COMPATIBLE_MODELS: 'scripted',
    VESTRA_DEFAULT_MODEL: 'compatible/scripted',
    VESTRA_ALLOW_PRIVATE_ADDRESSES: '1',
    ...(options.vendors && {
      ANTHROPIC_API_KEY: 'sk-scripted-anthropic',
      ANTHROPIC_BASE_URL: model.baseUrls.anthropic,
      OPENAI_API_KEY: 'sk-scripted-openai',
      OPENAI_BASE_URL: model.baseUrls.openai,
      GOOGLE_GENERATIVE_AI_API_KEY: 'sk-scripted-google',
      GOOGLE_GENERATIVE_AI_BASE_URL: model.baseUrls.google,
    }),
    ...options.env,
  };
  const { voice, runs } = options;
  const server = await startTestServer({ env, ...(voice && { voice }), ...(runs && { runs }) });
  return {
    ...server,
    env,
    asked,
    script(next) {
      asked.length = 0;
      respond = next;
    },
    async apply(file, key = server.testKey) {
      const answer = await server.call('PUT', `/v1/deployments/${file.name}?promote=now`, { key, body: file });
      if (answer.status !== 200) throw new Error(answer.text);
      return answer;
    },
    stream: (method, path, given) => openStream(server, method, path, given),
    async until(path, isWanted, key = server.testKey) {
      const deadline = Date.now() + 60_000;
      // Soon at first, and later less often: a request that finds nothing new takes CPU from what it waits for.
      for (let pauseMs = 25; ; pauseMs = Math.min(pauseMs * 1.2, 200)) {
        const { body, text } = await server.call('GET', path, { key });
        if (isWanted(body)) return body;
        if (Date.now() > deadline) throw new Error(`GET ${path} never became as wanted: ${text}`);
        await new Promise((resolve) => setTimeout(resolve, pauseMs));
      }
    },
    async stop() {
      await server.stop();
      await model.close();
    },
  };
}

export async function openStream(
  { url, testKey }: Pick<TestServer, 'url' | 'testKey'>,
  method: string,
  path: string,
  { key = testKey, body, headers = {} }: StreamOptions = {},
): Promise<OpenStream> {
  const controller = new AbortController();
  const response = await fetch(`${url}${path}`, {
    method,
    signal: controller.signal,
    headers: {
      authorization: `Bearer ${key}`,
      ...(body !== undefined && { 'content-type': 'application/json' }),
      ...headers,
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  const seen: StreamEvent[] = [];
  const comments: string[] = [];
  let waiting: (() => void)[] = [];
  const wake = () => {
    for (const each of waiting.splice(0)) each();
  };
  const parser = createParser({
    onEvent: ({ id, event, data }) => {
      const parsed = JSON.parse(data) as StreamEvent;
      if (id !== String(parsed.seq) || event !== parsed.type) throw new Error(`The frame ${id} ${event} says ${data}`);
      if (parsed.object === 'event') assertStreamEvent(parsed, key);
      seen.push(parsed);
      wake();
    },
    onComment: (comment) => comments.push(comment),
  });
  let isOver = false;
  const events = (async () => {
    const decoder = new TextDecoder();
    try {
      for await (const chunk of response.body ?? []) parser.feed(decoder.decode(chunk as Uint8Array, { stream: true }));
    } catch (error) {
      if (!controller.signal.aborted) throw error;
    } finally {
      isOver = true;
      wake();
    }
    return seen;
  })();
  events.catch(() => {});
  return {
    status: response.status,
    headers: response.headers,
    seen,
    comments,
    events,
    async waitFor(isWanted) {
      for (;;) {
        const found = seen.find(isWanted);
        if (found) return found;
        if (isOver) throw new Error(`The stream ended before that: ${JSON.stringify(seen.map(({ type }) => type))}`);
        await new Promise<void>((resolve) => {
          waiting = [...waiting, resolve];
        });
      }
    },
    close: () => controller.abort(),
  };
}
