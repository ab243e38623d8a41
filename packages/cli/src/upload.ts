import { readFile, stat } from 'node:fs/promises';
import { basename, dirname, resolve } from 'node:path';
import type { RouteRow } from '@vestra/contract/api';
import type { Command } from '@vestra/contract/derive/commands';
import { openFolder } from '@vestra/sdk/apply/local-files';
import type { TypedArguments } from './build-request.ts';
import { misuse } from './fault.ts';
import type { Terminal } from './terminal.ts';

type Route = RouteRow['route'];

/** Whether the route accepts a file as a multipart part. */
export const takesFile = ({ accepts }: Route): boolean => accepts?.includes('multipart/form-data') ?? false;

/** Whether it accepts only a file. */
export const takesFileAlone = (route: Route): boolean =>
  takesFile(route) && !route.accepts?.includes('application/json');

/** The request body: the named file, else the fields. */
export async function uploadOf(
  terminal: Pick<Terminal, 'cwd'>,
  { route }: Pick<Command, 'route'>,
  typed: TypedArguments,
  body: unknown,
): Promise<unknown> {
  if (!route || !takesFile(route.route)) return route?.route.body && body === undefined ? {} : body;
  const named = takesFileAlone(route.route) ? typed.words.at(-1) : typed.flags.file;
  if (typeof named !== 'string') return body ?? {};
  if (body !== undefined) throw misuse('Use --file or the fields, not both.', '--file');
  if (route.family === 'skills' && (await isFolder(terminal, named))) return readSkillFolder(terminal, named);
  const form = new FormData();
  form.append('file', await readUpload(terminal, named));
  return form;
}

async function isFolder({ cwd }: Pick<Terminal, 'cwd'>, named: string): Promise<boolean> {
  return stat(resolve(cwd, named)).then(
    (found) => found.isDirectory(),
    () => false,
  );
}

/** Reads the files of a skill as `vestra apply` would send them. */
async function readSkillFolder({ cwd }: Pick<Terminal, 'cwd'>, named: string): Promise<unknown> {
  const path = resolve(cwd, named);
  const folder = await openFolder(dirname(path));
  const listed = good(await folder.list(good(await folder.find(basename(path)))));
  const files: { path: string; content: string }[] = [];
  for (const { path: below, real } of listed) {
    files.push({ path: below, content: decoder.decode(good(await folder.read(real, below))) });
  }
  return { files };
}

const decoder = new TextDecoder();

function good<Value>(looked: { ok: true; value: Value } | { ok: false; message: string }): Value {
  if (!looked.ok) throw misuse(looked.message, '--file');
  return looked.value;
}

/** Reads a local file under its own name. */
export async function readUpload({ cwd }: Pick<Terminal, 'cwd'>, named: string): Promise<File> {
  const path = resolve(cwd, named);
  try {
    return new File([await readFile(path)], basename(path));
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code;
    throw misuse(
      code === 'EISDIR'
        ? `${path} is a folder. Name a file.`
        : code === 'ENOENT'
          ? `There is no file ${path}. Name one that exists.`
          : `${path} cannot be read (${code}). Check its rights.`,
    );
  }
}
