import { conversationRetentions, type Followers, recordAudit } from '../../account/index.ts';
import type { Origin, Tenant } from '../../platform/caller.ts';
import { sharedNow } from '../../platform/db/clock.ts';
import type { Transaction } from '../../platform/db/pool.ts';
import { transaction } from '../../platform/db/transaction.ts';
import type { EraseConversations, EraseFiles } from '../../platform/registration.ts';
import { removeContents } from '../files/content.ts';
import { deleteFilesOfConversations } from '../files/store.ts';
import { changeConversation, changeInTransaction } from '../records/change.ts';
import { eraseHiddenConversations, lockConversations } from '../records/conversation-log.ts';
import { inactiveConversations, lockConversation } from '../records/conversations.ts';
import type { ConversationRow } from '../records/tables.ts';
import type { Engine } from '../runs/ports.ts';
import { ignoreErased } from '../turns/start-run.ts';
import { stopAll } from '../turns/stop.ts';

type Deletion = {
  engine: Engine;
  followers: Followers;
  steps: readonly EraseConversations[];
  fileErasure: readonly EraseFiles[];
};

/** Ends the streams that follow deleted conversations, in every process. */
export function announceDeletion(
  { engine, followers }: { engine: Engine; followers: Pick<Followers, 'wake'> },
  ids: readonly string[],
): void {
  for (const id of ids) {
    followers.wake(id);
    engine.announcer.notify('conversation', id);
  }
}

/** Deletes a conversation and everything about it, at the request of `origin`. */
export async function deleteConversation(deletion: Deletion, origin: Origin, { id }: ConversationRow): Promise<void> {
  await deleteConversations(deletion, origin, [id], origin);
}

/**
 * Stops open replies and tasks first, so that they are charged and followers see their end. A message that arrives
 * meanwhile waits for the lock and finds no conversation. One transaction deletes the rows of all modules.
 */
async function deleteConversations(
  { engine, followers, steps, fileErasure }: Deletion,
  { orgId, mode }: Tenant,
  wanted: readonly string[],
  origin: Origin | null,
): Promise<void> {
  const tenant = { orgId, mode };
  for (const id of wanted) {
    await changeConversation(engine, id, null, (change) => stopAll(engine, change)).catch(ignoreErased);
  }
  const after: (() => void)[] = [];
  const files = await transaction(engine.db, async (tx) => {
    // The transaction may run again after a deadlock.
    after.length = 0;
    // Another request may have deleted some meanwhile.
    const ids = await lockConversations(tx, tenant, wanted);
    if (ids.length === 0) return [];
    const gone = await deleteFilesOfConversations(tx, tenant, ids);
    for (const erase of fileErasure) await erase(tx, tenant, gone);
    for (const step of steps) await step(tx, tenant, ids, (work) => after.push(work));
    for (const id of origin ? ids : []) {
      await recordAudit(tx, origin as Origin, {
        action: 'conversation.deleted',
        target: { type: 'conversation', id },
      });
    }
    return gone;
  });
  for (const work of after) work();
  announceDeletion({ engine, followers }, wanted);
  await removeContents(engine.db, engine.files, files);
}

/**
 * Deletes hidden conversations that may still be played. It stops their open replies and tasks, so that they are charged
 * and their processes abort them. After the commit it wakes the plays, which find that their conversation is gone.
 */
export async function stopAndEraseHidden(
  { engine, followers }: { engine: Engine; followers: Pick<Followers, 'wake'> },
  tx: Transaction,
  ids: readonly string[],
  afterwards: (work: () => void) => void,
): Promise<void> {
  for (const id of ids.toSorted()) {
    const conversation = await lockConversation(tx, id);
    if (!conversation?.is_hidden) continue;
    const { committed } = await changeInTransaction(tx, conversation, (change) => stopAll(engine, change), engine.jobs);
    afterwards(() => {
      // Its events are deleted, so none of them is published.
      engine.announcer.seen.forget(id);
      for (const work of committed.afterwards) work();
      announceDeletion({ engine, followers }, [id]);
    });
  }
  await eraseHiddenConversations(tx, ids);
}

const conversationsAtOnce = 50;
/** The next hour continues. */
const maxBatches = 100;
const dayMs = 86_400_000;

/** Deletes conversations without activity, as the settings of their orgs and the operator's bound ask. */
export async function deleteInactiveConversations(
  deletion: Deletion,
  bound: number | null,
  signal: AbortSignal,
): Promise<void> {
  const { engine } = deletion;
  let batches = 0;
  for (const { org_id: orgId, mode, days } of await conversationRetentions(engine.db, bound)) {
    const before = new Date(sharedNow() - days * dayMs);
    let from = '';
    while (!signal.aborted && batches < maxBatches) {
      const found = await inactiveConversations(
        engine.db,
        { orgId, mode },
        { before, from, limit: conversationsAtOnce },
      );
      if (found.ids.length > 0) {
        batches += 1;
        await deleteConversations(deletion, { orgId, mode }, found.ids, null);
      }
      if (found.last === null) break;
      from = found.last;
    }
  }
}
