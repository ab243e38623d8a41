import { spawn } from 'node:child_process';
import { copyFile, mkdir, writeFile } from 'node:fs/promises';
import { delimiter, dirname, join } from 'node:path';
import { type Api, type Contender, contend } from './contender.ts';
import { freePort } from './processes.ts';
import { endProcess, untilHealthy } from './server-process.ts';
import { instructions } from './vestra.ts';

export type Peer = {
  name: string;
  /** Under bench/peers, beside which the packages are installed. */
  script: string;
  /** Exact versions, so that a figure can be taken again. */
  packages: readonly string[];
  /** Versions of what these depend on, if the registry has none that fit each other any more. */
  overrides?: Record<string, string>;
  database: string;
  /** Connections to PostgreSQL. Our own server has 20. */
  poolSize: number;
  healthPath: string;
  api: Api;
};

export const peers: readonly Peer[] = [
  {
    name: 'VoltAgent 2.10.0',
    script: 'voltagent.mjs',
    packages: [
      '@voltagent/core@2.10.0',
      '@voltagent/server-hono@2.0.14',
      '@voltagent/postgres@2.1.2',
      '@voltagent/logger@2.0.2',
      '@ai-sdk/openai-compatible@2.0.87',
      '@ai-sdk/provider-utils@4.0.65',
      'ai@6.0.326',
      'zod@4.6.7',
    ],
    database: 'voltagent',
    // Each turn takes a second connection while it holds one: with no more connections than turns at once, all of them
    // wait for each other and none is answered again. There are 200 typed replies at once.
    poolSize: 220,
    healthPath: '/agents',
    api: {
      headers: {},
      create: (userId) => ({
        path: '/api/memory/conversations',
        body: { userId, resourceId: 'bench', agentId: 'bench' },
      }),
      idOf: (created) => (created as { data: { conversation: { id: string } } }).data.conversation.id,
      send: (conversationId, userId, input) => ({
        path: '/agents/bench/stream',
        body: { input, options: { userId, conversationId } },
      }),
      read: (id) => `/api/memory/conversations/${id}?agentId=bench`,
      messages: (id) => `/api/memory/conversations/${id}/messages?agentId=bench`,
      textOf: (_event, data) => {
        const part = JSON.parse(data) as { type: string; text?: string };
        return part.type === 'text-delta' ? (part.text ?? null) : null;
      },
      textMark: '"type":"text-delta"',
      endMark: '"type":"finish","finishReason":"stop"',
    },
  },
  {
    name: 'Mastra 1.71.0',
    script: 'mastra.mjs',
    packages: [
      '@mastra/core@1.71.0',
      '@mastra/hono@1.7.9',
      '@mastra/memory@1.31.0',
      '@mastra/pg@1.27.1',
      '@ai-sdk/openai-compatible@2.0.87',
      '@hono/node-server@2.1.6',
      'hono@4.13.17',
      'zod@4.6.7',
    ],
    database: 'mastra',
    poolSize: 20,
    healthPath: '/api/agents',
    api: {
      headers: {},
      create: (resourceId) => ({ path: '/api/memory/threads?agentId=bench', body: { resourceId } }),
      idOf: (created) => (created as { id: string }).id,
      send: (thread, resource, messages) => ({
        path: '/api/agents/bench/stream',
        body: { messages, memory: { thread, resource } },
      }),
      read: (id) => `/api/memory/threads/${id}?agentId=bench`,
      messages: (id) => `/api/memory/threads/${id}/messages?agentId=bench`,
      textOf: (_event, data) => {
        if (data === '[DONE]') return null;
        const part = JSON.parse(data) as { type: string; payload?: { text?: string } };
        return part.type === 'text-delta' ? (part.payload?.text ?? null) : null;
      },
      textMark: '"type":"text-delta"',
      endMark: 'data: [DONE]',
    },
  },
  {
    name: 'LangGraph 1.4.17',
    script: 'langgraph.mjs',
    packages: [
      '@langchain/langgraph@1.4.17',
      '@langchain/langgraph-checkpoint-postgres@1.0.5',
      '@langchain/openai@1.6.0',
      '@langchain/core@1.2.13',
      '@hono/node-server@2.1.6',
      'hono@4.13.17',
      'pg@8.23.1',
    ],
    database: 'langgraph',
    poolSize: 20,
    healthPath: '/ok',
    api: {
      headers: {},
      create: () => ({ path: '/threads', body: {} }),
      idOf: (created) => (created as { thread_id: string }).thread_id,
      send: (thread, _userId, input) => ({ path: `/threads/${thread}/runs/stream`, body: { input } }),
      read: (id) => `/threads/${id}`,
      messages: (id) => `/threads/${id}/messages`,
      textOf: (event, data) => (event === 'messages' ? (JSON.parse(data) as { text: string }).text || null : null),
      textMark: 'event: messages',
      endMark: 'event: end',
    },
  },
  {
    name: 'Open LangGraph Server 3.3.3',
    script: 'open-langgraph-server.mjs',
    packages: [
      '@langgraph-js/pure-graph@3.3.3',
      'langchain@1.3.0',
      '@langchain/langgraph@1.4.17',
      '@langchain/langgraph-checkpoint-postgres@1.0.5',
      '@langchain/openai@1.6.0',
      '@langchain/core@1.2.13',
      '@hono/node-server@2.1.6',
      'hono@4.13.17',
      'pg@8.23.1',
    ],
    // Newer ones need a version of the core that the registry does not have.
    overrides: { '@langchain/core': '1.2.13', '@langchain/langgraph': '1.4.17', langchain: '1.3.0' },
    database: 'open_langgraph_server',
    // It opens two pools of ten, and has no setting for them.
    poolSize: 20,
    healthPath: '/ok',
    api: {
      headers: {},
      create: (userId) => ({ path: '/threads', body: { metadata: { user_id: userId } } }),
      idOf: (created) => (created as { thread_id: string }).thread_id,
      send: (thread, _userId, content) => ({
        path: `/threads/${thread}/runs/stream`,
        body: {
          assistant_id: 'bench',
          input: { messages: [{ role: 'user', content }] },
          stream_mode: ['messages-tuple'],
        },
      }),
      read: (id) => `/threads/${id}`,
      messages: (id) => `/threads/${id}/state`,
      textOf: (event, data) => {
        if (event !== 'messages/partial') return null;
        const [message] = JSON.parse(data) as [{ content: string }];
        return message.content || null;
      },
      textMark: 'event: messages/partial',
      saysAllSoFar: true,
      endMark: 'event: __stream_end__',
    },
  },
];

