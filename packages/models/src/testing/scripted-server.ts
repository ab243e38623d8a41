import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import type { ModelSettings } from '../settings.ts';
import { anthropicWire } from './anthropic-wire.ts';
import { awsChunks } from './aws-frames.ts';
import { compatibleWire } from './compatible-wire.ts';
import { googleWire } from './google-wire.ts';
import { openaiWire } from './openai-wire.ts';
import {
  type GivenThoughts,
  keyOfCalls,
  type NormalisedRequest,
  partPassing,
  type ScriptedAnswer,
  type ScriptedVendor,
  type Wire,
} from './scripted-answer.ts';
import { type Refusal, refusalByRule } from './vendor-rules.ts';

export type ScriptedModelServer = {
  url: string;
  /** The address of each vendor, as its `…_BASE_URL` setting accepts it. */
  baseUrls: Record<ScriptedVendor, string>;
  /** Settings with every vendor at this server. The compatible one has the model `scripted`. */
  settings: ModelSettings;
  /** The number of connections ever opened: calls should share them. */
  connectionCount: () => number;
  /** The requests that it rejected by a rule or by the vendor's published schema, since the start or the last call. */
  takeRefusals: () => Refusal[];
  /** Rejects if a request did not match the vendor's published schema, even if the client recovered from it. */
  close: () => Promise<void>;
};

const wires: Record<ScriptedVendor, Wire> = {
  anthropic: anthropicWire,
  openai: openaiWire,
  google: googleWire,
  compatible: compatibleWire,
};

/** Serves a model of every vendor over a real socket in the vendor's real format. The test supplies the answers. */
export async function startScriptedModelServer({
  respond,
  models = [],
  port = 0,
  checksRules = true,
}: {
  respond: (request: NormalisedRequest) => ScriptedAnswer | Promise<ScriptedAnswer>;
  /** The models on its list. Without any, the list route does not exist. */
  models?: readonly string[];
  port?: number;
  /** Whether it rejects requests that the vendor rejects. The check takes time on every request. */
  checksRules?: boolean;
}): Promise<ScriptedModelServer> {
  let count = 0;
  const thoughts: Thoughts = new Map();
  let refusals: Refusal[] = [];
  const schemaFaults: string[] = [];
  const onRefusal = (refusal: Refusal) => {
    refusals.push(refusal);
    if (refusal.schemaFault) schemaFaults.push(refusal.schemaFault);
  };
  const server = createServer({ keepAliveTimeout: 60_000 }, (request, response) => {
    if (models.length > 0 && request.url?.replace(/\?.*/, '').endsWith('/models')) {
      return void response.end(JSON.stringify({ data: models.map((id) => ({ id })) }));
    }
    answer(request, response, { respond, thoughts, checksRules, onRefusal }, ++count).catch((error: unknown) => {
      if (response.headersSent) return response.destroy();
      response.writeHead(500).end(JSON.stringify({ error: { message: String(error) } }));
    });
  });
  let connections = 0;
  server.on('connection', () => connections++);
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const baseUrls = {
    anthropic: `${url}/anthropic`,
    openai: `${url}/openai/v1`,
    google: `${url}/google/v1beta`,
    compatible: `${url}/compatible/v1`,
  };
  return {
    url,
    baseUrls,
    settings: settingsFor(baseUrls),
    connectionCount: () => connections,
    takeRefusals: () => {
      const taken = refusals;
      refusals = [];
      return taken;
    },
    close: async () => {
      await new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      });
      if (schemaFaults.length > 0)
        throw new Error(`Requests do not match their vendor's schema:\n${schemaFaults.join('\n')}`);
    },
  };
}

function settingsFor(baseUrls: Record<ScriptedVendor, string>): ModelSettings {
  const key = (vendor: string) => () => `sk-scripted-${vendor}-0123456789abcdef`;
  return {
    anthropic: { apiKey: key('anthropic'), baseUrl: baseUrls.anthropic },
    openai: { apiKey: key('openai'), baseUrl: baseUrls.openai },
    google: { apiKey: key('google'), baseUrl: baseUrls.google },
    compatible: {
      apiKey: key('compatible'),
      baseUrl: baseUrls.compatible,
      models: ['scripted'],
      price: null,
      maxOutputTokens: null,
    },
    own: [],
    defaultModel: null,
  };
}

type Thoughts = Map<string, { model: string; thinking: string }> & GivenThoughts;

