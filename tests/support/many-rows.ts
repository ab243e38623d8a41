import type pg from 'pg';

type ManyRows = {
  orgId: string;
  mode: 'test' | 'live';
  count: number;
  /** The deployment of nearly all rows, and one of every ten thousandth row. */
  deployments: { busy: string; rare: string };
};

/**
 * Fills the tables behind the lists of one org by SQL, spread over 300 days. One row in a hundred failed. Every preview
 * has the words `order`, `please` and `refund`, and the words `word17` and `seldom4711` in one row of 1,000 and of 50,000.
 */
export async function fillRows(client: pg.Client, { orgId, mode, count, deployments }: ManyRows): Promise<void> {
  // Ids start with their time, in base 32.
  await client.query(
    `CREATE TEMP TABLE numbers AS
     SELECT n, made_at, (SELECT string_agg(substr('0123456789abcdefghjkmnpqrstvwxyz',
         (((extract(epoch FROM made_at) * 1000)::bigint >> (5 * (9 - digit))) & 31)::int + 1, 1), '' ORDER BY digit)
       FROM generate_series(0, 9) AS digit) || lpad(n::text, 14, '0') AS id
     FROM generate_series(1, ${count}) AS n
     CROSS JOIN LATERAL (SELECT now() - (${count} - n) * (interval '300 days' / ${count}) AS made_at) AS moment`,
  );
  const madeAt = 'made_at';
  const id = (prefix: string) => `'${prefix}_' || id`;
  const words = `'order' || n || ' please refund word' || n % 1000 || ' seldom' || n % 50000`;
  const org = `'${orgId}', '${mode}'`;
  const deployment = `CASE WHEN n % 10000 = 1 THEN '${deployments.rare}' ELSE '${deployments.busy}' END`;
  const user = `'user-' || n % 5000`;
  const values: Record<string, Record<string, string>> = {
    conversations: {
      id: id('conv'),
      user_id: user,
      deployment_id: deployment,
      deployment_version: '1 + n % 7',
      turn_count: '1',
      last_error_code: `CASE WHEN n % 100 = 0 THEN 'model_unavailable' END`,
      last_error_message: `CASE WHEN n % 100 = 0 THEN 'The model did not answer.' END`,
      created_at: madeAt,
      last_active_at: madeAt,
    },
    conversation_previews: {
      conversation_id: id('conv'),
      preview: words,
      words: `to_tsvector('simple', ${words})`,
    },
    tasks: {
      id: id('task'),
      conversation_id: id('conv'),
      turn_id: id('turn'),
      user_id: user,
      deployment_id: deployment,
      deployment_version: '1',
      status: `CASE WHEN n % 1000 = 0 THEN 'failed' ELSE 'done' END`,
      title: words,
      ask: words,
      fence: `''`,
      created_at: madeAt,
    },
    users: {
      id: `'user-' || n`,
      name: `'Ada ' || n`,
      email: `'ada' || n || '@shop.example'`,
      status: `CASE WHEN n % 10000 = 1 THEN 'disabled' ELSE 'active' END`,
      created_at: madeAt,
    },
    interactions: {
      id: id('int'),
      conversation_id: id('conv'),
      turn_id: id('turn'),
      task_id: id('task'),
      run_id: id('task'),
      user_id: user,
      kind: `'ask_question'`,
      type: `CASE WHEN n % 2 = 0 THEN 'question' ELSE 'approval' END`,
      status: `CASE WHEN n % 1000 = 0 THEN 'pending' ELSE 'resolved' END`,
      summary: words,
      requires_present_user: 'false',
      details: `'{}'`,
      created_at: madeAt,
    },
    files: {
      id: id('file'),
      user_id: user,
      filename: `n || '.txt'`,
      mime_type: `'text/plain'`,
      size_bytes: '1',
      sha256: `md5(n::text)`,
      source: `'output'`,
      task_id: id('task'),
      conversation_id: id('conv'),
      created_at: madeAt,
    },
    message_feedback: {
      id: id('fbk'),
      conversation_id: id('conv'),
      message_id: id('msg'),
      deployment_id: deployment,
      deployment_version: '1 + n % 7',
      rater_type: `'user'`,
      rater_id: user,
      rating: `CASE WHEN n % 10000 = 1 THEN 'bad' ELSE 'good' END`,
      created_at: madeAt,
    },
    audit_entries: {
      id: id('aud'),
      action: `CASE WHEN n % 10000 = 1 THEN 'key.created' ELSE 'user.updated' END`,
      actor_type: `'key'`,
      actor_id: `'key_' || n % 100`,
      actor_name: `'key'`,
      created_at: madeAt,
    },
  };
  await client.query('SET session_replication_role = replica');
  for (const [table, columns] of Object.entries(values)) {
    const names = ['org_id', 'mode', ...Object.keys(columns)].join(', ');
    await withoutIndexes(client, table, () =>
      client.query(
        `INSERT INTO ${table} (${names}) SELECT ${[org, ...Object.values(columns)].join(', ')} FROM numbers`,
      ),
    );
    await client.query(`VACUUM ANALYZE ${table}`);
  }
  await client.query('RESET session_replication_role; DROP TABLE numbers');
}

/** Building an index at the end takes a tenth of the time of writing it with each row. */
export async function withoutIndexes(client: pg.Client, table: string, fill: () => Promise<unknown>): Promise<void> {
  const { rows: indexes } = await client.query<{ indexname: string; indexdef: string }>(
    `SELECT indexname, indexdef FROM pg_indexes WHERE tablename = $1
       AND indexname NOT IN (SELECT conindid::regclass::text FROM pg_constraint WHERE conindid <> 0)`,
    [table],
  );
  for (const { indexname } of indexes) await client.query(`DROP INDEX ${indexname}`);
  await fill();
  for (const { indexdef } of indexes) await client.query(indexdef);
}
