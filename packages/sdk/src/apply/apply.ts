import { resolve } from 'node:path';
import type { Api } from '@vestra/contract/api';
import type { AnswerOf, PlanOf } from '@vestra/contract/call';
import type { Client } from '../client.ts';
import { VestraError } from '../errors.ts';
import type { Change, Resolved } from './change.ts';
import { planComputerFiles, readComputerFiles } from './computer-files.ts';
import { convertDocuments, indexOf, planKnowledge, readKnowledge, type Skipped } from './knowledge.ts';
import { openFolder } from './local-files.ts';
import { ApplyError, type Problem } from './problem.ts';
import { problemsOf, refusalOf } from './refused.ts';
import { readServiceFile, type ServiceFile } from './service-file.ts';
import { resolveSetup } from './setup-script.ts';
import { planSkills, readSkills } from './skills.ts';

export { ApplyError } from './problem.ts';
export type { Change, ServerAway };

/** The response of `PUT /v1/deployments/{name}`. */
export type ApplyAnswer = AnswerOf<Api['deployments']['put']>;

export type ApplyProgress =
  | { type: 'read'; file: string; name: string; skipped: readonly Skipped[] }
  | { type: 'planned'; changes: readonly Change[] }
  | { type: 'uploading'; change: Change }
  | { type: 'uploaded'; change: Change }
  /** The number of documents that can be searched by meaning; the others are found by keywords for now. */
  | { type: 'indexing'; indexed: number; total: number }
  | { type: 'applying'; name: string }
  | { type: 'applied'; answer: ApplyAnswer };

export type ApplyOptions = {
  client: Client;
  /** The folder with the deployment file. */
  folder: string;
  /** The file's path in the folder. Default: `service.yaml`. */
  file?: string | undefined;
  /** When the version goes live in the mode of the key. Default: after its tests. */
  promote?: 'after_tests' | 'now' | 'no' | undefined;
  onProgress?: ((progress: ApplyProgress) => void) | undefined;
  /** Returns the plan, and changes nothing. */
  dryRun?: boolean | undefined;
  signal?: AbortSignal | undefined;
};

/** The effect of applying a folder. A rejected file has no plan: its faults are thrown as an `ApplyError`. */
export type FolderPlan = Omit<PlanOf<Api['deployments']['put']>, 'faults' | 'missing_secrets' | 'warnings'> & {
  /** Lines that have no effect, or may not be intended. */
  warnings: Problem[];
  /** The uploads and deletions of local files. */
  uploads: Change[];
  /** Files of a knowledge folder that cannot become documents. */
  skipped: Skipped[];
};

export type Applied = {
  /** Null after a dry run. */
  answer: ApplyAnswer | null;
  /** Null if the file was applied without uploads. */
  plan: FolderPlan | null;
  /** The uploads and deletions. After a dry run: those that would happen. */
  uploaded: Change[];
  /** Files of a knowledge folder that cannot become documents. */
  skipped: Skipped[];
  /** Tool servers of the version that are unreachable now. The agent runs without their tools until they respond. */
  away: ServerAway[];
};

