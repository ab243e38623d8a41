import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { startEmbeddedPostgres } from '@vestra/server/platform/db/embedded';
import pg from 'pg';
import { each } from './load.ts';
import { askingWords, startModelProcess } from './model-process.ts';
import { cpuMs, descendantsOf, residentMb } from './processes.ts';
import { duration, type Row, type Stage } from './report.ts';
import type { RunningServer } from './server-process.ts';
import { callServer, startWithModel } from './vestra.ts';

type AtRest = { memoryMb: number; cpuMsPerSecond: number; processes: number; startMs: number };

const restarts = 3;

/**
 * Measures the memory a server holds for tasks that wait for a person.
 * The server restarts before each sample, with and without the tasks, so that memory left from creating them is not
 * counted.
 */
export async function measureWaitingTasks(stage: Stage): Promise<Row[]> {
  const count = Math.round(10_000 * stage.share);
  const model = await startModelProcess();
  const postgres = await startEmbeddedPostgres({ dataDir: join(stage.folder, 'waiting-database'), log: () => {} });
  const { connectionString } = postgres;
  const env = {
    DATABASE_URL: connectionString,
    // All of them are tasks of one org.
    VESTRA_OPEN_TASKS_PER_USER: '100000',
    VESTRA_OPEN_TASKS_PER_ORG: '100000',
  };
  const start = () => startWithModel(join(stage.folder, 'waiting'), model.baseUrl, env);
  try {
    await (await start()).stop();
    const without = await lookAtRest(start, stage.seconds / 2);
    const making = await start();
    const startedAt = performance.now();
    await makeWaiting(making, connectionString, count);
    const madeMs = performance.now() - startedAt;
    await making.stop();
    const withThem = await lookAtRest(start, stage.seconds / 2);
    const answering = await start();
    const answeredMs = await answerOne(answering);
    await answering.stop();
    const name = `${count.toLocaleString('en')} waiting tasks`;
    return [
      {
        what: `${name}: memory of the server, before and after`,
        measured: `${withThem.memoryMb.toFixed(0)} − ${without.memoryMb.toFixed(0)} = ${(withThem.memoryMb - without.memoryMb).toFixed(1)} MB`,
        budget: '5 MB',
      },
      { what: `${name}: processes of the server beside itself`, measured: String(withThem.processes), budget: '0' },
      {
        what: `${name}: CPU of the server at rest, before and after`,
        measured: `${without.cpuMsPerSecond.toFixed(1)} and ${withThem.cpuMsPerSecond.toFixed(1)} ms per second`,
      },
      {
        what: `${name}: start to first 200, before and after`,
        measured: `${duration(without.startMs)} and ${duration(withThem.startMs)}`,
      },
      { what: `${name}: from the answer to one of them to its end`, measured: duration(answeredMs) },
      { what: `${name}: made from messages in`, measured: duration(madeMs) },
    ];
  } finally {
    await postgres.stop();
    await model.stop();
  }
}

/** The middle of a few starts. */
async function lookAtRest(start: () => Promise<RunningServer>, seconds: number): Promise<AtRest> {
  const looks: AtRest[] = [];
  for (let at = 0; at < restarts; at++) {
    const server = await start();
    const pid = server.process.pid as number;
    // Five seconds after its start, a server at rest gives memory back, which takes a tenth of a second.
    await sleep(7_000);
    const before = cpuMs(pid);
    await sleep(seconds * 1000);
    looks.push({
      memoryMb: residentMb(pid),
      cpuMsPerSecond: (cpuMs(pid) - before) / seconds,
      processes: descendantsOf(pid).length,
      startMs: server.startMs,
    });
    await server.stop();
  }
  const middle = (name: keyof AtRest) => looks.map((look) => look[name]).sort((a, b) => a - b)[1] as number;
  return {
    memoryMb: middle('memoryMb'),
    cpuMsPerSecond: middle('cpuMsPerSecond'),
    processes: middle('processes'),
    startMs: middle('startMs'),
  };
}

async function makeWaiting(server: RunningServer, connectionString: string, count: number): Promise<void> {
  await each(count, 32, (at) =>
    callServer(server, 'POST', '/v1/conversations', {
      deployment: 'bench',
      user_id: `user-${at % 1000}`,
      message: `${askingWords}, then see to order ${at}.`,
      hand_off: 'always',
    }),
  );
  const client = new pg.Client({ connectionString });
  await client.connect();
  try {
    let last = 0;
    let deadline = performance.now() + 60_000;
    for (;;) {
      const { rows } = await client.query<{ status: string; tasks: number }>(
        'SELECT status, count(*)::int AS tasks FROM tasks GROUP BY status',
      );
      const waiting = rows.find(({ status }) => status === 'waiting')?.tasks ?? 0;
      if (waiting === count) return;
      // Wait without a limit while the count still grows.
      if (waiting > last) deadline = performance.now() + 60_000;
      if (performance.now() > deadline) throw new Error(`The tasks do not all wait: ${JSON.stringify(rows)}`);
      last = waiting;
      await sleep(200);
    }
  } finally {
    await client.end();
  }
}

/** That they wait and are not merely forgotten. */
async function answerOne(server: RunningServer): Promise<number> {
  const { data } = (await callServer(server, 'GET', '/v1/interactions?status=pending&limit=1')) as {
    data: { id: string; task_id: string }[];
  };
  const [interaction] = data;
  if (!interaction) throw new Error('No interaction is pending.');
  const startedAt = performance.now();
  await callServer(server, 'POST', `/v1/interactions/${interaction.id}/answer`, { answers: ['The first.'] });
  for (;;) {
    const { status } = (await callServer(server, 'GET', `/v1/tasks/${interaction.task_id}`)) as { status: string };
    const elapsed = performance.now() - startedAt;
    if (status === 'done') return elapsed;
    if (status === 'failed' || elapsed > 30_000) throw new Error(`The answered task is ${status}.`);
    await sleep(5);
  }
}
