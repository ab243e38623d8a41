import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Agent, fetch as fetchWith } from 'undici';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { freePort } from '../support/free-port.ts';
import {
  type Credentials,
  makeDataDir,
  readCredentials,
  runProgram,
  type ServerProcess,
  startProcess,
} from '../support/process.ts';
import { isInstalled, makeCertificate, proxies } from '../support/reverse-proxy.ts';
import type { ApiResponse } from '../support/server.ts';

const configuration = join(import.meta.dirname, '../../deploy/cells/haproxy.cfg');
/** Every name leads to the proxy. */
const lookup = (
  _name: string,
  _options: unknown,
  found: (error: null, addresses: { address: string; family: 4 }[]) => void,
) => found(null, [{ address: '127.0.0.1', family: 4 }]);
const dispatcher = new Agent({ connect: { rejectUnauthorized: false, lookup: lookup as never } });
if (!isInstalled('haproxy')) console.warn('NOT TRIED, since not installed: deploy/cells with haproxy.');

type Cell = {
  server: ServerProcess;
  dataDir: string;
  remove: () => Promise<void>;
  credentials: Credentials;
  masterKey: string;
};

describe.skipIf(!isInstalled('haproxy'))('two cells behind one address', () => {
  let folder: string;
  let cells: { a: Cell; b: Cell };
  let proxy: ChildProcess;
  let port: number;
  let socket: string;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'vestra-cells-'));
    const [a, b] = await Promise.all([startCell('ab'.repeat(32)), startCell('cd'.repeat(32))]);
    cells = { a, b };
    port = await freePort();
    proxy = await startProxy();
  }, 300_000);
  afterAll(async () => {
    proxy?.kill('SIGTERM');
    for (const { server, remove } of Object.values(cells ?? {})) {
      await server.kill('SIGTERM');
      await remove();
    }
    await rm(folder, { recursive: true, force: true });
  });

  async function startCell(masterKey: string): Promise<Cell> {
    const { dataDir, remove } = await makeDataDir();
    const server = await startProcess(dataDir, { VESTRA_MASTER_KEY: masterKey, VESTRA_COMPUTER: 'off' });
    return { server, dataDir, remove, masterKey, credentials: await readCredentials(dataDir) };
  }

  /** The file of `deploy/cells`, of which only addresses, ports, paths and certificates are others. */
  async function startProxy(): Promise<ChildProcess> {
    const maps = join(folder, 'cells');
    await mkdir(maps);
    await makeCertificate(folder);
    const lines = Object.entries(cells).map(([name, { credentials }]) => ({ cell: `cell-${name}`, ...credentials }));
    const beginning = (key: string) => key.slice(0, 14);
    const keys = lines.flatMap(({ cell, test_key, live_key }) => [
      `${beginning(test_key)} ${cell}`,
      `${beginning(live_key)} ${cell}`,
    ]);
    await writeFile(join(maps, 'keys.map'), `${keys.join('\n')}\n`);
    await writeFile(join(maps, 'orgs.map'), `${lines.map(({ cell, org_id }) => `${org_id} ${cell}`).join('\n')}\n`);
    await writeFile(join(maps, 'hosts.map'), 'a.localhost cell-a\nb.localhost cell-b\n');
    socket = join(folder, 'socket');
    const text = (await readFile(configuration, 'utf8'))
      .replaceAll('/etc/ssl/vestra', folder)
      .replaceAll('/etc/haproxy/cells', maps)
      .replaceAll('/run/haproxy.sock', socket)
      .replace('maxconn 20000', 'maxconn 200')
      .replace('bind :80', `bind 127.0.0.1:${await freePort()}`)
      .replace('bind :443', `bind 127.0.0.1:${port}`)
      .replace('127.0.0.1:4600', new URL(cells.a.server.url).host)
      .replace('127.0.0.1:4700', new URL(cells.b.server.url).host);
    const file = join(folder, 'haproxy.cfg');
    await writeFile(file, text);
    const child = spawn(proxies.haproxy.program, ['-db', '-f', file], { stdio: ['ignore', 'pipe', 'pipe'] });
    let said = '';
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (said += chunk));
    for (const deadline = Date.now() + 60_000; ; ) {
      const status = await ask('/health/ready', { host: 'a.localhost' }).then(
        ({ status }) => status,
        () => 0,
      );
      if (status === 200) return child;
      if (child.exitCode !== null || Date.now() > deadline) throw new Error(`haproxy does not start: ${said}`);
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }

  async function ask(
    path: string,
    { key, host = 'vestra.localhost', org }: { key?: string; host?: string; org?: string },
  ) {
    const headers = {
      ...(key && { authorization: `Bearer ${key}` }),
      ...(org && { 'service-org': org }),
    };
    const response = await fetchWith(`https://${host}:${port}${path}`, { headers, dispatcher });
    return { status: response.status, body: (await response.json().catch(() => null)) as ApiResponse['body'] };
  }

  const orgOf = async (given: Parameters<typeof ask>[1]) => {
    const { status, body } = await ask('/v1/me', given);
    return status === 200 ? body.org.id : [status, body?.error?.code];
  };

  it('leads each key, org and host to its cell, and refuses a request that names none [MOVE-720]', async () => {
    const [a, b] = [cells.a.credentials, cells.b.credentials];
    expect(await Promise.all([a.test_key, a.live_key, b.test_key, b.live_key].map((key) => orgOf({ key })))).toEqual([
      a.org_id,
      a.org_id,
      b.org_id,
      b.org_id,
    ]);
    expect(await orgOf({})).toEqual([421, 'cell_unknown']);
    const unknown = { key: `vst_${'x'.repeat(43)}` };
    expect(await orgOf(unknown)).toEqual([421, 'cell_unknown']);
    // A session token has no cell in its text: the org or the host names it.
    for (const named of [{ org: b.org_id }, { host: 'b.localhost' }, { host: 'B.localhost' }]) {
      expect(await orgOf({ ...unknown, ...named })).toEqual([401, expect.any(String)]);
    }
    expect((await ask('/metrics', { host: 'a.localhost' })).status).toBe(404);
    expect((await ask('/internal/calls', { host: 'a.localhost' })).status).toBe(404);
  });

  it('moves an org from one cell to the other while its key stays the same [MOVE-721]', async () => {
    const { org_id, test_key, live_key } = cells.a.credentials;
    const admin = async (cell: Cell, ...words: string[]) => {
      const env = { VESTRA_DATA_DIR: cell.dataDir, VESTRA_MASTER_KEY: cell.masterKey };
      const { code, output } = await runProgram('operator', [...words, '--json'], env);
      expect({ words, code, output }).toMatchObject({ code: 0 });
      return JSON.parse(output);
    };
    const [file, keyFile] = [join(folder, 'org.tar'), join(folder, 'org.key')];
    await admin(cells.a, 'org', 'export', org_id, file, '--key-file', keyFile);
    expect(await orgOf({ key: test_key })).toEqual([503, 'org_moving']);
    const { receipt } = await admin(cells.b, 'org', 'import', file, '--key-file', keyFile);
    const { code } = await admin(cells.a, 'org', 'hand-over', org_id, '--receipt', receipt);
    expect(await orgOf({ key: test_key })).toEqual([403, 'org_moved']);
    await admin(cells.b, 'org', 'activate', org_id, '--code', code);
    for (const key of [test_key, live_key]) await setMap('keys.map', key.slice(0, 14), 'cell-b');
    await setMap('orgs.map', org_id, 'cell-b');
    expect(await orgOf({ key: test_key })).toBe(org_id);
    expect(await orgOf({ key: live_key })).toBe(org_id);
    expect(await orgOf({ key: cells.b.credentials.test_key })).toBe(cells.b.credentials.org_id);
  }, 300_000);

  /** As the comment in the file says, over the admin socket. */
  async function setMap(map: string, name: string, cell: string): Promise<void> {
    const { connect } = await import('node:net');
    const client = connect(socket);
    client.end(`set map ${join(folder, 'cells', map)} ${name} ${cell}\n`);
    client.resume();
    await once(client, 'close');
  }
});
