import { createHash } from 'node:crypto';
import { secretsIn, withSecretValues } from '@vestra/contract/secrets-in-text';
import { readSecrets } from '../account/index.ts';
import type { KnownSkill } from '../agents/skills/index.ts';
import { inHome, type Manifest, repoNamed } from '../agents/versions/index.ts';
import { findFiles } from '../engine/files/index.ts';
import type { Database } from '../platform/db/pool.ts';
import type { FileStore } from '../platform/files/file-store.ts';
import type { Vault } from '../platform/secrets/vault.ts';
import type { ComputerHost, NewFile } from './machine/computer-host.ts';
import { type GivenSecrets, redact, redactCaptured } from './redact.ts';
import type { Awake } from './running-computer.ts';
import { forgetPrepared, listPrepared, type Owner, type Prepared, recordPrepared } from './store.ts';

/** What the messages of a conversation brought along, the newest first. */
type Uploads = readonly { file_id: string; filename: string }[];

export type Preparer = {
  /** Puts on the computer whatever is not there yet. Null, or why it is not prepared, for the agent to read. */
  prepare: (computer: Awake, wanted: Wanted, signal: AbortSignal) => Promise<string | null>;
};

type Wanted = {
  environment: Manifest['environment'];
  uploads: Uploads | null;
  /** What may lie in the skills folder; null: nobody says. */
  skills: readonly KnownSkill[] | null;
};

type Dependencies = {
  db: Database;
  vault: Vault;
  files: FileStore;
  host: ComputerHost;
  /** Where the paths of the computer are read; the adapter knows where its home is. */
  homePath: (given: string) => string | null;
};

type Work = Dependencies & {
  computer: Awake;
  signal: AbortSignal;
  isDone: (item: Prepared) => boolean;
  done: (items: readonly Prepared[]) => Promise<void>;
};

const setupMs = 600_000;
const cloneMs = 600_000;
const shownOutput = 4_000;

/** Ends a preparation with a sentence for the agent. */
class NotPrepared extends Error {}

export function createPreparer(dependencies: Dependencies): Preparer {
  const { db } = dependencies;
  // One at a time on each computer: two tasks that begin at once would both set it up.
  const running = new Map<number, Promise<unknown>>();

  async function prepareNow(computer: Awake, wanted: Wanted, signal: AbortSignal): Promise<string | null> {
    const prepared = await listPrepared(db, computer.owner);
    const known = new Map(prepared.map((row) => [nameOf(row), row.fingerprint]));
    const work: Work = {
      ...dependencies,
      computer,
      signal,
      isDone: (item) => known.get(nameOf(item)) === item.fingerprint,
      done: (items) => recordPrepared(db, computer, items),
    };
    try {
      const { environment, uploads, skills } = wanted;
      if (skills) await removeSkills(work, prepared, skills);
      if (environment) {
        await placeFiles(work, environment);
        for (const repo of wantedRepos(environment)) await cloneRepo(work, repo);
        await setUp(work, environment);
      }
      if (uploads && uploads.length > 0) await placeUploads(work, uploads);
      return null;
    } catch (error) {
      if (error instanceof NotPrepared) return error.message;
      throw error;
    }
  }

  return {
    async prepare(computer, wanted, signal) {
      const before = running.get(computer.number) ?? Promise.resolve();
      const mine = before.catch(() => {}).then(() => prepareNow(computer, wanted, signal));
      running.set(computer.number, mine);
      try {
        return await mine;
      } finally {
        if (running.get(computer.number) === mine) running.delete(computer.number);
      }
    },
  };
}

const nameOf = ({ kind, key }: Pick<Prepared, 'kind' | 'key'>) => `${kind} ${key}`;

/**
 * What was put there as a skill and is none of the version's any more goes: one that was deleted or renamed, or that has
 * other files by now. What somebody else made in the folder stays.
 */
async function removeSkills(work: Work, prepared: readonly Prepared[], skills: readonly KnownSkill[]): Promise<void> {
  const { db, host, computer, signal, homePath } = work;
  const wanted = new Map(skills.map((skill) => [skill.name, preparedSkill(skill).fingerprint]));
  const left = prepared.filter(({ kind, key, fingerprint }) => kind === 'skill' && wanted.get(key) !== fingerprint);
  for (const item of left) {
    const folder = homePath(skillFolder(item.key));
    const fault = folder === null ? null : await host.writeFiles(computer.place, [], { instead: folder, signal });
    if (fault) throw new NotPrepared(`The skill ${item.key} cannot be taken away. ${fault.fault}`);
    await forgetPrepared(db, computer, item);
  }
}

