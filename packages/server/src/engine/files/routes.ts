import { fail } from '@vestra/contract/errors';
import { maxUploadBytes } from '@vestra/contract/files';
import { isPlainFileName } from '@vestra/contract/plain-file-name';
import type { Caller, Tenant } from '../../platform/caller.ts';
import type { Database } from '../../platform/db/pool.ts';
import type { FileStore } from '../../platform/files/file-store.ts';
import type { Handlers } from '../../platform/http/handler.ts';
import { commitPrepared } from '../../platform/http/idempotency.ts';
import { actingUser } from '../../users/index.ts';
import { type DownloadLinks, recordFile, storeContent } from './content.ts';
import { findFile, listFiles, presentFile } from './store.ts';
import type { FileRow } from './tables.ts';

export type FileDependencies = {
  db: Database;
  store: FileStore;
  links: DownloadLinks;
  /** Whether a message of the conversation carries the file. */
  isAttached: (conversationId: string, fileId: string) => Promise<boolean>;
  /** Deletes a file and its copies. */
  remove: (tenant: Tenant, fileId: string) => Promise<FileRow | undefined>;
};

export function fileRoutes({ db, store, links, isAttached, remove }: FileDependencies): Handlers<'files'> {
  /** A session token reaches files that were created in, sent to, or uploaded for its conversation. */
  async function isWithinReach({ session }: Caller, { id, conversation_id, source }: FileRow): Promise<boolean> {
    if (session === null) return true;
    // Tool results are for the agent only.
    if (session.conversationId === null || source === 'tool') return false;
    return conversation_id === session.conversationId || isAttached(session.conversationId, id);
  }

  return {
    list: async ({ caller, query, page }) => {
      const isOfWork = query.task_id !== undefined || query.conversation_id !== undefined;
      const filter = {
        userId: query.user_id,
        taskId: query.task_id,
        conversationId: query.conversation_id,
        // Files of a task are outputs, whatever `source` says.
        source: query.task_id ? 'output' : (query.source ?? (isOfWork ? 'output' : 'upload')),
      } as const;
      return page.of(await listFiles(db, caller, filter, page), presentFile, (row) => [row.id]);
    },
    create: async (call) => {
      const { caller, query, upload } = call;
      if (!upload) throw fail('file_required', { param: 'file' });
      const filename = upload.filename ?? '';
      if (!isPlainFileName(filename)) throw fail('invalid_filename', { param: 'file' });
      if (upload.bytes.byteLength > maxUploadBytes) throw fail('file_too_large', { param: 'file' });
      const stored = () => storeContent(db, store, caller.orgId, upload.bytes);
      return commitPrepared(call, stored, async (tx, content) => {
        const user = await actingUser(tx, caller, query.user_id);
        const row = await recordFile(tx, store, caller, {
          filename,
          content,
          user_id: user?.id ?? null,
          source: 'upload',
          task_id: null,
          conversation_id: caller.session?.conversationId ?? null,
        });
        return presentFile(row);
      });
    },
    get: async ({ caller, params }) => {
      const row = await findFile(db, caller, params.file_id);
      if (!row || !(await isWithinReach(caller, row))) throw fail('file_not_found');
      const { url, expiresAt } = links.make(row.id);
      return { ...presentFile(row), download_url: url, download_expires_at: expiresAt.toISOString() };
    },
    delete: async ({ caller, params }) => {
      const row = await remove(caller, params.file_id);
      if (!row) throw fail('file_not_found');
      return { object: 'file', id: row.id, deleted: true };
    },
  };
}
