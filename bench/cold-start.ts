import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { freePort } from './processes.ts';
import { duration, megabytes, type Row, type Stage } from './report.ts';
import { memoryOf, startServerProcess } from './server-process.ts';

export async function measureColdStart({ folder }: Stage): Promise<Row[]> {
  const dataDir = join(folder, 'cold');
  const first = await startServerProcess(dataDir, await freePort());
  await first.stop();
  const second = await startServerProcess(dataDir, await freePort());
  await sleep(3000);
  const memory = memoryOf(second);
  await second.stop();
  return [
    { what: 'cold start to first 200, new data folder', measured: duration(first.startMs), budget: '2.5 s' },
    { what: 'cold start to first 200, data folder present', measured: duration(second.startMs), budget: '1.0 s' },
    { what: 'memory at rest, server process', measured: megabytes(memory.server), budget: '130 MB' },
    { what: 'memory at rest, with PostgreSQL', measured: megabytes(memory.withPostgres), budget: '250 MB' },
  ];
}
