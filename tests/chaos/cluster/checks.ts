import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import type { Witness } from './load.ts';

/** Everything that is not as it must be, in words; empty where all of it is. */
export async function violations(url: string, witness: Witness, items: number): Promise<string[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return await findViolations(client, witness, items);
  } finally {
    await client.end();
  }
}

async function findViolations(client: pg.Client, witness: Witness, items: number): Promise<string[]> {
  const rows = async <Row extends pg.QueryResultRow>(text: string, values: unknown[] = []) =>
    (await client.query<Row>(text, values)).rows;
  const found: string[] = [];
  const must = (holds: boolean, sentence: string) => {
    if (!holds) found.push(sentence);
  };

  const said = new Map<string, { role: string; text: string }[]>();
  for (const { conversation_id, role, text } of await rows<{ conversation_id: string; role: string; text: string }>(
    'SELECT conversation_id, role, text FROM messages ORDER BY conversation_id, id',
  )) {
    said.set(conversation_id, [...(said.get(conversation_id) ?? []), { role, text }]);
  }
  for (const [id, tokens] of witness.conversations) {
    const expected = tokens.flatMap((token) => [
      `user: token ${token}`,
      `agent: One moment.\n\nAll done with ${token}.`,
    ]);
    const stands = (said.get(id) ?? []).map(({ role, text }) => `${role}: ${text}`);
    must(stands.join('|') === expected.join('|'), `${id} says ${JSON.stringify(stands)}`);
  }
  const [counts] = await rows<Record<string, number>>(`
    SELECT (SELECT count(*)::int FROM turns WHERE state <> 'settled') AS unsettled,
      (SELECT count(*)::int FROM runs) AS runs,
      (SELECT count(*)::int FROM reservations WHERE expires_at > now()) AS holds,
      (SELECT count(*)::int FROM interactions WHERE status = 'pending') AS waits,
      (SELECT count(*)::int FROM jobs WHERE given_up_at IS NOT NULL) AS given_up,
      (SELECT count(*)::int FROM (SELECT c.id FROM conversations c
        LEFT JOIN conversation_events e ON e.conversation_id = c.id
        GROUP BY c.id HAVING count(e.seq) <> c.last_event_seq OR max(e.seq) <> count(e.seq)) AS gaps) AS gaps`);
  for (const [what, count] of Object.entries(counts ?? {})) must(count === 0, `${what}: ${count}`);

  // A call that was recorded ran once; one whose record was lost ran at most once.
  const tokens = [...witness.conversations.values()].flat();
  for (const token of tokens) {
    const times = witness.touched.get(token) ?? 0;
    must(times <= 1, `The tool ran ${times} times for ${token}`);
  }
  const touches = await rows<{ token: string; is_error: boolean }>(
    `SELECT arguments ->> 'token' AS token, is_error FROM run_calls WHERE name LIKE '%touch'`,
  );
  must(touches.length === tokens.length, `${touches.length} calls are recorded for ${tokens.length} messages`);
  for (const { token, is_error } of touches) {
    must(is_error || witness.touched.get(token) === 1, `A call that never ran is recorded for ${token}`);
  }

  const [batch] = await rows<Record<string, number>>(
    `SELECT (SELECT count(*)::int FROM batch_items WHERE batch_id = $1 AND status = 'succeeded') AS succeeded,
       (SELECT count(DISTINCT turn_id)::int FROM batch_items WHERE batch_id = $1) AS turns,
       (SELECT count(*)::int FROM turns WHERE origin = 'batch') AS all_turns,
       (SELECT count(*)::int FROM tasks) AS tasks,
       (SELECT count(*)::int FROM messages WHERE role = 'work') AS answered,
       (SELECT count(*)::int FROM events WHERE type = 'task.completed') AS told`,
    [witness.batchId],
  );
  for (const [what, count] of Object.entries(batch ?? {})) {
    must(count === items, `Of ${items} items of the batch ${what}: ${count}`);
  }
  const [ended] = await rows<{ count: number }>(
    `SELECT count(*)::int AS count FROM events WHERE type = 'batch.completed'`,
  );
  must(ended?.count === 1, `The end of the batch was told ${ended?.count} times`);

  found.push(...(await moneyViolations(rows)));
  found.push(...(await webhookViolations(rows, witness)));
  return found;
}

type Rows = <Row extends pg.QueryResultRow>(text: string, values?: unknown[]) => Promise<Row[]>;

export async function moneyViolations(rows: Rows): Promise<string[]> {
  const [sums] = await rows<Record<string, string>>(`
    SELECT (SELECT count(*) FROM (SELECT transfer_id FROM ledger_entries
        GROUP BY transfer_id HAVING sum(amount_micros) <> 0) AS t) AS unbalanced_transfers,
      (SELECT COALESCE(sum(amount_micros), 0) FROM ledger_entries WHERE account = 'wallet')
        + (SELECT COALESCE(sum(amount_micros), 0) FROM ledger_entries WHERE account = 'funding')
        + (SELECT COALESCE(sum(amount_micros), 0) FROM ledger_entries WHERE account = 'spend') AS wallet_beside_credit_and_usage,
      (SELECT COALESCE(sum(balance_micros), 0) FROM wallets) + (SELECT COALESCE(sum(wallet_micros), 0) FROM unfolded_entries)
        - (SELECT COALESCE(sum(amount_micros), 0) FROM ledger_entries WHERE account = 'wallet') AS wallets_beside_ledger,
      (SELECT COALESCE(sum(spend_micros), 0) FROM spend_days WHERE user_id = '*')
        + (SELECT COALESCE(sum(spend_micros), 0) FROM unfolded_entries)
        - (SELECT COALESCE(sum(amount_micros), 0) FROM ledger_entries WHERE account = 'spend') AS days_beside_ledger,
      (SELECT count(*) FROM (SELECT run_id, sum(cost_micros) AS cost FROM run_steps GROUP BY run_id) s
        FULL JOIN (SELECT COALESCE(task_id, turn_id) AS run_id, sum(amount_micros) AS cost FROM ledger_entries
          WHERE account = 'spend' AND kind IN ('orchestrator', 'intelligence') GROUP BY 1) l USING (run_id)
        WHERE s.cost IS DISTINCT FROM l.cost) AS runs_whose_steps_cost_something_else`);
  return Object.entries(sums ?? {})
    .filter(([, sum]) => Number(sum) !== 0)
    .map(([what, sum]) => `Money: ${what.replaceAll('_', ' ')}: ${sum}`);
}

/** At least once each, and what was told twice bears the same id and body. */
async function webhookViolations(rows: Rows, { webhooks }: Witness): Promise<string[]> {
  const bodies = () => new Map(webhooks.received.map(({ headers, body }) => [String(headers['webhook-id']), body]));
  const told = await rows<{ id: string }>(
    `SELECT id FROM events WHERE created_at > (SELECT min(created_at) FROM webhook_endpoints)`,
  );
  for (const until = performance.now() + 90_000; performance.now() < until; await sleep(500)) {
    const heard = bodies();
    if (told.every(({ id }) => heard.has(id))) break;
  }
  const heard = bodies();
  const missing = told.filter(({ id }) => !heard.has(id));
  const other = webhooks.received.filter(({ headers, body }) => heard.get(String(headers['webhook-id'])) !== body);
  return [
    ...(missing.length > 0
      ? [`${missing.length} of ${told.length} events reached no webhook, ${missing[0]?.id} is one`]
      : []),
    ...(other.length > 0 ? [`${other.length} deliveries told the same event in other words`] : []),
  ];
}
