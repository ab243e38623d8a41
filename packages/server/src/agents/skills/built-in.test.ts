import { execFileSync, spawnSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { builtInSkills } from './built-in.ts';
import { prepareBundle } from './bundle.ts';
import { hasPython, python, skillsFolder } from './scripts.fixture.ts';

describe.each(await builtInSkills())('the built-in skill $name', ({ name, description, files }) => {
  it('is one that could be uploaded, in a folder of its name', async () => {
    const { frontmatter } = await prepareBundle(files, 'files');
    expect(frontmatter).toEqual({ name, description });
    expect(readdirSync(skillsFolder)).toContain(name);
  });

  it('says what it does and when to use it', () => {
    expect(description).toMatch(/Use it when/);
    expect(description.length).toBeGreaterThan(150);
  });

  it('names only files that it has, and every script', () => {
    const paths = files.map(({ path }) => path);
    const body = files.find(({ path }) => path === 'SKILL.md')?.content ?? '';
    const named = [...body.matchAll(/\b(?:scripts|templates)\/[\w.-]+\w/g)].map(([path]) => path);
    expect(named.filter((path) => !paths.includes(path))).toEqual([]);
    expect(named.some((path) => path.startsWith('scripts/'))).toBe(true);
    for (const template of paths.filter((path) => path.startsWith('templates/'))) {
      expect(body).toContain(template.split('/').at(-1));
    }
  });

  it.skipIf(!hasPython)('holds scripts that explain themselves also where no package is installed', () => {
    const modules = JSON.parse(
      execFileSync(python, ['-c', 'import json, sys; print(json.dumps(sorted(sys.stdlib_module_names)))'], {
        encoding: 'utf8',
      }),
    ) as string[];
    const scripts = files.filter(({ path }) => path.endsWith('.py'));
    const own = scripts.map(({ path }) => path.replace(/^.*\/|\.py$/g, ''));
    for (const { path, content } of scripts) {
      const imported = [...content.matchAll(/^(?:import|from) (\w+)/gm)].map(([, module]) => module as string);
      expect(imported.filter((module) => !modules.includes(module) && !own.includes(module))).toEqual([]);
      if (!content.startsWith('#!')) continue;
      const { status, stdout } = spawnSync(python, ['-S', join(skillsFolder, name, path), '--help'], {
        encoding: 'utf8',
      });
      expect([path, status]).toEqual([path, 0]);
      expect(stdout).toContain('usage:');
    }
  });
});

it('are at least the six that an office needs', async () => {
  expect((await builtInSkills()).map(({ name }) => name)).toEqual(
    expect.arrayContaining([
      'documents',
      'drafting-email',
      'meeting-notes',
      'pdf-reading',
      'spreadsheets',
      'web-research',
    ]),
  );
});
