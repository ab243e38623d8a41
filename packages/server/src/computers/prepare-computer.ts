import { createHash } from 'node:crypto';
import { secretsIn, withSecretValues } from '@vestra/contract/secrets-in-text';
import { readSecrets } from '../account/index.ts';
import type { KnownSkill } from '../agents/skills/index.ts';
import { inHome, type Manifest, repoNamed } from '../agents/versions/index.ts';
import { findFiles, isContentUsed } from '../engine/files/index.ts';
import type { Database } from '../platform/db/pool.ts';
import type { FileStore } from '../platform/files/file-store.ts';
import type { Vault } from '../platform/secrets/vault.ts';
import type { ComputerHost, NewFile } from './machine/computer-host.ts';
import { listPlacedFiles, type PlacedFile } from './placed-files.ts';
import { type CommandSecrets, redact, redactCaptured } from './redact.ts';
import type { RunningComputer } from './running-computer.ts';
import { forgetPrepared, listPrepared, type Owner, type PreparedItem, recordPrepared } from './store.ts';

/** Attachments of the conversation, newest first, and then the files that tools returned. */
type Uploads = readonly { file_id: string; filename: string }[];

export type Preparer = {
  /** Removes copies of deleted files. Throws if one cannot be removed. */
  tidy: (computer: RunningComputer, signal: AbortSignal) => Promise<void>;
  /** Adds everything that is missing on the computer. Returns null, or for the agent why the preparation failed. */
  prepare: (computer: RunningComputer, wanted: PreparationRequest, signal: AbortSignal) => Promise<string | null>;
};

type PreparationRequest = {
  environment: Manifest['environment'];
  /** The conversation of the uploads. */
  conversationId: string | null;
  uploads: Uploads | null;
  /** The skills that may be in the skills folder; null: leave the folder as it is. */
  skills: readonly KnownSkill[] | null;
};

type Dependencies = {
  db: Database;
  vault: Vault;
  files: FileStore;
  host: ComputerHost;
  /** Resolves a path on the computer; null if it is outside the home folder. */
  homePath: (given: string) => string | null;
};

type Preparation = Dependencies & {
  computer: RunningComputer;
  signal: AbortSignal;
  isDone: (item: PreparedItem) => boolean;
  done: (items: Parameters<typeof recordPrepared>[2]) => Promise<void>;
};

const setupMs = 600_000;
const cloneMs = 600_000;
const shownOutput = 4_000;

/** Ends a preparation with a sentence for the agent. */
class NotPrepared extends Error {}

export function createPreparer(dependencies: Dependencies): Preparer {
  const { db } = dependencies;
  // One preparation at a time per computer: two tasks that start at once would both run the setup.
  const running = new Map<number, Promise<unknown>>();

  async function prepareNow(
    computer: RunningComputer,
    wanted: PreparationRequest,
    signal: AbortSignal,
  ): Promise<string | null> {
    try {
      const { environment, conversationId, uploads, skills } = wanted;
      await removeDeletedFiles({ ...dependencies, computer, signal });
      const prepared = await listPrepared(db, computer.owner);
      const known = new Map(prepared.map((row) => [nameOf(row), row.fingerprint]));
      const work: Preparation = {
        ...dependencies,
        computer,
        signal,
        isDone: (item) => known.get(nameOf(item)) === item.fingerprint,
        done: (items) => recordPrepared(db, computer, items),
      };
      if (skills) await removeSkills(work, prepared, skills);
      if (environment) {
        await placeFiles(work, environment);
        for (const repo of reposToClone(environment)) await cloneRepo(work, repo);
        await setUp(work, environment);
      }
      if (uploads && uploads.length > 0) await placeUploads(work, uploads, conversationId);
      return null;
    } catch (error) {
      if (error instanceof NotPrepared) return error.message;
      throw error;
    }
  }

  async function inTurn<T>({ number }: RunningComputer, work: () => Promise<T>): Promise<T> {
    const before = running.get(number) ?? Promise.resolve();
    const mine = before.catch(() => {}).then(work);
    running.set(number, mine);
    try {
      return await mine;
    } finally {
      if (running.get(number) === mine) running.delete(number);
    }
  }

  return {
    prepare: (computer, wanted, signal) => inTurn(computer, () => prepareNow(computer, wanted, signal)),
    tidy: (computer, signal) => inTurn(computer, () => removeDeletedFiles({ ...dependencies, computer, signal })),
  };
}

type PlacedFiles = Pick<Preparation, 'db' | 'host' | 'computer' | 'signal' | 'homePath'>;

