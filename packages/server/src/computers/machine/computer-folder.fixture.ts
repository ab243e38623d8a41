import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll } from 'vitest';
import { type CommandResult, joinCaptured } from '../../platform/sandbox/confined-process.ts';
import { type ComputerFolders, makeComputerFolders } from './computer-folder.ts';
import type { ComputerHost } from './computer-host.ts';

const undo: (() => Promise<unknown>)[] = [];
afterAll(async () => {
  for (const step of undo.reverse()) await step();
});

/** A data folder with computers, removed after the tests of the file. */
export async function newComputers(): Promise<{
  dataDir: string;
  folders: (number: number) => Promise<ComputerFolders>;
}> {
  const dataDir = await mkdtemp(join(tmpdir(), 'vestra-places-'));
  undo.push(() => rm(dataDir, { recursive: true, force: true }));
  return { dataDir, folders: (number) => makeComputerFolders(dataDir, number) };
}

export const never = new AbortController().signal;

type CommandOutput = { end: CommandResult['end']; exitCode: number | null; stdout: string; stderr: string };

/** Runs a command and returns its output as text. */
export async function say(
  host: ComputerHost,
  folders: ComputerFolders,
  script: string,
  options: { timeoutMs?: number; signal?: AbortSignal; env?: Record<string, string> } = {},
): Promise<CommandOutput> {
  const { timeoutMs = 30_000, signal = never, env = {} } = options;
  const { end, exitCode, stdout, stderr } = await host.run(folders, { script, env, timeoutMs, signal });
  const text = (said: typeof stdout) => Buffer.from(joinCaptured(said, () => '\n[cut]\n')).toString('utf8');
  return { end, exitCode, stdout: text(stdout), stderr: text(stderr) };
}

/** Runs after the tests of the file, even if one failed. */
export const afterFile = (step: () => Promise<unknown>) => void undo.push(step);
