import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { rm } from 'node:fs/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { startEmbeddedPostgres } from '@vestra/server/platform/db/embedded';
import pg from 'pg';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { type AgentServer, startAgentServer } from '../support/agent.ts';
import { makeDatabaseFolder } from '../support/database-folder.ts';
import { isOneProcess } from '../support/server.ts';
import { desk } from './conversations.fixture.ts';

let folder: string;
let postgres: Awaited<ReturnType<typeof startEmbeddedPostgres>>;
let counters: pg.Client;
let server: AgentServer;
/** Statements that the server sends by itself, several times within seconds. */
let background: Set<string> | undefined;

beforeAll(async () => {
  folder = await makeDatabaseFolder();
  // A separate PostgreSQL: other test files write to the log of the shared one, and its statements are not counted.
  postgres = await startEmbeddedPostgres({
    dataDir: folder,
    log: () => {},
    settings: {
      shared_preload_libraries: 'pg_stat_statements',
      // COMMIT is no statement of a request: transactions are counted by themselves.
      'pg_stat_statements.track_utility': 'off',
      fsync: 'off',
      // After a checkpoint, the first change of a page would log the whole page.
      full_page_writes: 'off',
      autovacuum: 'off',
    },
  });
  counters = new pg.Client({ connectionString: postgres.connectionString });
  await counters.connect();
  await counters.query('CREATE EXTENSION pg_stat_statements');
  server = await startAgentServer({ env: { DATABASE_URL: postgres.connectionString } });
  await server.apply(desk);
});
afterAll(async () => {
  await server?.stop();
  await counters?.end();
  await postgres?.stop();
  await rm(folder, { recursive: true, force: true });
});

/** PostgreSQL's own counts of one statement. They do not depend on the machine. */
type Counts = {
  calls: number;
  /** Returned or written. */
  rows: number;
  /** Pages of tables and indexes. */
  pages: number;
  /** Bytes of the write-ahead log. */
  logBytes: number;
};
type Statement = Counts & { text: string };

async function readStatements(): Promise<Map<string, Statement>> {
  const { rows } = await counters.query<Record<keyof Statement, string>>(
    `SELECT query AS text, sum(calls) AS calls, sum(rows) AS rows, sum(shared_blks_hit + shared_blks_read) AS pages,
       sum(wal_bytes) AS "logBytes"
     FROM pg_stat_statements WHERE query NOT LIKE '%pg_s%' GROUP BY query`,
  );
  return new Map(
    rows.map(({ text, calls, rows: returned, pages, logBytes }) => [
      text,
      { text, calls: Number(calls), rows: Number(returned), pages: Number(pages), logBytes: Number(logBytes) },
    ]),
  );
}

/** The number of the next transaction that writes. */
async function nextTransaction(): Promise<number> {
  const { rows } = await counters.query('SELECT pg_snapshot_xmax(pg_current_snapshot())::text AS next');
  return Number(rows[0].next);
}

async function backgroundStatements(): Promise<Set<string>> {
  const before = await readStatements();
  const callsSince = async () =>
    [...(await readStatements()).values()].map(({ text, calls }) => ({
      text,
      calls: calls - (before.get(text)?.calls ?? 0),
    }));
  await vi.waitUntil(async () => (await callsSince()).some(({ calls }) => calls >= 6), 60_000);
  return new Set((await callsSince()).filter(({ calls }) => calls >= 2).map(({ text }) => text));
}

type Cost = Omit<Counts, 'calls' | 'pages'> & { statements: number; transactions: number };

/**
 * The statements of one request, each with its mean counts. One that ran less than once for each request belongs to the
 * background. The count of transactions is the smallest, since background work only adds to it.
 */
async function measureCost(request: () => Promise<unknown>, times: number) {
  background ??= await backgroundStatements();
  const first = await readStatements();
  const transactions: number[] = [];
  for (let at = 0; at < times; at++) {
    const before = await nextTransaction();
    await request();
    transactions.push((await nextTransaction()) - before);
  }
  const mean = (now: Statement, name: keyof Counts) => (now[name] - (first.get(now.text)?.[name] ?? 0)) / times;
  const own = [...(await readStatements()).values()]
    .filter(({ text }) => !background?.has(text))
    .map((now) => ({
      text: now.text.replace(/\s+/g, ' ').slice(0, 120),
      calls: mean(now, 'calls'),
      rows: mean(now, 'rows'),
      pages: mean(now, 'pages'),
      logBytes: mean(now, 'logBytes'),
    }))
    .filter(({ calls }) => calls >= 1);
  return { own, transactions: Math.min(...transactions) };
}

async function costOf(request: () => Promise<unknown>): Promise<{ cost: Cost; own: Statement[] }> {
  // The first ones prepare statements and fill caches.
  for (let at = 0; at < 8; at++) await request();
  const { own, transactions } = await measureCost(request, 12);
  const sum = (name: keyof Counts) => Math.round(own.reduce((total, each) => total + each[name], 0));
  const statements = own.reduce((total, { calls }) => total + Math.floor(calls), 0);
  return { cost: { statements, transactions, rows: sum('rows'), logBytes: sum('logBytes') }, own };
}

const words = (count: number) => Array.from({ length: count }, (_, at) => ` word${at}`);

/** A new conversation with one message, whose reply is streamed. Returns how many pieces of text arrived. */
async function turn(): Promise<number> {
  const { body } = await server.call('POST', '/v1/conversations', { body: { user_id: 'counted', deployment: 'desk' } });
  const { events } = await server.stream('POST', `/v1/conversations/${body.id}/messages`, {
    body: { message: 'Hi', stream: true },
  });
  return (await events).filter(({ type }) => type === 'reply.delta').length;
}

