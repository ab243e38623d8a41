import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const folderOfConfigurations = join(import.meta.dirname, '../../deploy/proxies');

export const proxies = {
  nginx: { program: '/usr/sbin/nginx', file: 'nginx.conf' },
  caddy: { program: '/usr/bin/caddy', file: 'Caddyfile' },
  haproxy: { program: '/usr/sbin/haproxy', file: 'haproxy.cfg' },
} as const;

export type ProxyName = keyof typeof proxies;

export const isInstalled = (name: ProxyName): boolean => existsSync(proxies[name].program);

/** A real proxy with its file of `deploy/proxies`, of which only addresses, ports and certificates are others. */
export async function startProxy(
  name: ProxyName,
  upstreamPort: number,
): Promise<{ url: string; stop: () => Promise<void> }> {
  const folder = await mkdtemp(join(tmpdir(), `vestra-${name}-`));
  const [port, plainPort] = [await freePort(), await freePort()];
  await makeCertificate(folder);
  const text = await readFile(join(folderOfConfigurations, proxies[name].file), 'utf8');
  const file = join(folder, proxies[name].file);
  const here = text.replaceAll('127.0.0.1:4600', `127.0.0.1:${upstreamPort}`);
  await writeFile(file, adapted[name](here, { folder, port, plainPort }));
  const words = {
    nginx: ['-c', file, '-e', 'stderr'],
    caddy: ['run', '--config', file, '--adapter', 'caddyfile'],
    haproxy: ['-db', '-f', file],
  };
  const child = spawn(proxies[name].program, words[name], {
    env: { PATH: process.env.PATH ?? '', HOME: folder, XDG_DATA_HOME: folder, XDG_CONFIG_HOME: folder },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let said = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (said += chunk));
  const stop = async () => {
    if (child.exitCode === null && child.signalCode === null) {
      child.kill('SIGTERM');
      await once(child, 'exit');
    }
    await rm(folder, { recursive: true, force: true });
  };
  for (const deadline = Date.now() + 30_000; !(await isOpen(port)); ) {
    if (child.exitCode !== null || Date.now() > deadline) {
      await stop();
      throw new Error(`${name} does not start: ${said}`);
    }
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  return { url: `https://localhost:${port}`, stop };
}

type Place = { folder: string; port: number; plainPort: number };

const adapted: Record<ProxyName, (text: string, place: Place) => string> = {
  nginx: (text, { folder, port, plainPort }) => `
daemon off;
pid ${folder}/pid;
error_log stderr;
events {}
http {
  access_log off;
  ${['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map((kind) => `${kind}_temp_path ${folder}/${kind};`).join('\n  ')}
  ${text
    .replaceAll('/etc/ssl/vestra', folder)
    .replaceAll('vestra.example.com', 'localhost')
    .replaceAll(/^ *listen \[::\].*\n/gm, '')
    .replace('listen 80;', `listen 127.0.0.1:${plainPort};`)
    .replace('listen 443 ', `listen 127.0.0.1:${port} `)}
}
`,
  caddy: (text, { folder, port }) => `
{
  admin off
  auto_https disable_redirects
}
${text.replace('vestra.example.com {', `https://localhost:${port} {\n  bind 127.0.0.1\n  tls ${folder}/fullchain.pem ${folder}/privkey.pem`)}`,
  haproxy: (text, { folder, port, plainPort }) =>
    text
      .replaceAll('/etc/ssl/vestra', folder)
      .replace('maxconn 20000', 'maxconn 200')
      .replace('bind :80', `bind 127.0.0.1:${plainPort}`)
      .replace('bind :443', `bind 127.0.0.1:${port}`)
      // No health route is asked where the server under test is not a whole one.
      .replace(/^ *option httpchk.*\n *http-check.*\n/m, '')
      .replace(/^ *default-server check.*\n/m, ''),
};

export async function makeCertificate(folder: string): Promise<void> {
  const files = ['-keyout', join(folder, 'privkey.pem'), '-out', join(folder, 'fullchain.pem')];
  const kind = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-subj', '/CN=localhost'];
  execFileSync('openssl', ['req', '-x509', '-days', '2', ...kind, ...files], { stdio: 'ignore' });
  const both = [await readFile(join(folder, 'fullchain.pem')), await readFile(join(folder, 'privkey.pem'))];
  await writeFile(join(folder, 'vestra.pem'), Buffer.concat(both));
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as { port: number };
  server.close();
  await once(server, 'close');
  return port;
}

const isOpen = (port: number) =>
  fetch(`http://127.0.0.1:${port}/`).then(
    () => true,
    // A TLS server answers plain text with a different error. Only a closed port refuses the connection.
    (error: { cause?: { code?: string } }) => error.cause?.code !== 'ECONNREFUSED',
  );
