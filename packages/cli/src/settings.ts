import { readFile, stat } from 'node:fs/promises';
import { dirname, join, relative, resolve } from 'node:path';
import { misuse, refuse } from './fault.ts';
import { readProfiles } from './profiles.ts';
import type { Terminal } from './terminal.ts';

/** The flags of every command. */
export type GlobalFlags = {
  url?: string | undefined;
  key?: string | undefined;
  profile?: string | undefined;
  live?: boolean | undefined;
};

export type Settings = {
  url: string;
  /** The source of the address, in words. */
  urlSource: string;
  key: string | null;
  /** The source of the key, in words. */
  source: string | null;
  /** The flags for a command with the same key; empty if none are needed. */
  again: string;
  /** A note to print once: the folder's keys are used, or one key overrides another. */
  notice: string | null;
};

type Place = Pick<Terminal, 'env' | 'cwd'>;

export const localUrl = 'http://127.0.0.1:4600';

/** The order of `readSettings`, for people. */
export const precedence = [
  '--url and --key (--live: the live key of the folder)',
  '--profile: saved by `vestra login --profile`',
  'VESTRA_URL and VESTRA_KEY',
  '.vestra of this folder, or of the nearest one above it: its test key, where its server last listened',
  'the current profile of `vestra login`',
];

/**
 * Looks for flags, then a named profile, the environment, the server of this folder and the current profile. A folder
 * with a server never uses the live server of a login by accident. A saved key is only sent to its own server, so that
 * `--url` alone never leaks it.
 */
export async function readSettings(place: Place, flags: GlobalFlags): Promise<Settings> {
  const { env } = place;
  const profile = await chosenProfile(env, flags.profile);
  const isNamed = flags.profile !== undefined;
  const local = await localKeys(place);
  const given = [
    ['--url', flags.url],
    [`the profile "${flags.profile}"`, isNamed && profile?.url],
    ['VESTRA_URL', env.VESTRA_URL],
    [local?.path ?? '', local?.url],
    ['`vestra login`', profile?.url],
    ['none: the default address', localUrl],
  ] as const;
  const [urlSource, first] = given.find(([, each]) => each) as [string, string];
  const url = address(first);
  return { urlSource, ...keyFor(url) };

  function keyFor(url: string): Omit<Settings, 'urlSource'> {
    if (flags.live) {
      if (flags.key) throw misuse('--live selects the live key of this folder: use it or --key, not both.', '--live');
      if (!local)
        throw refuse(
          `--live needs ${env.VESTRA_DATA_DIR || '.vestra'}/credentials.json here or above. Give a live key with --key instead.`,
        );
      if (!isOwn(local, url))
        throw refuse(`The keys of this folder are for its own server, not for ${url}: use --key.`);
      const told = `Using the live key of ${local.path} at ${url}.`;
      return { url, key: local.live_key, source: local.path, again: '--live', notice: told };
    }
    if (flags.key) return { url, key: flags.key, source: '--key', again: '--key <the same key>', notice: null };
    const kept = profile && isSameServer(profile.url, url) ? profile.key : null;
    const ofProfile = { source: '`vestra login`', again: isNamed ? `--profile ${flags.profile}` : '', notice: null };
    if (isNamed && kept) return { url, key: kept, ...ofProfile };
    if (env.VESTRA_KEY) {
      const over =
        kept && kept !== env.VESTRA_KEY ? `Using VESTRA_KEY at ${url}, not the key of \`vestra login\`.` : null;
      return { url, key: env.VESTRA_KEY, source: 'VESTRA_KEY', again: '', notice: over };
    }
    if (local && isOwn(local, url)) {
      const over = profile ? `, not the profile of \`vestra login\` (use --profile ${profile.name} for that)` : '';
      const told = `Using the test key of ${local.path} at ${url}${over}.`;
      return { url, key: local.test_key, source: local.path, again: '', notice: told };
    }
    if (kept) return { url, key: kept, ...ofProfile };
    return { url, key: null, source: null, again: '', notice: null };
  }
}

/** The error for a command that needs a key and found none. */
export const keyMissing = (url: string): string =>
  `No API key for ${url}: use --key, set VESTRA_KEY, or run \`vestra login\`.`;

async function chosenProfile(env: Place['env'], named: string | undefined) {
  const { current, profiles } = await readProfiles(env);
  if (named !== undefined && !profiles[named]) {
    const known = Object.keys(profiles);
    const others = known.length > 0 ? ` There are: ${known.join(', ')}.` : '';
    throw refuse(`No profile is named "${named}".${others} Create it with \`vestra login --profile ${named}\`.`);
  }
  const name = named ?? current;
  const found = profiles[name];
  return found ? { name, ...found } : null;
}

/** Reads the keys and the address that a server wrote into its data folder. */
async function localKeys({ env, cwd }: Place) {
  const folders = env.VESTRA_DATA_DIR
    ? [resolve(cwd, env.VESTRA_DATA_DIR)]
    : upwards(cwd).map((each) => join(each, '.vestra'));
  for (const folder of folders) {
    const file = join(folder, 'credentials.json');
    const found = await readKeys(file);
    if (found && (dirname(folder) === cwd || env.VESTRA_DATA_DIR || (await isOwnFile(file)))) {
      return { path: relative(cwd, file), ...found };
    }
  }
  return null;
}

/** A parent folder may be shared, such as /tmp: another user's file could redirect what this user types. */
const isOwnFile = async (file: string) => process.getuid === undefined || (await stat(file)).uid === process.getuid();

const upwards = (folder: string): string[] =>
  dirname(folder) === folder ? [folder] : [folder, ...upwards(dirname(folder))];

async function readKeys(file: string) {
  try {
    const { test_key, live_key, url } = JSON.parse(await readFile(file, 'utf8')) as Record<string, unknown>;
    if (typeof test_key !== 'string' || typeof live_key !== 'string') return null;
    return { test_key, live_key, url: typeof url === 'string' ? url : localUrl };
  } catch {
    return null;
  }
}

export function address(url: string): string {
  if (!URL.canParse(url) || !/^https?:$/.test(new URL(url).protocol)) {
    throw misuse(`"${url}" is not the address of a server: write it like ${localUrl}.`, '--url');
  }
  // The form that the SDK expects and that saved keys use.
  return url.replace(/\/+$/, '').replace(/\/v1$/, '');
}

/** A key from a folder is sent to its own server on any port, and to no other machine. */
const isOwn = (local: { url: string }, url: string) => isLoopback(url) || isSameServer(local.url, url);

const isLoopback = (url: string) => /^(127(\.\d+){3}|localhost|\[::1\])$/.test(new URL(url).hostname);

const isSameServer = (one: string, other: string) => URL.canParse(one) && new URL(one).origin === new URL(other).origin;
