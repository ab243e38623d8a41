import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { freePort } from '../support/free-port.ts';

const executable = '/usr/bin/turnserver';

/** Debian's coturn: for those who try calls through a relay. */
export const hasRelay = existsSync(executable);

/** A TURN server on loopback, and the settings by which a server uses it. */
export async function startRelay(): Promise<{ env: Record<string, string>; stop: () => Promise<void> }> {
  const secret = randomBytes(16).toString('hex');
  const port = await freePort();
  const own = ['--listening-ip=127.0.0.1', '--relay-ip=127.0.0.1', `--listening-port=${port}`, '--realm=vestra'];
  const secured = ['--use-auth-secret', `--static-auth-secret=${secret}`, '--allow-loopback-peers', '--fingerprint'];
  const plain = ['--no-cli', '--no-tls', '--no-dtls', '--log-file=stdout', '--pidfile=/dev/null', '-n'];
  const relay = spawn(executable, [...plain, ...own, ...secured], { stdio: ['ignore', 'pipe', 'inherit'] });
  await listens(relay);
  return {
    env: { VESTRA_VOICE_ICE_SERVERS: `turn:127.0.0.1:${port}`, VESTRA_VOICE_TURN_SECRET: secret },
    async stop() {
      relay.kill('SIGKILL');
      await once(relay, 'exit');
    },
  };
}

function listens({ stdout }: ChildProcess): Promise<void> {
  return new Promise((resolve, reject) => {
    let said = '';
    stdout?.on('data', (chunk) => {
      said += chunk;
      if (said.includes('Total General servers')) resolve();
    });
    stdout?.once('close', () => reject(new Error(`The relay ended: ${said}`)));
  });
}
