import type { Statement } from '../db/group.ts';
import { reading } from '../db/query.ts';
import { sql } from '../db/sql.ts';
import { float, integer, text } from '../db/table.ts';

/** A queue in which jobs wait: how many, up to the limit, and for how many seconds the first of them has. */
export type Backlog = { queue: string; waiting: number; oldest_seconds: number };

/** Counting more says nothing new to whoever is to be alarmed, and costs the more the worse it stands. */
const mostCounted = 10_000;
const mostUsers = 500;

/**
 * What could be taken now in each of these queues. The index has the jobs of one user together, the first that is due
 * before the others: one leap per user finds the oldest.
 */
export const readingBacklog = (queues: readonly string[]): Statement<Backlog[]> =>
  reading(
    { queue: text(), waiting: integer(), oldest_seconds: float() },
    sql`SELECT queue, counted.waiting, greatest(0, extract(epoch FROM now() - oldest.due_at))::float8 AS oldest_seconds
      FROM unnest(${queues}::text[]) AS queue (queue)
      CROSS JOIN LATERAL (
        SELECT count(*)::int AS waiting FROM (
          SELECT FROM jobs WHERE name = queue.queue AND due_at <= now() LIMIT ${mostCounted}) AS due
      ) AS counted
      CROSS JOIN LATERAL (
        WITH RECURSIVE leaps (share, due_at) AS (
          (SELECT share, due_at FROM jobs WHERE name = queue.queue AND due_at <= now() ORDER BY share, due_at LIMIT 1)
          UNION ALL
          SELECT next.share, next.due_at FROM leaps CROSS JOIN LATERAL (
            SELECT share, due_at FROM jobs WHERE name = queue.queue AND jobs.share > leaps.share AND due_at <= now()
            ORDER BY share, due_at LIMIT 1) AS next
        )
        SELECT min(due_at) AS due_at FROM (SELECT due_at FROM leaps LIMIT ${mostUsers}) AS first
      ) AS oldest
      WHERE counted.waiting > 0`,
  );
