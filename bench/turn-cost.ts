import { join } from 'node:path';
import { startEmbeddedPostgres } from '@vestra/server/platform/db/embedded';
import pg from 'pg';
import { each } from './load.ts';
import { slowTokens, slowWords, startModelProcess } from './model-process.ts';
import { cpuMs, postgresCpuMs, postmasterOf } from './processes.ts';
import { duration, type Row, type Stage } from './report.ts';
import { contendWith, startWithModel } from './vestra.ts';

/**
 * Measures PostgreSQL's own counts of a turn's statements, and the cost of a reply streamed over seconds. The
 * counts do not depend on the machine.
 */
export async function measureTurnCost({ folder, share }: Stage): Promise<Row[]> {
  const model = await startModelProcess();
  const postgres = await startEmbeddedPostgres({
    dataDir: join(folder, 'cost-database'),
    log: () => {},
    settings: { shared_preload_libraries: 'pg_stat_statements', 'pg_stat_statements.track_utility': 'on' },
  });
  const counters = new pg.Client({ connectionString: postgres.connectionString });
  await counters.connect();
  await counters.query('CREATE EXTENSION pg_stat_statements');
  const env = { DATABASE_URL: postgres.connectionString };
  const server = contendWith(await startWithModel(join(folder, 'cost-server'), model.baseUrl, env));
  try {
    const postmaster = await postmasterOf(postgres.connectionString);
    await each(40, 1, () => server.turn());
    const turns = Math.max(20, Math.round(200 * share));
    const before = await countersOf(counters);
    await each(turns, 1, () => server.turn());
    const after = await countersOf(counters);
    const perTurn = (name: keyof Counters) => ((after[name] - before[name]) / turns).toFixed(1);

    const replies = Math.max(4, Math.round(72 * share));
    const cpuBefore = { server: cpuMs(server.pid), postgres: postgresCpuMs(postmaster) };
    const slowBefore = await countersOf(counters);
    await each(replies, 24, () => server.turn(slowWords));
    const slowAfter = await countersOf(counters);
    const serverCpu = (cpuMs(server.pid) - cpuBefore.server) / replies;
    const postgresCpu = (postgresCpuMs(postmaster) - cpuBefore.postgres) / replies;
    const slow = `a reply of ${slowTokens} tokens over 4 s, 24 at once`;
    return [
      { what: 'statements a turn', measured: perTurn('statements') },
      { what: 'transactions a turn, of one read alone too', measured: perTurn('commits') },
      { what: 'flushes of the log a turn, 1 at a time', measured: perTurn('flushes') },
      { what: 'log written a turn', measured: `${(Number(perTurn('logBytes')) / 1024).toFixed(1)} KB` },
      { what: `${slow}: server and PostgreSQL CPU`, measured: duration(serverCpu + postgresCpu), budget: '45 ms' },
      { what: `${slow}: server CPU`, measured: duration(serverCpu) },
      { what: `${slow}: transactions`, measured: ((slowAfter.commits - slowBefore.commits) / replies).toFixed(1) },
    ];
  } finally {
    await counters.end();
    await server.stop();
    await model.stop();
    await postgres.stop();
  }
}

type Counters = { statements: number; commits: number; flushes: number; logBytes: number };

/** Sessions hand their counts over when they are idle for a moment; the counters' own statements are left out. */
async function countersOf(client: pg.Client): Promise<Counters> {
  await new Promise((resolve) => setTimeout(resolve, 1_500));
  const { rows } = await client.query<Record<keyof Counters, string>>(
    `SELECT (SELECT sum(calls) FROM pg_stat_statements WHERE query NOT LIKE '%pg_stat_statements%') AS "statements",
       (SELECT xact_commit FROM pg_stat_database WHERE datname = current_database()) AS "commits",
       (SELECT sum(fsyncs) FROM pg_stat_io WHERE object = 'wal') AS "flushes",
       (SELECT wal_bytes FROM pg_stat_wal) AS "logBytes"`,
  );
  const [row] = rows;
  return {
    statements: Number(row?.statements),
    commits: Number(row?.commits),
    flushes: Number(row?.flushes),
    logBytes: Number(row?.logBytes),
  };
}
