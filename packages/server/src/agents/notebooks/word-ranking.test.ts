import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Value } from '../../platform/db/sql.ts';
import { newNotebook, startNotebooks } from './notebooks.fixture.ts';
import { searchNotebooks } from './search.ts';
import { someWordsStatement } from './word-ranking.ts';

let server: Awaited<ReturnType<typeof startNotebooks>>;
beforeAll(async () => {
  server = await startNotebooks();
});
afterAll(() => server.stop());

const order = (at: number) => `The order number ${at} is handled at the desk of the returns, as every order is.`;
const orders = (count: number) =>
  Object.fromEntries(Array.from({ length: count }, (_, at) => [`order ${at}`, order(at)]));

type Plan = { 'Actual Loops': number; 'Node Type': string; Plans?: Plan[] };
const nodesOf = (plan: Plan): Plan[] => [plan, ...(plan.Plans ?? []).flatMap(nodesOf)];

const literal = (value: Value): string =>
  Array.isArray(value) ? `ARRAY[${value.map(literal)}]::text[]` : `'${String(value).replaceAll("'", "''")}'`;

it('computes the query and the weights once per search, however many passages have a word [SRCH-700]', async () => {
  const { id: orgId } = await server.newOrg();
  const notebookIds = [await newNotebook(server.db, orgId, orders(60))];
  const statement = someWordsStatement(
    { notebookIds, languages: ['english'], otherIds: [] },
    { language: 'english', words: ['order', 'number', '7', 'missing'], excluded: '' },
    5,
  );
  const client = await server.db.$client.connect();
  try {
    // PostgreSQL uses such a plan from the sixth execution on.
    await client.query('SET plan_cache_mode = force_generic_plan');
    await client.query(`PREPARE search AS ${statement.text}`);
    const { rows } = await client.query(
      `EXPLAIN (ANALYZE, FORMAT JSON) EXECUTE search(${statement.values.map(literal).join(', ')})`,
    );
    const nodes = nodesOf(rows[0]['QUERY PLAN'][0].Plan);
    expect(nodes.filter((node) => node['Node Type'] === 'CTE Scan').length).toBeGreaterThan(2);
    expect(nodes.filter((node) => node['Actual Loops'] > 1)).toEqual([]);
  } finally {
    await client.query('RESET plan_cache_mode; DEALLOCATE search');
    client.release();
  }
});

it('ranks the same whatever the notebooks of another org contain [SRCH-701]', async () => {
  const [mine, theirs] = [await server.newOrg(), await server.newOrg()];
  const own = await newNotebook(server.db, mine.id, {
    ...orders(8),
    rare: 'A zeppelin is handled at the airfield.',
    german: 'Das Luftschiff und die Bestellung werden an dem Schalter mit der Nummer 7 bearbeitet.',
  });
  const query = 'zeppelin order number 7 Bestellung';
  const asked = { orgId: mine.id, revisions: null, userId: null, query, limit: 5 };
  const alone = await searchNotebooks(server.db, { ...asked, notebookIds: [own] });
  // In the other org the rare word is common.
  const flood = Array.from({ length: 30 }, (_, at) => [`flood ${at}`, `The zeppelin ${at} is at the desk.`]);
  const foreign = await newNotebook(server.db, theirs.id, Object.fromEntries(flood));
  const beside = await searchNotebooks(server.db, { ...asked, notebookIds: [own, foreign] });
  expect(alone.hits.map(({ title }) => title).slice(0, 3)).toEqual(['order 7', 'rare', 'german']);
  expect(beside).toEqual(alone);
  expect(await searchNotebooks(server.db, { ...asked, orgId: theirs.id, notebookIds: [own] })).toEqual({
    hits: [],
    unindexed: 0,
  });
});
