import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type CallConnections, createCallConnections } from './call-connection.ts';
import { callFiles, packageFolder, voicePackages } from './voice-packages.ts';

const dataDir = mkdtempSync(join(tmpdir(), 'vestra-call-'));
const folder = join(dataDir, 'voice');
const masterKey = join(dataDir, 'master-key');
const databaseSocket = join(dataDir, 'database.sock');
const database = createServer();
const telephone = createSocket('udp4');

beforeAll(async () => {
  await once(database.listen(databaseSocket), 'listening');
  telephone.bind(0, '127.0.0.1');
  await once(telephone, 'listening');
  // Readable for everybody, so that only the sandbox protects them.
  chmodSync(dataDir, 0o755);
  writeFileSync(masterKey, 'the key');
  chmodSync(databaseSocket, 0o777);
  for (const { name } of voicePackages) {
    mkdirSync(packageFolder(folder, name), { recursive: true });
    writeFileSync(join(packageFolder(folder, name), 'package.json'), '{"main": "index.js"}');
  }
  const { activity } = callFiles(folder);
  mkdirSync(join(activity, '..'), { recursive: true });
  writeFileSync(activity, '');
});

afterAll(() => {
  database.close();
  telephone.close();
  rmSync(dataDir, { recursive: true });
});

/** WebRTC that an attacker took over: it runs `body`, and reports what that found as the reason of a refusal. */
function takeOver(body: string): void {
  const main = `
    const fs = require('node:fs');
    const net = require('node:net');
    const attempt = (work) => { try { return work(); } catch (error) { return error.code ?? String(error); } };
    class RTCPeerConnection {
      async setRemoteDescription() { const found = await (async () => { ${body} })(); throw new Error(JSON.stringify(found)); }
    }
    module.exports = { RTCPeerConnection, nonstandard: { RTCAudioSource: class {}, RTCAudioSink: class {} } };`;
  writeFileSync(join(callFiles(folder).wrtc, 'index.js'), main);
}

const connections = (): CallConnections =>
  createCallConnections({ folder, network: { ports: null, address: null, allowPrivate: true }, isConfined: true });

const open = () =>
  connections()
    .open({ sdp: 'v=0', iceServers: [] }, () => {})
    .then(
      () => 'it answered',
      (error: Error) => error.message,
    );

describe('the process of a call', () => {
  it('reaches its libraries and the network, and nothing of the server [HRD-700]', async () => {
    takeOver(`
      const status = fs.readFileSync('/proc/self/status', 'utf8');
      const read = (name) => new RegExp('^' + name + ':\\\\s+(\\\\S+)', 'm').exec(status)[1];
      const socket = require('node:dgram').createSocket('udp4');
      await new Promise((sent) => socket.send('sound', ${telephone.address().port}, '127.0.0.1', sent));
      socket.close();
      return {
        key: attempt(() => fs.readFileSync(${JSON.stringify(masterKey)}, 'utf8')),
        data: attempt(() => fs.readdirSync(${JSON.stringify(dataDir)})),
        sources: attempt(() => fs.readFileSync(${JSON.stringify(join(import.meta.dirname, '../../main/main.ts'))}).length),
        passwords: attempt(() => fs.readFileSync('/etc/shadow').length),
        written: ['/tmp/x', ${JSON.stringify(join(folder, 'node_modules/x'))}].map((path) => attempt(() => {
          fs.writeFileSync(path, 'more');
          return 'written';
        })),
        database: await new Promise((done) => {
          const line = net.connect(${JSON.stringify(databaseSocket)}, () => done('connected'));
          line.on('error', ({ code }) => done(code));
        }),
        environment: Object.keys(process.env).filter((name) => !['PATH', 'LANG', 'TERM', 'PWD'].includes(name)),
        processes: fs.readdirSync('/proc').filter((name) => /^[0-9]+$/.test(name)).length,
        filter: read('Seccomp'),
        privileges: [read('NoNewPrivs'), read('CapEff'), process.getuid()],
      };`);
    expect(await connections().obstacle()).toBeNull();
    const packet = once(telephone, 'message');
    const found = await open();
    expect(JSON.parse(found)).toEqual({
      key: 'ENOENT',
      data: ['voice'],
      sources: 'ENOENT',
      passwords: 'ENOENT',
      written: ['EFBIG', 'EROFS'],
      database: 'ENOENT',
      environment: [],
      processes: 2,
      filter: '2',
      privileges: ['1', '0000000000000000', 1000],
    });
    expect(String((await packet)[0])).toBe('sound');
  });

  it.each([
    ['a message that is none', `fs.writeSync(3, Buffer.from('05000000050000006e756c6c21', 'hex'));`],
    ['a message without an end', `fs.writeSync(3, Buffer.from('ffffff7f02000000', 'hex'));`],
    [
      'the wrong fields',
      `fs.writeSync(3, Buffer.concat([Buffer.from([17,0,0,0,17,0,0,0]), Buffer.from('{"kind":"answer"}')]));`,
    ],
  ])('is ended if it sends %s [HRD-700]', async (_what, body) => {
    takeOver(`${body} await new Promise(() => setInterval(() => {}, 1000));`);
    expect(await open()).toBe('its process ended');
  });

  it('refuses calls and says why if they cannot be confined [HRD-701]', async () => {
    const { wrtc } = callFiles(folder);
    chmodSync(wrtc, 0o000);
    try {
      expect(await connections().obstacle()).toMatch(
        /^The server cannot confine voice calls with bubblewrap \(.*wrtc cannot be read\)\. Install bubblewrap/,
      );
    } finally {
      chmodSync(wrtc, 0o755);
    }
    expect(await connections().obstacle()).toBeNull();
  });
});
