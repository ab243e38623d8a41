import { query } from './database.ts';

/** Rows of every table that contain the text in any column. */
export async function rowsWith(
  { connectionString }: { connectionString: string },
  text: string,
): Promise<Record<string, string[]>> {
  const tables = await query<{ name: string }>(
    connectionString,
    // The rows of partitions are those of their table.
    `SELECT relname AS name FROM pg_class
     WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p') AND NOT relispartition`,
  );
  const found: Record<string, string[]> = {};
  for (const { name } of tables) {
    // Bytes are written out as hex, and JSON writes some characters in its own way: none of these are in the texts.
    const rows = await query<{ row: string }>(
      connectionString,
      `SELECT t::text AS row FROM "${name}" AS t WHERE strpos(t::text, $1) > 0 OR strpos(t::text, $2) > 0`,
      [text, Buffer.from(text).toString('hex')],
    );
    if (rows.length > 0) found[name] = rows.map(({ row }) => row);
  }
  return found;
}
