import { createLog } from '@vestra/server/main/log';
import { openNotifyListener } from '@vestra/server/platform/db/notify-listener';
import { closeDatabase, openDatabase } from '@vestra/server/platform/db/pool';
import { transaction } from '@vestra/server/platform/db/transaction';
import { job } from '@vestra/server/platform/jobs/catalog';
import { createJobs } from '@vestra/server/platform/jobs/queue';
import { startWorker } from '@vestra/server/platform/jobs/worker';
import { z } from 'zod';

const runs = 200;

/** Milliseconds from the commit of the transaction that sent a job to the first line of its handler, p50. */
export async function measureJobDelay(connectionString: string): Promise<number> {
  const db = await openDatabase({ connectionString });
  const log = createLog('warn');
  const catalog = {
    'bench.ping': job({
      payload: z.strictObject({ at: z.int() }),
      policy: 'standard',
      retries: { limit: 0, delaySeconds: 1, maxDelaySeconds: 1 },
      expireInSeconds: 60,
      concurrency: 4,
    }),
  };
  const line = await openNotifyListener({ connectionString, log });
  const jobs = createJobs({ db, line, catalog });
  await jobs.start();
  let started: () => void = () => {};
  const worker = startWorker({ jobs, log, handlers: { 'bench.ping': async () => started() } });
  const times: number[] = [];
  for (let at = 0; at < runs; at++) {
    const running = new Promise<number>((resolve) => {
      started = () => resolve(performance.now());
    });
    await transaction(db, (tx) => jobs.send(tx, 'bench.ping', { at }));
    const committedAt = performance.now();
    times.push((await running) - committedAt);
  }
  await worker.stop();
  await line.close();
  await closeDatabase(db);
  times.sort((a, b) => a - b);
  return times[runs / 2] as number;
}
