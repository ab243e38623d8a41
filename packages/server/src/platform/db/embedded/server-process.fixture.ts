import { type ChildProcess, spawn } from 'node:child_process';
import { EventEmitter, once } from 'node:events';
import { createRequire } from 'node:module';
import { createInterface } from 'node:readline';
import { pathToFileURL } from 'node:url';
import { onTestFinished } from 'vitest';
import { query, until } from './embedded.fixture.ts';

/** A server process that inserts rows and prints those that the database has acknowledged. */
const SERVER = `
import pg from ${JSON.stringify(pathToFileURL(createRequire(import.meta.url).resolve('pg')).href)};
import { startEmbeddedPostgres } from ${JSON.stringify(new URL('../embedded.ts', import.meta.url).href)};
import { createInterface } from 'node:readline';

const say = (line) => process.stdout.write(line + '\\n');
const options = JSON.parse(process.env.SERVER_OPTIONS);
const server = await startEmbeddedPostgres({ ...options, log: (line) => say('log: ' + line) }).catch((error) => {
  say(error.name + ': ' + error.message);
  process.exit(1);
});
const pool = new pg.Pool({ connectionString: server.connectionString, max: 4 });
// PostgreSQL may close connections of the ended pool first, which emits an error.
pool.on('error', () => {});
await pool.query('CREATE TABLE IF NOT EXISTS acknowledged (id integer PRIMARY KEY)');
process.on('SIGINT', async () => {
  await new Promise((resolve) => setTimeout(resolve, 300));
  const { rows } = await pool.query('SELECT count(*)::int AS count FROM acknowledged');
  say('interrupted, rows: ' + rows[0].count);
});
say('ready');
const write = async (first) => {
  for (let id = first; ; id += 4) {
    await pool.query('INSERT INTO acknowledged VALUES ($1)', [id]);
    say('acknowledged ' + id);
  }
};
createInterface({ input: process.stdin }).on('line', async (line) => {
  if (line === 'write') for (const first of [0, 1, 2, 3]) write(first);
  if (line !== 'stop') return;
  await pool.end();
  await server.stop();
  process.exit(0);
});
`;

type ChildServer = {
  process: ChildProcess;
  exit: Promise<number | null>;
  lines: string[];
  lineWith(text: string): Promise<string>;
};

type ChildOptions = { uid?: number; ownGroup?: boolean; reachableFolders?: string[] };

export function spawnServer(dataDir: string, options: ChildOptions = {}): ChildServer {
  const { uid, ownGroup = false, reachableFolders } = options;
  const child = spawn(process.execPath, ['--input-type=module', '--eval', SERVER], {
    ...(uid && { uid, gid: uid }),
    cwd: '/',
    detached: ownGroup,
    stdio: ['pipe', 'pipe', 'inherit'],
    env: {
      PATH: process.env.PATH,
      SERVER_OPTIONS: JSON.stringify({ dataDir, ...(reachableFolders && { reachableFolders }) }),
    },
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  const lines: string[] = [];
  const arrivals = new EventEmitter();
  createInterface({ input: child.stdout }).on('line', (line) => {
    lines.push(line);
    arrivals.emit('line');
  });
  const exit = once(child, 'close').then(([code]) => {
    arrivals.emit('line');
    return code as number | null;
  });
  return {
    process: child,
    lines,
    exit,
    lineWith: async (text) => {
      for (;;) {
        const found = lines.find((line) => line.includes(text));
        if (found) return found;
        if (child.exitCode !== null) throw new Error(`The server ended without "${text}":\n${lines.join('\n')}`);
        await once(arrivals, 'line');
      }
    },
  };
}

export async function startInChild(dataDir: string, options?: ChildOptions): Promise<ChildServer> {
  const server = spawnServer(dataDir, options);
  await server.lineWith('ready');
  return server;
}

/** Kills the server during its writes, after `count` rows were acknowledged. */
export async function rowsThenKill(server: ChildServer, count: number, together: number[] = []): Promise<number[]> {
  server.process.stdin?.write('write\n');
  await until(async () => server.lines.filter((line) => line.startsWith('acknowledged')).length >= count);
  server.process.kill('SIGKILL');
  for (const pid of together) process.kill(pid, 'SIGKILL');
  await server.exit;
  return server.lines.flatMap((line) => (line.startsWith('acknowledged ') ? [Number(line.slice(13))] : []));
}

export async function missingRows(server: { connectionString: string }, expected: number[]): Promise<number[]> {
  const rows = await query(server, 'SELECT id FROM acknowledged');
  const present = new Set(rows.map(({ id }) => id));
  return expected.filter((id) => !present.has(id));
}
