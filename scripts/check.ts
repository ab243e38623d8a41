/** Runs every static check. Continues after failures and fails at the end. */
import { spawnSync } from 'node:child_process';

const checks: [string, string, string[]][] = [
  ['types', 'tsc', ['-p', '.']],
  ['format and lint', 'node', ['scripts/linter/run.ts', 'ci', '--error-on-warnings', '.']],
  ['import boundaries', 'node', ['scripts/boundaries.ts']],
  ['request limits', 'node', ['scripts/request-limits.ts']],
  ['regular expressions', 'node', ['scripts/regular-expressions.ts']],
  ['dead code', 'knip', []],
  ['plain English', 'node', ['scripts/plain-english.ts']],
  ['generated files', 'node', ['scripts/generate.ts', '--check']],
  ['lock', 'node', ['scripts/complete-lock.ts', '--check']],
];

const failed = checks.filter(([name, command, words]) => {
  const startedAt = performance.now();
  const { status, stdout, stderr } = spawnSync(command, words, {
    encoding: 'utf8',
    env: { ...process.env, NO_COLOR: '1' },
  });
  const seconds = ((performance.now() - startedAt) / 1000).toFixed(1);
  console.log(`${status === 0 ? 'ok  ' : 'FAIL'} ${name} (${seconds} s)`);
  if (status !== 0) console.log(`${stdout}${stderr}`);
  return status !== 0;
});

if (failed.length > 0) {
  console.log(
    `\n${failed.length} of ${checks.length} checks failed. \`npm run fix\` fixes format and generated files.`,
  );
  process.exit(1);
}
