import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { takeEnvFile } from './env-file.ts';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'vestra-env-'));
});
afterEach(async () => {
  delete process.env.VESTRA_OF_FILE;
  delete process.env.VESTRA_OF_BOTH;
  await rm(folder, { recursive: true, force: true });
});

it('takes settings of `.env`, and those of the environment before them [OPS-421]', async () => {
  process.env.VESTRA_OF_BOTH = 'environment';
  await writeFile(join(folder, '.env'), '# a note\nVESTRA_OF_FILE="a b"\nVESTRA_OF_BOTH=file\n');
  takeEnvFile(folder);
  expect([process.env.VESTRA_OF_FILE, process.env.VESTRA_OF_BOTH]).toEqual(['a b', 'environment']);
});

it('does without one, and says in one sentence where one cannot be read [OPS-421]', async () => {
  expect(() => takeEnvFile(folder)).not.toThrow();
  // A folder of that name can be read by nobody, root included.
  await mkdir(join(folder, '.env'));
  expect(() => takeEnvFile(folder)).toThrow(/\.env cannot be read: \w+\.$/);
});
