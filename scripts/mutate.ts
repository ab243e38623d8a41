/**
 * Breaks the given files in many small ways, one at a time, and runs the tests beside them: a change that no test notices
 * is printed. `npm run mutate -- packages/agent/src/loop.ts`, or without files for the decisions that matter most.
 */
import { globSync, readFileSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { createVitest } from 'vitest/node';
import { type Mutant, mutantsOf } from './mutants.ts';

const root = resolve(import.meta.dirname, '..');

/** Where a mistake costs money, an approval or a version. */
const decisions = [
  'packages/agent/src/{loop,call-progress,call-refusal,tool-policy,approval,approval-category,budget,compaction,credential}.ts',
  'packages/server/src/domains/ledger/{allowance,fold,charge,reserve}.ts',
  'packages/server/src/domains/deployments/version-pointers.ts',
];

const named = process.argv.slice(2);
const files = (named.length > 0 ? named : decisions).flatMap((each) => globSync(each, { cwd: root })).sort();

/** What stands for the file that is broken right now. Nothing is written to the disk. */
let broken: { file: string; source: string } | null = null;
const vitest = await createVitest(
  'test',
  // A thread for each test file: one that is kept would go on with the mistake it has loaded.
  { root, watch: false, bail: 1, maxWorkers: 1, pool: 'threads', reporters: [{}], testTimeout: 20_000 },
  {
    plugins: [
      {
        name: 'mutant',
        enforce: 'pre',
        load: (id) => (broken?.file === id ? broken.source : null),
      },
    ],
  },
);

const scores: { file: string; killed: number; survivors: number }[] = [];
for (const file of files) scores.push(await scoreOf(file));
await vitest.close();
console.table(
  scores.map(({ file, killed, survivors }) => ({
    file,
    mutants: killed + survivors,
    killed,
    score: `${((100 * killed) / (killed + survivors || 1)).toFixed(1)} %`,
  })),
);

async function scoreOf(file: string) {
  const path = join(root, file);
  const source = readFileSync(path, 'utf8');
  const specifications = await vitest.globTestSpecifications(testsOf(file));
  if (specifications.length === 0) throw new Error(`${file} has no tests beside it.`);
  if (!(await pass(path, source))) throw new Error(`The tests of ${file} fail before anything is broken.`);
  const survivors: Mutant[] = [];
  const mutants = mutantsOf(source);
  for (const mutant of mutants) {
    if (await pass(path, source.slice(0, mutant.start) + mutant.becomes + source.slice(mutant.end)))
      survivors.push(mutant);
  }
  for (const { start, end, becomes } of survivors) {
    const line = source.slice(0, start).split('\n').length;
    console.log(`${file}:${line}  ${shown(source.slice(start, end))}  →  ${shown(becomes)}`);
  }
  console.log(`${file}: ${mutants.length - survivors.length} of ${mutants.length} were noticed`);
  return { file, killed: mutants.length - survivors.length, survivors: survivors.length };

  async function pass(id: string, text: string): Promise<boolean> {
    broken = { file: id, source: text };
    vitest.invalidateFile(id);
    const { testModules, unhandledErrors } = await vitest.runTestSpecifications(specifications);
    return unhandledErrors.length === 0 && testModules.every((each) => each.ok());
  }
}

/** Those of the file's own name, and for files that have none the ones of what reads them. */
function testsOf(file: string): string[] {
  const name = basename(file, '.ts');
  const others: Record<string, string[]> = {
    'call-refusal': ['loop'],
    budget: ['loop'],
    'call-progress': ['loop'],
    compaction: ['loop'],
  };
  return [name, ...(others[name] ?? [])].map((each) => `${dirname(file)}/${each}.`);
}

function shown(text: string): string {
  const line = text.replace(/\s+/g, ' ');
  return line === '' ? '(nothing)' : line.length > 90 ? `${line.slice(0, 89)}…` : line;
}
