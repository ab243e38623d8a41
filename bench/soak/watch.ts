import { readFileSync, rmSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import type pg from 'pg';
import { cpuMs, residentMb } from '../processes.ts';

/** A process of the server, and the file in which it notes its heap. */
export type Watched = { pid: number; noteFile: string };

/** Counters of PostgreSQL for one statement since the server started. */
type Counted = { calls: number; ms: number; blocks: number; rows: number };

export type SoakSample = {
  minute: number;
  turns: number;
  errors: number;
  processes: { residentMb: number; heapMb: number; cpuMs: number }[];
  databaseMb: number;
  deadRows: number;
  statements: Map<string, Counted>;
};

/** Cost per call of a statement between two samples. */
export type Spent = { id: string; calls: number; msPerCall: number; blocksPerCall: number; blocksPerRow: number };

export async function look(
  client: pg.Client,
  watched: readonly Watched[],
  done: Pick<SoakSample, 'minute' | 'turns' | 'errors'>,
): Promise<SoakSample> {
  const processes: SoakSample['processes'] = [];
  for (const { pid, noteFile } of watched) {
    // Before the collection that the note asks for: what it has when nobody asks.
    const resident = residentMb(pid);
    processes.push({ residentMb: resident, heapMb: await heapMbOf(pid, noteFile), cpuMs: cpuMs(pid) });
  }
  const { rows } = await client.query<{ size: string; dead: string }>(
    `SELECT pg_database_size(current_database()) AS size, (SELECT sum(n_dead_tup) FROM pg_stat_user_tables) AS dead`,
  );
  return {
    ...done,
    processes,
    databaseMb: Number(rows[0]?.size) / 2 ** 20,
    deadRows: Number(rows[0]?.dead),
    statements: await countedStatements(client),
  };
}

async function heapMbOf(pid: number, noteFile: string): Promise<number> {
  rmSync(noteFile, { force: true });
  process.kill(pid, 'SIGUSR2');
  for (const until = performance.now() + 30_000; performance.now() < until; await sleep(20)) {
    try {
      return JSON.parse(readFileSync(noteFile, 'utf8')).heapMb;
    } catch {
      // Not written yet, or not to its end.
    }
  }
  throw new Error(`The process ${pid} did not note its heap within 30 s.`);
}

async function countedStatements(client: pg.Client): Promise<Map<string, Counted>> {
  const { rows } = await client.query<Record<keyof Counted | 'id', string>>(
    `SELECT queryid::text AS id, sum(calls) AS calls, sum(total_exec_time) AS ms,
       sum(shared_blks_hit + shared_blks_read) AS blocks, sum(rows) AS rows
     FROM pg_stat_statements WHERE queryid IS NOT NULL AND query NOT LIKE '%pg_stat_%' GROUP BY queryid`,
  );
  const counted = rows.map(({ id, calls, ms, blocks, rows: all }): [string, Counted] => [
    id,
    { calls: Number(calls), ms: Number(ms), blocks: Number(blocks), rows: Number(all) },
  ]);
  return new Map(counted);
}

export function spentBetween(before: SoakSample, after: SoakSample): Spent[] {
  return [...after.statements].flatMap(([id, now]) => {
    const then = before.statements.get(id) ?? { calls: 0, ms: 0, blocks: 0, rows: 0 };
    const calls = now.calls - then.calls;
    if (calls <= 0) return [];
    const blocks = now.blocks - then.blocks;
    return [
      {
        id,
        calls,
        msPerCall: (now.ms - then.ms) / calls,
        blocksPerCall: blocks / calls,
        blocksPerRow: blocks / Math.max(calls, now.rows - then.rows),
      },
    ];
  });
}

export async function textsOf(client: pg.Client): Promise<Map<string, string>> {
  const { rows } = await client.query<{ id: string; query: string }>(
    'SELECT queryid::text AS id, min(query) AS query FROM pg_stat_statements GROUP BY queryid',
  );
  return new Map(rows.map(({ id, query }) => [id, query.replace(/\s+/g, ' ').trim()]));
}

/** The statements that took most of the database's time between two looks. */
function topOf(before: SoakSample, after: SoakSample, count: number): Spent[] {
  const took = ({ calls, msPerCall }: Spent) => calls * msPerCall;
  return spentBetween(before, after)
    .sort((one, other) => took(other) - took(one))
    .slice(0, count);
}

export function lineOf(before: SoakSample, after: SoakSample, texts: ReadonlyMap<string, string>): string {
  const minute = String(after.minute).padStart(3);
  const rate = (after.turns - before.turns).toString();
  const each = after.processes.map(({ residentMb, heapMb, cpuMs }, at) => {
    const cpuShare = (cpuMs - (before.processes[at]?.cpuMs ?? 0)) / 600;
    return `${residentMb.toFixed(0)}/${heapMb.toFixed(1)} MB ${cpuShare.toFixed(0)} %`;
  });
  const statements = topOf(before, after, 5).map(({ id, msPerCall, blocksPerCall }) => {
    const name = (texts.get(id) ?? id).slice(0, 36);
    return `${msPerCall.toFixed(2)} ms ${blocksPerCall.toFixed(1)} bl ${name}`;
  });
  return [
    `${minute} min: ${rate} turns, ${after.errors} errors`,
    `resident/heap ${each.join(', ')}`,
    `database ${after.databaseMb.toFixed(0)} MB, ${after.deadRows} dead rows`,
    ...statements,
  ].join(' | ');
}