const create = (path: string, body: object) =>
  server.call('POST', path, { body, headers: { 'idempotency-key': randomUUID() } });

/**
 * Each budget is the figure of the day it was set, with a tenth of room for bytes of the log. A change that needs more has
 * to raise it here, and to say why.
 */
const budgets: { what: string; request: () => Promise<unknown>; why: string; budget: Cost }[] = [
  {
    what: 'a new conversation and a reply of 21 tokens',
    request: turn,
    why: 'A conversation, a message, a reply and the end of its run are one transaction each, and the first two are checked again by the write.',
    budget: { statements: 12, transactions: 3, rows: 11, logBytes: 14_000 },
  },
  {
    what: 'a create of a user with an Idempotency-Key',
    request: () => create('/v1/users', { user_id: randomUUID() }),
    why: 'The key, the user, its event and the stored response are one transaction; the answer has the settings and what the user spent.',
    budget: { statements: 9, transactions: 1, rows: 6, logBytes: 2700 },
  },
  {
    what: 'a create of a conversation with an Idempotency-Key',
    request: () => create('/v1/conversations', { deployment: 'desk' }),
    why: 'The key, the conversation, its events and the stored response are one transaction.',
    budget: { statements: 6, transactions: 1, rows: 5, logBytes: 3600 },
  },
  {
    what: 'a page of conversations',
    request: () => server.call('GET', '/v1/conversations?limit=20'),
    why: 'One statement reads a row more than the page has.',
    budget: { statements: 1, transactions: 0, rows: 21, logBytes: 0 },
  },
];

it.runIf(isOneProcess).each(budgets)(
  'PostgreSQL does a bounded amount for $what: $why [MSG-601]',
  async ({ request, budget }) => {
    server.script(() => ({ text: words(21) }));
    const { cost, own } = await costOf(request);
    const exceeded = Object.entries(cost).filter(([name, value]) => value > budget[name as keyof Cost]);
    expect(exceeded, JSON.stringify({ cost, own }, null, 1)).toEqual([]);
    // A count that misses the request would fit into any budget.
    expect(cost.statements).toBeGreaterThan(budget.statements / 2);
  },
);

it.runIf(isOneProcess)('a piece of a typed reply costs the same, however long the reply is [MSG-602]', async () => {
  const pieceOf = async (tokens: number) => {
    server.script(() => ({ text: words(tokens), chunkDelayMs: 5 }));
    let pieces = 0;
    const { own } = await measureCost(async () => {
      pieces = await turn();
    }, 1);
    const text = own.filter((each) => each.text.includes('append_reply_delta'));
    const sum = (name: keyof Counts) => text.reduce((total, each) => total + each[name], 0);
    return {
      statements: sum('calls') / pieces,
      pages: sum('pages') / sum('calls'),
      logBytes: sum('logBytes') / sum('calls'),
    };
  };
  const short = await pieceOf(200);
  const long = await pieceOf(400);
  // The event and two counters.
  for (const { statements, logBytes } of [short, long]) {
    expect(statements).toBeGreaterThan(0);
    expect(statements).toBeLessThanOrEqual(1);
    expect(logBytes).toBeLessThan(700);
  }
  expect(long.logBytes / short.logBytes).toBeLessThan(1.25);
  expect(long.pages / short.pages).toBeLessThan(2);
});

/**
 * Opens as many streams as it is told, eight at a time, and discards what comes. In a separate process, because its memory
 * is not the server's. A busy server refuses some with 503; they are sent again.
 */
const followers = `
  const { connect } = require('node:net');
  const [, port, path, key, count] = process.argv;
  let left = Number(count);
  let open = 0;
  const follow = () => {
    const socket = connect(Number(port), '127.0.0.1');
    socket.write('GET ' + path + ' HTTP/1.1\\r\\nhost: x\\r\\naccept: text/event-stream\\r\\nauthorization: Bearer ' + key + '\\r\\n\\r\\n');
    socket.once('data', (first) => {
      if (!String(first).startsWith('HTTP/1.1 200')) {
        socket.destroy();
        return setTimeout(follow, 200);
      }
      socket.resume();
      if (++open === Number(count)) console.log('open');
      next();
    });
  };
  const next = () => {
    if (left-- > 0) follow();
  };
  for (let at = 0; at < 8; at++) next();`;

it.runIf(isOneProcess)('a follower of an idle conversation needs little memory [MSG-603]', async () => {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  const held = async () => {
    for (let at = 0; at < 3; at++) {
      collect();
      await new Promise(setImmediate);
    }
    const { heapUsed, external } = process.memoryUsage();
    return heapUsed + external;
  };
  const { body } = await server.call('POST', '/v1/conversations', { body: { deployment: 'desk' } });
  const follow = async (count: number) => {
    const before = await held();
    const { port } = new URL(server.url);
    const child = spawn(
      process.execPath,
      ['-e', followers, port, `/v1/conversations/${body.id}/events`, server.testKey, String(count)],
      { stdio: ['ignore', 'pipe', 'inherit'] },
    );
    await once(child.stdout, 'data');
    const each = ((await held()) - before) / count;
    child.kill();
    await once(child, 'exit');
    return each;
  };
  await follow(50);
  const each = await follow(500);
  // A socket, its parser, a request and its response: objects of Node, and three of ours.
  expect(each).toBeLessThan(24_000);
  expect(each).toBeGreaterThan(1000);
});
