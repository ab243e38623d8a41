/**
 * Breaks a file in many small ways, one at a time, and runs its tests on each: `npm run mutate -- <files>`, without files
 * all of the table. `budget.ts:43` tries one line again, `--most=80` so many of each file, spread evenly. What no test
 * notices is printed. Why it is our own: docs/history/0015-a-mutation-run-of-our-own.md
 */
import { spawnSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative, resolve } from 'node:path';
import { type Mutant, mutantsOf, mutated } from './mutants.ts';

const agent = 'packages/agent/src';
const ledger = 'packages/server/src/billing';
const versions = 'packages/server/src/agents/versions';

/** Files with decisions, and their tests. Only tests without a database, since they run once for each mutant. */
const testsOf: Record<string, string[]> = {
  [`${agent}/tool-policy.ts`]: [`${agent}/tool-policy.test.ts`],
  [`${agent}/approval.ts`]: [`${agent}/approval.test.ts`],
  [`${agent}/approval-category.ts`]: [`${agent}/approval-category.test.ts`],
  [`${agent}/budget.ts`]: [`${agent}/budget.test.ts`],
  [`${agent}/call-progress.ts`]: [`${agent}/call-progress.test.ts`],
  [`${agent}/compaction.ts`]: [`${agent}/compaction.test.ts`],
  [`${agent}/loop.ts`]: [`${agent}/loop.test.ts`, `${agent}/loop.resume.test.ts`],
  'packages/contract/src/session-access.ts': ['packages/contract/src/session-access.test.ts'],
  'packages/server/src/platform/http/session-permissions.ts': [
    'packages/server/src/platform/http/session-permissions.test.ts',
  ],
  [`${ledger}/allowance.ts`]: [`${ledger}/allowance.test.ts`],
  [`${ledger}/charge-items.ts`]: [`${ledger}/charge-items.test.ts`],
  [`${versions}/version-pointers.ts`]: [`${versions}/version-pointers.test.ts`],
};

type Verdict = 'passed' | 'failed' | 'late';

type Report = {
  success: boolean;
  numTotalTests: number;
  testResults: { message: string; assertionResults: { failureMessages: string[] }[] }[];
};

const root = resolve(import.meta.dirname, '..');
const words = process.argv.slice(2);
const most = Number(
  words.find((word) => word.startsWith('--most='))?.slice('--most='.length) ?? Number.POSITIVE_INFINITY,
);
const named = words.filter((word) => !word.startsWith('--')).map((word) => relative(root, resolve(word)));

const copy = copyOfTree();
process.once('exit', () => rmSync(copy, { recursive: true, force: true }));
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1));
console.table((named.length > 0 ? named : Object.keys(testsOf)).map(scoreOf));

function scoreOf(place: string) {
  const [file = '', line] = place.split(':');
  const tests = testsOf[file];
  if (!tests) throw new Error(`${file} has no tests in the table of scripts/mutate.ts: add a row.`);
  const source = readFileSync(join(copy, file), 'utf8');
  const limitMs = proveThatMistakesAreSeen(file, source, tests);

  const all = mutantsOf(source).filter(({ start }) => line === undefined || lineOf(source, start) === Number(line));
  const tried = spread(all, most);
  const survivors = tried.filter((mutant) => {
    const isNoticed = verdictOn(file, mutated(source, mutant), tests, limitMs).verdict !== 'passed';
    if (!isNoticed) console.log(described(file, source, mutant));
    return !isNoticed;
  });
  writeFileSync(join(copy, file), source);
  const killed = tried.length - survivors.length;
  const score = `${((100 * killed) / (tried.length || 1)).toFixed(1)} %`;
  console.log(`${file}: ${killed} of ${tried.length} were noticed (${all.length} possible)`);
  return { file, possible: all.length, tried: tried.length, killed, survived: survivors.length, score };
}

