/**
 * Measures the server against its budgets. Everything is measured in one run on one machine, so that
 * figures can be compared with each other; the table goes to bench/results.md.
 */
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { arch, cpus, tmpdir } from 'node:os';
import { join } from 'node:path';
import { startEmbeddedPostgres } from '@vestra/server/db/embedded';
import { Agent, request } from 'undici';
import { measureApply, measureSearch } from './configuration.ts';
import { measureJobDelay } from './job-delay.ts';
import { load, type Measured } from './load.ts';
import { fillAuditLog } from './million-rows.ts';
import { memoryOf, type RunningServer, startServerProcess } from './server-process.ts';

type Row = { what: string; value: string; budget: string };

const dispatcher = new Agent({ connections: 64, pipelining: 1 });
const rows: Row[] = [];
const folder = await mkdtemp(join(tmpdir(), 'vestra-bench-'));
await chmod(folder, 0o711);

try {
  await coldStarts();
  await requests();
} finally {
  await rm(folder, { recursive: true, force: true });
  await dispatcher.close();
}
await writeResults();

async function coldStarts(): Promise<void> {
  const dataDir = join(folder, 'cold');
  const first = await startServerProcess(dataDir, 4711);
  add('cold start to first 200, new data folder', `${seconds(first.startMs)}`, '2.5 s');
  await first.stop();
  const second = await startServerProcess(dataDir, 4711);
  add('cold start to first 200, data folder present', `${seconds(second.startMs)}`, '1.0 s');
  await new Promise((resolve) => setTimeout(resolve, 3000));
  const memory = memoryOf(second);
  add('memory at rest, server process', `${Math.round(memory.server)} MB`, '130 MB');
  add('memory at rest, with PostgreSQL', `${Math.round(memory.withPostgres)} MB`, '250 MB');
  await second.stop();
}

async function requests(): Promise<void> {
  const postgres = await startEmbeddedPostgres({ dataDir: join(folder, 'database'), log: () => {} });
  const server = await startServerProcess(join(folder, 'server'), 4712, { DATABASE_URL: postgres.connectionString });
  try {
    const read = await load(16, 5, () => call(server, 'GET', '/v1/me'));
    add('authenticated read (GET /v1/me), 16 at once', perSecond(read), '3,000/s');
    const stored = await load(16, 5, () => call(server, 'GET', '/v1/org'));
    add('read of one row (GET /v1/org), 16 at once', perSecond(stored), '3,000/s');
    const create = await load(16, 5, () =>
      call(
        server,
        'POST',
        '/v1/keys',
        { name: 'bench', scopes: ['runtime'] },
        { 'idempotency-key': crypto.randomUUID() },
      ),
    );
    add('idempotent create (POST /v1/keys), 16 at once', perSecond(create), '');

    const few = await fillAuditLog(postgres.connectionString, 1000);
    const many = await fillAuditLog(postgres.connectionString, 1_000_000);
    const listAs = (key: string) => load(4, 2, () => call(server, 'GET', '/v1/audit-log?limit=20', undefined, {}, key));
    const small: number[] = [];
    const large: number[] = [];
    // In turns, so that what else the machine does in a moment falls on both.
    for (let round = 0; round < 4; round++) {
      small.push((await listAs(few.key)).p50);
      large.push((await listAs(many.key)).p50);
    }
    const [least, most] = [Math.min(...small), Math.min(...large)];
    add('list page at 1,000 rows, p50', `${least.toFixed(2)} ms`, '');
    add('list page at 1,000,000 rows, p50', `${most.toFixed(2)} ms`, '');
    add('list page at 1,000,000 against 1,000 rows', `${(most / least).toFixed(2)} ×`, '1.3 ×');
    const ask = (method: 'GET' | 'POST' | 'PUT', path: string, body?: unknown) => call(server, method, path, body);
    const { unchanged, changed } = await measureApply(ask);
    add('apply an unchanged file, 50 tools and 50 notebooks, 4 at once', perSecond(unchanged), '');
    add('apply a changed file, 50 tools and 50 notebooks, 4 at once', perSecond(changed), '');
    const search = await measureSearch(ask, postgres.connectionString);
    add('search in a full notebook of 5 MB, 2 at once', perSecond(search), '');
    add('memory after load, server process', `${Math.round(memoryOf(server).server)} MB`, '300 MB');
  } finally {
    await server.stop();
  }
  add('job: commit to start, p50', `${(await measureJobDelay(postgres.connectionString)).toFixed(1)} ms`, '5 ms');
  await postgres.stop();
}

async function call(
  server: RunningServer,
  method: 'GET' | 'POST' | 'PUT',
  path: string,
  body?: unknown,
  headers: Record<string, string> = {},
  key: string = server.testKey,
): Promise<string> {
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
}

function add(what: string, value: string, budget: string): void {
  rows.push({ what, value, budget });
  console.log(`${what.padEnd(50)} ${value.padStart(28)}   ${budget && `budget ${budget}`}`);
}

function seconds(ms: number): string {
  return `${(ms / 1000).toFixed(2)} s`;
}

function perSecond({ perSecond: rate, p50, p95 }: Measured): string {
  return `${Math.round(rate).toLocaleString('en')}/s, p50 ${p50.toFixed(1)}, p95 ${p95.toFixed(1)} ms`;
}

async function writeResults(): Promise<void> {
  const machine = `${cpus().length} cores, ${arch()}, ${cpus()[0]?.model.trim() ?? 'unknown'}, Node ${process.version}`;
  const table = rows.map(({ what, value, budget }) => `| ${what} | ${value} | ${budget} |`);
  const text = [
    '# Results',
    `${new Date().toISOString().slice(0, 10)} · ${machine}`,
    ['| what | measured | budget |', '|---|---|---|', ...table].join('\n'),
  ];
  await writeFile(join(import.meta.dirname, 'results.md'), `${text.join('\n\n')}\n`);
}