export const skillFolder = (name: string) => `skills/${name}`;

/** What is recorded of a skill before its files are put in place: a crash in between leaves nothing that is forgotten. */
export const preparedSkill = ({ name, at }: KnownSkill): Prepared => ({
  kind: 'skill',
  key: name,
  fingerprint: 'hash' in at ? at.hash : 'built_in',
});

async function placeFiles(work: Work, environment: NonNullable<Manifest['environment']>): Promise<void> {
  const wanted = wantedFiles(environment);
  if (wanted.length === 0) return;
  const rows = new Map(
    (
      await findFiles(
        work.db,
        work.computer.owner,
        wanted.map(({ fileId }) => fileId),
      )
    ).map((row) => [row.id, row]),
  );
  const items = wanted.map(({ fileId, path }) => {
    const row = rows.get(fileId);
    if (!row) throw new NotPrepared(`The file ${fileId} for ${path} is not there in ${work.computer.owner.mode} mode.`);
    return { kind: 'file' as const, key: path, fingerprint: row.sha256 };
  });
  await write(work, items, (item) => item.key);
}

/** By their place: where another conversation has put something else there, it is put there again. */
async function placeUploads(work: Work, uploads: Uploads): Promise<void> {
  const ids = uploads.map(({ file_id }) => file_id);
  const rows = new Map((await findFiles(work.db, work.computer.owner, ids)).map((row) => [row.id, row]));
  const names = uploadNames(uploads.map(({ filename }) => filename));
  const items = uploads.flatMap(({ file_id }, at) => {
    const row = rows.get(file_id);
    // One that was deleted since: the message says so by itself.
    if (!row) return [];
    return [{ kind: 'upload' as const, key: names[at] as string, fingerprint: row.sha256 }];
  });
  await write(work, items, ({ key }) => `uploads/${key}`);
}

/** Two attachments of one name lie side by side. */
export function uploadNames(names: readonly string[]): string[] {
  const taken = new Set<string>();
  return names.map((name) => {
    const [, stem = name, ending = ''] = /^(.+?)(\.[^.]*)?$/su.exec(name) ?? [];
    let free = name;
    for (let number = 2; taken.has(free); number++) free = `${stem}-${number}${ending}`;
    taken.add(free);
    return free;
  });
}

/** Only what is not there yet: what the agent has made of a file since is not written over. */
async function write(work: Work, items: readonly Prepared[], pathOf: (item: Prepared) => string): Promise<void> {
  const { host, files, computer, signal, homePath } = work;
  const missing = items.filter((item) => !work.isDone(item));
  for (const item of missing) {
    const path = homePath(pathOf(item));
    const bytes = await files.read(computer.owner.orgId, item.fingerprint);
    if (path === null || bytes === null) throw new NotPrepared(`The file ${pathOf(item)} cannot be put in its place.`);
    const file: NewFile = { path, bytes };
    const fault = await host.writeFiles(computer.place, [file], { signal });
    if (fault) throw new NotPrepared(`The file ${pathOf(item)} cannot be put in its place. ${fault.fault}`);
    await work.done([item]);
  }
}

async function cloneRepo(work: Work, repo: WantedRepo): Promise<void> {
  const { db, vault, host, computer, signal, homePath } = work;
  const item = { kind: 'repo' as const, key: repo.path, fingerprint: repo.fingerprint };
  if (work.isDone(item)) return;
  const path = homePath(repo.path);
  if (path === null) throw new NotPrepared(`The repository ${repo.url} cannot be put at ${repo.path}.`);
  const secrets = await tokenOf({ db, vault }, work, repo);
  const result = await host.clone(computer.place, {
    url: repo.url,
    ref: repo.ref,
    path,
    token: secrets[0]?.value.trim() ?? null,
    mark: repo.fingerprint,
    timeoutMs: cloneMs,
    signal,
  });
  if (result.exitCode !== 0) {
    throw new NotPrepared(
      `The repository ${repo.url} cannot be cloned at ${repo.ref}. ${lastOf(result, secrets)}`.trimEnd(),
    );
  }
  await work.done([item]);
}

