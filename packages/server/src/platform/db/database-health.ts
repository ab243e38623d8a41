import type pg from 'pg';
import { hasFullDisk } from './full-disk.ts';
import { CONTRACT, UNFINISHED } from './migrate.ts';
import type { Database } from './pool.ts';
import { NotThePrimary } from './primary-check.ts';
import { sqlState } from './sql.ts';

export type DatabaseHealth =
  | {
      isUp: true;
      /** The reason why it accepts no writes, or null. */
      readOnly: string | null;
      /** The reason why its schema does not fit this version, or null. */
      behind: string | null;
      seconds: number;
    }
  | { isUp: false; reason: string };

export type CheckDatabaseHealth = () => Promise<DatabaseHealth>;

/** `slowMs` is longer than a healthy database ever takes, and shorter than the timeout of a health probe. */
type Patience = { slowMs: number; giveUpMs: number };

const usualPatience: Patience = { slowMs: 2_000, giveUpMs: 5_000 };

type Facts = {
  is_standby: boolean;
  is_read_only: boolean;
  lag_seconds: number | null;
  has_newest: boolean;
  is_unfinished: boolean;
  /** The first migration that removed something which this version needs. */
  breaking: string | null;
};

/** Sends one query at a time, so that probes do not pile up on a database that does not answer. */
export function createDatabaseHealthCheck(
  db: Database,
  newestMigration: string,
  patience = usualPatience,
): CheckDatabaseHealth {
  let looking: { answer: Promise<DatabaseHealth>; since: number } | null = null;
  return async () => {
    looking ??= {
      since: performance.now(),
      answer: ask(db, newestMigration, patience).finally(() => {
        looking = null;
      }),
    };
    const { answer, since } = looking;
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<DatabaseHealth>((resolve) => {
      const leftMs = Math.max(0, since + patience.slowMs - performance.now());
      timer = setTimeout(() => resolve({ isUp: false, reason: slowReason(db, patience) }), leftMs);
    });
    return await Promise.race([answer, late]).finally(() => clearTimeout(timer));
  };
}

async function ask({ $client }: Database, newestMigration: string, { giveUpMs }: Patience): Promise<DatabaseHealth> {
  const startedAt = performance.now();
  try {
    const { rows } = await $client.query<Facts>({
      text: `SELECT pg_is_in_recovery() AS is_standby,
          current_setting('default_transaction_read_only')::bool AS is_read_only,
          extract(epoch FROM now() - pg_last_xact_replay_timestamp())::float8 AS lag_seconds,
          EXISTS (SELECT FROM schema_migrations WHERE name >= $1 AND name <> $2) AS has_newest,
          EXISTS (SELECT FROM schema_migrations WHERE name = $2) AS is_unfinished,
          (SELECT min(name) FROM schema_migrations WHERE name > $1 AND substring(name FROM $3) > left($1, 4)) AS breaking`,
      values: [newestMigration, UNFINISHED, CONTRACT],
      // Drops a dead connection with the query, so that the next probe does not get it.
      query_timeout: giveUpMs,
    } as pg.QueryConfig);
    const facts = rows[0] as Facts;
    const readOnly = readOnlyReason(facts);
    const isFull = readOnly === null && (await hasFullDisk($client, probing($client, giveUpMs)));
    return {
      isUp: true,
      readOnly: isFull ? 'The disk of the database is full.' : readOnly,
      behind: behindReason(facts, newestMigration),
      seconds: (performance.now() - startedAt) / 1000,
    };
  } catch (error) {
    if (error instanceof NotThePrimary) return { isUp: true, readOnly: error.message, behind: null, seconds: 0 };
    if (sqlState(error) === '42P01') {
      return { isUp: true, readOnly: null, behind: 'It holds no tables of Vestra.', seconds: 0 };
    }
    return { isUp: false, reason: 'The database does not answer.' };
  }
}

/** Drops a dead connection with the query. */
const probing = (pool: pg.Pool, giveUpMs: number) => (text: string) =>
  pool.query({ text, query_timeout: giveUpMs } as pg.QueryConfig);

function readOnlyReason({ is_standby, is_read_only, lag_seconds }: Facts): string | null {
  if (!is_standby) return is_read_only ? 'The database is read-only.' : null;
  const lag = lag_seconds === null ? '' : `, ${Math.round(lag_seconds)} s behind its primary`;
  return `The database is read-only: it is a standby${lag}.`;
}

function behindReason({ has_newest, is_unfinished, breaking }: Facts, newestMigration: string): string | null {
  if (breaking !== null)
    return `It is too new for this version: ${breaking} removed what this version needs. Start the newer version.`;
  if (is_unfinished) return 'Rows are being brought into it, or that was broken off.';
  return has_newest ? null : `It lacks the migration ${newestMigration}: restart the server, which applies it.`;
}

function slowReason({ $client }: Database, { slowMs }: Patience): string {
  const { options, totalCount, idleCount, waitingCount } = $client;
  const isBusy = totalCount >= options.max && idleCount === 0 && waitingCount > 0;
  return isBusy
    ? `All ${options.max} connections of this process to the database are busy.`
    : `The database has not answered for ${slowMs / 1000} s.`;
}
