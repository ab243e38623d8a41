import { readdirSync, readFileSync } from 'node:fs';
import type { NormalisedRequest, ScriptedAnswer } from '@vestra/models/testing/scripted-answer';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type AgentServer, startAgentServer } from '../support/agent.ts';
import { lastText, resultsIn } from '../support/cast.ts';
import { makeDataDir, type ServerProcess, startProcess } from '../support/process.ts';

/** It takes messages and runs nothing: what runs, runs in the processes beside it, which share one data folder. */
let server: AgentServer;
let dataDir: string;
const cleanUp: (() => Promise<unknown>)[] = [];
beforeAll(async () => {
  server = await startAgentServer({ env: { VESTRA_ROLE: 'api' } });
  cleanUp.push(() => server.stop());
  const made = await makeDataDir();
  dataDir = made.dataDir;
  cleanUp.push(made.remove);
  await server.apply({ name: 'desk', memory: 'none' });
});
afterAll(async () => {
  for (let step = cleanUp.pop(); step; step = cleanUp.pop()) await step();
});

async function startWorker(): Promise<ServerProcess> {
  const started = await startProcess(dataDir, {
    ...server.env,
    VESTRA_ROLE: 'worker',
    DATABASE_URL: server.connectionString,
    VESTRA_MASTER_KEY: 'ab'.repeat(32),
    VESTRA_LEASE_SECONDS: '5',
    VESTRA_STOP_SECONDS: '10',
  });
  cleanUp.push(() => started.kill('SIGKILL'));
  return started;
}

const begin = async (user_id: string, deployment: string) => {
  const body = { user_id, deployment, message: `for ${user_id}`, hand_off: 'always' };
  return (await server.call('POST', '/v1/conversations', { body })).body.id as string;
};

const runs = (marker: string) =>
  readdirSync('/proc').some((name) => {
    try {
      return /^\d+$/.test(name) && readFileSync(`/proc/${name}/cmdline`, 'utf8').includes(marker);
    } catch {
      return false;
    }
  });
const begun = (marker: string) => expect.poll(() => runs(marker), { timeout: 30_000 }).toBe(true);
const ended = (marker: string) => expect.poll(() => runs(marker), { timeout: 45_000 }).toBe(false);
const said = async (id: string) => {
  await expect
    .poll(async () => (await server.call('GET', `/v1/conversations/${id}`)).body.status, { timeout: 90_000 })
    .toBe('idle');
  return (await server.call('GET', `/v1/conversations/${id}/messages`)).body.data[0].text as string;
};

/** Notes that it began, and then takes longer than anybody waits. */
const long = (marker: string): ScriptedAnswer => ({
  calls: [{ name: 'run_command', arguments: { command: `echo begun >>log; sleep ${marker}`, timeout_s: 600 } }],
});

it('a command ends with its process and is not run again, and the agent reads that its outcome is unknown', async () => {
  const [leaving, killed, setup] = [`31${process.pid}`, `32${process.pid}`, `33${process.pid}`];
  await server.apply({
    name: 'set-up',
    memory: 'none',
    computer: {
      setup: `echo begun >>setup.log; test -e second || { touch second; sleep ${setup}; }; echo done >>setup.log`,
    } as never,
  });
  const markers: Record<string, string> = { ada: leaving, bea: killed };
  server.script((request: NormalisedRequest) => {
    const results = resultsIn(request);
    const user = lastText(request).replace('for ', '');
    const marker = markers[user];
    if (results.length === 0)
      return marker
        ? long(marker)
        : {
            calls: [
              { name: 'list_files', arguments: {} },
              { name: 'write_file', arguments: { path: 'a', content: 'b' } },
            ],
          };
    if (results.length === 1 || (user === 'carl' && results.length === 2)) {
      return { calls: [{ name: 'run_command', arguments: { command: 'cat *log' } }] };
    }
    return { text: results.join('\n---\n') };
  });

  const leaver = await startWorker();
  await begin('ada', 'desk');
  await begun(`sleep\0${leaving}`);
  const gone = leaver.kill('SIGTERM');

  const dying = await startWorker();
  const second = await begin('bea', 'desk');
  const third = await begin('carl', 'set-up');
  await begun(`sleep\0${killed}`);
  await begun(`sleep\0${setup}`);
  await dying.kill('SIGKILL');
  await Promise.all([ended(`sleep\0${killed}`), ended(`sleep\0${setup}`)]);

  await startWorker();
  // Another process finds what it did, and the computer with its files.
  expect(await said(second)).toMatch(/outcome is unknown[\s\S]*---[\s\S]*Exit code 0\.\nstdout:\nbegun\n<\/data/);
  // Reading changes nothing and is done again; the setup that was cut is run again, to its end.
  expect(await said(third)).toMatch(
    /\/home\/agent:\n[\s\S]*Written to \/home\/agent\/a[\s\S]*stdout:\nbegun\nbegun\ndone\n/,
  );

  // The signal lets it end for as long as the grace is, and no longer.
  expect(await gone).toBe(0);
  await ended(`sleep\0${leaving}`);
}, 240_000);