async function tokenOf(
  { db, vault }: Pick<Dependencies, 'db' | 'vault'>,
  { computer }: Work,
  { token }: WantedRepo,
): Promise<GivenSecrets> {
  if (token === null) return [];
  const value = (await readSecrets(db, vault, computer.owner, null, [token])).get(token);
  if (value === undefined) throw new NotPrepared(notStored([token], computer.owner));
  return [{ name: token, value }];
}

/** Once on each computer. One that failed, or was cut by a crash, has not been done. */
async function setUp(work: Work, { setup, env }: NonNullable<Manifest['environment']>): Promise<void> {
  if (setup === undefined || setup.trim() === '') return;
  const { host, computer, signal } = work;
  const hash = hashOf(setup);
  const item = { kind: 'setup' as const, key: hash, fingerprint: hash };
  if (work.isDone(item)) return;
  const filled = await fillEnvironment(work, computer.owner, env);
  if ('missing' in filled) throw new NotPrepared(notStored(filled.missing, computer.owner));
  const command = { script: setup, env: filled.env, timeoutMs: setupMs, signal };
  const result = await host.run(computer.place, command);
  if (result.exitCode === 0) return work.done([item]);
  const how = result.end === 'timeout' ? `did not end within ${setupMs / 60_000} minutes` : `failed (${whyOf(result)})`;
  throw new NotPrepared(`The setup script ${how}. ${lastOf(result, filled.secrets)}`.trimEnd());
}

type Result = Awaited<ReturnType<ComputerHost['run']>>;

const reasons: Partial<Record<Result['end'], string>> = {
  disk_full: 'the disk is full',
  memory_full: 'the memory is full',
  processes_full: 'too many processes ran',
};

const whyOf = ({ end, exitCode }: Result) => reasons[end] ?? `exit code ${exitCode}`;

function lastOf({ stdout, stderr, note }: Result, secrets: GivenSecrets): string {
  const said = [stdout, stderr].map((each) => redactCaptured(each, secrets, shownOutput).trim()).filter(Boolean);
  const lines = said.join('\n').split('\n').slice(-20).join('\n');
  return [
    ...(note === undefined ? [] : [redact(note, secrets)]),
    ...(lines === '' ? [] : [`Its last lines:\n${lines}`]),
  ].join('\n');
}

type Environment = NonNullable<Manifest['environment']>;

/** A repository as it is cloned. `token` is the name of a secret of the company. */
type WantedRepo = { url: string; ref: string; path: string; token: string | null; fingerprint: string };

function wantedRepos({ repos }: Environment): WantedRepo[] {
  return repos.map((given) => {
    const { url, ref, path, token } = repoNamed(given);
    return {
      url,
      ref,
      path: inHome(path),
      token: token === null ? null : (secretsIn(token).company[0] ?? null),
      fingerprint: hashOf(`${url}\n${ref}`),
    };
  });
}

const wantedFiles = ({ files }: Environment): { fileId: string; path: string }[] =>
  files.map(({ file_id, path }) => ({ fileId: file_id, path: inHome(path) }));

const hashOf = (text: string): string => createHash('sha256').update(text).digest('hex');

export type Filled = { env: Record<string, string>; secrets: GivenSecrets };

/**
 * The variables of a command with the secrets in place, read at the moment of the call and kept nowhere. A variable that
 * needs a secret which the user has not stored is left out; one of the company's own that is missing is named.
 */
export async function fillEnvironment(
  { db, vault }: { db: Database; vault: Vault },
  owner: Owner,
  env: Readonly<Record<string, string>>,
): Promise<Filled | { missing: string[] }> {
  const { company, user } = secretsIn(Object.values(env).join('\n'));
  const ofCompany =
    company.length === 0 ? new Map<string, string>() : await readSecrets(db, vault, owner, null, company);
  const missing = company.filter((name) => !ofCompany.has(name));
  if (missing.length > 0) return { missing };
  const ofUser =
    user.length === 0 || owner.userId === null
      ? new Map<string, string>()
      : await readSecrets(db, vault, owner, owner.userId, user);
  const isComplete = (value: string) => secretsIn(value).user.every((name) => ofUser.has(name));
  const given = Object.entries(env).filter(([, value]) => isComplete(value));
  return {
    env: Object.fromEntries(
      given.map(([name, value]) => [name, withSecretValues(value, { company: ofCompany, user: ofUser })]),
    ),
    secrets: [...ofCompany, ...ofUser].map(([name, value]) => ({ name, value })),
  };
}

export const notStored = (names: readonly string[], { mode }: Owner): string =>
  `The company has not stored the secret ${names.join(', ')} in ${mode} mode.`;
