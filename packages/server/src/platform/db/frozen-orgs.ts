import { type Sql, sql } from './sql.ts';

/**
 * The condition that an org may run here. Every query that finds background work of several orgs must have it:
 * otherwise two installations would run the same routine, delivery or task of an org that moves.
 */
export const mayRun = (orgId: Sql): Sql =>
  sql`NOT EXISTS (SELECT FROM org_moves AS frozen WHERE frozen.org_id = ${orgId} AND frozen.state <> 'arrived')`;
