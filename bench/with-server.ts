import { join } from 'node:path';
import { startEmbeddedPostgres } from '@vestra/server/platform/db/embedded';
import { Agent, request } from 'undici';
import { freePort } from './processes.ts';
import type { Row, Stage } from './report.ts';
import { type RunningServer, startServerProcess } from './server-process.ts';

type Call = (
  method: 'GET' | 'POST' | 'PUT',
  path: string,
  body?: unknown,
  given?: { headers?: Record<string, string>; key?: string },
) => Promise<string>;

type Started = { server: RunningServer; call: Call; connectionString: string };

/** A server and its PostgreSQL, for as long as `work` takes. */
export async function withServer(
  { folder }: Stage,
  name: string,
  work: (started: Started) => Promise<Row[]>,
  env: Record<string, string> = {},
): Promise<Row[]> {
  const postgres = await startEmbeddedPostgres({ dataDir: join(folder, `${name}-database`), log: () => {} });
  const { connectionString } = postgres;
  const dispatcher = new Agent({ connections: 64, pipelining: 1 });
  try {
    const server = await startServerProcess(join(folder, name), await freePort(), {
      DATABASE_URL: connectionString,
      ...env,
    });
    try {
      return await work({ server, call: callTo(server, dispatcher), connectionString });
    } finally {
      await server.stop();
    }
  } finally {
    await dispatcher.destroy();
    await postgres.stop();
  }
}

const callTo =
  (server: RunningServer, dispatcher: Agent): Call =>
  async (method, path, body, { headers = {}, key = server.testKey } = {}) => {
    const response = await request(`${server.url}${path}`, {
      method,
      dispatcher,
      headers: {
        authorization: `Bearer ${key}`,
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    const text = await response.body.text();
    if (response.statusCode >= 300) throw new Error(`${method} ${path} answered ${response.statusCode}: ${text}`);
    return text;
  };
