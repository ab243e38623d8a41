import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll } from 'vitest';
import { joinCaptured } from '../../platform/sandbox/capture.ts';
import type { CommandResult } from '../../platform/sandbox/run-to-end.ts';
import { makePlace, type Place } from './computer-folder.ts';
import type { ComputerHost } from './computer-host.ts';

const undo: (() => Promise<unknown>)[] = [];
afterAll(async () => {
  for (const step of undo.reverse()) await step();
});

/** A data folder with computers in it, gone after the tests of the file. */
export async function newPlaces(): Promise<{ dataDir: string; place: (number: number) => Promise<Place> }> {
  const dataDir = await mkdtemp(join(tmpdir(), 'vestra-places-'));
  undo.push(() => rm(dataDir, { recursive: true, force: true }));
  return { dataDir, place: (number) => makePlace(dataDir, number) };
}

export const never = new AbortController().signal;

type Said = { end: CommandResult['end']; exitCode: number | null; stdout: string; stderr: string };

/** Runs a command to its end, with what it said as text. */
export async function say(
  host: ComputerHost,
  place: Place,
  script: string,
  options: { timeoutMs?: number; signal?: AbortSignal; env?: Record<string, string> } = {},
): Promise<Said> {
  const { timeoutMs = 30_000, signal = never, env = {} } = options;
  const { end, exitCode, stdout, stderr } = await host.run(place, { script, env, timeoutMs, signal });
  const text = (said: typeof stdout) => Buffer.from(joinCaptured(said, () => '\n[cut]\n')).toString('utf8');
  return { end, exitCode, stdout: text(stdout), stderr: text(stderr) };
}

/** Whatever a test has begun ends with the file, also where the test failed. */
export const afterFile = (step: () => Promise<unknown>) => void undo.push(step);
