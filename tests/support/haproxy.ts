import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { type Program, startProgram } from '../chaos/cluster/program.ts';

const program = '/usr/sbin/haproxy';
const configuration = join(import.meta.dirname, '../../deploy/proxies/haproxy.cfg');

export const isHaproxyInstalled = (): boolean => existsSync(program);

export type Haproxy = Program & {
  /** Whether HAProxy sends requests to the server of this number, from 0. */
  isUp: (server: number) => Promise<boolean>;
  /** Whether it failed so many checks that HAProxy sends it nothing. */
  isDown: (server: number) => Promise<boolean>;
};

/** HAProxy with the file of `deploy/proxies` before these servers, without TLS and on loopback. */
export function startHaproxy(of: { folder: string; port: number; serverPorts: readonly number[] }): Haproxy {
  const { folder } = of;
  const file = join(folder, 'haproxy.cfg');
  writeFileSync(file, adaptedConfiguration(readFileSync(configuration, 'utf8'), of));
  const logFile = join(folder, 'haproxy.log');
  // Between the two it is `UP 1/2`: it failed one check.
  const isIn = async (server: number, status: string) => {
    const lines = (await ask(folder, 'show stat')).split('\n');
    return lines.some((line) => line.startsWith(`vestra,vestra-${server + 1},`) && line.split(',')[17] === status);
  };
  return {
    ...startProgram({ name: 'haproxy', command: program, words: ['-db', '-f', file], logFile }),
    isUp: (server) => isIn(server, 'UP'),
    isDown: (server) => isIn(server, 'DOWN'),
  };
}

function ask(folder: string, command: string): Promise<string> {
  const socket = connect(join(folder, 'admin.sock'));
  socket.end(`${command}\n`);
  return text(socket);
}

/** Throws if the file no longer has the lines that are replaced here. */
function adaptedConfiguration(
  text: string,
  { folder, port, serverPorts }: { folder: string; port: number; serverPorts: readonly number[] },
): string {
  const replacements: [RegExp, string][] = [
    [/maxconn 20000/, `maxconn 2000\n  stats socket ${folder}/admin.sock`],
    // A machine that others use may be slower than any server in production.
    [/timeout check 10s/, 'timeout check 60s'],
    [/^ *bind :80$/m, `  bind 127.0.0.1:${port}`],
    [/^ *bind :443 .*\n/m, ''],
    [/^ *http-request redirect scheme https.*\n/m, ''],
    [/^ *http-response set-header Strict-Transport-Security.*\n/m, ''],
    [
      /^ *server vestra-1 127\.0\.0\.1:4600$/m,
      serverPorts.map((each, at) => `  server vestra-${at + 1} 127.0.0.1:${each}`).join('\n'),
    ],
    [
      /^ *server vestra-1-unchecked 127\.0\.0\.1:4600 (.*)$/m,
      serverPorts.map((each, at) => `  server vestra-${at + 1}-unchecked 127.0.0.1:${each} $1`).join('\n'),
    ],
  ];
  return replacements.reduce((before, [pattern, replacement]) => {
    if (!pattern.test(before)) throw new Error(`haproxy.cfg has no line like ${pattern}.`);
    return before.replace(pattern, replacement);
  }, text);
}
