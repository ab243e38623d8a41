import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import { extname } from 'node:path';
import { Failure } from '@vestra/contract/errors';
import { newId } from '@vestra/contract/ids';
import type { Tenant } from '../../platform/caller.ts';
import { sharedNow } from '../../platform/db/clock.ts';
import type { Database, Transaction } from '../../platform/db/pool.ts';
import { isSnapshotOpen } from '../../platform/db/snapshot-lock.ts';
import { transaction } from '../../platform/db/transaction.ts';
import type { FileStore, Range } from '../../platform/files/file-store.ts';
import {
  deleteFilesOfUser,
  deleteOldToolFiles,
  findLinkedFile,
  insertFile,
  isContentUsed,
  lockContent,
  markContentUnused,
  oldestUnused,
  unmarkContent,
} from './store.ts';
import type { FileRow } from './tables.ts';

/** Content that is in the store and has no file row yet. */
type StoredContent = { sha256: string; bytes: Uint8Array };

export type NewFile = Pick<FileRow, 'user_id' | 'source' | 'task_id' | 'conversation_id'> & {
  filename: string;
  content: StoredContent;
};

/**
 * Puts bytes into the store outside of any transaction, so that a slow store holds no connection and no lock. The
 * content is marked as unused first, so that it is removed if no file row follows.
 */
export async function storeContent(
  db: Database,
  store: FileStore,
  orgId: string,
  bytes: Uint8Array,
): Promise<StoredContent> {
  const sha256 = createHash('sha256').update(bytes).digest('hex');
  await markContentUnused(db, orgId, sha256);
  await store.put(orgId, sha256, bytes);
  return { sha256, bytes };
}

/** Inserts the row of a stored file. The bytes are in the store before the row is visible. */
export async function recordFile(
  tx: Transaction,
  store: FileStore,
  tenant: Tenant,
  { filename, content, ...rest }: NewFile,
): Promise<FileRow> {
  const { sha256, bytes } = content;
  await lockContent(tx, tenant.orgId, sha256);
  // The last other file with the same bytes may have been deleted since, and the bytes with it.
  if (!(await store.has(tenant.orgId, sha256))) await store.put(tenant.orgId, sha256, bytes);
  await unmarkContent(tx, tenant.orgId, sha256);
  return insertFile(tx, {
    id: newId('file'),
    org_id: tenant.orgId,
    mode: tenant.mode,
    filename,
    mime_type: await mediaTypeOf(bytes, filename),
    size_bytes: bytes.byteLength,
    sha256,
    ...rest,
  });
}

/** Text formats look alike, so the file name decides among them. For all other content the bytes decide. */
const textTypes: Record<string, string> = {
  '.csv': 'text/csv',
  '.css': 'text/css',
  '.html': 'text/html',
  '.htm': 'text/html',
  '.json': 'application/json',
  '.md': 'text/markdown',
  '.svg': 'image/svg+xml',
  '.tsv': 'text/tab-separated-values',
  '.xml': 'application/xml',
  '.yaml': 'application/yaml',
  '.yml': 'application/yaml',
};

/** The media type by content; the sender's claim is ignored. */
async function mediaTypeOf(bytes: Uint8Array, filename: string): Promise<string> {
  const { fileTypeFromBuffer } = await import('file-type');
  const found = await fileTypeFromBuffer(bytes);
  if (found) return found.mime;
  if (!isText(bytes)) return 'application/octet-stream';
  return textTypes[extname(filename).toLowerCase()] ?? 'text/plain';
}

function isText(bytes: Uint8Array): boolean {
  if (bytes.includes(0)) return false;
  try {
    new TextDecoder('utf-8', { fatal: true }).decode(bytes);
    return true;
  } catch {
    return false;
  }
}

type Named = { org_id: string; name: string };

/**
 * Removes the bytes of deleted files that no other file of the org shares. If the store is unreachable, `pruneUnused`
 * removes them later.
 */
export async function removeContents(
  db: Database,
  store: FileStore,
  rows: readonly { org_id: string; sha256: string }[],
): Promise<void> {
  for (const { org_id, sha256 } of rows) await removeUnusedContent(db, store, { org_id, name: sha256 });
}

