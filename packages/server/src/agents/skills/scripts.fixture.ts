import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll } from 'vitest';

export const skillsFolder = join(import.meta.dirname, '..', '..', '..', 'skills');

/** The Python of the system, as on a user's computer. Another Python may lack its packages. */
export const python = '/usr/bin/python3';

export const hasPython = existsSync(python);

const folders: string[] = [];
afterAll(() => {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
});

/** Runs a script of a built-in skill in a temporary folder, which may hold files. */
export function scriptOf(skill: string, script: string) {
  const folder = mkdtempSync(join(tmpdir(), 'vestra-skill-'));
  folders.push(folder);
  return {
    put(name: string, content: string | Uint8Array): string {
      writeFileSync(join(folder, name), content);
      return name;
    },
    run(...words: string[]): { status: number | null; stdout: string; stderr: string } {
      const path = join(skillsFolder, skill, 'scripts', script);
      const { status, stdout, stderr } = spawnSync(python, [path, ...words], {
        cwd: folder,
        encoding: 'utf8',
        timeout: 30_000,
        env: { PATH: process.env.PATH, LANG: 'C.UTF-8' },
      });
      return { status, stdout, stderr };
    },
  };
}
