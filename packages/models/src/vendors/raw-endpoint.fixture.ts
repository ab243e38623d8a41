import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { setImmediate as turn } from 'node:timers/promises';
import type { ToolDefinition } from '@vestra/agent/message';
import type { ModelEvent, ModelRequest } from '@vestra/agent/model';
import { createModels } from '../models.ts';
import type { ModelSettings } from '../settings.ts';
import { refusalByRule } from '../testing/vendor-rules.ts';
import type { Timing } from './timing.ts';

export type RawVendor = 'anthropic' | 'openai' | 'google' | 'compatible';

export const models: Record<RawVendor, string> = {
  anthropic: 'claude-sonnet-4-5',
  openai: 'gpt-5',
  google: 'gemini-2.5-flash',
  compatible: 'compatible/any',
};

/**
 * An endpoint that rejects what vendors reject and otherwise writes the test's bytes, and a model of each vendor that
 * uses it.
 */
export async function startRawEndpoint(askedAt?: string) {
  let listener: RequestListener = (_request, response) => response.end();
  const bodies: Record<string, unknown>[] = [];
  const schemaFaults: string[] = [];
  let socket: Socket | null = null;
  const server = createServer(async (request, response) => {
    socket = request.socket;
    const body = JSON.parse(await textOf(request));
    bodies.push(body);
    const refusal = refusalByRule(request.url ?? '', body);
    if (refusal?.schemaFault) schemaFaults.push(refusal.schemaFault);
    if (refusal) response.writeHead(refusal.status).end(JSON.stringify(refusal.body));
    else listener(request, response);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const endpoint = { apiKey: () => 'sk-raw-0123456789', baseUrl: `${askedAt ?? url}/v1` };
  const compatible = { ...endpoint, models: ['any'], price: null, maxOutputTokens: null };
  const settings: ModelSettings = {
    anthropic: endpoint,
    openai: endpoint,
    google: endpoint,
    compatible,
    own: [],
    defaultModel: null,
  };

  return {
    url,
    bodies,
    respond: (by: RequestListener) => {
      bodies.length = 0;
      listener = by;
    },
    stream: (vendor: RawVendor, request: Partial<ModelRequest> = {}, timing: Partial<Timing> = {}) =>
      createModels(settings, { firstPauseMs: 1, longestPauseMs: 2, ...timing })
        .model(models[vendor])
        .stream({
          model: models[vendor],
          system: [],
          messages: [{ role: 'user', parts: [{ kind: 'text', text: 'Hi' }] }],
          tools: [],
          signal: new AbortController().signal,
          ...request,
        }),
    /** Refers to the last request. */
    isConnectionClosed: () => socket?.destroyed ?? false,
    /** Rejects if a request did not match the vendor's published schema. */
    close: async () => {
      await new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      });
      if (schemaFaults.length > 0) throw new Error(schemaFaults.join('\n'));
    },
  };
}

/** Writes each piece separately, so that they arrive separately. */
export const writing =
  (pieces: readonly (string | Uint8Array)[], last: (response: ServerResponse) => void = (response) => response.end()) =>
  async (_request: IncomingMessage, response: ServerResponse): Promise<void> => {
    response.socket?.setNoDelay(true);
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    for (const piece of pieces) {
      response.write(piece);
      await turn();
    }
    last(response);
  };

/** The result of a call, with its text joined. */
export async function outcomeOf(stream: AsyncIterable<ModelEvent>) {
  const outcome: {
    text: string;
    calls: unknown[];
    warnings: unknown[];
    end: unknown;
    failure: unknown;
    message: string | null;
  } = {
    text: '',
    calls: [],
    warnings: [],
    end: null,
    failure: null,
    message: null,
  };
  try {
    for await (const event of stream) {
      if (event.type === 'text') outcome.text += event.text;
      else if (event.type === 'call') outcome.calls.push(event.call);
      else if (event.type === 'warning') outcome.warnings.push(event.tool);
      else outcome.end = event;
    }
  } catch (error) {
    outcome.failure = (error as { reason?: string }).reason ?? error;
    outcome.message = (error as Error).message;
  }
  return outcome;
}

async function textOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString('utf8');
}

/** A possible vendor stream and its expected result. */
export type StreamCase = { name: string; stream: string; expected: object; request?: Partial<ModelRequest> };

export const sse = (...events: (object | string)[]): string =>
  events.map((event) => (typeof event === 'string' ? event : `data: ${JSON.stringify(event)}\n\n`)).join('');

export const used = (inputTokens: number, outputTokens: number, cacheReadTokens = 0, cacheWriteTokens = 0) => ({
  type: 'end',
  cut: false,
  usage: { inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens },
});

export const weather: ToolDefinition = {
  name: 'get_weather',
  description: 'The weather of a city.',
  inputSchema: { type: 'object', properties: { city: { type: 'string' } } },
};
export const called = (id: unknown, given: unknown) => ({ id, name: 'get_weather', arguments: given });

/**
 * The keys of `a` are arbitrary: Anthropic would close the object, and Gemini accepts no schema together with tools.
 */
export const freeKeys = {
  type: 'object',
  properties: { a: { type: 'object', additionalProperties: { type: 'string' } } },
};