async function answer(
  incoming: IncomingMessage,
  response: ServerResponse,
  {
    respond,
    thoughts,
    checksRules,
    onRefusal,
  }: {
    respond: (request: NormalisedRequest) => ScriptedAnswer | Promise<ScriptedAnswer>;
    thoughts: Thoughts;
    checksRules: boolean;
    onRefusal: (refusal: Refusal) => void;
  },
  count: number,
): Promise<void> {
  const path = incoming.url ?? '';
  if (path === '/token') return void response.end('{"access_token":"scripted-access-token","expires_in":3599}');
  const vendor = vendorOf(path);
  if (!vendor || incoming.method !== 'POST')
    return void response.writeHead(404).end('{"error":{"message":"no route"}}');
  const wire = wires[vendor];
  const body = JSON.parse(await readBody(incoming)) as Record<string, unknown>;
  const byRule = checksRules ? refusalByRule(path, body) : null;
  if (byRule) {
    onRefusal(byRule);
    return void response.writeHead(byRule.status).end(JSON.stringify(byRule.body));
  }
  // In a cloud, the model is part of the address.
  const [, inPath] = /\/models?\/([^/:]+)/.exec(decodeURIComponent(path)) ?? [];
  const normalised = wire.normalise({ model: inPath, ...body }, path);
  const request = {
    ...normalised,
    ...partPassing(normalised.messages),
    vendor,
    count,
    headers: incoming.headers,
  };
  const refusal = wire.refuses?.(body, request.model, thoughts);
  if (refusal)
    return fail(response, wire, { failMessage: refusal.message, ...(refusal.code && { failCode: refusal.code }) }, 400);
  const scripted = await respond(request);
  if (scripted.thinking !== undefined && scripted.calls) {
    thoughts.set(keyOfCalls(scripted.calls), { model: request.model, thinking: scripted.thinking });
  }
  if (scripted.delayMs) await delay(scripted.delayMs);
  if (typeof scripted.fail === 'number') return fail(response, wire, scripted, scripted.fail);
  await stream(response, wire, scripted, { model: request.model, isFramed: path.endsWith(bedrockCall) });
}

const bedrockCall = '/invoke-with-response-stream';

function vendorOf(path: string): ScriptedVendor | null {
  if (/\/messages$|:streamRawPredict$/.test(path) || path.endsWith(bedrockCall)) return 'anthropic';
  if (path.endsWith('/responses')) return 'openai';
  if (path.includes(':streamGenerateContent')) return 'google';
  return path.endsWith('/chat/completions') ? 'compatible' : null;
}

async function readBody(incoming: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of incoming) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString('utf8');
}

function fail(response: ServerResponse, wire: Wire, scripted: ScriptedAnswer, status: number): void {
  const body = wire.error(status, scripted.failMessage ?? `scripted ${status}`, scripted.failCode);
  response.writeHead(status, { 'content-type': 'application/json', ...scripted.headers }).end(JSON.stringify(body));
}

async function stream(
  response: ServerResponse,
  wire: Wire,
  scripted: ScriptedAnswer,
  { model, isFramed }: { model: string; isFramed: boolean },
): Promise<void> {
  const encode = (events: string) => (isFramed ? awsChunks(events) : events);
  const text = typeof scripted.text === 'string' ? [scripted.text] : (scripted.text ?? []);
  const { fail: failure } = scripted;
  if (failure === 'hang' && text.length === 0) return;
  if (failure === 'cut' && text.length === 0) return void response.destroy();
  const frames = wire.frames(
    {
      thinking: scripted.thinking ?? null,
      text,
      calls: callsOf(scripted),
      usage: usageOf(scripted),
      stop: scripted.stop ?? null,
      usageInLastChoice: scripted.usageInLastChoice ?? false,
    },
    { model },
  );
  response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-cache', ...scripted.headers });
  const isPlain = !failure && !scripted.chunkDelayMs && !scripted.bytesPerWrite && !scripted.lingerMs;
  if (isPlain) return void response.end(encode(frames.opening + frames.text.join('') + frames.closing));
  if (scripted.bytesPerWrite) {
    return writeInPieces(response, frames.opening + frames.text.join('') + frames.closing, scripted.bytesPerWrite);
  }
  response.write(encode(frames.opening || ': open\n\n'));
  for (const frame of frames.text) {
    if (scripted.chunkDelayMs) await delay(scripted.chunkDelayMs);
    if (response.destroyed) return;
    response.write(encode(frame));
  }
  if (failure === 'hang') return;
  if (failure === 'cut') {
    // The written bytes must arrive before the connection closes.
    await delay(20);
    return void response.destroy();
  }
  response.write(encode(frames.closing));
  if (scripted.lingerMs) await delay(scripted.lingerMs);
  response.end();
}

async function writeInPieces(response: ServerResponse, whole: string, size: number): Promise<void> {
  response.socket?.setNoDelay(true);
  const bytes = Buffer.from(whole);
  for (let at = 0; at < bytes.length; at += size) {
    response.write(bytes.subarray(at, at + size));
    await new Promise(setImmediate);
  }
  response.end();
}

const callsOf = ({ calls = [] }: ScriptedAnswer) =>
  calls.map((call, index) => ({
    id: call.id ?? `call_${index}`,
    name: call.name,
    arguments: typeof call.arguments === 'string' ? call.arguments : JSON.stringify(call.arguments),
  }));

function usageOf({ usage }: ScriptedAnswer) {
  if (usage === null) return null;
  return { inputTokens: 10, outputTokens: 5, cacheReadTokens: 0, cacheWriteTokens: 0, ...usage };
}
