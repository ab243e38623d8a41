import type { Database } from '../../platform/db/pool.ts';
import { run } from '../../platform/db/query.ts';
import { sql } from '../../platform/db/sql.ts';

const conversationsAtOnce = 25;

/**
 * Shortens the logs of some conversations from their start; false: none was left to look at.
 *
 * Only events before the first young one go, whatever their own age, so that no seq is missing behind a kept one. A
 * conversation that somebody is writing to is left for the next time.
 */
export async function pruneStreams(db: Database, before: Date, limit: number): Promise<boolean> {
  const cutoff = sql`${before}::timestamptz`;
  const eventsOfEach = Math.ceil(limit / conversationsAtOnce);
  const looked = await run(
    db,
    sql`
    WITH due AS (
      SELECT id FROM conversations WHERE events_kept_from < ${cutoff}
      ORDER BY events_kept_from LIMIT ${conversationsAtOnce} FOR NO KEY UPDATE SKIP LOCKED
    ), head AS (
      SELECT due.id, event.seq, event.created_at,
        bool_and(event.created_at < ${cutoff}) OVER (PARTITION BY due.id ORDER BY event.seq) AS is_old
      FROM due CROSS JOIN LATERAL (
        SELECT seq, created_at FROM conversation_events
        WHERE conversation_id = due.id ORDER BY seq LIMIT ${eventsOfEach}
      ) AS event
    ), pruned AS (
      DELETE FROM conversation_events AS event USING head
      WHERE event.conversation_id = head.id AND event.seq = head.seq AND head.is_old
    ), looked AS (
      SELECT due.id, count(head.seq) AS events,
        (array_agg(head.created_at ORDER BY head.seq) FILTER (WHERE NOT head.is_old))[1] AS first_kept
      FROM due LEFT JOIN head ON head.id = due.id GROUP BY due.id
    )
    UPDATE conversations SET events_kept_from = CASE
      WHEN looked.first_kept IS NOT NULL THEN looked.first_kept
      WHEN looked.events = ${eventsOfEach} THEN events_kept_from
      -- None is left, and the next one will be younger than this.
      ELSE greatest(now(), ${cutoff})
    END
    FROM looked WHERE conversations.id = looked.id`,
  );
  return looked > 0;
}
