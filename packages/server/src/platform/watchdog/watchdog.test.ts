import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { expect, it } from 'vitest';

function start(kind: 'short' | 'forever' | 'waiting') {
  const child = spawn(process.execPath, [join(import.meta.dirname, 'blocked-program.fixture.ts'), kind], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let output = '';
  child.stdout.on('data', (piece) => (output += piece));
  return { child, output: () => output, linesOf: (level: string) => linesOf(output, level) };
}

const ended = async (child: ChildProcess) => (child.exitCode ?? child.signalCode) || (await once(child, 'close'));

const linesOf = (output: string, level: string) =>
  output
    .split('\n')
    .filter((line) => line.startsWith('{'))
    .map((line) => JSON.parse(line))
    .filter((line) => line.level === level);

it.concurrent('names the routes and the code of a process that is blocked, which continues [OPS-720]', async () => {
  const { child, output, linesOf } = start('short');
  await ended(child);
  expect(child.exitCode).toBe(0);
  expect(linesOf('warn')).toContainEqual({
    level: 'warn',
    time: expect.any(String),
    msg: 'the event loop is blocked',
    latest_routes: ['messages.create'],
    stack: expect.stringContaining('at spin ('),
  });
  expect(linesOf('fatal')).toEqual([]);
  expect(output()).toMatch(/blocks [1-9]/);
});

it.concurrent('ends a process that stays blocked [OPS-720]', async () => {
  const { child, linesOf } = start('forever');
  await ended(child);
  expect(child.signalCode).toBe('SIGKILL');
  expect(linesOf('fatal')).toMatchObject([
    { msg: 'the event loop stayed blocked, so the process ends', latest_routes: ['messages.create'] },
  ]);
});

it.concurrent('does not end a process that was stopped and continues [OPS-720]', async () => {
  const { child, output, linesOf } = start('waiting');
  await delay(500);
  child.kill('SIGSTOP');
  // Longer than the limit of the program, however slow the machine is: a stopped process does not count.
  await delay(6_000);
  child.kill('SIGCONT');
  await ended(child);
  expect(child.exitCode).toBe(0);
  expect(linesOf('fatal')).toEqual([]);
  expect(output()).toContain('blocks ');
});
