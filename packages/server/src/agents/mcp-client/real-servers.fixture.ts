import { type ChildProcess, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { getRequestListener } from '@hono/node-server';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { WebStandardStreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/webStandardStreamableHttp.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import { CreateMessageRequestSchema, ElicitRequestSchema } from '@modelcontextprotocol/sdk/types.js';
import { cleanups, serve, unusedPort } from '../../platform/outbound/loopback.fixture.ts';

const require = createRequire(import.meta.url);
const fileOf = (name: string, path: string) => join(dirname(require.resolve(`${name}/package.json`)), path);

/** A folder that is removed after the test. */
export async function newFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'vestra-tool-server-'));
  cleanups.push(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

/** Starts a program that speaks HTTP itself, and waits until it listens. */
async function startProgram(words: string[], environment: Record<string, string>, url: string): Promise<string> {
  const program = spawn(process.execPath, words, { env: { ...process.env, ...environment }, stdio: 'ignore' });
  cleanups.push(() => end(program));
  for (;;) {
    if (program.exitCode !== null) throw new Error(`${words[0]} ended with ${program.exitCode}.`);
    const isUp = await fetch(url).then(
      () => true,
      () => false,
    );
    if (isUp) return url;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

async function end(program: ChildProcess): Promise<void> {
  if (program.exitCode !== null || program.signalCode !== null) return;
  const over = once(program, 'exit');
  program.kill('SIGKILL');
  await over;
}

export async function startEverything(): Promise<string> {
  const port = await unusedPort();
  const words = [fileOf('@modelcontextprotocol/server-everything', 'dist/index.js'), 'streamableHttp'];
  return startProgram(words, { PORT: `${port}` }, `http://127.0.0.1:${port}/mcp`);
}

export async function startPlaywright(): Promise<string> {
  const port = await unusedPort();
  const words = [
    ...[fileOf('@playwright/mcp', 'cli.js'), '--port', `${port}`, '--host', '127.0.0.1', '--allowed-hosts', '*'],
    ...['--headless', '--isolated', '--no-sandbox', '--executable-path', '/usr/bin/chromium-headless-shell'],
    ...['--output-dir', await newFolder()],
  ];
  return startProgram(words, {}, `http://127.0.0.1:${port}/mcp`);
}

export const startFilesystem = async (folder: string) =>
  bridge([fileOf('@modelcontextprotocol/server-filesystem', 'dist/index.js'), folder], {});

export const startMemory = async () =>
  bridge([fileOf('@modelcontextprotocol/server-memory', 'dist/index.js')], {
    MEMORY_FILE_PATH: join(await newFolder(), 'memory.jsonl'),
  });

/** Serves a server that speaks only over its standard input: one process per session, as hosts of such servers do. */
async function bridge(words: string[], environment: Record<string, string>): Promise<string> {
  const sessions = new Map<string, WebStandardStreamableHTTPServerTransport>();
  const answer = async (request: Request): Promise<Response> => {
    const id = request.headers.get('mcp-session-id');
    const known = id === null ? undefined : sessions.get(id);
    if (known) return known.handleRequest(request);
    if (id !== null) return new Response(null, { status: 404 });
    const program = new StdioClientTransport({
      command: process.execPath,
      args: words,
      env: { ...(process.env as Record<string, string>), ...environment },
      stderr: 'ignore',
    });
    const transport = new WebStandardStreamableHTTPServerTransport({
      sessionIdGenerator: randomUUID,
      onsessioninitialized: (opened) => void sessions.set(opened, transport),
      onsessionclosed: (closed) => void sessions.delete(closed),
    });
    forward(program, transport as Transport);
    forward(transport as Transport, program);
    transport.onclose = () => void program.close();
    cleanups.push(() => program.close());
    await program.start();
    await transport.start();
    return transport.handleRequest(request);
  };
  const { url } = await serve(getRequestListener(answer));
  return `${url}/mcp`;
}

/** Forwards each message of one side to the other. */
const forward = (from: Transport, to: Transport) => {
  from.onmessage = (message) => void to.send(message).catch(() => {});
};

/** The official client, which offers to be asked and to ask a model. */
export async function officialClient(url: string, headers: Record<string, string> = {}) {
  const capabilities = { elicitation: { form: {}, url: {} }, sampling: {} };
  const client = new Client({ name: 'official', version: '1' }, { capabilities });
  client.setRequestHandler(ElicitRequestSchema, () => ({ action: 'cancel' }));
  client.setRequestHandler(CreateMessageRequestSchema, () => ({
    role: 'assistant',
    model: 'test',
    content: { type: 'text', text: 'A model says this.' },
  }));
  const transport = new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers } });
  await client.connect(transport as Transport);
  cleanups.push(() => client.close());
  return client;
}
