import type pg from 'pg';
import type { Executor } from './pool.ts';

/**
 * A statement on the hot path: each connection parses and plans it once and finds it again by its name, which costs a
 * third of sending the text. One name, one text.
 */
export type Statement = { name: string; text: string };

export async function runPrepared<Row extends pg.QueryResultRow>(
  executor: Executor,
  statement: Statement,
  values: readonly unknown[],
): Promise<Row[]> {
  const { rows } = await clientOf(executor).query<Row>({ ...statement, values: [...values] });
  return rows;
}

/** Drizzle has no way to name a statement on the connection of an open transaction; the connection itself has. */
function clientOf(executor: Executor): pg.Pool | pg.PoolClient {
  if ('$client' in executor) return executor.$client;
  return (executor as unknown as { session: { client: pg.PoolClient } }).session.client;
}
