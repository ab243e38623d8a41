import { readFile } from 'node:fs/promises';
import { join, relative, resolve } from 'node:path';
import { misuse, refuse } from './fault.ts';
import { readProfiles } from './profiles.ts';
import type { Terminal } from './terminal.ts';

/** What every command takes. */
export type GlobalFlags = {
  url?: string | undefined;
  key?: string | undefined;
  profile?: string | undefined;
  live?: boolean | undefined;
};

export type Settings = {
  url: string;
  key: string | null;
  /** Where the key is from, in words. */
  source: string | null;
  /** What to type for a command with the same key again; empty where nothing is needed. */
  again: string;
  /** What is worth saying once: that the keys of this folder are used, or that one key goes over another. */
  notice: string | null;
};

type Place = Pick<Terminal, 'env' | 'cwd'>;

export const localUrl = 'http://127.0.0.1:4600';

/**
 * Flags, then a profile that was named, then the environment, then the current profile, then the server of this folder.
 * A kept key goes only to the server it was kept for, so that `--url` alone never hands it to another.
 */
export async function readSettings(place: Place, flags: GlobalFlags): Promise<Settings> {
  const { env } = place;
  const profile = await chosenProfile(env, flags.profile);
  const isNamed = flags.profile !== undefined;
  const local = await localKeys(place);
  const url = address(flags.url || (isNamed && profile?.url) || env.VESTRA_URL || profile?.url || (local?.url ?? null));

  if (flags.live) {
    if (flags.key) throw misuse('--live picks the live key of this folder: give it or --key, not both.', '--live');
    if (!local) throw refuse(`--live needs ${place.env.VESTRA_DATA_DIR || '.vestra'}/credentials.json in this folder.`);
    const live = { source: local.path, again: '--live', notice: notice(local.path, 'live', url) };
    if (!isOwn(local, url)) throw refuse(`The keys of this folder are for its own server, not for ${url}: give --key.`);
    return { url, key: local.live_key, ...live };
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
  if (kept) return { url, key: kept, ...ofProfile };
  if (local && isOwn(local, url)) {
    return { url, key: local.test_key, source: local.path, again: '', notice: notice(local.path, 'test', url) };
  }
  return { url, key: null, source: null, again: '', notice: null };
}

/** The sentence for a command that needs a key where none was found. */
export const keyMissing = (url: string): string =>
  `No API key for ${url}: give --key, set VESTRA_KEY, or run \`vestra login\`.`;

const notice = (path: string, mode: string, url: string) => `Using the ${mode} key of ${path} at ${url}.`;

async function chosenProfile(env: Place['env'], named: string | undefined) {
  const { current, profiles } = await readProfiles(env);
  if (named !== undefined && !profiles[named]) {
    const known = Object.keys(profiles);
    const hint = known.length > 0 ? `There are: ${known.join(', ')}.` : 'Make it with `vestra login --profile`.';
    throw refuse(`No profile is named "${named}". ${hint}`);
  }
  return profiles[named ?? current] ?? null;
}

/** What the first start of a server wrote into its data folder, and where its last start listened. */
async function localKeys({ env, cwd }: Place) {
  const folder = resolve(cwd, env.VESTRA_DATA_DIR || '.vestra');
  const file = join(folder, 'credentials.json');
  try {
    const { test_key, live_key, url } = JSON.parse(await readFile(file, 'utf8')) as Record<string, unknown>;
    if (typeof test_key !== 'string' || typeof live_key !== 'string') return null;
    return { path: relative(cwd, file), test_key, live_key, url: typeof url === 'string' ? url : localUrl };
  } catch {
    return null;
  }
}

function address(given: string | null): string {
  const url = given ?? localUrl;
  if (!URL.canParse(url) || !/^https?:$/.test(new URL(url).protocol)) {
    throw misuse(`"${url}" is no address of a server: write it like ${localUrl}.`, '--url');
  }
  return url.replace(/\/+$/, '');
}

/** A key that lies in a folder goes to its own server, on whatever port, and to no other machine. */
const isOwn = (local: { url: string }, url: string) => isLoopback(url) || isSameServer(local.url, url);

const isLoopback = (url: string) => /^(127(\.\d+){3}|localhost|\[::1\])$/.test(new URL(url).hostname);

const isSameServer = (one: string, other: string) => URL.canParse(one) && new URL(one).origin === new URL(other).origin;
