import { readFile } from 'node:fs/promises';
import { startScriptedModelServer } from '@vestra/models/testing/scripted-server';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { query } from '../support/database.ts';
import { makeDataDir, type ServerProcess, startProcess } from '../support/process.ts';

/** The short form belongs to every change; `npm run chaos` runs the long one. */
const isLong = process.env.VESTRA_CHAOS === 'long';
const kills = isLong ? 20 : 2;
const routineCount = isLong ? 2000 : 300;

let dataDir: string;
let besideDir: string;
let removals: (() => Promise<void>)[];
let server: ServerProcess;
let beside: ServerProcess;
let connectionString: string;
let model: Awaited<ReturnType<typeof startScriptedModelServer>>;

const env = () => ({
  OPENAI_COMPATIBLE_BASE_URL: model.baseUrls.compatible,
  OPENAI_COMPATIBLE_MODELS: 'scripted',
  VESTRA_DEFAULT_MODEL: 'compatible/scripted',
  VESTRA_MASTER_KEY: 'ab'.repeat(32),
  // The short form waits less for what a killed process held.
  ...(!isLong && { VESTRA_LEASE_SECONDS: '5' }),
});
const start = () => startProcess(dataDir, env());
const startBeside = () => startProcess(besideDir, { ...env(), VESTRA_ROLE: 'worker', DATABASE_URL: connectionString });

beforeAll(async () => {
  const made = [await makeDataDir(), await makeDataDir()] as const;
  removals = made.map(({ remove }) => remove);
  [dataDir, besideDir] = [made[0].dataDir, made[1].dataDir];
  model = await startScriptedModelServer({ respond: () => ({ text: 'Looked.' }) });
  server = await start();
  connectionString = await readFile(`${dataDir}/postgres.url`, 'utf8');
  beside = await startBeside();
});
afterAll(async () => {
  await beside.kill('SIGTERM');
  await server.kill('SIGTERM');
  await model.close();
  for (const remove of removals) await remove();
});

const ran = async () => {
  const [row] = await query<{ count: number }>(
    connectionString,
    'SELECT COALESCE(sum(run_count), 0)::int AS count FROM routines',
  );
  return row?.count ?? 0;
};
async function until(isReached: (count: number) => boolean): Promise<void> {
  const deadline = Date.now() + (isLong ? 1_800_000 : 240_000);
  for (let count = await ran(); !isReached(count); count = await ran()) {
    if (Date.now() > deadline) throw new Error(`Only ${count} runs were made.`);
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

describe('two servers of which one is killed again and again while routines are due', () => {
  it(
    'run each due time once, with its message, its turn and its event, and leave none out [RTN-044, RTN-045]',
    async () => {
      await server.call('PUT', '/v1/deployments/desk?promote=now', {
        body: { name: 'desk', instructions: 'Be kind.', memory: 'none' },
      });
      // The next time is half a day away, so that none falls due while the test runs.
      const cron = `0 ${(new Date().getUTCHours() + 12) % 24} * * *`;
      const { body: first } = await server.call('POST', '/v1/routines', { body: { ask: 'Look.', schedule: { cron } } });
      await query(
        connectionString,
        `INSERT INTO routines (id, org_id, mode, deployment_id, user_id, name, ask, kind, cron, timezone, next_run_at)
         SELECT 'rtn_due' || lpad(n::text, 21, '0'), org_id, mode, (SELECT default_deployment FROM org_settings o WHERE o.org_id = routines.org_id AND o.mode = routines.mode),
           'user-' || n, name, 'Look ' || n, kind, cron, timezone, now() - interval '1 minute'
         FROM routines, generate_series(2, $2) n WHERE routines.id = $1`,
        [first.id, routineCount],
      );
      await query(connectionString, `UPDATE routines SET next_run_at = now() - interval '3 hours' WHERE id = $1`, [
        first.id,
      ]);
      for (let kill = 0; kill < kills; kill++) {
        const goal = Math.floor(((kill + 1) * routineCount) / (kills + 2));
        await until((count) => count >= goal);
        if (kill % 2 === 0) {
          await server.kill('SIGKILL');
          server = await start();
        } else {
          await beside.kill('SIGKILL');
          beside = await startBeside();
        }
      }
      await until((count) => count >= routineCount);
      const wrong = await query(
        connectionString,
        `SELECT * FROM (
           SELECT r.id, r.run_count, r.next_run_at > now() AS is_ahead,
             (SELECT count(*)::int FROM messages m WHERE m.conversation_id = r.conversation_id AND m.role = 'user') AS said,
             (SELECT count(*)::int FROM turns t WHERE t.conversation_id = r.conversation_id) AS turns,
             (SELECT count(*)::int FROM events e WHERE e.type = 'routine.ran' AND e.data ->> 'id' = r.id) AS told
           FROM routines r) each
         WHERE (run_count, said, turns, told) <> (1, 1, 1, 1) OR NOT is_ahead`,
      );
      expect(wrong).toEqual([]);
      const [made] = await query(connectionString, 'SELECT count(*)::int AS conversations FROM conversations');
      expect(made).toEqual({ conversations: routineCount });
    },
    isLong ? 3_600_000 : 300_000,
  );
});
