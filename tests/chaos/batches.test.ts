import { readFile } from 'node:fs/promises';
import { startScriptedModelServer } from '@vestra/models/testing/scripted-server';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { query } from '../support/database.ts';
import { makeDataDir, type ServerProcess, startProcess } from '../support/process.ts';

/** The short form belongs to every change; `npm run chaos` runs the long one. */
const isLong = process.env.VESTRA_CHAOS === 'long';
const kills = isLong ? 20 : 2;
const itemCount = isLong ? 5000 : 60;

let dataDir: string;
let remove: () => Promise<void>;
let server: ServerProcess;
let model: Awaited<ReturnType<typeof startScriptedModelServer>>;
let calls = 0;

const start = () =>
  startProcess(dataDir, {
    OPENAI_COMPATIBLE_BASE_URL: model.baseUrls.compatible,
    OPENAI_COMPATIBLE_MODELS: 'scripted',
    VESTRA_DEFAULT_MODEL: 'compatible/scripted',
    // The short form waits less for what a killed process held.
    ...(!isLong && { VESTRA_LEASE_SECONDS: '5' }),
    VESTRA_REQUESTS_PER_MINUTE: '1000000',
  });

beforeAll(async () => {
  ({ dataDir, remove } = await makeDataDir());
  model = await startScriptedModelServer({
    respond: () => {
      calls += 1;
      return { text: 'Done.', delayMs: 20, usage: { inputTokens: 1000, outputTokens: 0 } };
    },
  });
  server = await start();
});
afterAll(async () => {
  await server.kill('SIGTERM');
  await model.close();
  await remove();
});

describe('killed again and again while a batch runs', () => {
  it(
    'finishes every item, none twice, and emits one event at the end [BAT-003, BAT-028, BAT-033]',
    async () => {
      await server.call('PUT', '/v1/deployments/desk?promote=now', {
        body: { name: 'desk', instructions: 'Be kind.', memory: 'none' },
      });
      const { body: batch } = await server.call('POST', '/v1/batches', {
        body: {
          // Every tenth is the org's own agent's.
          items: Array.from({ length: itemCount }, (_, at) => ({
            ...(at % 10 !== 0 && { user_id: `user-${at}` }),
            message: `Item ${at}`,
          })),
          concurrency: isLong ? 50 : 10,
        },
      });
      const perKill = Math.floor(itemCount / (kills + 2));
      for (let kill = 0; kill < kills; kill++) {
        const seen = calls;
        while (calls < seen + perKill) await new Promise((resolve) => setTimeout(resolve, 5));
        await server.kill('SIGKILL');
        server = await start();
      }
      let shown = (await server.call('GET', `/v1/batches/${batch.id}`)).body;
      while (shown.completed_at === null) {
        expect(Object.values(shown.counts as Record<string, number>).reduce((sum, each) => sum + each, 0)).toBe(
          itemCount,
        );
        await new Promise((resolve) => setTimeout(resolve, 250));
        shown = (await server.call('GET', `/v1/batches/${batch.id}`)).body;
      }
      expect(shown).toMatchObject({
        status: 'completed',
        counts: { queued: 0, running: 0, succeeded: itemCount, failed: 0, cancelled: 0 },
      });
      // A call that died with its process is asked again; what was paid for stands in the ledger once per item.
      expect(shown.spend_usd).toBeCloseTo(itemCount * 0.001, 5);

      const connectionString = await readFile(`${dataDir}/postgres.url`, 'utf8');
      const [sums] = await query(
        connectionString,
        `SELECT (SELECT count(*)::int FROM turns WHERE origin = 'batch') AS turns,
           (SELECT count(DISTINCT conversation_id)::int FROM turns WHERE origin = 'batch') AS conversations,
           (SELECT count(*)::int FROM conversations) AS all_conversations,
           (SELECT count(*)::int FROM tasks) AS tasks,
           (SELECT count(DISTINCT text)::int FROM messages WHERE role = 'user') AS asked,
           (SELECT count(*)::int FROM messages WHERE role = 'user') AS said,
           (SELECT count(*)::int FROM messages WHERE role = 'work') AS answered,
           (SELECT count(DISTINCT turn_id)::int FROM batch_items) AS items,
           (SELECT count(*)::int FROM users) AS users,
           (SELECT count(*)::int FROM events WHERE type = 'task.completed') AS completed,
           (SELECT count(*)::int FROM events WHERE type = 'batch.completed') AS ended,
           (SELECT count(*)::int FROM runs) AS runs`,
      );
      expect(sums).toEqual({
        turns: itemCount,
        conversations: itemCount,
        all_conversations: itemCount,
        tasks: itemCount,
        asked: itemCount,
        said: itemCount,
        answered: itemCount,
        items: itemCount,
        users: itemCount - Math.ceil(itemCount / 10),
        completed: itemCount,
        ended: 1,
        runs: 0,
      });
    },
    isLong ? 3_600_000 : 300_000,
  );
});
