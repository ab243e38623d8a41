/**
 * A worker in a separate process, for tests that kill or freeze it. It reports events as lines of JSON and waits for a line
 * on its standard input before it writes.
 */
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import pino from 'pino';
import { openNotifyListener } from '../db/notify-listener.ts';
import { openDatabase } from '../db/pool.ts';
import { run as execute } from '../db/query.ts';
import { sql } from '../db/sql.ts';
import { transaction } from '../db/transaction.ts';
import { createJobs } from './queue.ts';
import { holdRun, takeRun } from './run-lease.ts';
import { testCatalog } from './test-catalog.fixture.ts';
import { startWorker } from './worker.ts';

const [connectionString = '', owner = '', settings = '{}'] = process.argv.slice(2);
const log = pino({ level: 'silent' });
const db = await openDatabase({ connectionString, max: 3 });
const line = await openNotifyListener({ connectionString, log });
const jobs = createJobs({ db, line, catalog: testCatalog, settings: JSON.parse(settings) });
await jobs.start();

const lines = createInterface({ input: process.stdin });
// The test has ended.
lines.once('close', () => process.exit(1));
const nothing = async () => {};
const worker = startWorker({
  jobs,
  log,
  handlers: {
    note: nothing,
    shared: nothing,
    async fenced({ run }, { attempt, signal }) {
      const held = await takeRun(db, { runId: run, owner, leaseMs: 60_000 });
      tell({ event: 'started', attempt });
      signal.addEventListener('abort', () => tell({ event: 'aborted', reason: String(signal.reason) }));
      await once(lines, 'line');
      try {
        await transaction(db, async (tx) => {
          await holdRun(tx, held);
          await execute(tx, sql`INSERT INTO writes (run, owner) VALUES (${run}, ${owner})`);
        });
      } catch (error) {
        tell({ event: 'refused', error: error instanceof Error ? error.name : '' });
        throw error;
      }
      tell({ event: 'wrote' });
    },
  },
});
process.once('SIGTERM', async () => {
  await worker.stop({ graceMs: 300 });
  process.exit(0);
});
tell({ event: 'ready' });

function tell(message: Record<string, unknown>): void {
  process.stdout.write(`${JSON.stringify(message)}\n`);
}
