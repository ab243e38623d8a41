import { randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { query } from '../support/database.ts';
import { makeDataDir, readCredentials, type ServerProcess, startProcess } from '../support/process.ts';
import { call } from '../support/server.ts';

/** The short form belongs to every change; `npm run chaos` runs the long one. */
const isLong = process.env.VESTRA_CHAOS === 'long';
const kills = isLong ? 20 : 3;
const writers = isLong ? 16 : 6;

let dataDir: string;
let remove: () => Promise<void>;
let server: ServerProcess;

beforeAll(async () => {
  ({ dataDir, remove } = await makeDataDir());
  server = await startProcess(dataDir, { PORT: '0', VESTRA_REQUESTS_PER_MINUTE: '1000000' });
});
afterAll(async () => {
  await server.kill('SIGTERM');
  await remove();
});

describe('killed again and again while clients write', () => {
  it(
    'loses no acknowledged create and doubles none that was retried',
    async () => {
      const { test_key: key } = await readCredentials(dataDir);
      const acknowledged = new Map<string, string>();
      let isOver = false;

      /** Repeats each create with its key until it is answered, as a careful client does. */
      const write = async () => {
        while (!isOver) {
          const name = randomUUID();
          for (;;) {
            const answer = await call(server.url, key, 'POST', '/v1/keys', {
              body: { name, scopes: ['runtime'] },
              headers: { 'idempotency-key': name },
            }).catch(() => null);
            if (answer?.status === 201) {
              acknowledged.set(name, answer.body.id);
              break;
            }
            expect([undefined, 503]).toContain(answer?.status);
            await new Promise((resolve) => setTimeout(resolve, 20));
          }
        }
      };
      const writing = Promise.all(Array.from({ length: writers }, write));
      for (let kill = 0; kill < kills; kill++) {
        const seen = acknowledged.size;
        while (acknowledged.size < seen + 25) await new Promise((resolve) => setTimeout(resolve, 5));
        await server.kill('SIGKILL');
        server = await startProcess(dataDir, { VESTRA_REQUESTS_PER_MINUTE: '1000000' });
      }
      isOver = true;
      await writing;

      const kept = new Map<string, string>();
      for (let cursor: string | null = ''; cursor !== null; ) {
        const { body } = await call(server.url, key, 'GET', `/v1/keys?limit=100${cursor && `&cursor=${cursor}`}`, {});
        for (const row of body.data) {
          expect(kept.has(row.name), `${row.name} is there twice`).toBe(false);
          kept.set(row.name, row.id);
        }
        cursor = body.next_cursor;
      }
      for (const [name, id] of acknowledged) expect(kept.get(name)).toBe(id);
      await assertEachHasOneEvent([...acknowledged.values()]);
    },
    isLong ? 1_800_000 : 300_000,
  );
});

/** The create, its event and its audit row were committed together. */
async function assertEachHasOneEvent(ids: readonly string[]): Promise<void> {
  const connectionString = await readFile(`${dataDir}/postgres.url`, 'utf8');
  for (const table of [
    `SELECT data->>'id' AS id FROM events WHERE type = 'key.created'`,
    `SELECT target_id AS id FROM audit_entries WHERE action = 'key.created'`,
  ]) {
    const rows = await query<{ id: string }>(connectionString, table);
    const counts = new Map<string, number>();
    for (const { id } of rows) counts.set(id, (counts.get(id) ?? 0) + 1);
    for (const id of ids) expect(counts.get(id)).toBe(1);
  }
}
