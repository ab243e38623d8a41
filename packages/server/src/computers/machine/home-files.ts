import { chmod, mkdir, writeFile } from 'node:fs/promises';
import { dirname, join, posix } from 'node:path';
import { type FolderSize, largestEntries, measureFolder } from '../../platform/sandbox/resource-limits.ts';
import type { ComputerFolders } from './computer-folder.ts';
import type { FolderEntry, NewFile } from './computer-host.ts';

/** The home folder as programs on the computer see it. */
export const home = '/home/agent';

/**
 * The absolute path, resolved from the home folder; null if it is outside. Checks only the text: links are followed
 * inside the sandbox.
 */
export function homePath(given: string): string | null {
  if (given.includes('\0') || given.length > 4096) return null;
  const whole = posix.resolve(home, given.replace(/^~(?=\/|$)/, home));
  return whole === home || whole.startsWith(`${home}/`) ? whole : null;
}

/**
 * Without these files, programs cannot resolve their own account. They belong to the server and are read-only inside.
 */
export async function writeEtcFiles(folders: ComputerFolders): Promise<void> {
  await mkdir(etcFolder(folders), { recursive: true });
  await chmod(etcFolder(folders), 0o755);
  for (const [name, text] of Object.entries(etc)) {
    await writeFile(join(etcFolder(folders), name), text);
    await chmod(join(etcFolder(folders), name), 0o644);
  }
}

export const etcFolder = (folders: ComputerFolders) => join(dirname(folders.home), 'etc');

const etc: Record<string, string> = {
  // In gVisor the agent is root over its own files only. The first line with a number gives the name.
  passwd: `agent:x:1000:1000:agent:${home}:/bin/bash\nagent:x:0:0:agent:${home}:/bin/bash\nroot:x:0:0:root:/root:/usr/sbin/nologin\nnobody:x:65534:65534:nobody:/nonexistent:/usr/sbin/nologin\n`,
  group: 'agent:x:1000:\nagent:x:0:\nroot:x:0:\nnogroup:x:65534:\n',
  hosts: '127.0.0.1 localhost computer\n::1 localhost\n',
  'nsswitch.conf': 'passwd: files\ngroup: files\nhosts: files\n',
};

/** The usage of home folders, measured after every write so that the next command need not wait. */
type HomeQuota = {
  /** `full` is a sentence for the agent if the quota is used up, and null otherwise. */
  left: (folder: string) => Promise<{ size: FolderSize; bytes: number; full: string | null }>;
  /** Call it after every operation that may have written. */
  hasChanged: (folder: string) => void;
  forget: (folder: string) => void;
};

export function createHomeQuota(most: FolderSize): HomeQuota {
  const sizes = new Map<string, Promise<FolderSize>>();

  function measure(folder: string): Promise<FolderSize> {
    const size = measureFolder(folder);
    sizes.set(folder, size);
    // The next call measures again.
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

/** Names the largest files, so that the agent knows what to delete. */
async function sentence(folder: string, size: FolderSize, most: FolderSize): Promise<string> {
  const largest = (await largestEntries(folder, 3)).map(({ name, bytes }) => `${printable(name)} (${shown(bytes)})`);
  return [
    `The home folder is full: ${shown(size.bytes)} of ${shown(most.bytes)}, ${size.files} of ${most.files} files.`,
    ...(largest.length === 0 ? [] : [`The largest in it: ${largest.join(', ')}.`]),
    'Until something is deleted, commands can read and delete, and write nothing.',
  ].join(' ');
}

const printable = (name: string) => name.replace(/\p{C}/gu, '?').slice(0, 100);

const shown = (bytes: number) => `${Math.ceil(bytes / (1024 * 1024))} MB`;

/** Arguments: the file, the first byte (from 1), the number of bytes. Prints the size, a newline and the bytes. */
export const readScript = `
if [ -d "$1" ]; then exit 21; fi
if [ ! -e "$1" ]; then exit 22; fi
if [ ! -f "$1" ]; then exit 23; fi
if [ ! -r "$1" ]; then exit 24; fi
stat -L -c %s -- "$1" && tail -c "+$2" -- "$1" | head -c "$3"
`;

/**
 * Arguments: a path to remove first, then the path, size and mode of each file. Their bytes come from stdin. A file
 * moves to its path once it is complete.
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

/** Arguments: the folder, the depth, the maximum number of entries. */
export const listScript = `
if [ ! -e "$1" ]; then exit 22; fi
if [ ! -d "$1" ]; then exit 25; fi
find -H "$1" -mindepth 1 -maxdepth "$2" -printf '%y\\t%s\\t%P\\0' | head -z -n "$3"
`;

const kinds: Record<string, FolderEntry['kind']> = { f: 'file', d: 'folder', l: 'link' };

export function readEntries(said: Uint8Array, most: number): { entries: FolderEntry[]; isCut: boolean } {
  const lines = Buffer.from(said).toString('utf8').split('\0').filter(Boolean);
  const entries = lines.slice(0, most).map((line): FolderEntry => {
    const [kind = '', size = '0', ...path] = line.split('\t');
    return { kind: kinds[kind] ?? 'other', size: Number(size), path: path.join('\t') };
  });
  return { entries: entries.sort((a, b) => (a.path < b.path ? -1 : 1)), isCut: lines.length > most };
}

/**
 * Arguments: the URL, the ref, the mark. Runs in a separate folder without files of the user: git settings that an
 * agent wrote could otherwise read the credential.
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
 * Arguments: the destination, the mark. Moves an existing folder aside, because it may contain unsaved changes. Keeps
 * the same clone if a crash interrupted it after this step.
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

/** Passes the credential only in the environment of this process, for this host. It is not stored. */
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

/** Git hosts accept any user name with a token as password. */
const helper = '!f() { test "$1" = get && printf "username=x-access-token\\npassword=%s\\n" "$VESTRA_GIT_TOKEN"; }; f';
