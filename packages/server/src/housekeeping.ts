import { sql } from 'drizzle-orm';
import type { Database } from './db/pool.ts';

const batch = 1000;

/** Removes what has run out, a few rows at a time, so that no request waits behind it. */
export async function housekeeping(db: Database): Promise<void> {
  await prune(db, sql`idempotency_keys`, sql`created_at < now() - interval '24 hours'`);
  await prune(db, sql`console_sessions`, sql`expires_at < now()`);
  // A page that was left open asks for its session long after it has ended, and is told so.
  await prune(db, sql`sessions`, sql`expires_at < now() - interval '30 days'`);
  await prune(db, sql`rate_windows`, sql`started_at < now() - interval '1 hour'`);
  await prune(db, sql`webhook_secrets`, sql`valid_until < now()`);
  await prune(db, sql`connections`, sql`status <> 'connected' AND updated_at < now() - interval '30 days'`);
  // Jobs that nobody tries any more stay for a while as evidence.
  await prune(db, sql`jobs`, sql`given_up_at < now() - interval '14 days'`);
  await prune(db, sql`reservations`, sql`expires_at < now() - interval '1 hour'`);
}

async function prune(db: Database, table: ReturnType<typeof sql>, isOver: ReturnType<typeof sql>): Promise<void> {
  for (let removed = batch; removed === batch; ) {
    const result = await db.execute(sql`
      DELETE FROM ${table} WHERE ctid IN (SELECT ctid FROM ${table} WHERE ${isOver} LIMIT ${batch} FOR UPDATE SKIP LOCKED)`);
    removed = result.rowCount ?? 0;
  }
}
