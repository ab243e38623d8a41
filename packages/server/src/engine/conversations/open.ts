import { newId } from '@vestra/contract/ids';
import type { RunnableDeployment } from '../../agents/deployments/index.ts';
import { versionToRun } from '../../agents/versions/index.ts';
import type { Tenant } from '../../platform/caller.ts';
import type { Transaction } from '../../platform/db/pool.ts';
import {
  type Change,
  type Committed,
  changing,
  insertConversation,
  newConversationRow,
  type Outbox,
} from '../records/change.ts';
import type { ConversationRow } from '../records/tables.ts';
import { tellCreated } from '../transitions/begin-turn.ts';

export type NewConversation = {
  tenant: Tenant;
  userId: string | null;
  deployment: RunnableDeployment;
  /** The version that was named with `@`. */
  pinned: number | null;
  metadata: Record<string, string>;
  isHidden?: boolean;
};

/** As it begins. */
export const newConversation = ({ tenant, userId, deployment, pinned, metadata, isHidden = false }: NewConversation) =>
  newConversationRow(tenant, newId('conv'), {
    user_id: userId,
    deployment_id: deployment.id,
    deployment_version: versionToRun(deployment, tenant.mode, pinned),
    pinned_version: pinned,
    metadata,
    is_hidden: isHidden,
  });

/** A new conversation, and what is to happen in it at once, as one change. */
export async function openConversation<T>(
  tx: Transaction,
  of: NewConversation,
  work: (change: Change) => Promise<T>,
  jobs?: Outbox,
): Promise<{ conversation: ConversationRow; result: T; committed: Committed }> {
  const row = await insertConversation(tx, newConversation(of));
  const begin = (change: Change) => {
    tellCreated(change, row);
    return work(change);
  };
  const { result, committed } = await changing(tx, row, begin, jobs);
  return { conversation: committed.conversation, result, committed };
}
