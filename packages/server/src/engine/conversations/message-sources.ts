import type { Api } from '@vestra/contract/api';
import { fail } from '@vestra/contract/errors';
import type { ResponseOf } from '@vestra/contract/route';
import { readPassage, revisionsToSearch } from '../../agents/notebooks/index.ts';
import type { Database } from '../../platform/db/pool.ts';
import { findMessage } from '../records/messages.ts';
import type { ConversationRow } from '../records/tables.ts';

/**
 * The passages that a message cites, read from the documents now: the message stores no text of them. A passage is left out
 * if the agent of this user would not find it any more.
 */
export async function showMessageSources(
  db: Database,
  { id, org_id: orgId, mode, user_id: userId }: ConversationRow,
  messageId: string,
): Promise<ResponseOf<Api['conversations']['messageSources']>> {
  const message = await findMessage(db, id, messageId);
  if (!message) throw fail('message_not_found');
  const cited = message.sources ?? [];
  const revisions = new Map<string, Awaited<ReturnType<typeof revisionsToSearch>>>();
  const data = [];
  // One after the other, so that a request never holds several connections.
  for (const { mark, notebook_id, document_id, position, from } of cited) {
    if (!revisions.has(notebook_id)) {
      revisions.set(notebook_id, await revisionsToSearch(db, { orgId, mode }, notebook_id, {}));
    }
    const reader = { orgId, notebookIds: [notebook_id], revisions: revisions.get(notebook_id) ?? null, userId };
    const place = { documentId: document_id, position, ...(from !== undefined && { from }) };
    const passage = await readPassage(db, reader, place);
    if (passage) data.push({ mark, document_id, notebook_id, ...passage });
  }
  return { object: 'message_sources', message_id: message.id, data };
}
