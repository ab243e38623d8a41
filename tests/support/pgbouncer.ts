import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { chmod, mkdtemp, rm, stat, writeFile } from 'node:fs/promises';
import { createConnection, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';

const executable = '/usr/sbin/pgbouncer';

/** Tests of it are left out where it is not installed, and say so. */
export const hasPgBouncer = existsSync(executable);
if (!hasPgBouncer)
  console.warn('PgBouncer is not installed (apt install pgbouncer): nothing is tried through a pooler.');

/** A real PgBouncer in front of the server of a connection string; `connectionString` is the way through it. */
export async function startPgBouncer(
  direct: string,
  mode: 'transaction' | 'session',
  settings: Record<string, string | number> = {},
): Promise<{ connectionString: string; stop: () => Promise<void> }> {
  const folder = await mkdtemp(join(tmpdir(), 'vestra-pgbouncer-'));
  const port = await freePort();
  const { host, port: at, user, password } = new pg.Client({ connectionString: direct });
  // A server reached by a socket admits every user that may read its folder. PgBouncer refuses to run as root.
  const { uid, gid } = host.startsWith('/') ? await stat(host) : { uid: 65_534, gid: 65_534 };
  const file = join(folder, 'pgbouncer.ini');
  const lines = Object.entries({ default_pool_size: 4, server_tls_sslmode: 'disable', ...settings });
  await writeFile(
    file,
    `[databases]
* = host=${host} port=${at} user=${user} password=${password}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${port}
unix_socket_dir =
auth_type = any
pool_mode = ${mode}
max_client_conn = 500
${lines.map(([name, value]) => `${name} = ${value}`).join('\n')}
`,
  );
  await chmod(folder, 0o711);
  await chmod(file, 0o644);
  const child = spawn(executable, ['-q', file], {
    stdio: 'ignore',
    ...(process.getuid?.() === 0 && { uid, gid }),
  });
  const name = encodeURIComponent(new pg.Client({ connectionString: direct }).database ?? '');
  for (let attempt = 0; !(await answers(port)); attempt++) {
    if (child.exitCode !== null || attempt > 200) throw new Error('PgBouncer did not start.');
    await sleep(25);
  }
  return {
    connectionString: `postgres://${user}@127.0.0.1:${port}/${name}`,
    async stop() {
      child.kill('SIGKILL');
      if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
      await rm(folder, { recursive: true, force: true });
    },
  };
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as { port: number };
  server.close();
  await once(server, 'close');
  return port;
}

async function answers(port: number): Promise<boolean> {
  const socket = createConnection(port, '127.0.0.1');
  return new Promise((resolve) => {
    socket.once('connect', () => resolve(true)).once('error', () => resolve(false));
  }).finally(() => socket.destroy()) as Promise<boolean>;
}
