import { fail } from '@vestra/contract/errors';
import { isSystemFile } from '@vestra/contract/skill-digest';
import type { Upload } from '../../platform/http/multipart.ts';
import {
  assertInside,
  type Bundle,
  bundleTooLarge,
  fileTooLarge,
  maxBundleBytes,
  maxFileBytes,
  maxFiles,
  prepareBundle,
  type SentFile,
  tooManyFiles,
} from './bundle.ts';
import type { OpenZip } from './open-zip.ts';

type Request = { body: { files: { path: string; content: string }[] }; upload: Upload | null };

/** The files of a request, sent as JSON or as a zip. */
export async function readUpload({ body, upload }: Request, openZip: OpenZip): Promise<Bundle> {
  if (!upload) return prepareBundle(body.files, 'files');
  const [field] = Object.keys(upload.form);
  if (field !== undefined) {
    throw fail('invalid_request', { param: field, message: `Unknown field \`${field}\`: send \`file\` alone.` });
  }
  return prepareBundle(withoutTopFolder(await unpack(openZip(upload.bytes))), 'file');
}

async function unpack(entries: ReturnType<OpenZip>): Promise<SentFile[]> {
  const files: SentFile[] = [];
  let total = 0;
  for await (const { path, isFolder, read } of entries) {
    assertInside(isFolder ? path.replace(/\/$/, '') : path, 'file');
    if (isFolder || isSystemFile(path)) continue;
    if (files.length === maxFiles) throw tooManyFiles('file');
    const content = await read(maxFileBytes);
    if (content === null) throw fileTooLarge(path, 'file');
    total += content.length;
    if (total > maxBundleBytes) throw bundleTooLarge('file');
    files.push({ path, content });
  }
  return files;
}

/** Zipping a folder puts the folder around its files. */
function withoutTopFolder(files: SentFile[]): SentFile[] {
  if (files.some(({ path }) => path === 'SKILL.md')) return files;
  const around = files.find(({ path }) => /^[^/]+\/SKILL\.md$/.test(path))?.path.slice(0, -'SKILL.md'.length);
  if (around === undefined || !files.every(({ path }) => path.startsWith(around))) return files;
  return files.map((file) => ({ ...file, path: file.path.slice(around.length) }));
}
