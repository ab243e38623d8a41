import { chmod, mkdir, writeFile } from 'node:fs/promises';
import { dirname, join, posix } from 'node:path';
import { type FolderSize, largestIn, measureFolder } from '../../platform/sandbox/measure-folder.ts';
import type { Place } from './computer-folder.ts';
import type { Entry, NewFile } from './computer-host.ts';

/** Where the user's own files lie, seen from inside. */
export const home = '/home/agent';

/**
 * The whole path of what was named, from the home folder where it is relative; null where it lies outside of it. A look
 * at the text alone: links are followed only where nothing but the computer can be reached.
 */
export function homePath(given: string): string | null {
  if (given.includes('\0') || given.length > 4096) return null;
  const whole = posix.resolve(home, given.replace(/^~(?=\/|$)/, home));
  return whole === home || whole.startsWith(`${home}/`) ? whole : null;
}

/** Without these, programs do not know who they are. They are the server's, and only read inside. */
export async function furnish(place: Place): Promise<void> {
  await mkdir(etcOf(place), { recursive: true });
  await chmod(etcOf(place), 0o755);
  for (const [name, text] of Object.entries(etc)) {
    await writeFile(join(etcOf(place), name), text);
    await chmod(join(etcOf(place), name), 0o644);
  }
}

export const etcOf = (place: Place) => join(dirname(place.home), 'etc');

const etc: Record<string, string> = {
  // In gVisor the agent is root, of nothing but its own files: the first line with a number gives the name.
  passwd: `agent:x:1000:1000:agent:${home}:/bin/bash\nagent:x:0:0:agent:${home}:/bin/bash\nroot:x:0:0:root:/root:/usr/sbin/nologin\nnobody:x:65534:65534:nobody:/nonexistent:/usr/sbin/nologin\n`,
  group: 'agent:x:1000:\nagent:x:0:\nroot:x:0:\nnogroup:x:65534:\n',
  hosts: '127.0.0.1 localhost computer\n::1 localhost\n',
  'nsswitch.conf': 'passwd: files\ngroup: files\nhosts: files\n',
};

/** What the home folders of computers hold, measured after everything that writes and known before the next. */
type HomeAllowance = {
  /** What is left; null with a sentence for the agent where nothing is. */
  left: (folder: string) => Promise<{ size: FolderSize; bytes: number; full: string | null }>;
  /** To be called when something that may have written has ended. */
  hasChanged: (folder: string) => void;
  forget: (folder: string) => void;
};

export function createHomeAllowance(most: FolderSize): HomeAllowance {
  const sizes = new Map<string, Promise<FolderSize>>();

  function measure(folder: string): Promise<FolderSize> {
    const size = measureFolder(folder);
    sizes.set(folder, size);
    // The next one to ask measures again.
    size.catch(() => sizes.get(folder) === size && sizes.delete(folder));
    return size;
  }

  return {
    async left(folder) {
      const size = await (sizes.get(folder) ?? measure(folder));
      const isFull = size.bytes > most.bytes || size.files > most.files;
      return {
        size,
        bytes: Math.max(0, most.bytes - size.bytes),
        full: isFull ? await sentence(folder, size, most) : null,
      };
    },
    hasChanged: (folder) => void measure(folder).catch(() => {}),
    forget: (folder) => void sizes.delete(folder),
  };
}

/** Says what to delete. */
async function sentence(folder: string, size: FolderSize, most: FolderSize): Promise<string> {
  const largest = (await largestIn(folder, 3)).map(({ name, bytes }) => `${printable(name)} (${shown(bytes)})`);
  return [
    `The home folder is full: ${shown(size.bytes)} of ${shown(most.bytes)}, ${size.files} of ${most.files} files.`,
    ...(largest.length === 0 ? [] : [`The largest in it: ${largest.join(', ')}.`]),
    'Until something is deleted, commands can read and delete, and write nothing.',
  ].join(' ');
}

const printable = (name: string) => name.replace(/\p{C}/gu, '?').slice(0, 100);

const shown = (bytes: number) => `${Math.ceil(bytes / (1024 * 1024))} MB`;

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

/**
 * Words: the address, the ref, the mark. It runs in a folder of its own, in which nothing of the user's lies: settings of
 * git that an agent wrote there would otherwise be handed the credential.
 */
export const cloneScript = `
set -e
case "$2" in
  *[!0-9a-f]*) git clone --quiet --branch "$2" -- "$1" /clone/repo ;;
  ????????????????????????????????????????)
    git clone --quiet --no-checkout -- "$1" /clone/repo
    git -C /clone/repo checkout --quiet --detach "$2" ;;
  *) git clone --quiet --branch "$2" -- "$1" /clone/repo ;;
esac
printf %s "$3" >/clone/repo/.git/vestra-mark
`;

/**
 * Words: where it goes, the mark. What stands in its place is moved aside: it may hold work that nobody has anywhere
 * else. The same clone, made before a crash, is left as it is.
 */
export const moveScript = `
set -e
if [ -e "$1" ] || [ -L "$1" ]; then
  if [ "$(cat -- "$1/.git/vestra-mark" 2>/dev/null)" = "$2" ]; then exit 0; fi
  number=1
  while [ -e "$1.before-$number" ]; do number=$((number + 1)); done
  rmdir -- "$1" 2>/dev/null || mv -T -- "$1" "$1.before-$number"
fi
mkdir -p -- "\${1%/*}"
rm -rf -- "$1.part"
cp -a -- /clone/repo "$1.part"
mv -T -- "$1.part" "$1"
`;

/** The credential goes by the environment of this one process, to this one host, and is kept by nobody. */
export function credentialVariables(url: string, token: string | null): Record<string, string> {
  const { origin } = new URL(url);
  const settings: [string, string][] = [
    ['credential.helper', ''],
    ...(token === null ? [] : [[`credential.${origin}.helper`, helper] as [string, string]]),
  ];
  return {
    HOME: '/tmp',
    PATH: '/usr/local/bin:/usr/bin:/bin',
    GIT_TERMINAL_PROMPT: '0',
    GIT_CONFIG_GLOBAL: '/dev/null',
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_ALLOW_PROTOCOL: 'http:https',
    GIT_CONFIG_COUNT: String(settings.length),
    ...Object.fromEntries(settings.map(([key], at) => [`GIT_CONFIG_KEY_${at}`, key])),
    ...Object.fromEntries(settings.map(([, value], at) => [`GIT_CONFIG_VALUE_${at}`, value])),
    ...(token !== null && { VESTRA_GIT_TOKEN: token }),
  };
}

/** Any user name will do where the password is a token. */
const helper = '!f() { test "$1" = get && printf "username=x-access-token\\npassword=%s\\n" "$VESTRA_GIT_TOKEN"; }; f';
