import pg from 'pg';

export type Sent = { text: string; values: readonly unknown[] };

/** Hears what this process sends to PostgreSQL, from now until `stop`. */
export function hearStatements(): { taken: () => Sent[]; stop: () => void } {
  const connection = pg.Connection.prototype;
  const { parse, bind } = connection;
  // A connection is told a text once, and then only its name, which is made of the text.
  const texts = new Map<string, string>();
  const sent: Sent[] = [];
  connection.parse = function (query, more) {
    texts.set(query.name, query.text);
    return parse.call(this, query, more);
  };
  connection.bind = function (config, more) {
    const { statement = '', values = [] } = config ?? {};
    sent.push({ text: texts.get(statement) ?? '', values });
    return bind.call(this, config, more);
  };
  return {
    taken: () => sent.splice(0),
    stop: () => Object.assign(connection, { parse, bind }),
  };
}

/** Those that read one entry more than a page holds, to know whether there is a next. */
export const isPageOf =
  (limit: number) =>
  ({ text, values }: Sent): boolean =>
    // A statement that takes jobs may have the same limit, but it is not a page.
    !text.includes('SKIP LOCKED') &&
    [...text.matchAll(/LIMIT \$(\d+)/g)].some(([, place]) => String(values[Number(place) - 1]) === String(limit + 1));

type Step = { words: string; isBySearch: boolean };

/**
 * How PostgreSQL would go about each statement if 200 orgs had as much as this one: what it reads, and what it puts in order. Of
 * the few rows that an org has here any order is soon made, and it has more one day: only those of `sorting` may.
 */
export async function plansOf(
  connectionString: string,
  asked: ReadonlyMap<string, Sent[]>,
  sorting: ReadonlySet<string>,
): Promise<Map<string, Step[]>> {
  const client = new pg.Client({ connectionString });
  await client.connect();
  try {
    // As the embedded server has it, and any on a disk without moving parts should: the tables here are small, and with
    // PostgreSQL's own figure, meant for a disk that turns, reading all of one is as good as looking up twenty rows.
    await client.query('SET random_page_cost = 1.1');
    await standInTables(client, [...asked.values()].flat());
    const plans = new Map<string, Step[]>();
    for (const [name, sent] of asked) {
      const mode = sorting.has(name) ? 'on' : 'off';
      await client.query(
        `SET enable_sort = ${mode}; SET enable_incremental_sort = ${mode}; SET enable_bitmapscan = ${mode}`,
      );
      const steps: Step[] = [];
      for (const each of sent) steps.push(...(await planOf(client, each)));
      plans.set(name, sorting.has(name) ? steps.filter(({ words }) => words !== 'Sort') : steps);
    }
    return plans;
  } finally {
    await client.end();
  }
}

async function planOf(client: pg.Client, { text, values }: Sent): Promise<Step[]> {
  const given = values.map((value) => (value === null ? 'NULL' : client.escapeLiteral(String(value))));
  await client.query(`PREPARE page AS ${text}`);
  const { rows } = await client.query(`EXPLAIN (FORMAT JSON) EXECUTE page(${given.join(', ')})`);
  await client.query('DEALLOCATE page');
  return stepsOf(rows[0]['QUERY PLAN'][0].Plan);
}

type Plan = {
  'Node Type': string;
  'Relation Name'?: string;
  'Index Name'?: string;
  'Index Cond'?: string;
  Plans?: Plan[];
};

function stepsOf(plan: Plan): Step[] {
  const { 'Node Type': kind, 'Relation Name': table, 'Index Name': index, 'Index Cond': condition, Plans = [] } = plan;
  const isStep = /Seq Scan|Sort/.test(kind) || index !== undefined;
  const words = [kind, table, index, condition].filter(Boolean).join(' ');
  return [...(isStep ? [{ words, isBySearch: condition !== undefined }] : []), ...Plans.flatMap(stepsOf)];
}

/** Tables of the same names and indexes, with rows of 200 orgs and no rules for them, that the client finds before the real ones. */
async function standInTables(client: pg.Client, sent: readonly Sent[]): Promise<void> {
  await client.query('CREATE SCHEMA stand_in; SET search_path = stand_in, public');
  const { rows: tables } = await client.query<{ name: string }>(
    `SELECT relname AS name FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p') AND NOT relispartition`,
  );
  for (const { name } of tables) {
    if (!sent.some(({ text }) => new RegExp(`(FROM|JOIN) "?${name}\\b`).test(text))) continue;
    await client.query(`CREATE TABLE stand_in.${name} (LIKE public.${name} INCLUDING INDEXES INCLUDING GENERATED)`);
    const { rows: columns } = await client.query<Column>(
      `SELECT attname AS name, format_type(atttypid, NULL) AS type, attnotnull AS "isNeeded" FROM pg_attribute
       WHERE attrelid = $1::regclass AND attnum > 0 AND NOT attisdropped AND attgenerated = ''`,
      [`stand_in.${name}`],
    );
    const names = columns.map((column) => `"${column.name}"`).join(', ');
    await client.query(
      `INSERT INTO stand_in.${name} (${names}) SELECT ${columns.map(columnValue).join(', ')}
       FROM generate_series(1, 4000) n ON CONFLICT DO NOTHING; ANALYZE stand_in.${name}`,
    );
  }
}

type Column = { name: string; type: string; isNeeded: boolean };

function columnValue({ name, type, isNeeded }: Column): string {
  const value = anyOf(name, type);
  return isNeeded || name.endsWith('_id') ? value : `CASE WHEN n % 10 = 0 THEN ${value} END`;
}

function anyOf(name: string, type: string): string {
  if (name === 'id' && type === 'text') return `'id_' || lpad(n::text, 6, '0')`;
  if (name === 'mode') return `(ARRAY['live', 'test'])[1 + n / 200 % 2]`;
  if (name.endsWith('_id') && type === 'text') return `'${name}_' || n % 200`;
  if (type === 'text') return `'${name} ' || n`;
  if (type === 'boolean') return 'n % 2 = 0';
  if (type === 'bytea') return 'sha256(n::text::bytea)';
  if (/^(timestamp|date)/.test(type)) return `(now() - n * interval '1 minute')::${type}`;
  if (/^(smallint|integer|bigint|numeric|double|real)/.test(type)) return `n::${type}`;
  if (/^json/.test(type)) return `'{}'::${type}`;
  if (type === 'inet') return `'127.0.0.1'::inet`;
  if (/\[\]$|multirange$/.test(type)) return `'{}'::${type}`;
  return `''::${type}`;
}
