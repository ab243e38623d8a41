import { setTimeout as sleep } from 'node:timers/promises';
import type pg from 'pg';
import { moneyViolations } from '../../tests/chaos/cluster/checks.ts';

/** How often each of these is there though nothing should still be open. Memory is looked through ten seconds after a turn. */
const openThings = `
  SELECT (SELECT count(*) FROM turns WHERE state NOT IN ('settled', 'failed', 'stopped')) AS open_turns,
    (SELECT count(*) FROM turns WHERE state IN ('failed', 'stopped')) AS failed_turns,
    (SELECT count(*) FROM tasks WHERE status NOT IN ('done', 'failed')) AS open_tasks,
    (SELECT count(*) FROM tasks WHERE status = 'failed') AS failed_tasks,
    (SELECT count(*) FROM runs) AS runs_with_an_owner,
    (SELECT count(*) FROM interactions WHERE status = 'pending') AS pending_interactions,
    (SELECT count(*) FROM reservations) AS money_on_hold,
    (SELECT count(*) FROM jobs WHERE given_up_at IS NOT NULL) AS jobs_given_up,
    (SELECT count(*) FROM jobs WHERE given_up_at IS NULL AND due_at < now() - interval '1 minute') AS jobs_left_lying,
    (SELECT count(*) FROM jobs WHERE is_held AND due_at < now()) AS jobs_of_nobody,
    (SELECT count(*) FROM webhook_deliveries WHERE status = 'pending') AS webhooks_still_to_be_sent,
    (SELECT count(*) FROM webhook_deliveries failed WHERE status = 'failed' AND NOT EXISTS (SELECT FROM webhook_deliveries later
      WHERE later.event_id = failed.event_id AND later.endpoint_id = failed.endpoint_id AND later.status = 'succeeded'))
      AS webhooks_never_delivered,
    (SELECT count(*) FROM batches WHERE completed_at IS NULL) AS open_batches,
    (SELECT count(*) FROM batch_items WHERE status <> 'succeeded') AS batch_items_not_done,
    (SELECT count(*) FROM routines WHERE status <> 'active' OR next_run_at < now() - interval '1 minute') AS routines_left_out,
    (SELECT count(*) FROM conversations WHERE status <> 'idle' OR replying_turn_id IS NOT NULL OR queued_turns <> 0
      OR open_tasks <> 0 OR open_interactions <> 0) AS conversations_not_idle,
    (SELECT count(*) FROM conversations WHERE memory_due_at IS NOT NULL) AS conversations_to_remember,
    (SELECT count(*) FROM messages said WHERE role = 'user' AND NOT EXISTS (SELECT FROM messages answer
      WHERE answer.conversation_id = said.conversation_id AND answer.turn_id = said.turn_id AND answer.role <> 'user'))
      AS messages_without_an_answer,
    (SELECT count(*) FROM (SELECT c.id FROM conversations c LEFT JOIN conversation_events e ON e.conversation_id = c.id
      GROUP BY c.id HAVING count(e.seq) <> c.last_event_seq OR max(e.seq) <> count(e.seq)) AS gaps) AS event_logs_with_gaps,
    (SELECT count(*) FROM pg_stat_activity WHERE state LIKE 'idle in transaction%'
      AND state_change < now() - interval '10 seconds') AS transactions_left_open`;

/** Waits until nothing is open, for as long as it may take, and says what still is and which sums do not add up. */
export async function leftOpen(
  client: pg.Client,
  heard: ReadonlyMap<string, number>,
  waitMs: number,
): Promise<string[]> {
  const rows = async <Row extends pg.QueryResultRow>(text: string, values: unknown[] = []) =>
    (await client.query<Row>(text, values)).rows;
  const look = async () => {
    const [counts = {}] = await rows<Record<string, string>>(openThings);
    const events = await rows<{ id: string }>(
      'SELECT id FROM events WHERE created_at > (SELECT min(created_at) FROM webhook_endpoints)',
    );
    const unheard = events.filter(({ id }) => !heard.has(id)).length;
    return Object.entries({ ...counts, events_that_reached_no_webhook: unheard })
      .filter(([, count]) => Number(count) !== 0)
      .map(([what, count]) => `${count} ${what.replaceAll('_', ' ')}`);
  };
  let found = await look();
  for (const until = performance.now() + waitMs; found.length > 0 && performance.now() < until; found = await look()) {
    await sleep(2000);
  }
  return [...found, ...(await moneyViolations(rows))];
}
