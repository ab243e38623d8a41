import type { ToolCall } from '@vestra/agent/message';
import type { Tool } from '@vestra/agent/tool';
import { and, eq, sql } from 'drizzle-orm';
import type { Database } from '../../../db/pool.ts';
import { interactions } from '../records/tables.ts';

/**
 * A yes is to the price that was shown, and hours may lie between it and the call: what has become dearer since is not
 * called. Null where it may be; else what the agent is told.
 */
export async function risenPrice(
  db: Database,
  runId: string,
  call: ToolCall,
  { asksCreditUsd }: Tool,
): Promise<string | null> {
  if (asksCreditUsd === undefined) return null;
  const [approved] = await db
    .select({ price: sql<number | null>`(${interactions.details} ->> 'price_usd')::float8` })
    .from(interactions)
    .where(
      and(eq(interactions.run_id, runId), eq(interactions.call_id, call.id), eq(interactions.decision, 'approved')),
    );
  if (approved?.price != null && asksCreditUsd <= approved.price) return null;
  return `A call now costs ${asksCreditUsd} US dollars, which nobody has said yes to. It was not called: call it again, and the person is asked anew.`;
}
