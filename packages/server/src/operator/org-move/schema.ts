import pg from 'pg';
import type { DumpedTable } from '../../platform/db/dump.ts';
import { movedTables } from './tables.ts';

/** The tables that move, with the columns that an archive has, in the order of insertion. */
export async function columnsOfMoved(client: pg.Client): Promise<DumpedTable[]> {
  const { rows } = await client.query<DumpedTable>(
    `SELECT c.relname AS name, array_agg(a.attname::text ORDER BY a.attnum) AS columns
       FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0
      WHERE c.relnamespace = current_schema()::regnamespace AND c.relname = ANY($1) AND c.relkind IN ('r', 'p')
        AND NOT a.attisdropped AND a.attgenerated = ''
      GROUP BY c.relname`,
    [Object.keys(movedTables)],
  );
  return Object.entries(movedTables).map(([name, { omit = [] }]) => {
    const columns = rows.find((row) => row.name === name)?.columns;
    if (!columns) throw new Error(`The table ${name} is missing.`);
    return { name, columns: columns.filter((column) => !omit.includes(column)) };
  });
}

/** A condition of the register for one org. COPY takes no parameters. */
export const forOrg = (condition: string, orgId: string): string =>
  condition.replaceAll('$org', () => pg.escapeLiteral(orgId));