/** Copies of deleted files go before anything runs. Otherwise the agent would still read them. */
async function removeDeletedFiles(work: PlacedFiles): Promise<void> {
  const { db, computer } = work;
  const placed = await listPlacedFiles(db, computer.owner);
  if (placed.length === 0) return;
  const ids = placed.flatMap(({ file_id }) => file_id ?? []);
  const existing = new Set((await findFiles(db, computer.owner, ids)).map(({ id }) => id));
  for (const item of placed) {
    const isGone =
      item.is_deleted ||
      // Placed before copies named their file: the content alone tells.
      !(item.file_id === null
        ? await isContentUsed(db, computer.owner.orgId, item.fingerprint)
        : existing.has(item.file_id));
    if (isGone) await removeCopy(work, item);
  }
}

async function removeCopy(work: PlacedFiles, item: Pick<PlacedFile, 'kind' | 'key' | 'fingerprint'>): Promise<void> {
  const { db, host, computer, signal, homePath } = work;
  const path = homePath(placeOf(item));
  if (path !== null && (item.kind !== 'output' || (await isUnchanged(work, path, item.fingerprint)))) {
    const fault = await host.writeFiles(computer.folders, [], { instead: path, signal });
    if (fault) throw new NotPrepared(`The deleted file ${item.key} cannot be removed. ${fault.fault}`);
  }
  await forgetPrepared(db, computer, item);
}

function placeOf({ kind, key }: Pick<PlacedFile, 'kind' | 'key'>): string {
  if (kind === 'skill') return skillFolder(key);
  return kind === 'upload' ? uploadPath(key) : key;
}

/** An output is the agent's own file, which it may have replaced since. */
async function isUnchanged({ host, computer, signal }: PlacedFiles, path: string, sha256: string): Promise<boolean> {
  const read = await host.readFile(computer.folders, path, { from: 0, maxBytes: maxOutputBytes + 1, signal });
  return !('fault' in read) && createHash('sha256').update(read.bytes).digest('hex') === sha256;
}

export const maxOutputBytes = 10 * 1024 * 1024;

const nameOf = ({ kind, key }: Pick<PreparedItem, 'kind' | 'key'>) => `${kind} ${key}`;

/**
 * Removes skills that were placed here and that the version deleted, renamed or changed. Other files in the folder
 * stay.
 */
async function removeSkills(
  work: Preparation,
  prepared: readonly PreparedItem[],
  skills: readonly KnownSkill[],
): Promise<void> {
  const { db, host, computer, signal, homePath } = work;
  const wanted = new Map(skills.map((skill) => [skill.name, preparedSkill(skill).fingerprint]));
  const left = prepared.filter(({ kind, key, fingerprint }) => kind === 'skill' && wanted.get(key) !== fingerprint);
  for (const item of left) {
    const folder = homePath(skillFolder(item.key));
    const fault = folder === null ? null : await host.writeFiles(computer.folders, [], { instead: folder, signal });
    if (fault) throw new NotPrepared(`The skill ${item.key} cannot be taken away. ${fault.fault}`);
    await forgetPrepared(db, computer, item);
  }
}

export const skillFolder = (name: string) => `skills/${name}`;

/** Recorded before the files are written, so that a crash in between leaves no files that no one removes. */
export const preparedSkill = ({ name, at }: KnownSkill) => ({
  kind: 'skill' as const,
  key: name,
  fingerprint: 'hash' in at ? at.hash : 'built_in',
  ...('id' in at && { file_id: at.id }),
});

async function placeFiles(work: Preparation, environment: NonNullable<Manifest['environment']>): Promise<void> {
  const wanted = filesToPlace(environment);
  if (wanted.length === 0) return;
  const rows = new Map(
    (
      await findFiles(
        work.db,
        work.computer.owner,
        wanted.filter(({ sha256 }) => sha256 === undefined).map(({ fileId }) => fileId),
      )
    ).map((row) => [row.id, row]),
  );
  const items = wanted.map(({ fileId, path, sha256 }) => {
    const fingerprint = sha256 ?? rows.get(fileId)?.sha256;
    if (fingerprint === undefined) {
      throw new NotPrepared(`The file ${fileId} for ${path} is not there in ${work.computer.owner.mode} mode.`);
    }
    // A version keeps its copy of the content, so the deletion of the upload does not concern it.
    return { kind: 'file' as const, key: path, fingerprint, ...(sha256 === undefined && { file_id: fileId }) };
  });
  await write(work, items, (item) => item.key);
}

/** Keyed by path: if another conversation replaced the file, it is written again. */
async function placeUploads(work: Preparation, uploads: Uploads, conversationId: string | null): Promise<void> {
  const ids = uploads.map(({ file_id }) => file_id);
  const rows = new Map((await findFiles(work.db, work.computer.owner, ids)).map((row) => [row.id, row]));
  const names = uploadNames(uploads.map(({ filename }) => filename));
  const items = uploads.flatMap(({ file_id }, at) => {
    const row = rows.get(file_id);
    // The file was deleted since. The message says so.
    if (!row) return [];
    const of = { file_id, ...(conversationId !== null && { conversation_id: conversationId }) };
    return [{ kind: 'upload' as const, key: names[at] as string, fingerprint: row.sha256, ...of }];
  });
  const isWritten = await write(work, items, ({ key }) => uploadPath(key));
  // A file that was deleted meanwhile had no copy that the deletion could mark.
  if (isWritten) await removeDeletedFiles(work);
}

