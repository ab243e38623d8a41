import { createHash } from 'node:crypto';
import { type Failure, fail } from '@vestra/contract/errors';
import { isSystemFile, skillDigest, skillPath } from '@vestra/contract/skill-digest';
import {
  faultOfSkillPath,
  leavesSkill,
  skillLimits,
  skillMessages,
  skillPathClashes,
} from '@vestra/contract/skill-rules';
import type { Upload } from '../../platform/http/multipart.ts';
import type { Frontmatter } from './frontmatter.ts';
import type { OpenZip } from './open-zip.ts';

/** The request field of the files: a list, or one zip. */
type BundleField = 'files' | 'file';

type SentFile = { path: string; content: string | Uint8Array };

export type SkillFile = { path: string; content: string; bytes: number; sha256: string };

/** The validated files of a skill, with the values derived from them. */
export type SkillBundle = { frontmatter: Frontmatter; files: SkillFile[]; hash: string; nameParam: string };

export async function prepareBundle(sent: readonly SentFile[], field: BundleField): Promise<SkillBundle> {
  const paramOf = (at: number, part: 'path' | 'content') => (field === 'files' ? `files.${at}.${part}` : field);
  if (sent.length > skillLimits.files) throw tooManyFiles(field);
  const paths = sent.map(({ path }) => skillPath(path));
  for (const [at, path] of paths.entries()) assertPath(path, paramOf(at, 'path'));
  assertPathsApart(paths, (at) => paramOf(at, 'path'));
  const files = sent.map(({ content }, at) => readFile(paths[at] as string, content, paramOf(at, 'content')));
  if (files.reduce((sum, { bytes }) => sum + bytes, 0) > skillLimits.bundleBytes) throw bundleTooLarge(field);
  const main = paths.indexOf('SKILL.md');
  if (main === -1) throw fail('invalid_skill', { param: field, message: 'A skill needs a `SKILL.md` at its top.' });
  const nameParam = paramOf(main, 'content');
  const { readFrontmatter } = await import('./frontmatter.ts');
  return {
    frontmatter: readFrontmatter((files[main] as SkillFile).content, nameParam),
    files,
    hash: await skillDigest(files),
    nameParam,
  };
}

function readFile(path: string, content: string | Uint8Array, param: string): SkillFile {
  const bytes = typeof content === 'string' ? Buffer.from(content, 'utf8') : content;
  if (bytes.length > skillLimits.fileBytes) throw fileTooLarge(path, param);
  const text = typeof content === 'string' ? content : decode(content, path, param);
  if (text.includes('\0')) throw binaryFile(path, param);
  return { path, content: text, bytes: bytes.length, sha256: createHash('sha256').update(bytes).digest('hex') };
}

/** Keeps a byte order mark, so that files are returned exactly as sent. */
const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

function decode(content: Uint8Array, path: string, param: string): string {
  try {
    return utf8.decode(content);
  } catch {
    throw binaryFile(path, param);
  }
}

function assertPath(path: string, param: string, why = faultOfSkillPath(path)): void {
  if (why !== null) throw invalidPath(path, param, why);
}

function assertPathsApart(paths: readonly string[], paramOf: (at: number) => string): void {
  const [clash] = skillPathClashes(paths);
  if (!clash) return;
  const path = paths[clash.at] as string;
  if (!clash.isSame) throw invalidPath(path, paramOf(clash.at), skillMessages.folderIsFile);
  const message = `\`${shown(path)}\` ${skillMessages.samePath}.`;
  throw fail('duplicate_path', { param: paramOf(clash.at), message });
}

const tooManyFiles = (field: BundleField): Failure =>
  fail('invalid_skill', { param: field, message: skillMessages.tooManyFiles });

const fileTooLarge = (path: string, param: string): Failure =>
  fail('file_too_large', { status: 400, param, message: `\`${shown(path)}\` ${skillMessages.largeFile}.` });

const bundleTooLarge = (field: BundleField): Failure =>
  fail('bundle_too_large', { param: field, message: skillMessages.largeBundle });

const binaryFile = (path: string, param: string): Failure =>
  fail('binary_file', {
    param,
    message: `\`${shown(path)}\` is not text in UTF-8. A skill can contain text files only.`,
  });

const invalidPath = (path: string, param: string, why: string): Failure =>
  fail('invalid_skill', { param, message: `The path \`${shown(path)}\` ${why}.` });

const shown = (path: string) => (path.length > 200 ? `${path.slice(0, 200).toWellFormed()}…` : path);

type Request = { body: { files: { path: string; content: string }[] }; upload: Upload | null };

/** Reads the files of a request, sent as JSON or as a zip. */
export async function readUpload({ body, upload }: Request, openZip: OpenZip): Promise<SkillBundle> {
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
    const plain = isFolder ? path.replace(/\/$/, '') : path;
    // The folder around the files does not count for the length.
    assertPath(plain, 'file', leavesSkill(plain));
    if (isFolder || isSystemFile(path)) continue;
    if (files.length === skillLimits.files) throw tooManyFiles('file');
    const content = await read(skillLimits.fileBytes);
    if (content === null) throw fileTooLarge(path, 'file');
    total += content.length;
    if (total > skillLimits.bundleBytes) throw bundleTooLarge('file');
    files.push({ path, content });
  }
  return files;
}

/** Many programs put the zipped folder around its files. */
function withoutTopFolder(files: SentFile[]): SentFile[] {
  if (files.some(({ path }) => path === 'SKILL.md')) return files;
  const around = files.find(({ path }) => /^[^/]+\/SKILL\.md$/.test(path))?.path.slice(0, -'SKILL.md'.length);
  if (around === undefined || !files.every(({ path }) => path.startsWith(around))) return files;
  return files.map((file) => ({ ...file, path: file.path.slice(around.length) }));
}
