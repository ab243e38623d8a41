import type { Entry, NewFile } from './computer-host.ts';

/** Words: the file, from which byte (counted from 1), how many. Says the size, a new line and the bytes. */
export const readScript = `
if [ -d "$1" ]; then exit 21; fi
if [ ! -e "$1" ]; then exit 22; fi
if [ ! -f "$1" ]; then exit 23; fi
if [ ! -r "$1" ]; then exit 24; fi
stat -L -c %s -- "$1" && tail -c "+$2" -- "$1" | head -c "$3"
`;

/**
 * Words: what goes first, then for each file its path, its size and its rights; the bytes of all of them come by stdin.
 * A file is moved to its place when it is whole.
 */
export const writeScript = `
set -e
umask 022
if [ -n "$1" ]; then rm -rf -- "$1"; fi
shift
while [ "$#" -gt 0 ]; do
  if [ -d "$1" ]; then exit 21; fi
  mkdir -p -- "\${1%/*}"
  part="$1.$$.part"
  head -c "$2" >"$part"
  if [ "$(stat -c %s -- "$part")" != "$2" ]; then rm -f -- "$part"; echo "The file was cut short." >&2; exit 1; fi
  chmod "$3" -- "$part"
  mv -f -T -- "$part" "$1"
  shift 3
done
`;

export const writeWords = (files: readonly NewFile[], instead: string | undefined): string[] => [
  instead ?? '',
  ...files.flatMap(({ path, bytes, isExecutable = false }) => [
    path,
    String(bytes.byteLength),
    isExecutable ? '755' : '644',
  ]),
];

/** Words: the folder, how deep, how many at most. */
export const listScript = `
if [ ! -e "$1" ]; then exit 22; fi
if [ ! -d "$1" ]; then exit 25; fi
find -H "$1" -mindepth 1 -maxdepth "$2" -printf '%y\\t%s\\t%P\\0' | head -z -n "$3"
`;

const kinds: Record<string, Entry['kind']> = { f: 'file', d: 'folder', l: 'link' };

export function readEntries(said: Uint8Array, most: number): { entries: Entry[]; isCut: boolean } {
  const lines = Buffer.from(said).toString('utf8').split('\0').filter(Boolean);
  const entries = lines.slice(0, most).map((line): Entry => {
    const [kind = '', size = '0', ...path] = line.split('\t');
    return { kind: kinds[kind] ?? 'other', size: Number(size), path: path.join('\t') };
  });
  return { entries: entries.sort((a, b) => (a.path < b.path ? -1 : 1)), isCut: lines.length > most };
}
