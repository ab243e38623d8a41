/**
 * An hour of everything at once at about half of what the machine carries: two processes on one PostgreSQL. Memory must
 * not grow after the first sixth, nothing may stay open, and no statement may do more at the end than at the start.
 *
 *   node bench/soak.ts                    an hour at 40 turns a second
 *   node bench/soak.ts --minutes 12       shorter; what is compared with what shrinks with it
 *   node bench/soak.ts --rate 20          at 20 turns a second
 *   node bench/soak.ts --raw <file>       every figure of every minute, a line of JSON each
 */
import { appendFileSync, chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { startEmbeddedPostgres } from '@vestra/server/platform/db/embedded';
import pg from 'pg';
import { startModelProcess } from './model-process.ts';
import { freePort } from './processes.ts';
import { type RunningServer, startServerProcess } from './server-process.ts';
import { judge } from './soak/judge.ts';
import { leftOpen } from './soak/left-open.ts';
import { createLoad } from './soak/load.ts';
import { lineOf, look, type SoakSample, spentBetween, textsOf, type Watched } from './soak/watch.ts';
import { callServer } from './vestra.ts';

const { values: given } = parseArgs({
  options: {
    minutes: { type: 'string', default: '60' },
    rate: { type: 'string', default: '40' },
    raw: { type: 'string' },
  },
});
const minutes = Number(given.minutes);
const perSecond = Number(given.rate);
if (!(minutes >= 3 && perSecond > 0)) throw new Error('Give at least 3 --minutes, and a --rate of turns a second.');

/** By its id, how often each event was told. */
const heard = new Map<string, number>();

const folder = mkdtempSync(join(tmpdir(), 'vestra-soak-'));
// PostgreSQL runs as another user where this runs as root.
chmodSync(folder, 0o711);
process.exitCode = 1;
try {
  const faults = await soak();
  for (const fault of faults) console.log(`FAULT ${fault}`);
  console.log(faults.length === 0 ? 'It held.' : `${faults.length} faults.`);
  process.exitCode = faults.length === 0 ? 0 : 1;
} finally {
  rmSync(folder, { recursive: true, force: true });
}
process.exit();

async function soak(): Promise<string[]> {
  const model = await startModelProcess();
  const postgres = await startEmbeddedPostgres({
    dataDir: join(folder, 'database'),
    log: (line) => console.error(line),
    settings: { shared_preload_libraries: 'pg_stat_statements' },
  });
  const client = new pg.Client({ connectionString: postgres.connectionString });
  await client.connect();
  await client.query('CREATE EXTENSION pg_stat_statements');
  const receiver = await startReceiver();
  const modelsFile = join(folder, 'models.json');
  // A window that a long talk outgrows within minutes, at a price at which a new org's money lasts.
  const scripted = {
    id: 'compatible/scripted',
    provider: 'compatible',
    context_tokens: 24_000,
    max_output_tokens: 2_000,
    price: { input: 0.1, output: 0.4 },
  };
  writeFileSync(modelsFile, JSON.stringify([scripted]));
  const servers: { running: RunningServer; watched: Watched }[] = [];
  try {
    for (const name of ['one', 'two']) {
      const noteFile = join(folder, `heap-${name}.json`);
      const running = await startServerProcess(
        join(folder, 'server'),
        await freePort(),
        {
          DATABASE_URL: postgres.connectionString,
          OPENAI_COMPATIBLE_BASE_URL: model.baseUrl,
          OPENAI_COMPATIBLE_MODELS: 'scripted',
          VESTRA_MODELS_FILE: modelsFile,
          VESTRA_DEFAULT_MODEL: 'compatible/scripted',
          VESTRA_ALLOW_PRIVATE_ADDRESSES: '1',
          VESTRA_COMPUTER: 'off',
          HEAP_NOTE: noteFile,
        },
        join(import.meta.dirname, 'soak/noted-server.ts'),
      );
      servers.push({ running, watched: { pid: running.process.pid as number, noteFile } });
    }
    const [first] = servers;
    await callServer((first as (typeof servers)[number]).running, 'POST', '/v1/webhooks', {
      url: receiver.url,
      events: ['*'],
    });
    const load = createLoad(
      servers.map(({ running }) => running),
      perSecond,
    );
    const looks = await watchLoad(
      client,
      servers.map(({ watched }) => watched),
      load,
    );

    const { witness } = load;
    const twice = [...heard.values()].filter((times) => times > 1).length;
    console.log(
      `${witness.turns} turns (${witness.tasks} with work that waited for a yes), ${witness.batchItems} items of batches, ` +
        `${heard.size} webhooks heard (${twice} more than once), ${witness.heldBack} turns left out because others were late`,
    );
    for (const error of [...new Set(witness.errors)].slice(0, 20)) console.log(`ERROR ${error}`);
    const verdict = judge(looks, await textsOf(client));
    for (const sentence of verdict.told) console.log(`  ${sentence}`);
    return [
      ...(witness.errors.length > 0 ? [`${witness.errors.length} turns, batches or answers failed`] : []),
      ...verdict.faults,
      ...(await leftOpen(client, heard, 90_000)),
    ];
  } finally {
    await Promise.all(servers.map(({ running }) => running.stop()));
    await client.end();
    await postgres.stop();
    await model.stop();
    await receiver.stop();
  }
}

/** A look at each full minute while the load runs; the first as soon as it has begun. */
async function watchLoad(
  client: pg.Client,
  watched: Watched[],
  load: ReturnType<typeof createLoad>,
): Promise<SoakSample[]> {
  const { witness } = load;
  const startedAt = performance.now();
  const loading = load.run(minutes);
  // It is awaited below; until then a failure must not end the process.
  loading.catch(() => {});
  const lookAt = (minute: number) =>
    look(client, watched, { minute, turns: witness.turns, errors: witness.errors.length });
  const looks = [await lookAt(0)];
  for (let minute = 1; minute <= minutes; minute++) {
    const dueAt = sleep(Math.max(0, startedAt + minute * 60_000 - performance.now()));
    // Not waited for where the load itself has failed.
    await Promise.race([dueAt, loading.then(() => dueAt)]);
    const now = await lookAt(minute);
    const before = looks.at(-1) as SoakSample;
    looks.push(now);
    const texts = await textsOf(client);
    console.log(lineOf(before, now, texts));
    if (given.raw !== undefined) {
      const statements = spentBetween(before, now).map((spent) => ({ ...spent, text: texts.get(spent.id) }));
      appendFileSync(given.raw, `${JSON.stringify({ ...now, statements })}\n`);
    }
  }
  await loading;
  return looks;
}

async function startReceiver(): Promise<{ url: string; stop: () => Promise<void> }> {
  const server = createServer((request, response) => {
    request.resume().once('end', () => {
      const id = String(request.headers['webhook-id']);
      heard.set(id, (heard.get(id) ?? 0) + 1);
      response.writeHead(204).end();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/events`,
    stop: async () => {
      server.closeAllConnections();
      server.close();
    },
  };
}
