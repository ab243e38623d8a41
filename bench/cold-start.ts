import { existsSync } from 'node:fs';
import { chmod, mkdtemp } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { freePort } from './processes.ts';
import { duration, failedMark, megabytes, type Row, type Stage } from './report.ts';
import { memoryOf, programs, startServerProcess } from './server-process.ts';

/** The clone and the package beside each other, in one run. */
export async function measureColdStart(stage: Stage): Promise<Row[]> {
  const source = await measure(stage, 'source', {});
  if (existsSync(programs.bundle)) {
    return [...source, ...(await measure(stage, 'bundle', { new: '1.3 s', present: '0.6 s', memory: '100 MB' }))];
  }
  return [...source, { what: 'cold start from the bundle', measured: `${failedMark}npm run build was not run` }];
}

const starts = 5;

/** Of several starts the middle one: each waits for the disk, which others use too. */
async function measure(
  { folder, share, note }: Stage,
  form: keyof typeof programs,
  budget: { new?: string; present?: string; memory?: string },
): Promise<Row[]> {
  // A folder of its own each time: where many files were just deleted some file systems make new ones twenty times slower.
  let dataDir = '';
  const anew = async () => {
    dataDir = await mkdtemp(join(folder, `cold-${form}-`));
    await chmod(dataDir, 0o711);
  };
  const start = async (restMs = 0) => {
    const server = await startServerProcess(dataDir, await freePort(), {}, programs[form]);
    await sleep(restMs);
    const memory = memoryOf(server);
    await server.stop();
    return { startMs: server.startMs, memory };
  };
  // The first start fills Node's compile cache for this version. Start once so that no measured start pays for it.
  await anew();
  await start();
  const made: number[] = [];
  const present: number[] = [];
  for (let round = 0; round < starts; round++) {
    await anew();
    made.push((await start()).startMs);
    present.push((await start()).startMs);
  }
  note(`${form}: at rest`);
  const { memory } = await start(share === 1 ? 20_000 : 2_000);
  return [
    row(`cold start to first 200, new data folder, ${form}`, duration(middle(made)), budget.new),
    row(`cold start to first 200, data folder present, ${form}`, duration(middle(present)), budget.present),
    row(`memory at rest, server process, ${form}`, megabytes(memory.server), budget.memory),
    row(`memory at rest, with PostgreSQL, ${form}`, megabytes(memory.withPostgres)),
  ];
}

const middle = (figures: number[]): number => figures.sort((a, b) => a - b)[figures.length >> 1] as number;

const row = (what: string, measured: string, budget?: string): Row => ({ what, measured, ...(budget && { budget }) });
