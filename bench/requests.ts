import { join } from 'node:path';
import { startEmbeddedPostgres } from '@vestra/server/db/embedded';
import { Agent, request } from 'undici';
import { measureApply, measureSearch } from './configuration.ts';
import { measureJobDelay } from './job-delay.ts';
import { load } from './load.ts';
import { fillLists } from './million-rows.ts';
import { freePort } from './processes.ts';
import { duration, megabytes, type Row, rate, type Stage } from './report.ts';
import { memoryOf, type RunningServer, startServerProcess } from './server-process.ts';

type Call = (
  method: 'GET' | 'POST' | 'PUT',
  path: string,
  body?: unknown,
  given?: { headers?: Record<string, string>; key?: string },
) => Promise<string>;

type Started = { server: RunningServer; call: Call; connectionString: string };

export function measureRequests(stage: Stage): Promise<Row[]> {
  return withServer(stage, 'requests', async ({ call }) => {
    const idempotentCreate = () =>
      call(
        'POST',
        '/v1/keys',
        { name: 'bench', scopes: ['runtime'] },
        { headers: { 'idempotency-key': crypto.randomUUID() } },
      );
    const me = await load(16, stage.seconds, () => call('GET', '/v1/me'));
    const org = await load(16, stage.seconds, () => call('GET', '/v1/org'));
    const keys = await load(16, stage.seconds, idempotentCreate);
    return [
      { what: 'authenticated read (GET /v1/me), 16 at once', measured: rate(me), budget: '3,000/s' },
      { what: 'read of one row (GET /v1/org), 16 at once', measured: rate(org), budget: '3,000/s' },
      { what: 'idempotent create (POST /v1/keys), 16 at once', measured: rate(keys) },
    ];
  });
}

/** The first page of a list in an org with few rows and in one with a thousand times as many. */
export function measureLists(stage: Stage): Promise<Row[]> {
  return withServer(stage, 'lists', async ({ call, connectionString }) => {
    const few = await fillLists(connectionString, 1000);
    const many = await fillLists(connectionString, 1_000_000 * stage.share);
    const rows: Row[] = [];
    for (const [name, path] of [
      ['audit log', '/v1/audit-log?limit=20'],
      ['conversations', '/v1/conversations?limit=20'],
    ] as const) {
      const list = (key: string) => load(4, stage.seconds / 3, () => call('GET', path, undefined, { key }));
      const small: number[] = [];
      const large: number[] = [];
      // In turns, so that what else the machine does in a moment falls on both.
      for (let round = 0; round < 4; round++) {
        small.push((await list(few.key)).p50);
        large.push((await list(many.key)).p50);
      }
      const [least, most] = [Math.min(...small), Math.min(...large)];
      const sizes = `${few.count.toLocaleString('en')} and ${many.count.toLocaleString('en')}`;
      rows.push(
        { what: `list page of the ${name} at ${sizes} rows, p50`, measured: `${duration(least)}, ${duration(most)}` },
        {
          what: `list page of the ${name}, the one to the other`,
          measured: `${(most / least).toFixed(2)} ×`,
          budget: '1.3 ×',
        },
      );
    }
    return rows;
  });
}

export function measureConfiguration(stage: Stage): Promise<Row[]> {
  return withServer(stage, 'configuration', async ({ server, call, connectionString }) => {
    const { unchanged, changed } = await measureApply(call);
    const search = await measureSearch(call, connectionString);
    return [
      { what: 'apply an unchanged file, 50 tools and 50 notebooks, 4 at once', measured: rate(unchanged) },
      { what: 'apply a changed file, 50 tools and 50 notebooks, 4 at once', measured: rate(changed) },
      { what: 'search in a full notebook of 5 MB, 2 at once', measured: rate(search) },
      { what: 'memory after applying and searching', measured: megabytes(memoryOf(server).server), budget: '300 MB' },
    ];
  });
}

export async function measureJobs({ folder }: Stage): Promise<Row[]> {
  const postgres = await startEmbeddedPostgres({ dataDir: join(folder, 'jobs-database'), log: () => {} });
  try {
    const delay = await measureJobDelay(postgres.connectionString);
    return [{ what: 'job: commit to start, p50', measured: duration(delay), budget: '5 ms' }];
  } finally {
    await postgres.stop();
  }
}

async function withServer({ folder }: Stage, name: string, work: (started: Started) => Promise<Row[]>): Promise<Row[]> {
  const postgres = await startEmbeddedPostgres({ dataDir: join(folder, `${name}-database`), log: () => {} });
  const { connectionString } = postgres;
  const dispatcher = new Agent({ connections: 64, pipelining: 1 });
  try {
    const server = await startServerProcess(join(folder, name), await freePort(), { DATABASE_URL: connectionString });
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
