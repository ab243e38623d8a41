import { writeFile } from 'node:fs/promises';
import { arch, cpus } from 'node:os';
import { join } from 'node:path';
import { startEmbeddedPostgres } from '@vestra/server/platform/db/embedded';
import pg from 'pg';
import { each } from '../load.ts';
import { slowTokens, slowWords, startModelProcess } from '../model-process.ts';
import { cpuMs, postgresCpuMs, postmasterOf, residentMb } from '../processes.ts';
import type { Row, Stage } from '../report.ts';
import { contendWith, startWithModel } from '../vestra.ts';
import { measureWalls, type Walls } from './walls.ts';

/** Time, commits and bytes that an operation costs the server and PostgreSQL. */
export type Cost = {
  serverMs: number;
  postgresMs: number;
  commits: number;
  /** Of PostgreSQL's log, without the whole pages that follow a checkpoint. */
  logBytes: number;
  /** Of tables and indexes. */
  storedBytes: number;
  storedRows: number;
};

export type MeasuredCosts = {
  measuredOn: string;
  machine: string;
  /** A turn whose reply comes at once. */
  turn: Cost;
  /** Cost of each further token of a reply streamed at fifty tokens a second. */
  typedToken: Cost;
  /** The tables that grow most by a typed reply of 200 tokens, in bytes with their indexes. */
  growth: Record<string, number>;
  /** Server memory held for a reply that is being streamed. */
  openReplyKb: number;
  walls: Walls;
};

export const costsFile = join(import.meta.dirname, 'costs.json');

/** Measures what a turn takes, and keeps it for the simulation. */
export async function measureCosts(stage: Stage): Promise<Row[]> {
  const costs = await measured(stage);
  if (stage.share === 1) await writeFile(costsFile, `${JSON.stringify(costs, null, 2)}\n`);
  const { turn, typedToken, walls } = costs;
  return [
    { what: 'a turn at once: server CPU, PostgreSQL CPU', measured: `${ms(turn.serverMs)}, ${ms(turn.postgresMs)}` },
    { what: 'a turn at once: commits, log without whole pages', measured: `${turn.commits}, ${kb(turn.logBytes)}` },
    { what: 'a turn at once: rows and bytes that stay', measured: `${turn.storedRows}, ${kb(turn.storedBytes)}` },
    {
      what: 'a typed token: server CPU, PostgreSQL CPU',
      measured: `${ms(typedToken.serverMs)}, ${ms(typedToken.postgresMs)}`,
    },
    { what: 'memory of a reply that is being typed', measured: kb(costs.openReplyKb * 1024) },
    { what: 'commits a second, by 1 and by 32 connections', measured: `${walls.commitsBy1}, ${walls.commitsBy32}` },
    { what: 'memory of an idle connection in PostgreSQL', measured: kb(walls.connectionKb * 1024) },
    {
      what: 'removing 100,000 events: row by row, by dropping their partition',
      measured: `${ms(walls.deleteMs)}, ${ms(walls.dropMs)}`,
    },
    {
      what: 'removing 100,000 events: log written, row by row, by dropping',
      measured: `${kb(walls.deleteLogBytes)}, ${kb(walls.dropLogBytes)}`,
    },
  ];
}

