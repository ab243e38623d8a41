import { realpathSync } from 'node:fs';
import { findPackageJSON } from 'node:module';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Worker } from 'node:worker_threads';
import { type Confinement, unusedAccount } from '../../platform/sandbox/confine.ts';
import { joinCaptured, spawnConfined, waitForExit } from '../../platform/sandbox/confined-process.ts';
import type { Extraction, ExtractionResult } from './extract.ts';

type Limits = { timeMs: number; memoryMb: number };

/**
 * Reads a file in a sandboxed process without environment, network or other folders. A hostile file that takes over the
 * library reaches nothing else. Returns null if the time limit is reached.
 */
export async function extractConfined(extraction: Extraction, limits: Limits): Promise<ExtractionResult | null> {
  const { content, ...rest } = extraction;
  const input = Buffer.concat([Buffer.from(`${JSON.stringify(rest)}\n`), Buffer.from(content as Uint8Array)]);
  const { timeMs: timeoutMs, memoryMb } = limits;
  const command = [node, `--max-old-space-size=${memoryMb}`, program];
  const confined = spawnConfined(command, confinementOf(memoryMb), { input });
  // Twice, because the capture reserves half for the beginning. A character takes at most six bytes.
  const maxBytes = 2 * (6 * extraction.maxCharacters + 1000);
  const signal = new AbortController().signal;
  const { end, exitCode, stdout } = await waitForExit(confined, { timeoutMs, maxBytes, signal });
  if (end === 'timeout') return null;
  if (exitCode !== 0) return { reason: 'The file cannot be read.' };
  return JSON.parse(Buffer.from(joinCaptured(stdout, () => '')).toString('utf8')) as ExtractionResult;
}

let found: Promise<boolean> | undefined;

/** Returns whether the sandbox works on this machine. Tried once. */
export function canConfine(): Promise<boolean> {
  const trial: Extraction = { kind: 'html', content: '<p>text</p>', maxCharacters: 10 };
  found ??= extractConfined(trial, { timeMs: 20_000, memoryMb: 256 }).then(
    (extracted) => extracted !== null && 'text' in extracted && extracted.text === 'text',
    () => false,
  );
  return found;
}

const node = realpathSync(process.execPath);
const program = fileURLToPath(new URL('./extract-process.ts', import.meta.url));

/** The program, its libraries and its `package.json`, which defines the module format. */
const programFiles = () => [
  node,
  dirname(program),
  findPackageJSON('.', program) as string,
  ...new Set(['unpdf', 'mammoth', 'turndown', 'saxen', 'yauzl'].flatMap(librariesWith)),
];

/** Returns the `node_modules` folder of a library, or nothing if the program is bundled. */
function librariesWith(name: string): string[] {
  try {
    const path = fileURLToPath(import.meta.resolve(name));
    return [path.slice(0, path.lastIndexOf('/node_modules/') + '/node_modules'.length)];
  } catch {
    return [];
  }
}

const megabyte = 1024 * 1024;
/** Memory of the program before it reads a file. */
const ownMb = 512;

const confinementOf = (memoryMb: number): Confinement => ({
  mounts: programFiles().map((path) => ({ from: path, to: path, isWritable: false })),
  env: {},
  workingFolder: '/',
  egressSocket: null,
  limits: { processes: 64, fileBytes: 0, memoryBytes: (2 * memoryMb + ownMb) * megabyte },
  identity: unusedAccount(),
});

/**
 * Reads a file in a new thread, because a hostile file can block the library for minutes or unpack to gigabytes. Files
 * share no state. Returns null if the time limit is reached.
 */
export function extractInThread(
  extraction: Extraction,
  { timeMs, memoryMb }: Limits,
): Promise<ExtractionResult | null> {
  const worker = new Worker(new URL('./extract-worker.ts', import.meta.url), {
    workerData: extraction,
    resourceLimits: { maxOldGenerationSizeMb: memoryMb },
    stdout: true,
    stderr: true,
  });
  return new Promise<ExtractionResult | null>((resolve) => {
    const refuse = (reason: string) => resolve({ reason });
    const time = setTimeout(() => resolve(null), timeMs);
    const memory = setInterval(() => void watchMemory(), 50);
    worker.once('message', resolve);
    worker.once('error', () => refuse('The file cannot be read.'));
    worker.once('exit', () => {
      clearTimeout(time);
      clearInterval(memory);
      refuse('The file cannot be read.');
    });

    /** `resourceLimits` covers objects only. Buffers are outside the heap. */
    async function watchMemory() {
      const used = await worker.getHeapStatistics().catch(() => undefined);
      if (used && used.external_memory > memoryMb * 1024 * 1024) refuse('The file unpacks to more than can be read.');
    }
  }).finally(() => worker.terminate());
}
