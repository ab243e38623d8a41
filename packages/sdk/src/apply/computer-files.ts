import { createHash } from 'node:crypto';
import { basename } from 'node:path';
import { isPlainFileName } from '@vestra/contract/plain-file-name';
import type { Client } from '../client.ts';
import { VestraError } from '../errors.ts';
import type { ApplyStep, Change } from './change.ts';
import { type Folder, taken } from './local-files.ts';
import type { Problem } from './problem.ts';
import { uploading } from './refused.ts';
import type { ServiceFile } from './service-file.ts';

/** A local file for the agent's computer. `index` is its place in `computer.files`. */
type LocalFile = { index: number; path: unknown; shown: string; bytes: Uint8Array<ArrayBuffer>; sha256: string };

export async function readComputerFiles(
  service: ServiceFile,
  folder: Folder,
  problems: Problem[],
): Promise<LocalFile[]> {
  const files: LocalFile[] = [];
  for (const [index, { from, path }] of entriesIn(service.content.computer).entries()) {
    if (typeof from !== 'string') continue;
    const problem = (message: string) => service.problemAt(`computer.files.${index}.from`, message);
    const found = taken(await folder.find(from), problems, problem);
    if (!found) continue;
    if (found.kind === 'folder') {
      problems.push(problem(`\`${found.shown}\` is a folder: name a file.`));
      continue;
    }
    if (!isPlainFileName(basename(found.shown))) {
      problems.push(
        problem('The name of the file has a backslash, a control character or a mark that turns the text.'),
      );
      continue;
    }
    const bytes = taken(await folder.read(found.path, found.shown), problems, problem);
    if (!bytes) continue;
    const sha256 = createHash('sha256').update(bytes).digest('hex');
    files.push({ index, path, shown: found.shown, bytes, sha256 });
  }
  return files;
}

/** Compares the files with those of the newest version: unchanged ones are not uploaded. */
export async function planComputerFiles(
  client: Client,
  deployment: string,
  files: readonly LocalFile[],
  signal: AbortSignal | undefined,
): Promise<{
  steps: ApplyStep[];
  resolve: (computer: unknown) => unknown;
  /** Without the files that are not uploaded yet. */
  stored: (computer: unknown) => unknown;
  /** The paths on the computer of the files that are not uploaded yet. */
  targets: ReadonlySet<unknown>;
}> {
  const ids = new Map<number, string>();
  const steps: ApplyStep[] = [];
  const targets = new Set<unknown>();
  const known = files.length > 0 ? await filesOfNewest(client, deployment, signal) : [];
  // Two entries for one local file are one upload, so that a repeated entry has the same id.
  const uploads = new Map<string, number[]>();
  for (const { index, path, shown, bytes, sha256 } of files) {
    const same = known.find((file) => file.path === path && file.sha256 === sha256);
    if (same) {
      ids.set(index, same.file_id);
      continue;
    }
    targets.add(path);
    const others = uploads.get(shown);
    if (others) {
      others.push(index);
      continue;
    }
    const places = [index];
    uploads.set(shown, places);
    const change: Change = { kind: 'file', action: 'created', path: shown, name: shown };
    steps.push({
      change,
      async run() {
        const file = new File([bytes], basename(shown));
        const made = await uploading(shown, () => client.files.create({ file }, { signal }));
        for (const place of places) ids.set(place, made.id);
      },
    });
  }
  const resolve = (computer: unknown) => withIds(computer, ids);
  return { steps, resolve, stored: (computer) => onlyStored(resolve(computer)), targets };
}

function withIds(computer: unknown, ids: ReadonlyMap<number, string>): unknown {
  if (ids.size === 0) return computer;
  const files = entriesIn(computer).map(({ from, ...entry }, index) => {
    const id = ids.get(index);
    return id === undefined ? { ...(from !== undefined && { from }), ...entry } : { ...entry, file_id: id };
  });
  return { ...(computer as object), files };
}

const onlyStored = (computer: unknown): unknown => ({
  ...(computer as object),
  files: entriesIn(computer).filter(({ from }) => from === undefined),
});

type KnownFile = { file_id: string; path: string; sha256?: string | undefined };

/** A deployment that does not exist yet has none. */
async function filesOfNewest(
  client: Client,
  deployment: string,
  signal: AbortSignal | undefined,
): Promise<readonly KnownFile[]> {
  try {
    const { newest_version } = await client.deployments.get({ deployment_id: deployment }, { signal });
    const place = { deployment_id: deployment, version: newest_version };
    const { manifest } = await client.deployments.getVersion(place, { signal });
    return manifest.environment?.files ?? [];
  } catch (error) {
    if (error instanceof VestraError && error.status === 404) return [];
    throw error;
  }
}

/** Anything that is not a list of objects is sent unchanged, so that the service reports the fault. */
function entriesIn(computer: unknown): Record<string, unknown>[] {
  const files = (computer as { files?: unknown } | null | undefined)?.files;
  const isObject = (entry: unknown): entry is Record<string, unknown> => typeof entry === 'object' && entry !== null;
  return Array.isArray(files) && files.every(isObject) ? files : [];
}
