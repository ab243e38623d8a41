import { isDeepStrictEqual } from 'node:util';
import type { Api } from '@vestra/contract/api';
import { type ErrorCode, Failure } from '@vestra/contract/errors';
import { headerExposesCredential, variableExposesCredential } from '@vestra/contract/exposed-credential';
import type { DryRunOf } from '@vestra/contract/route';
import { nameOfRoutine } from '@vestra/contract/routine-name';
import {
  type DeploymentRow,
  getVersion,
  lockVersions,
  newestVersion,
  requireDeployment,
  type VersionRow,
} from '../../agents/deployments/index.ts';
import type { FixedContent } from '../../agents/versions/index.ts';
import type { Database, Transaction } from '../../platform/db/pool.ts';
import { transaction } from '../../platform/db/transaction.ts';
import type { ApplyDependencies } from '../dependencies.ts';
import { type Application, applyFile, findApplied } from './apply-file.ts';
import { fileOfVersion, firstTimePersona } from './manifest.ts';
import type { FileKey, WrittenFile } from './parts.ts';

type Plan = DryRunOf<Api['deployments']['put']>;

/** `version` is the version that would run; null if the file has faults. */
type PlannedFile = { plan: Plan; version: Pick<VersionRow, 'manifest' | 'content'> | null };

/** Ends the transaction of a plan, so that nothing of it is committed. */
class PlanReady extends Error {
  readonly planned: PlannedFile;

  constructor(planned: PlannedFile) {
    super('The plan is ready, and its transaction is rolled back.');
    this.planned = planned;
  }
}

/** Applies the file in a transaction that is always rolled back. So a plan and an apply cannot disagree. */
export async function planFile(
  db: Database,
  dependencies: ApplyDependencies,
  application: Application,
): Promise<PlannedFile> {
  try {
    return await transaction(db, async (tx) => {
      throw new PlanReady(await planIn(tx, dependencies, application));
    });
  } catch (error) {
    if (error instanceof PlanReady) return error.planned;
    throw error;
  }
}

async function planIn(
  tx: Transaction,
  dependencies: ApplyDependencies,
  application: Application,
): Promise<PlannedFile> {
  const { caller, origin, reference, promote, uploads = [] } = application;
  await lockVersions(tx, caller.orgId);
  const before = (await findApplied(tx, caller.orgId, reference)) ?? null;
  const newest = before && (await newestVersion(tx, before));
  const fileBefore = before && newest && (await fileOfVersion(tx, before, newest, { fixed: 'headers' }));
  const { jobs, started } = recordingJobs();
  const answer = await applyFile(tx, { ...dependencies, jobs }, application).catch(refusalOf);
  if (answer instanceof Failure) return { plan: refused(answer), version: null };
  const after = await requireDeployment(tx, caller.orgId, answer.id);
  const version = await getVersion(tx, after, answer.version.version);
  const fileAfter = await fileOfVersion(tx, after, version, { fixed: 'headers' });
  const running = (deployment: DeploymentRow | null) =>
    (origin.mode === 'live' ? deployment?.live_version : deployment?.draft_version) ?? null;
  const { test_run: run } = answer;
  const waits = promote === 'after_tests' && run !== null && running(before) !== version.version;
  const plan: Plan = {
    ...nothing,
    changed: changesOf({
      keys: answer.changed,
      before: { file: fileBefore, content: newest?.content ?? null },
      after: { file: fileAfter, content: version.content },
      uploads,
    }),
    warnings: answer.warnings,
    creates_version: version.version !== newest?.version,
    promotes: waits || running(after) !== running(before),
    tests_to_run: run && started.has(run.id) ? run.results.map(({ name }) => name) : [],
  };
  return { plan, version };
}

const nothing: Plan = {
  object: 'plan',
  changed: [],
  faults: [],
  missing_secrets: [],
  warnings: [],
  creates_version: false,
  promotes: false,
  tests_to_run: [],
};

/** Remembers the test runs that would start, and starts none. */
function recordingJobs(): { jobs: ApplyDependencies['jobs']; started: ReadonlySet<string> } {
  const started = new Set<string>();
  const send = (payload: object) => {
    if ('run_id' in payload) started.add(String(payload.run_id));
    return '';
  };
  return {
    jobs: {
      send: async (_tx, _name, payload) => send(payload),
      sendMany: async (_tx, _name, payloads) => payloads.map(send),
    },
    started,
  };
}

/** Failures about the deployment and not about the file: a plan fails with them, as an apply does. */
const notOfFile: ReadonlySet<ErrorCode> = new Set([
  'deployment_not_found',
  'deployment_archived',
  'deployment_changed',
]);

function refusalOf(error: unknown): Failure {
  if (error instanceof Failure && error.status < 500 && !notOfFile.has(error.code)) return error;
  throw error;
}

function refused({ code, message, details }: Failure): Plan {
  const faults = details.errors ?? [{ code, param: details.param ?? '', message }];
  // An incomplete version names the deleted objects instead.
  const names = code === 'version_incomplete' ? [] : (details.names ?? []);
  return { ...nothing, faults, missing_secrets: names };
}

type FileChange = { path: string; before: unknown; after: unknown };

/** A version as its file, and the content that it fixes. */
type Side = { file: WrittenFile | null; content: Pick<FixedContent, 'notebooks' | 'skills'> | null };