/** Refuses to count where the tests fail as they are, or do not run the file that is broken. Returns the limit of time. */
function proveThatMistakesAreSeen(file: string, source: string, tests: string[]): number {
  const startedAt = performance.now();
  const asItIs = verdictOn(file, source, tests, 300_000);
  if (asItIs.verdict !== 'passed')
    throw new Error(`The tests of ${file} fail before anything is broken.\n${asItIs.failures}`);
  const limitMs = Math.ceil(20_000 + 4 * (performance.now() - startedAt));
  const mark = `broken on purpose ${randomUUID()}`;
  const broken = verdictOn(file, `${source}\nthrow new Error('${mark}');\n`, tests, limitMs);
  if (broken.verdict !== 'failed' || !broken.failures.includes(mark)) {
    throw new Error(`The tests of ${file} do not load it from ${copy}: no count of theirs would mean anything.`);
  }
  return limitMs;
}

/** One process for each mistake: nothing that an earlier one left in memory answers for it. */
function verdictOn(
  file: string,
  text: string,
  tests: string[],
  limitMs: number,
): { verdict: Verdict; failures: string } {
  writeFileSync(join(copy, file), text);
  const reportFile = join(copy, 'report.json');
  rmSync(reportFile, { force: true });
  const vitest = ['node_modules/vitest/vitest.mjs', 'run', '--bail=1', '--reporter=json', `--outputFile=${reportFile}`];
  const { error, stderr } = spawnSync(process.execPath, [...vitest, ...tests], {
    cwd: copy,
    encoding: 'utf8',
    timeout: limitMs,
    killSignal: 'SIGKILL',
  });
  if ((error as NodeJS.ErrnoException | undefined)?.code === 'ETIMEDOUT') return { verdict: 'late', failures: '' };
  // A run that could not start must never count as a mistake that was noticed.
  if (!existsSync(reportFile)) throw new Error(`No tests were run on ${file}: ${error?.message ?? ''}\n${stderr}`);
  const { success, numTotalTests, testResults }: Report = JSON.parse(readFileSync(reportFile, 'utf8'));
  if (success && numTotalTests === 0) throw new Error(`${tests.join(' ')} hold no tests.`);
  const failures = testResults.flatMap(({ message, assertionResults }) => [
    message,
    ...assertionResults.flatMap(({ failureMessages }) => failureMessages),
  ]);
  return { verdict: success ? 'passed' : 'failed', failures: failures.filter(Boolean).join('\n') };
}

/** Packages find each other inside of the copy: a link to the sources beside it would run those, which nobody breaks. */
function copyOfTree(): string {
  const folder = mkdtempSync(join(tmpdir(), 'vestra-mutate-'));
  cpSync(join(root, 'packages'), join(folder, 'packages'), {
    recursive: true,
    filter: (path) => !/\/(node_modules|dist)$/.test(path),
  });
  for (const name of ['package.json', 'tsconfig.json']) cpSync(join(root, name), join(folder, name));
  for (const place of ['', ...readdirSync(join(root, 'packages')).map((name) => `packages/${name}`)]) {
    linkModules(join(root, place, 'node_modules'), join(folder, place, 'node_modules'));
  }
  // No PostgreSQL, and threads: when the time is up, one signal ends all of it. A test that is slow on a busy machine must
  // not count as one that has noticed something.
  writeFileSync(
    join(folder, 'vitest.config.ts'),
    "export default { test: { include: ['packages/**/*.test.ts'], pool: 'threads', maxWorkers: 1, testTimeout: 600_000 } };\n",
  );
  return folder;
}

function linkModules(from: string, to: string): void {
  if (!existsSync(from)) return;
  mkdirSync(to, { recursive: true });
  for (const name of readdirSync(from)) {
    if (name === '@vestra') cpSync(join(from, name), join(to, name), { recursive: true, verbatimSymlinks: true });
    else if (!name.startsWith('.')) symlinkSync(join(from, name), join(to, name));
  }
}

/** The same ones each time, so that two runs can be compared. */
function spread<T>(all: readonly T[], count: number): T[] {
  if (all.length <= count) return [...all];
  return Array.from({ length: count }, (_, at) => all[Math.floor((at * all.length) / count)] as T);
}

function described(file: string, source: string, { start, end, becomes }: Mutant): string {
  const shown = (text: string) => text.replace(/\s+/g, ' ');
  return `${file}:${lineOf(source, start)}  ${shown(source.slice(start, end))}  →  ${shown(becomes)}`;
}

function lineOf(source: string, at: number): number {
  return source.slice(0, at).split('\n').length;
}
