import type { ToolCall } from '@vestra/agent/message';
import type { Tool } from '@vestra/agent/tool';
import type { Database } from '../../platform/db/pool.ts';
import { approvedPrice } from '../records/interactions.ts';

/**
 * A yes is to the price that was shown, and hours may lie between it and the call: what has become dearer since is not
 * called. Null where it may be; else what the agent is told.
 */
export async function priceAboveApproved(
  db: Database,
  runId: string,
  call: ToolCall,
  { asksCreditUsd }: Tool,
): Promise<string | null> {
  if (asksCreditUsd === undefined) return null;
  const approved = await approvedPrice(db, runId, call.id);
  if (approved !== null && asksCreditUsd <= approved) return null;
  return `A call now costs ${asksCreditUsd} US dollars, which nobody has said yes to. It was not called: call it again, and the person is asked anew.`;
}
