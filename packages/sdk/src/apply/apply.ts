import { resolve } from 'node:path';
import type { Api } from '@vestra/contract/api';
import type { AnswerOf } from '@vestra/contract/call';
import type { Client } from '../client.ts';
import { VestraError } from '../errors.ts';
import type { ApplyStep, Change, Resolved } from './change.ts';
import { hasLocalFiles, planComputerFiles, readComputerFiles } from './computer-files.ts';
import { indexOf, planKnowledge, readKnowledge, type Skipped } from './knowledge.ts';
import { type Folder, openFolder } from './local-files.ts';
import { ApplyError, type Problem, problemOf } from './problem.ts';
import { refusalOf } from './refused.ts';
import { readServiceFile, type ServiceFile } from './service-file.ts';
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
  /** The uploaded file is the same as before. */
  | { type: 'unchanged'; change: Change }
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
  /** Reports what would be uploaded, and changes nothing. */
  dryRun?: boolean | undefined;
  signal?: AbortSignal | undefined;
};

export type Applied = {
  /** Null after a dry run. */
  answer: ApplyAnswer | null;
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
  const local = await readLocal(service);
  onProgress({ type: 'read', file: service.shown, name: service.content.name, skipped: local.skipped });

  const skills = await planSkills(client, local.skills, signal);
  const knowledge = await planKnowledge(client, local.knowledge, signal);
  const files = await planComputerFiles(client, service.content.name, local.files, signal);
  const steps = [...skills.steps, ...knowledge.steps, ...files.steps];
  onProgress({ type: 'planned', changes: steps.map(({ change }) => change) });
  const content = { ...service.content, ...(local.computer !== undefined && { computer: local.computer }) };
  if (steps.length > 0 || options.dryRun) await refuseBefore(client, service, content, signal);
  if (options.dryRun)
    return { answer: null, uploaded: steps.map(({ change }) => change), skipped: local.skipped, away: [] };

  const uploaded = await runSteps(steps, onProgress, signal);
  if (uploaded.some(({ kind }) => kind === 'document')) {
    onProgress({ type: 'indexing', ...(await indexOf(client, knowledge.notebookIds(), signal)) });
  }
  onProgress({ type: 'applying', name: service.content.name });
  const lists = { skills: skills.resolved, knowledge: knowledge.resolved };
  const sent = {
    ...resolved(content, lists),
    ...('computer' in content && { computer: files.resolve(content.computer) }),
  };
  const answer = await put(client, service, { content: sent, promote, signal }, (param) => writtenParam(param, lists));
  onProgress({ type: 'applied', answer });
  const away = await serversAway(client, answer.version.manifest.mcp_servers, signal);
  return { answer, uploaded, skipped: local.skipped, away };
}

/** Reads everything from disk before anything is sent, and reports all problems together. */
async function readLocal(service: ServiceFile) {
  const problems: Problem[] = [];
  const folder = await openFolder(service.folder);
  const computer = await resolveComputer(service, folder, problems);
  const skills = await readSkills(service, folder, problems);
  const { entries: knowledge, skipped } = await readKnowledge(service, folder, problems);
  const files = await readComputerFiles(service, folder, problems);
  if (problems.length > 0) throw new ApplyError(problems);
  return { computer, skills, knowledge, skipped, files };
}

/**
 * Validates the file before anything is uploaded. The service always rejects a file with local paths and lists all
 * other faults. A file without local paths has nothing to upload.
 */
async function refuseBefore(
  client: Client,
  service: ServiceFile,
  content: Record<string, unknown>,
  signal: AbortSignal | undefined,
): Promise<void> {
  const isLocal = ({ skills, knowledge, computer }: Record<string, unknown>) =>
    [skills, knowledge].flat().some((entry) => typeof entry === 'string') || hasLocalFiles(computer);
  if (!isLocal(content)) return;
  try {
    await put(client, service, { content, promote: 'no', signal }, (param) => param);
  } catch (error) {
    if (!(error instanceof ApplyError)) throw error;
    const problems = error.problems.filter(({ code }) => code !== 'path_not_resolved');
    if (problems.length > 0) throw new ApplyError(problems, { cause: error.cause });
  }
}

async function runSteps(
  steps: readonly ApplyStep[],
  onProgress: (progress: ApplyProgress) => void,
  signal: AbortSignal | undefined,
): Promise<Change[]> {
  const uploaded: Change[] = [];
  for (const { change, run } of steps) {
    onProgress({ type: 'uploading', change });
    const done = await run(signal);
    onProgress(done ? { type: 'uploaded', change: done } : { type: 'unchanged', change });
    if (done) uploaded.push(done);
  }
  return uploaded;
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

/**
 * Replaces the file named in `setup` by its text. A single word that is a file below the folder names it. Anything else
 * is the script itself, unless it can only be a path.
 */
async function resolveComputer(service: ServiceFile, folder: Folder, problems: Problem[]): Promise<unknown> {
  const { computer } = service.content;
  const setup = (computer as { setup?: unknown } | null | undefined)?.setup;
  if (typeof setup !== 'string' || !/^\S+$/.test(setup.trim())) return computer;
  const written = setup.trim();
  const isPath = /^\.{1,2}[/\\]|^\.[a-z]/i.test(written) || (/\.(sh|bash)$/.test(written) && !written.startsWith('/'));
  const found = await folder.find(written);
  if (!found.ok || found.value.kind === 'folder') {
    if (!isPath) return computer;
    const message = found.ok ? `\`${written}\` is a folder: name a file.` : found.message;
    problems.push(service.problemAt('computer.setup', message));
    return computer;
  }
  const { path, shown } = found.value;
  const read = await folder.read(path, shown);
  const text = read.ok ? decoded(read.value) : null;
  if (text === null) problems.push(problemOf(shown, read.ok ? 'The script is not text in UTF-8.' : read.message));
  return { ...(computer as object), setup: text };
}

function decoded(bytes: Uint8Array): string | null {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    return null;
  }
}