async function measured({ folder, share }: Stage): Promise<MeasuredCosts> {
  const model = await startModelProcess();
  const postgres = await startEmbeddedPostgres({
    dataDir: join(folder, 'scale-database'),
    log: () => {},
    // Whole pages come once a checkpoint however many turns write to them, so that they would count too much in a short run.
    settings: { full_page_writes: 'off' },
  });
  const counters = new pg.Client({ connectionString: postgres.connectionString });
  await counters.connect();
  const env = { DATABASE_URL: postgres.connectionString };
  const server = contendWith(await startWithModel(join(folder, 'scale-server'), model.baseUrl, env));
  try {
    const postmaster = await postmasterOf(postgres.connectionString);
    const costOf = async (turns: number, atOnce: number, message?: string): Promise<Cost> => {
      const before = { ...(await countersOf(counters)), server: cpuMs(server.pid), cpu: postgresCpuMs(postmaster) };
      await each(turns, atOnce, () => server.turn(message));
      const busy = { server: cpuMs(server.pid), cpu: postgresCpuMs(postmaster) };
      const after = await countersOf(counters);
      return {
        serverMs: rounded((busy.server - before.server) / turns),
        postgresMs: rounded((busy.cpu - before.cpu) / turns),
        commits: rounded((after.commits - before.commits) / turns),
        logBytes: Math.round((after.logBytes - before.logBytes) / turns),
        storedBytes: Math.round((after.bytes - before.bytes) / turns),
        storedRows: rounded((after.rows - before.rows) / turns),
      };
    };
    await each(Math.ceil(300 * share), 16, () => server.turn());
    const turn = await costOf(Math.ceil(2_000 * share), 16);
    const replies = Math.ceil(240 * share);
    const sizesBefore = await sizesOf(counters);
    const typed = await costOf(replies, 24, slowWords);
    const growth = growthOf(sizesBefore, await sizesOf(counters), replies);
    const walls = await measureWalls(postgres.connectionString, share);
    return {
      measuredOn: new Date().toISOString().slice(0, 10),
      machine: `${cpus().length} cores, ${arch()}`,
      turn,
      typedToken: perToken(typed, turn),
      growth,
      openReplyKb: await openReplyKb(server, Math.ceil(60 * share)),
      walls,
    };
  } finally {
    await counters.end();
    await server.stop();
    await model.stop();
    await postgres.stop();
  }
}

const perToken = (typed: Cost, turn: Cost): Cost => {
  const added = (name: keyof Cost) => Math.max(0, Number(((typed[name] - turn[name]) / slowTokens).toFixed(4)));
  return {
    serverMs: added('serverMs'),
    postgresMs: added('postgresMs'),
    commits: added('commits'),
    logBytes: added('logBytes'),
    storedBytes: added('storedBytes'),
    storedRows: added('storedRows'),
  };
};

/** By how much the server grows while that many replies are being typed. */
async function openReplyKb(server: ReturnType<typeof contendWith>, replies: number): Promise<number> {
  const before = residentMb(server.pid);
  const typing = each(replies, replies, () => server.turn(slowWords));
  await new Promise((resolve) => setTimeout(resolve, 3_000));
  const grown = residentMb(server.pid) - before;
  await typing;
  return Math.max(0, Math.round((grown * 1024) / replies));
}

type Counters = { commits: number; logBytes: number; bytes: number; rows: number };

/** Sessions hand their counts over when they are idle for a moment. */
async function countersOf(client: pg.Client): Promise<Counters> {
  await new Promise((resolve) => setTimeout(resolve, 1_500));
  const { rows } = await client.query<Record<keyof Counters, string>>(
    `SELECT (SELECT xact_commit FROM pg_stat_database WHERE datname = current_database()) AS "commits",
       (SELECT wal_bytes FROM pg_stat_wal) AS "logBytes",
       (SELECT sum(pg_total_relation_size(relid)) FROM pg_stat_user_tables) AS "bytes",
       (SELECT sum(n_tup_ins - n_tup_del) FROM pg_stat_user_tables) AS "rows"`,
  );
  const [row] = rows;
  return {
    commits: Number(row?.commits),
    logBytes: Number(row?.logBytes),
    bytes: Number(row?.bytes),
    rows: Number(row?.rows),
  };
}

async function sizesOf(client: pg.Client): Promise<Map<string, number>> {
  const { rows } = await client.query<{ table: string; bytes: string }>(
    `SELECT relname AS "table", pg_total_relation_size(relid) AS bytes FROM pg_stat_user_tables`,
  );
  return new Map(rows.map(({ table, bytes }) => [table, Number(bytes)]));
}

function growthOf(before: Map<string, number>, after: Map<string, number>, turns: number): Record<string, number> {
  const grown = [...after].map(
    ([table, bytes]) => [table, Math.round((bytes - (before.get(table) ?? 0)) / turns)] as const,
  );
  return Object.fromEntries(grown.sort((one, other) => other[1] - one[1]).slice(0, 8));
}

const rounded = (value: number) => Number(value.toFixed(2));
const ms = (value: number) => `${value < 1 ? value.toFixed(3) : value.toFixed(1)} ms`;
const kb = (bytes: number) => `${(bytes / 1024).toFixed(1)} KB`;
