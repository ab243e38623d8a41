import { setTimeout as sleep } from 'node:timers/promises';
import { conversationRetentions, eraseEvents, type Followers, recordAudit } from '../../account/index.ts';
import type { Origin, Tenant } from '../../platform/caller.ts';
import { sharedNow } from '../../platform/db/clock.ts';
import type { Transaction } from '../../platform/db/pool.ts';
import { transaction } from '../../platform/db/transaction.ts';
import type { EraseConversations, EraseFiles } from '../../platform/registration.ts';
import { removeContents } from '../files/content.ts';
import { deleteFile, deleteFilesOfConversations, findFile } from '../files/store.ts';
import type { FileRow } from '../files/tables.ts';
import { changeConversation, changeInTransaction } from '../records/change.ts';
import { eraseHiddenConversations, lockConversations } from '../records/conversation-log.ts';
import { inactiveConversations, lockConversation } from '../records/conversations.ts';
import {
  callsThatRead,
  callsUnderWay,
  type DeletedKnowledge,
  emptyKnowledgeCalls,
  isAnyUnderWay,
} from '../records/knowledge-calls.ts';
import { conversationsWithFile, emptyFile } from '../records/redaction.ts';
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

type FileDeletion = { engine: Engine; erasure: readonly EraseFiles[] };

/**
 * Deletes a file and its copies: in conversations and on computers. The row goes after the copies in conversations, so that
 * a deletion that failed halfway can be repeated.
 */
export async function removeFile(
  { engine, erasure }: FileDeletion,
  { orgId, mode }: Tenant,
  fileId: string,
): Promise<FileRow | undefined> {
  const tenant = { orgId, mode };
  const row = await findFile(engine.db, tenant, fileId);
  if (!row) return undefined;
  await emptyCopies(engine, row);
  const deleted = await transaction(engine.db, async (tx) => {
    const gone = await deleteFile(tx, tenant, fileId);
    if (!gone) return undefined;
    for (const erase of erasure) await erase(tx, tenant, [gone]);
    await eraseEvents(tx, tenant, { fileId, createdAt: gone.created_at });
    return gone;
  });
  // A message may have attached it meanwhile. From now on none can.
  await emptyCopies(engine, row);
  if (deleted) await removeContents(engine.db, engine.files, [deleted]);
  return deleted;
}

async function emptyCopies(engine: Engine, row: FileRow): Promise<void> {
  for (const id of await conversationsWithFile(engine.db, row)) {
    await changeConversation(engine, id, null, (change) => emptyFile(change, row)).catch(ignoreErased);
  }
}

const callsAtOnce = 500;
const maxLooks = 60;

/**
 * Job `knowledge.empty`: removes what agents read in a deleted document, notebook or skill from traces and later prompts.
 * Each conversation has its own transaction, so that an org with many of them is not blocked.
 */
export async function emptyKnowledge(engine: Engine, deleted: DeletedKnowledge, signal: AbortSignal): Promise<void> {
  const underWay = await callsUnderWay(engine.db, deleted);
  await emptyAllCalls(engine, deleted, signal);
  if (underWay.length === 0) return;
  // These began before the deletion was seen. Their results may still come.
  for (let look = 0; await isAnyUnderWay(engine.db, underWay); look++) {
    if (look === maxLooks) throw new Error('Calls that may have read deleted content are still running.');
    await sleep(1000, undefined, { signal });
  }
  await emptyAllCalls(engine, deleted, signal);
}

async function emptyAllCalls(engine: Engine, deleted: DeletedKnowledge, signal: AbortSignal): Promise<void> {
  for (let after = ''; ; ) {
    const calls = await callsThatRead(engine.db, deleted, { after, limit: callsAtOnce });
    for (const [id, ofConversation] of Map.groupBy(calls, ({ conversation_id }) => conversation_id)) {
      signal.throwIfAborted();
      const callIds = ofConversation.map((call) => call.id);
      await changeConversation(engine, id, null, (change) => emptyKnowledgeCalls(change, callIds)).catch(ignoreErased);
    }
    if (calls.length < callsAtOnce) return;
    after = calls.at(-1)?.id as string;
  }
}