/** Removes content that is marked as unused. If the store is unreachable, `pruneUnused` removes it later. */
export async function removeUnusedContent(db: Database, store: FileStore, noted: Named): Promise<void> {
  await transaction(db, (tx) => dropUnused(tx, store, noted)).catch((error: unknown) => {
    if (!(error instanceof Failure)) throw error;
  });
}

/**
 * Removes the bytes before the commit. If the store is unreachable, the erasure is retried, and no user counts as
 * erased whose files still exist.
 */
export const fileEraser =
  (store: FileStore) =>
  async (tx: Transaction, tenant: Tenant, userId: string): Promise<void> => {
    const rows = await deleteFilesOfUser(tx, tenant, userId);
    for (const name of new Set(rows.map(({ sha256 }) => sha256))) {
      await dropUnused(tx, store, { org_id: tenant.orgId, name });
    }
  };

/** Each item needs requests to the file store, so a batch is smaller than a batch of rows. */
const maxContentsPerPrune = 100;

/** Deletes old files of tool results, as old traces are deleted. Returns false if none was left. */
export const pruneToolFiles =
  (store: FileStore) =>
  async (db: Database, before: Date, limit: number): Promise<boolean> => {
    const most = Math.min(limit, maxContentsPerPrune);
    const rows = await transaction(db, (tx) => deleteOldToolFiles(tx, before, most));
    await removeContents(db, store, rows);
    return rows.length === most;
  };

/**
 * Removes content that was stored without a file row, and content whose removal failed. It does nothing during a
 * backup, whose rows may name a computer's home that has been replaced since.
 */
export const pruneUnused =
  (store: FileStore) =>
  async (db: Database, before: Date, limit: number): Promise<boolean> => {
    const most = Math.min(limit, maxContentsPerPrune);
    const rows = (await isSnapshotOpen(db)) ? [] : await oldestUnused(db, before, most);
    for (const each of rows) await transaction(db, (tx) => dropUnused(tx, store, each));
    return rows.length === most;
  };

async function dropUnused(tx: Transaction, store: FileStore, { org_id, name }: Named): Promise<void> {
  await lockContent(tx, org_id, name);
  if (!(await isContentUsed(tx, org_id, name))) await store.remove(org_id, name);
  await unmarkContent(tx, org_id, name);
}

/** A link carries a signature: its holder may read this one file until it expires. */
export type DownloadLinks = {
  make: (fileId: string) => { url: string; expiresAt: Date };
  isGood: (fileId: string, expires: string, signature: string) => boolean;
};

const linkValidMs = 15 * 60_000;

export function createDownloadLinks(
  secret: Uint8Array,
  publicUrl: string,
  now: () => number = sharedNow,
): DownloadLinks {
  const sign = (fileId: string, expires: string) =>
    createHmac('sha256', secret).update(`download\n${fileId}\n${expires}`).digest();

  return {
    make(fileId) {
      const expiresAt = new Date(now() + linkValidMs);
      const expires = String(expiresAt.getTime());
      const signature = sign(fileId, expires).toString('base64url');
      return { url: `${publicUrl}/downloads/${fileId}?expires=${expires}&signature=${signature}`, expiresAt };
    },
    isGood(fileId, expires, signature) {
      const given = Buffer.from(signature, 'base64url');
      const wanted = sign(fileId, expires);
      return given.length === wanted.length && timingSafeEqual(given, wanted) && Number(expires) > now();
    },
  };
}

/** Clients follow the redirect at once, so the store's link may be short-lived. */
const directSeconds = 60;

/** The file of a signed link; null if the file or its bytes are gone. */
export function downloadSource(db: Database, store: FileStore, { isDirect }: { isDirect: boolean }) {
  return async (fileId: string) => {
    const row = await findLinkedFile(db, fileId);
    if (!row) return null;
    const { org_id, sha256 } = row;
    const as = { filename: row.filename ?? row.id, mediaType: row.mime_type ?? 'application/octet-stream' };
    return {
      ...as,
      bytes: row.size_bytes,
      direct: isDirect ? store.link(org_id, sha256, { ...as, seconds: directSeconds }) : null,
      open: (range?: Range) => store.open(org_id, sha256, range),
    };
  };
}
