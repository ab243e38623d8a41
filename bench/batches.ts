import { setTimeout as sleep } from 'node:timers/promises';
import { startEmbeddedPostgres } from '@vestra/server/platform/db/embedded';
import pg from 'pg';
import { startModelProcess } from './model-process.ts';
import { cpuMs, postgresCpuMs, postmasterOf } from './processes.ts';
import type { RunningServer } from './server-process.ts';
import { callServer, startWithModel } from './vestra.ts';

/** `shares`: of the items seen at work, the part of each process. Processor time is in milliseconds for each item. */
type BatchFigures = { seconds: number; shares: number[]; serverCpu: number; postgresCpu: number };

/**
 * From the call that creates a batch to its end, with a model that answers at once and a user for each item. The call goes
 * to one of `processes` on one PostgreSQL.
 */
export async function measureBatches(folder: string, processes: number, items: number): Promise<BatchFigures> {
  const model = await startModelProcess();
  const postgres = await startEmbeddedPostgres({ dataDir: `${folder}-database`, log: () => {} });
  const client = new pg.Client({ connectionString: postgres.connectionString });
  await client.connect();
  const servers: RunningServer[] = [];
  try {
    for (let at = 0; at < processes; at++) {
      servers.push(await startWithModel(folder, model.baseUrl, { DATABASE_URL: postgres.connectionString }));
    }
    const [server] = servers as [RunningServer];
    await run(server, 200, async () => {});
    const postmaster = await postmasterOf(postgres.connectionString);
    const cpuOfServers = () => servers.reduce((sum, { process: { pid } }) => sum + cpuMs(pid as number), 0);
    const before = { servers: cpuOfServers(), postgres: postgresCpuMs(postmaster) };
    const seen = new Map<string, number>();
    const seconds = await run(server, items, async () => {
      const { rows } = await client.query<{ owner: string }>(
        `SELECT r.owner FROM batch_items i JOIN runs r ON r.id = i.task_id WHERE i.status = 'running'`,
      );
      for (const { owner } of rows) seen.set(owner, (seen.get(owner) ?? 0) + 1);
    });
    const all = [...seen.values()].reduce((sum, each) => sum + each, 0);
    return {
      seconds,
      shares: [...seen.values()].map((each) => each / all).sort((a, b) => b - a),
      serverCpu: (cpuOfServers() - before.servers) / items,
      postgresCpu: (postgresCpuMs(postmaster) - before.postgres) / items,
    };
  } finally {
    await client.end();
    for (const each of servers) await each.stop();
    await model.stop();
    await postgres.stop();
  }
}

async function run(server: RunningServer, count: number, look: () => Promise<void>): Promise<number> {
  const items = Array.from({ length: count }, (_, at) => ({
    user_id: `user-${at}`,
    message: `Write the summary of order ${at}.`,
    metadata: { order: String(at) },
  }));
  const startedAt = performance.now();
  const made = (await callServer(server, 'POST', '/v1/batches', { items, concurrency: 100 })) as Batch;
  for (let batch = made; ; ) {
    if (batch.completed_at !== null) {
      if (batch.counts.succeeded !== count) throw new Error(`the batch ended as ${JSON.stringify(batch)}`);
      return (performance.now() - startedAt) / 1000;
    }
    await sleep(100);
    await look();
    batch = (await callServer(server, 'GET', `/v1/batches/${made.id}`)) as Batch;
  }
}

type Batch = { id: string; completed_at: string | null; counts: { succeeded: number } };
