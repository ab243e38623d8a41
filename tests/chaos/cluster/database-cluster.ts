import { execFileSync } from 'node:child_process';
import { chownSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { stringify } from 'yaml';
import { freePorts, type Program, startProgram } from './program.ts';

/** PostgreSQL nodes that Patroni watches over, behind the one address that HAProxy keeps on the primary. */
export type DatabaseCluster = {
  /** Address of the current primary. */
  url: string;
  nodes: readonly Node[];
  /** The node that holds the leader's lock and takes writes; waits until there is one. */
  primary: () => Promise<Node>;
  /** Waits until every node runs and commits wait for a second one. */
  untilWhole: (withinMs: number) => Promise<void>;
  stop: () => Promise<void>;
};

type Node = {
  name: string;
  port: number;
  restPort: number;
  /** Ends PostgreSQL with all its processes, at once; Patroni notices. */
  killPostgres: () => void;
  /** The same and Patroni with it, as where a machine loses its power. */
  killAll: () => Promise<void>;
  /** Starts Patroni, which brings PostgreSQL back, as the primary or behind another one. */
  start: () => void;
  /** Holds Patroni and PostgreSQL still, so that they learn nothing of what happens meanwhile. */
  freeze: () => void;
  thaw: () => void;
};

const binaries = '/usr/lib/postgresql/15/bin';
const needed = ['/usr/bin/patroni', '/usr/bin/etcd', '/usr/sbin/haproxy', `${binaries}/postgres`];
const password = 'chaos';

/** Installation steps that are missing, or null if every program is installed. */
export function missingPrograms(): string | null {
  const missing = needed.filter((path) => !existsSync(path));
  if (missing.length === 0) return null;
  return `This needs Patroni, etcd, HAProxy and PostgreSQL 15 of Debian 12 (${missing.join(', ')} is not there): apt-get install -y patroni etcd-server haproxy postgresql-15`;
}

export async function startDatabaseCluster(options: {
  folder: string;
  nodes: number;
  /** Where the two processes that serve the API listen; HAProxy shares requests between them. */
  apiPorts: readonly number[];
}): Promise<DatabaseCluster & { apiUrl: string }> {
  const { folder, apiPorts } = options;
  const user = databaseUser();
  const own = (path: string) => user && chownSync(path, user.uid, user.gid);
  mkdirSync(folder, { recursive: true });
  own(folder);
  const [etcdPort = 0, peerPort = 0, databasePort = 0, apiPort = 0, ...nodePorts] = await freePorts(
    4 + 2 * options.nodes,
  );
  const start = (name: string, command: string, words: string[], env: Record<string, string> = {}) =>
    startProgram({ name, command, words, env, logFile: join(folder, `${name}.log`), ...user });

  const etcd = start('etcd', needed[1] as string, etcdWords(join(folder, 'etcd'), etcdPort, peerPort), {
    // Debian builds it for arm64 too, and it asks to be told that this is meant.
    ...(process.arch === 'arm64' && { ETCD_UNSUPPORTED_ARCH: 'arm64' }),
  });
  const nodes = Array.from({ length: options.nodes }, (_, at) =>
    createNode({
      name: `node${at + 1}`,
      folder,
      port: nodePorts[2 * at] as number,
      restPort: nodePorts[2 * at + 1] as number,
      etcdPort,
      isStrict: options.nodes > 2,
      own,
      start,
    }),
  );
  const proxyFile = join(folder, 'haproxy.cfg');
  writeFileSync(proxyFile, proxySettings({ databasePort, apiPort, nodes, apiPorts }));
  const proxy = start('haproxy', needed[2] as string, ['-db', '-f', proxyFile]);
  for (const node of nodes) node.start();

  const url = `postgresql://postgres:${password}@127.0.0.1:${databasePort}/vestra`;
  await createDatabase(url.replace(/vestra$/, 'postgres'));
  return {
    url,
    apiUrl: `http://127.0.0.1:${apiPort}`,
    nodes,
    async primary() {
      for (;;) {
        for (const node of nodes) if (await answersOk(node, 'primary')) return node;
        await sleep(200);
      }
    },
    untilWhole: (withinMs) => untilWhole(nodes, withinMs),
    async stop() {
      for (const node of nodes) await node.killAll();
      await proxy.kill('SIGKILL');
      await etcd.kill('SIGKILL');
    },
  };
}

/** PostgreSQL refuses to run as root: then Debian's own user runs it. */
function databaseUser(): { uid: number; gid: number } | null {
  if (process.getuid?.() !== 0) return null;
  const id = (flag: string) => Number(execFileSync('id', [flag, 'postgres'], { encoding: 'utf8' }));
  return { uid: id('-u'), gid: id('-g') };
}

const etcdWords = (dataDir: string, port: number, peerPort: number) => [
  ...['--name', 'chaos', '--data-dir', dataDir],
  ...['--listen-client-urls', `http://127.0.0.1:${port}`, '--advertise-client-urls', `http://127.0.0.1:${port}`],
  ...['--listen-peer-urls', `http://127.0.0.1:${peerPort}`],
  ...['--initial-advertise-peer-urls', `http://127.0.0.1:${peerPort}`],
  ...['--initial-cluster', `chaos=http://127.0.0.1:${peerPort}`],
];

type NodeOptions = {
  name: string;
  folder: string;
  port: number;
  restPort: number;
  etcdPort: number;
  isStrict: boolean;
  own: (path: string) => void;
  start: (name: string, command: string, words: string[]) => Program;
};

function createNode(options: NodeOptions): Node {
  const { name, folder, port, restPort, own } = options;
  const dataDir = join(folder, name);
  const file = join(folder, `${name}.yml`);
  writeFileSync(file, stringify(patroniSettings(options, dataDir)));
  own(file);
  let patroni: Program | null = null;
  const signalPostgres = (signal: NodeJS.Signals) => {
    for (const pid of postgresOf(dataDir)) trySignal(pid, signal);
  };
  // Whatever ends the run, nothing of it stays behind.
  process.once('exit', () => signalPostgres('SIGKILL'));
  return {
    name,
    port,
    restPort,
    start() {
      patroni = options.start(name, needed[0] as string, [file]);
    },
    killPostgres: () => signalPostgres('SIGKILL'),
    async killAll() {
      await patroni?.kill('SIGKILL');
      patroni = null;
      signalPostgres('SIGKILL');
    },
    freeze() {
      patroni?.signal('SIGSTOP');
      signalPostgres('SIGSTOP');
    },
    thaw() {
      // PostgreSQL first: for a moment it is a primary that nobody has told of the other one.
      signalPostgres('SIGCONT');
      patroni?.signal('SIGCONT');
    },
  };
}

/** The first process of the server and all that it has started. */
function postgresOf(dataDir: string): number[] {
  const file = join(dataDir, 'postmaster.pid');
  if (!existsSync(file)) return [];
  const first = Number.parseInt(readFileSync(file, 'utf8'), 10);
  if (!commandOf(first).includes(dataDir)) return [];
  const children = readdirSync('/proc')
    .map(Number)
    .filter((pid) => pid > 0 && parentOf(pid) === first);
  return [first, ...children];
}

const commandOf = (pid: number) => readOr(`/proc/${pid}/cmdline`);
const parentOf = (pid: number) => Number(/^PPid:\s+(\d+)$/m.exec(readOr(`/proc/${pid}/status`))?.[1]);

function readOr(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}

function trySignal(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch {
    // It has ended by itself meanwhile.
  }
}

function patroniSettings({ name, folder, port, restPort, etcdPort, isStrict }: NodeOptions, dataDir: string) {
  const local = 'host all all 127.0.0.1/32 scram-sha-256';
  return {
    scope: 'vestra',
    name,
    restapi: { listen: `127.0.0.1:${restPort}`, connect_address: `127.0.0.1:${restPort}` },
    etcd3: { hosts: `127.0.0.1:${etcdPort}` },
    bootstrap: {
      dcs: {
        // The shortest that Patroni advises: a primary that vanishes is replaced after some 20 seconds.
        ttl: 20,
        loop_wait: 5,
        retry_timeout: 5,
        maximum_lag_on_failover: 1_048_576,
        // One whose PostgreSQL has crashed is replaced and not waited for.
        primary_start_timeout: 0,
        synchronous_mode: true,
        // With three nodes, a single node commits nothing. With two, the last one continues alone.
        synchronous_mode_strict: isStrict,
        postgresql: {
          use_pg_rewind: true,
          use_slots: true,
          parameters: {
            max_connections: 200,
            shared_buffers: '64MB',
            wal_keep_size: '512MB',
            // The primary drops a standby that is gone instead of waiting for TCP to notice.
            wal_sender_timeout: '10s',
            wal_receiver_timeout: '10s',
          },
        },
      },
      initdb: [{ encoding: 'UTF8' }, { locale: 'C.UTF-8' }, 'data-checksums'],
      pg_hba: [local, 'host replication all 127.0.0.1/32 scram-sha-256'],
    },
    postgresql: {
      listen: `127.0.0.1:${port}`,
      connect_address: `127.0.0.1:${port}`,
      data_dir: dataDir,
      bin_dir: binaries,
      pgpass: join(folder, `${name}.pgpass`),
      authentication: {
        superuser: { username: 'postgres', password },
        replication: { username: 'replicator', password },
        rewind: { username: 'rewinder', password },
      },
      parameters: { unix_socket_directories: folder },
      // Without this a new node waits for the checkpoint that comes by itself.
      basebackup: [{ checkpoint: 'fast' }],
    },
  };
}

const proxySettings = (of: {
  databasePort: number;
  apiPort: number;
  nodes: readonly Node[];
  apiPorts: readonly number[];
}) => `
global
  maxconn 2000
defaults
  timeout connect 2s
  timeout client 1h
  timeout server 1h
  timeout check 2s
listen database
  mode tcp
  bind 127.0.0.1:${of.databasePort}
  option httpchk GET /primary
  http-check expect status 200
  default-server inter 1s fall 2 rise 1 on-marked-down shutdown-sessions
${of.nodes.map(({ name, port, restPort }) => `  server ${name} 127.0.0.1:${port} check port ${restPort}`).join('\n')}
listen api
  mode http
  bind 127.0.0.1:${of.apiPort}
  option redispatch
  option httpchk
  http-check send meth GET uri /v1/health ver HTTP/1.1 hdr Host vestra
  default-server inter 1s fall 2 rise 1 on-marked-down shutdown-sessions
${of.apiPorts.map((port, at) => `  server api${at + 1} 127.0.0.1:${port} check`).join('\n')}
`;

async function createDatabase(url: string): Promise<void> {
  for (const until = performance.now() + 90_000; ; await sleep(500)) {
    const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 3_000 });
    client.on('error', () => {});
    try {
      await client.connect();
      await client.query(`CREATE DATABASE vestra ENCODING 'UTF8'`);
      return;
    } catch (error) {
      if (performance.now() > until) throw new Error('The database cluster did not come up.', { cause: error });
    } finally {
      await client.end().catch(() => {});
    }
  }
}

async function untilWhole(nodes: readonly Node[], withinMs: number): Promise<void> {
  for (const until = performance.now() + withinMs; ; await sleep(500)) {
    const states = await Promise.all(
      nodes.map(async (node) => ({
        isUp: (await answersOk(node, 'primary')) || (await answersOk(node, 'replica')),
        isSynchronous: await answersOk(node, 'synchronous'),
      })),
    );
    if (states.every(({ isUp }) => isUp) && states.some(({ isSynchronous }) => isSynchronous)) return;
    if (performance.now() > until) throw new Error('Not every node of the database came back.');
  }
}

async function answersOk({ restPort }: Node, path: string): Promise<boolean> {
  const answer = await fetch(`http://127.0.0.1:${restPort}/${path}`, { signal: AbortSignal.timeout(1_500) }).catch(
    () => null,
  );
  await answer?.body?.cancel();
  return answer?.status === 200;
}
