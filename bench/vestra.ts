import pg from 'pg';
import { makeOtherOrg } from '../tests/support/other-org.ts';
import { type Api, type Contender, contend } from './contender.ts';
import { freePort } from './processes.ts';
import { type RunningServer, startServerProcess } from './server-process.ts';

/** The server with the scripted model and one live deployment. */
export async function startWithModel(
  dataDir: string,
  modelUrl: string,
  env: Record<string, string> = {},
): Promise<RunningServer> {
  const server = await startServerProcess(dataDir, await freePort(), {
    OPENAI_COMPATIBLE_BASE_URL: modelUrl,
    OPENAI_COMPATIBLE_MODELS: 'scripted',
    VESTRA_DEFAULT_MODEL: 'compatible/scripted',
    ...env,
  });
  await callServer(server, 'PUT', '/v1/deployments/bench?promote=now', { name: 'bench', instructions, memory: 'none' });
  return server;
}

/** The same server for a second org, which has money and the same deployment. */
export async function asOtherOrg(server: RunningServer, connectionString: string): Promise<RunningServer> {
  const other = { ...server, testKey: await makeOtherOrg({ connectionString }) };
  const client = new pg.Client({ connectionString });
  await client.connect();
  await client.query(
    `INSERT INTO wallets (org_id, mode, balance_micros) SELECT id, 'test', 1000000000000 FROM orgs WHERE name = 'Other'`,
  );
  await client.end();
  await callServer(other, 'PUT', '/v1/deployments/bench?promote=now', { name: 'bench', instructions, memory: 'none' });
  return other;
}

export const instructions = 'You answer customers of a shop. Be brief.';

export function contendWith(server: RunningServer): Contender {
  const { url, testKey, stop } = server;
  return contend({ name: 'Vestra', url, pid: server.process.pid as number, api: apiFor(testKey), stop });
}

export async function callServer(
  server: RunningServer,
  method: 'GET' | 'POST' | 'PUT',
  path: string,
  body?: unknown,
): Promise<unknown> {
  const response = await fetch(`${server.url}${path}`, {
    method,
    headers: { authorization: `Bearer ${server.testKey}`, 'content-type': 'application/json' },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  if (!response.ok) throw new Error(`${method} ${path} answered ${response.status}: ${await response.text()}`);
  return response.json();
}

const apiFor = (key: string): Api => ({
  headers: { authorization: `Bearer ${key}` },
  create: (userId) => ({ path: '/v1/conversations', body: { user_id: userId, deployment: 'bench' } }),
  idOf: (created) => (created as { id: string }).id,
  send: (id, _userId, message) => ({ path: `/v1/conversations/${id}/messages`, body: { message, stream: true } }),
  read: (id) => `/v1/conversations/${id}`,
  messages: (id) => `/v1/conversations/${id}/messages`,
  textOf: (event, data) => (event === 'reply.delta' ? (JSON.parse(data) as Delta).data.text : null),
  textMark: 'event: reply.delta',
  endMark: 'event: turn.settled',
});

type Delta = { data: { text: string } };
