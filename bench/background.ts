import { join } from 'node:path';
import { startEmbeddedPostgres } from '@vestra/server/platform/db/embedded';
import { measureBatches } from './batches.ts';
import { measureJobDelay } from './job-delay.ts';
import { freePort } from './processes.ts';
import { duration, type Row, type Stage } from './report.ts';
import { measureDueRoutines, measureRoutines } from './routines.ts';
import { measureWebhooks } from './webhooks.ts';
import { withServer } from './with-server.ts';

export async function measureBatch({ folder, share }: Stage): Promise<Row[]> {
  const count = Math.round(5000 * share);
  const alone = await measureBatches(join(folder, 'batches'), 1, count);
  const shared = await measureBatches(join(folder, 'shared-batches'), 3, count);
  const what = `batch of ${count.toLocaleString('en')} items with an instant model`;
  const cpu = ({ serverCpu, postgresCpu }: typeof alone) => `${duration(serverCpu)}, ${duration(postgresCpu)}`;
  const shares = shared.shares.map((each) => `${Math.round(each * 100)} %`).join(', ');
  return [
    { what, measured: `${alone.seconds.toFixed(1)} s`, budget: '15 s' },
    { what: `${what}: server and PostgreSQL CPU an item`, measured: cpu(alone) },
    { what: `${what}, three processes`, measured: `${shared.seconds.toFixed(1)} s`, budget: '15 s' },
    { what: `${what}, three processes: servers and PostgreSQL CPU an item`, measured: cpu(shared) },
    { what: `${what}, three processes: items that each runs`, measured: shares },
  ];
}

export async function measureDeliveries({ folder }: Stage): Promise<Row[]> {
  const { alone, besideSick, emitMs } = await measureWebhooks(join(folder, 'webhooks'), await freePort());
  const shown = ({ perSecond, delayP50, delayP95 }: typeof alone) =>
    `${Math.round(perSecond).toLocaleString('en')}/s, delay p50 ${delayP50.toFixed(1)}, p95 ${delayP95.toFixed(1)} ms`;
  return [
    { what: 'webhooks to 4 endpoints that answer', measured: shown(alone) },
    { what: 'webhooks to the same, beside 4 that hang and 4 that fail', measured: shown(besideSick) },
    {
      what: 'an event in the transaction of what it tells, heard by nobody and by 4, p50',
      measured: `${duration(emitMs.unheard)} and ${duration(emitMs.heard)}`,
    },
  ];
}

export async function measureSchedule(stage: Stage): Promise<Row[]> {
  const { due, seconds, ran, p50, p95, most } = await measureDueRoutines(stage);
  const thousands = (count: number) => count.toLocaleString('en');
  const what = `of 100,000 routines, ${thousands(due)} due over ${Math.round(seconds)} s`;
  return [
    { what: `${what}: began`, measured: `${thousands(ran)} of ${thousands(due)}`, budget: thousands(due) },
    { what: `${what}: late by, p50, p95, at most`, measured: [p50, p95, most].map(duration).join(', ') },
    ...(await measureLooks(stage)),
  ];
}

function measureLooks(stage: Stage): Promise<Row[]> {
  return withServer(stage, 'routines', async ({ connectionString }) => {
    const { idleLookMs, dueLookMs, allDueLookMs, nextRunMs } = await measureRoutines(connectionString);
    return [
      {
        what: 'look for due routines among 100,000, none, 100 and all of them due, p50',
        measured: [idleLookMs, dueLookMs, allDueLookMs].map(duration).join(', '),
      },
      { what: 'working out the next run of a routine, p50', measured: `${nextRunMs.toFixed(3)} ms` },
    ];
  });
}

export async function measureJobs({ folder }: Stage): Promise<Row[]> {
  const postgres = await startEmbeddedPostgres({ dataDir: join(folder, 'jobs-database'), log: () => {} });
  try {
    const delay = await measureJobDelay(postgres.connectionString);
    return [{ what: 'job: commit to start, p50', measured: duration(delay), budget: '5 ms' }];
  } finally {
    await postgres.stop();
  }
}
