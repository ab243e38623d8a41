import pg from 'pg';

/** What is carried from one database to another. */
export type CarriedTable = { name: string; columns: string[] };
export type CarriedSequence = { name: string; last_value: string | null };

/**
 * Not carried: which migrations there are (the schema is made by them), and vectors that only a database with an
 * extension can hold (their documents are indexed again). Tables without a log hold what a crash may take at any time.
 */
const LEFT_OUT = ['schema_migrations', 'document_window_vectors'];

const ofThisSchema = `c.relnamespace = current_schema()::regnamespace AND NOT EXISTS (
  SELECT FROM pg_depend d WHERE d.classid = 'pg_class'::regclass AND d.objid = c.oid AND d.deptype = 'e')`;

export async function carriedTables(client: pg.ClientBase): Promise<CarriedTable[]> {
  const { rows } = await client.query<CarriedTable>(
    `SELECT c.relname AS name, array_agg(a.attname::text ORDER BY a.attnum) AS columns
       FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0
      WHERE ${ofThisSchema} AND c.relkind IN ('r', 'p') AND NOT c.relispartition AND c.relpersistence = 'p'
        AND c.relname <> ALL($1) AND NOT a.attisdropped AND a.attgenerated = ''
      GROUP BY c.relname ORDER BY c.relname`,
    [LEFT_OUT],
  );
  return rows;
}

/** Their numbers run ahead of what a snapshot sees, never behind. */
export async function carriedSequences(client: pg.ClientBase): Promise<CarriedSequence[]> {
  const { rows } = await client.query<CarriedSequence>(
    `SELECT sequencename AS name, last_value FROM pg_sequences WHERE schemaname = current_schema() ORDER BY 1`,
  );
  return rows;
}

/** Every table there is, whoever made it, without those of extensions and those that are part of another. */
export async function tableNames(client: pg.ClientBase): Promise<string[]> {
  const { rows } = await client.query<{ name: string }>(
    `SELECT c.relname AS name FROM pg_class c
      WHERE ${ofThisSchema} AND c.relkind IN ('r', 'p') AND NOT c.relispartition ORDER BY 1`,
  );
  return rows.map(({ name }) => name);
}

export const quoted = (name: string): string => pg.escapeIdentifier(name);

export const columnList = ({ columns }: CarriedTable): string => columns.map(quoted).join(', ');
