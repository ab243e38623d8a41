import { eraseEvents } from '../../account/index.ts';
import type { Tenant } from '../../platform/caller.ts';
import { transaction } from '../../platform/db/transaction.ts';
import type { EraseFiles } from '../../platform/registration.ts';
import { removeContents } from '../files/content.ts';
import { deleteFile, findFile } from '../files/store.ts';
import type { FileRow } from '../files/tables.ts';
import { changeConversation } from '../records/change.ts';
import { conversationsWithFile, emptyFile } from '../records/redaction.ts';
import type { Engine } from '../runs/ports.ts';
import { ignoreErased } from '../turns/start-run.ts';

export type FileDeletion = { engine: Engine; erasure: readonly EraseFiles[] };

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