export const uploadPath = (name: string) => `uploads/${name}`;

/** Numbers uploads of the same name. */
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

/** Writes only missing files, so that changes of the agent survive. Returns whether any was missing. */
async function write(
  work: Preparation,
  items: readonly Parameters<Preparation['done']>[0][number][],
  pathOf: (item: PreparedItem) => string,
): Promise<boolean> {
  const { host, files, computer, signal, homePath } = work;
  const missing = items.filter((item) => !work.isDone(item));
  for (const item of missing) {
    const path = homePath(pathOf(item));
    const bytes = await files.read(computer.owner.orgId, item.fingerprint);
    if (path === null || bytes === null) throw new NotPrepared(`The file ${pathOf(item)} cannot be put in its place.`);
    const file: NewFile = { path, bytes };
    const fault = await host.writeFiles(computer.folders, [file], { signal });
    if (fault) throw new NotPrepared(`The file ${pathOf(item)} cannot be put in its place. ${fault.fault}`);
    await work.done([item]);
  }
  return missing.length > 0;
}

async function cloneRepo(work: Preparation, repo: RepoToClone): Promise<void> {
  const { db, vault, host, computer, signal, homePath } = work;
  const item = { kind: 'repo' as const, key: repo.path, fingerprint: repo.fingerprint };
  if (work.isDone(item)) return;
  const path = homePath(repo.path);
  if (path === null) throw new NotPrepared(`The repository ${repo.url} cannot be put at ${repo.path}.`);
  const secrets = await tokenOf({ db, vault }, work, repo);
  const result = await host.clone(computer.folders, {
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
  { computer }: Preparation,
  { token }: RepoToClone,
): Promise<CommandSecrets> {
  if (token === null) return [];
  const value = (await readSecrets(db, vault, computer.owner, null, [token])).get(token);
  if (value === undefined) throw new NotPrepared(missingSecrets([token], computer.owner));
  return [{ name: token, value }];
}

/** Runs once per computer. A setup that failed or crashed runs again. */
async function setUp(work: Preparation, { setup, env }: NonNullable<Manifest['environment']>): Promise<void> {
  if (setup === undefined || setup.trim() === '') return;
  const { host, computer, signal } = work;
  const hash = hashOf(setup);
  const item = { kind: 'setup' as const, key: hash, fingerprint: hash };
  if (work.isDone(item)) return;
  const filled = await fillEnvironment(work, computer.owner, env);
  if ('missing' in filled) throw new NotPrepared(missingSecrets(filled.missing, computer.owner));
  const command = { script: setup, env: filled.env, timeoutMs: setupMs, signal };
  const result = await host.run(computer.folders, command);
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

function lastOf({ stdout, stderr, note }: Result, secrets: CommandSecrets): string {
  const said = [stdout, stderr].map((each) => redactCaptured(each, secrets, shownOutput).trim()).filter(Boolean);
  const lines = said.join('\n').split('\n').slice(-20).join('\n');
  return [
    ...(note === undefined ? [] : [redact(note, secrets)]),
    ...(lines === '' ? [] : [`Its last lines:\n${lines}`]),
  ].join('\n');
}

type Environment = NonNullable<Manifest['environment']>;

/** `token` is the name of a secret of the org. */
type RepoToClone = { url: string; ref: string; path: string; token: string | null; fingerprint: string };

function reposToClone({ repos }: Environment): RepoToClone[] {
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

/** Versions of releases before 0.3.0 have no hash if the upload was deleted. */
const filesToPlace = ({ files }: Environment): { fileId: string; path: string; sha256: string | undefined }[] =>
  files.map(({ file_id, path, sha256 }) => ({ fileId: file_id, path: inHome(path), sha256 }));

const hashOf = (text: string): string => createHash('sha256').update(text).digest('hex');

export type FilledEnvironment = { env: Record<string, string>; secrets: CommandSecrets };

/**
 * The environment of a command with its secrets, read for each call and never stored. Omits variables whose user secret
 * is not stored. Returns the names of missing org secrets.
 */
export async function fillEnvironment(
  { db, vault }: { db: Database; vault: Vault },
  owner: Owner,
  env: Readonly<Record<string, string>>,
): Promise<FilledEnvironment | { missing: string[] }> {
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

export const missingSecrets = (names: readonly string[], { mode }: Owner): string =>
  `The company has not stored the secret ${names.join(', ')} in ${mode} mode.`;