/** Uploads the changed files that a deployment file refers to, and applies the file. */
export async function applyFolder(options: ApplyOptions): Promise<Applied> {
  const { client, promote, signal, onProgress = () => {} } = options;
  const service = await readServiceFile({ folder: resolve(options.folder), file: options.file ?? 'service.yaml' });
  const { problems, ...local } = await readLocal(service);
  onProgress({ type: 'read', file: service.shown, name: service.content.name, skipped: local.skipped });

  await convertDocuments(client, local.knowledge, problems, signal);
  const skills = await planSkills(client, local.skills, signal);
  const knowledge = await planKnowledge(client, local.knowledge, signal);
  const files = await planComputerFiles(client, service.content.name, local.files, signal);
  const steps = [...skills.steps, ...knowledge.steps, ...files.steps];
  const uploads = steps.map(({ change }) => change);
  onProgress({ type: 'planned', changes: uploads });
  const content: Record<string, unknown> = {
    ...service.content,
    ...(local.computer !== undefined && { computer: local.computer }),
  };
  const lists = { skills: skills.resolved, knowledge: knowledge.resolved };
  const isPlanned = uploads.length > 0 || problems.length > 0 || options.dryRun;
  const planned = isPlanned
    ? await planFile(client, service, { content, lists, files, uploads, promote, problems, signal })
    : null;
  const plan = planned && { ...planned, uploads, skipped: local.skipped };
  if (options.dryRun) return { answer: null, plan, uploaded: uploads, skipped: local.skipped, away: [] };

  for (const { change, run } of steps) {
    onProgress({ type: 'uploading', change });
    await run(signal);
    onProgress({ type: 'uploaded', change });
  }
  if (uploads.some(({ kind }) => kind === 'document')) {
    onProgress({ type: 'indexing', ...(await indexOf(client, knowledge.notebookIds(), signal)) });
  }
  onProgress({ type: 'applying', name: service.content.name });
  const sent = {
    ...resolved(content, lists),
    ...(content.computer !== undefined && { computer: files.resolve(content.computer) }),
  };
  const answer = await put(client, service, { content: sent, promote, signal }, (param) => writtenParam(param, lists));
  onProgress({ type: 'applied', answer });
  const away = await serversAway(client, answer.version.manifest.mcp_servers, signal);
  return { answer, plan, uploaded: uploads, skipped: local.skipped, away };
}

/** The plan of a folder: which fields and local files would change. Faults are thrown as one `ApplyError`. */
export async function planFolder(options: Omit<ApplyOptions, 'dryRun'>): Promise<FolderPlan> {
  return (await applyFolder({ ...options, dryRun: true })).plan as FolderPlan;
}

/** Reads everything from disk before anything is sent, and collects all problems. */
async function readLocal(service: ServiceFile) {
  const problems: Problem[] = [];
  const folder = await openFolder(service.folder);
  const computer = await resolveSetup(service, folder, problems);
  const skills = await readSkills(service, folder, problems);
  const { entries: knowledge, skipped } = await readKnowledge(service, folder, problems);
  const files = await readComputerFiles(service, folder, problems);
  return { computer, skills, knowledge, skipped, files, problems };
}

type Planning = {
  content: Record<string, unknown>;
  lists: Lists;
  files: Awaited<ReturnType<typeof planComputerFiles>>;
  uploads: readonly Change[];
  promote: ApplyOptions['promote'];
  /** Problems of local files. */
  problems: readonly Problem[];
  signal: AbortSignal | undefined;
};

/** Asks the service for its plan. Faults of the file and of local files are thrown together. */
async function planFile(client: Client, service: ServiceFile, planning: Planning) {
  const { content, files, uploads, promote, problems, signal } = planning;
  const lists = onlyStored(planning.lists);
  const keys = [...new Set(uploads.map(({ kind }) => keyOf[kind]))].join(',');
  const written = (param: string) => writtenParam(param, lists);
  const ask = async (computer: unknown) => {
    const query = { promote, dry_run: 'true', ...(keys !== '' && { uploads: keys }) };
    const body = { ...resolved(content, lists), ...(computer !== undefined && { computer }) };
    const placed = { params: { deployment_id: service.content.name }, query, body };
    try {
      return (await client.request('deployments.put', placed, { signal })) as PlanOf<Api['deployments']['put']>;
    } catch (error) {
      throw problems.length > 0 ? new ApplyError(problems) : refusalOf(error, service, written);
    }
  };
  const local = new Set(problems.map(({ param }) => param));
  const refuse = ({ faults, missing_secrets }: Awaited<ReturnType<typeof ask>>) => {
    const told = faults.filter(({ code, param }) => code !== 'path_not_resolved' && !local.has(param));
    if (problems.length + told.length === 0) return;
    const found = problemsOf(told, service, written);
    throw new ApplyError([...problems, ...found], { cause: rejection(told, missing_secrets) });
  };
  // Files for the computer have no id before they are uploaded. Their other fields are checked in a separate request.
  const whole = await ask(content.computer === undefined ? undefined : files.resolve(content.computer));
  refuse(whole);
  const plan = whole.faults.length === 0 ? whole : await ask(files.stored(content.computer));
  refuse(plan);
  const { faults: _, missing_secrets: __, warnings, changed, ...rest } = plan;
  return {
    ...rest,
    changed: changed.flatMap((row) => withoutUploads(row, files.targets)),
    warnings: warnings.map(({ param, message }) => service.problemAt(written(param), message)),
  };
}