export async function installPeer(peer: Peer, folder: string): Promise<string> {
  const home = join(folder, peer.database);
  await installPackages(peer.packages, home, peer.overrides);
  return home;
}

const longestInstallMs = 120_000;

/** Installs into a separate folder: the peers we compare with are not dependencies of this repository. */
export async function installPackages(
  packages: readonly string[],
  home: string,
  overrides?: Record<string, string>,
): Promise<void> {
  await mkdir(home, { recursive: true });
  const options = ['--ignore-scripts', '--no-audit', '--no-fund', '--save-exact', '--loglevel=error'];
  if (overrides) {
    await writeFile(join(home, 'package.json'), JSON.stringify({ private: true, overrides }));
    options.push('--legacy-peer-deps');
  }
  // npm takes whichever node comes first, and picks versions that fit it.
  const path = [dirname(process.execPath), process.env.PATH].join(delimiter);
  const child = spawn('npm', ['install', '--prefix', home, ...options, ...packages], {
    stdio: ['ignore', 'ignore', 'pipe'],
    env: { ...process.env, PATH: path },
  });
  let errors = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    errors += text;
  });
  // While npm works out which versions fit, it may loop for good, and then it does not end on SIGTERM.
  const timer = setTimeout(() => child.kill('SIGKILL'), longestInstallMs);
  const code = await new Promise((resolve, reject) => child.once('error', reject).once('close', resolve));
  clearTimeout(timer);
  if (child.signalCode !== null) throw new Error(`npm install took longer than ${longestInstallMs / 60_000} minutes`);
  if (code !== 0) throw new Error(`npm install ended with ${code}: ${errors.trim().slice(0, 300)}`);
}

export async function startPeer(
  peer: Peer,
  home: string,
  { databaseUrl, modelUrl }: { databaseUrl: string; modelUrl: string },
): Promise<Contender> {
  const script = join(home, peer.script);
  await copyFile(join(import.meta.dirname, 'peers', peer.script), script);
  const port = await freePort();
  const child = spawn(process.execPath, ['--max-semi-space-size=8', '--heap-growing-percent=50', script], {
    cwd: home,
    stdio: ['ignore', 'ignore', 'inherit'],
    env: {
      PATH: process.env.PATH ?? '',
      NODE_ENV: 'production',
      MALLOC_ARENA_MAX: '1',
      PORT: String(port),
      DATABASE_URL: databaseUrl,
      MODEL_URL: modelUrl,
      POOL_SIZE: String(peer.poolSize),
      DATABASE_INIT: 'true',
      INSTRUCTIONS: instructions,
    },
  });
  const url = `http://127.0.0.1:${port}`;
  await untilHealthy(child, `${url}${peer.healthPath}`);
  return contend({ name: peer.name, url, pid: child.pid as number, api: peer.api, stop: () => endProcess(child) });
}
