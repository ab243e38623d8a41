import type { Folder } from './local-files.ts';
import { type Problem, problemOf } from './problem.ts';
import type { ServiceFile } from './service-file.ts';

/**
 * Replaces the file named in `setup` by its text. A single word that is a file below the folder names it. Anything else
 * is the script itself, unless it can only be a path.
 */
export async function resolveSetup(service: ServiceFile, folder: Folder, problems: Problem[]): Promise<unknown> {
  const { computer } = service.content;
  const setup = (computer as { setup?: unknown } | null | undefined)?.setup;
  if (typeof setup !== 'string' || !/^\S+$/.test(setup.trim())) return computer;
  const written = setup.trim();
  const isPath = /^\.{1,2}[/\\]|^\.[a-z]/i.test(written) || (/\.(sh|bash)$/.test(written) && !written.startsWith('/'));
  const found = await folder.find(written);
  if (!found.ok || found.value.kind === 'folder') {
    if (!isPath) return computer;
    const message = found.ok ? `\`${written}\` is a folder: name a file.` : found.message;
    problems.push(service.problemAt('computer.setup', message));
    return computer;
  }
  const { path, shown } = found.value;
  const read = await folder.read(path, shown);
  const text = read.ok ? decoded(read.value) : null;
  if (text === null) problems.push(problemOf(shown, read.ok ? 'The script is not text in UTF-8.' : read.message));
  return { ...(computer as object), setup: text };
}

function decoded(bytes: Uint8Array): string | null {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    return null;
  }
}