type Compared = {
  /** The keys that an apply reports as changed. */
  keys: readonly string[];
  before: Side;
  after: Side;
  /** Keys whose local files the client lists itself. */
  uploads: readonly string[];
};

/** Every field that differs, for the keys that an apply reports as changed. Each such key has at least one row. */
function changesOf({ keys, before, after, uploads }: Compared): FileChange[] {
  return (keys as readonly FileKey[]).flatMap((key) => {
    const [old, now] = [shown(before.file?.[key], key), shown(after.file?.[key], key)];
    const rows = [...changesAt(key, old, now), ...contentChanges(key, before, after)];
    if (rows.length > 0 || uploads.includes(key)) return rows;
    return [{ path: key, before: old ?? null, after: now ?? null }];
  });
}

/** How the entries of a list are named. Lists of plain words are compared as a whole. */
const nameOfEntry: Partial<Record<FileKey, (entry: Fields) => unknown>> = {
  tools: (entry) => entry.function ?? entry.mcp,
  skills: (entry) => entry.id ?? entry.name,
  knowledge: (entry) => entry.notebook,
  routines: (entry) => nameOfRoutine(entry as { name?: string; ask: string }),
  tests: (entry) => entry.name,
  webhooks: (entry) => entry.url,
};

type Fields = Readonly<Record<string, unknown>>;

function changesAt(key: FileKey, before: unknown, after: unknown): FileChange[] {
  const nameOf = nameOfEntry[key];
  if (nameOf) return entryChanges(key, asList(before), asList(after), nameOf);
  if (!isFields(before ?? {}) || !isFields(after ?? {})) return change(key, before, after);
  return fieldChanges(key, (before ?? {}) as Fields, (after ?? {}) as Fields);
}

function entryChanges(
  key: string,
  before: readonly Fields[],
  after: readonly Fields[],
  nameOf: (entry: Fields) => unknown,
): FileChange[] {
  const [old, now] = [before, after].map((list) => new Map(list.map((entry) => [String(nameOf(entry)), entry]))) as [
    Map<string, Fields>,
    Map<string, Fields>,
  ];
  const names = [...new Set([...old.keys(), ...now.keys()])];
  const rows = names.flatMap((name) => {
    const [was, is] = [old.get(name), now.get(name)];
    const path = `${key}[${JSON.stringify(name)}]`;
    return was && is ? fieldChanges(path, was, is) : change(path, was, is);
  });
  if (rows.length > 0 || isDeepStrictEqual([...old.keys()], [...now.keys()])) return rows;
  return [{ path: key, before: [...old.keys()], after: [...now.keys()] }];
}

/** Variables and headers are compared one by one, since each is a line of the file. */
const isRecordOfLines = (field: string) => field === 'env' || field === 'headers';

function fieldChanges(path: string, before: Fields, after: Fields): FileChange[] {
  const fields = [...new Set([...Object.keys(before), ...Object.keys(after)])];
  return fields.flatMap((field) => {
    const [old, now] = [before[field], after[field]];
    const at = `${path}.${field}`;
    if (isRecordOfLines(field)) return fieldChanges(at, (old ?? {}) as Fields, (now ?? {}) as Fields);
    return change(at, old, now);
  });
}

function change(path: string, before: unknown, after: unknown): FileChange[] {
  if (isDeepStrictEqual(asList(before ?? null), asList(after ?? null))) return [];
  return [{ path, before: before ?? null, after: after ?? null }];
}

/** One value and a list of it mean the same in a file. */
const asList = <Item>(value: unknown): Item[] =>
  (Array.isArray(value) ? value : value === undefined ? [] : [value]) as Item[];

const isFields = (value: unknown): boolean => typeof value === 'object' && value !== null && !Array.isArray(value);

/** Notebooks and skills whose documents or files changed since the version fixed them. */
function contentChanges(key: FileKey, before: Side, after: Side): FileChange[] {
  const place = key === 'knowledge' ? 'notebooks' : key === 'skills' ? 'skills' : null;
  if (place === null || !before.content || !after.content) return [];
  const [old, now] = [before.content[place], after.content[place]];
  return Object.keys(now).flatMap((id) =>
    id in old && old[id] !== now[id]
      ? [{ path: `${key}[${JSON.stringify(id)}].content`, before: old[id], after: now[id] }]
      : [],
  );
}

/** Drops defaults that a file may also write, and hides credentials that older versions may contain. */
function shown(value: unknown, key: FileKey): unknown {
  if (value === undefined) return undefined;
  if (key === 'tools') {
    return asList<Fields>(value).map((entry) => ({
      ...entry,
      ...(isFields(entry.headers) && { headers: hidden(entry.headers as Fields, headerExposesCredential) }),
    }));
  }
  if (key === 'computer' && isFields((value as Fields).env)) {
    return { ...(value as Fields), env: hidden((value as Fields).env as Fields, variableExposesCredential) };
  }
  if (key === 'tests') {
    return asList<Fields>(value).map(({ persona, ...test }) =>
      persona === undefined || persona === firstTimePersona ? test : { ...test, persona },
    );
  }
  return value;
}

const hidden = (lines: Fields, exposes: (name: string, value: string) => boolean): Fields =>
  Object.fromEntries(Object.entries(lines).map(([name, value]) => [name, exposes(name, String(value)) ? '…' : value]));