type ChangedField = FolderPlan['changed'][number];

/** The uploads of the computer's files are listed beside the changed fields, and not again among them. */
function withoutUploads(row: ChangedField, targets: ReadonlySet<unknown>): ChangedField[] {
  if (row.path !== 'computer.files' || targets.size === 0) return [row];
  const rest = (list: unknown) =>
    (Array.isArray(list) ? list : []).filter((file: { path?: unknown }) => !targets.has(file.path));
  const [before, after] = [rest(row.before), rest(row.after)];
  return JSON.stringify(before) === JSON.stringify(after) ? [] : [{ ...row, before, after }];
}

const keyOf = { skill: 'skills', notebook: 'knowledge', document: 'knowledge', file: 'computer' } as const;

/** The same error that an apply of the file would return. */
function rejection(faults: readonly { code: string; param: string; message: string }[], names: readonly string[]) {
  const [first] = faults;
  if (!first) return undefined;
  const error = { type: 'invalid_request' as const, ...first, errors: faults, ...(names.length > 0 && { names }) };
  return new VestraError(first.message, { ...error, names: [...names], errors: [...faults], body: { error } });
}

/** The entries that the service knows already. New ones are uploaded later and cannot be wrong. */
function onlyStored(lists: Lists): Lists {
  const stored = ({ entries, sources }: Resolved): Resolved => {
    const known = entries().flatMap((entry, at) =>
      typeof entry === 'object' && entry !== null && Object.values(entry).includes(undefined)
        ? []
        : [{ entry, source: sources[at] as string }],
    );
    return { entries: () => known.map(({ entry }) => entry), sources: known.map(({ source }) => source) };
  };
  return { skills: stored(lists.skills), knowledge: stored(lists.knowledge) };
}

async function put(
  client: Client,
  service: ServiceFile,
  sent: { content: Record<string, unknown>; promote: ApplyOptions['promote']; signal: AbortSignal | undefined },
  written: (param: string) => string,
): Promise<ApplyAnswer> {
  const { content, promote, signal } = sent;
  const placed = { params: { deployment_id: service.content.name }, query: { promote }, body: content };
  try {
    return (await client.request('deployments.put', placed, { signal })) as ApplyAnswer;
  } catch (error) {
    throw refusalOf(error, service, written);
  }
}

type Lists = { skills: Resolved; knowledge: Resolved };

/** Replaces paths in the file by ids. */
function resolved(content: Record<string, unknown>, { skills, knowledge }: Lists): Record<string, unknown> {
  return {
    ...content,
    ...(isList(content.skills) && { skills: skills.entries() }),
    ...(isList(content.knowledge) && { knowledge: knowledge.entries() }),
  };
}

/** Anything else is sent unchanged, so that the service reports the fault. */
const isList = (written: unknown) => typeof written === 'string' || Array.isArray(written);

/** `skills.2.id` in the request is `skills` in the file if that names a folder of skills. */
function writtenParam(param: string, lists: Lists): string {
  const [key = '', index = '', ...rest] = param.split('.');
  if ((key !== 'skills' && key !== 'knowledge') || index === '') return param;
  const source = lists[key].sources[Number(index)];
  return source === undefined ? param : [source, ...rest].join('.');
}

/** An unreachable tool server, and the reason. */
type ServerAway = { slug: string; code: string; message: string };

/** Calls each server of a version once, in parallel, as a task would. Most versions have none. */
async function serversAway(
  client: Client,
  servers: readonly { id: string; slug: string }[],
  signal: AbortSignal | undefined,
): Promise<ServerAway[]> {
  const checked = await Promise.all(
    servers.map(async ({ id, slug }) => {
      const { error } = await client.mcpServers.check({ server_id: id }, { signal }).catch(unchecked);
      // A user's own secret cannot be checked here. A missing secret of the company is rejected by the apply.
      return error && error.code !== 'secret_missing' ? [{ slug, ...error }] : [];
    }),
  );
  return checked.flat();
}

/** The version remains valid if the check of its servers fails. */
function unchecked(failure: unknown): { error: { code: string; message: string } } {
  if (!(failure instanceof VestraError)) throw failure;
  return { error: { code: failure.code, message: failure.message } };
}
