import type { Manifest } from '../../agents/versions/index.ts';
import { copyableFiles } from '../../engine/files/index.ts';
import type { Tenant } from '../../platform/caller.ts';
import type { Transaction } from '../../platform/db/pool.ts';
import type { FixedFiles } from './reference-faults.ts';

/**
 * Fixes the content of the computer's files, so that the version runs in both modes and does not need the uploads any
 * more. Hashes in the request do not count: a key must not reach content that it does not know by a file. A file with
 * the same path and content as before keeps its id, so that uploading it again changes nothing.
 */
export async function fixFiles(
  tx: Transaction,
  tenant: Tenant,
  manifest: Manifest,
  before: Manifest | null,
): Promise<Manifest> {
  const { environment } = manifest;
  if (!environment || environment.files.length === 0) return manifest;
  const ids = environment.files.map(({ file_id }) => file_id);
  const uploaded = await copyableFiles(tx, tenant, ids, { hold: true });
  const fixed = fixedFilesOf(before);
  const files = environment.files.map(({ file_id, path }) => {
    const sha256 = fixed.get(file_id) ?? uploaded.get(file_id);
    const same = before?.environment?.files.find((file) => file.path === path && file.sha256 === sha256);
    return sha256 !== undefined && same ? same : { file_id, path, ...(sha256 !== undefined && { sha256 }) };
  });
  return { ...manifest, environment: { ...environment, files } };
}

export const fixedFilesOf = (manifest: Manifest | null): FixedFiles =>
  new Map(
    manifest?.environment?.files.flatMap(({ file_id, sha256 }) => (sha256 === undefined ? [] : [[file_id, sha256]])),
  );
