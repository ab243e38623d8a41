import { parseArgs } from 'node:util';
import { Failure } from '@vestra/contract/errors';
import { readConfig } from '../platform/config/config.ts';
import { loadEnvFile } from '../platform/config/settings-files.ts';
import { StartFailure } from '../platform/db/start-failure.ts';
import { Misuse, misuseOf } from './misuse.ts';
import { createProgress } from './progress.ts';

/** Each command loads its own code, so that a short one does not wait for the code of the others. */
export async function run(given: readonly string[]): Promise<void> {
  const [words, flags] = splitArguments(given);
  try {
    loadEnvFile();
    if (words[0] === 'doctor') await runDoctor(flags);
    else if (words.join(' ') === 'setup voice') await runSetupVoice(flags);
    else if (words[0] === 'models' && words[1] === 'try') await runTryModels(words.slice(2), flags);
    else {
      const { runAdmin } = await import('./admin.ts');
      await runAdmin(words, flags);
    }
  } catch (error) {
    if (!(error instanceof StartFailure) && !(error instanceof Failure)) throw error;
    process.stderr.write(`${error.message}\n`);
    process.exit(error instanceof Misuse ? 2 : 1);
  }
}

/** Opens no database, because the database may be the problem. */
async function runDoctor(flags: readonly string[]): Promise<void> {
  const { runChecks, showFindings } = await import('./doctor/doctor.ts');
  const findings = await runChecks(process.env);
  const isOk = findings.every(({ status }) => status !== 'fail');
  process.stdout.write(
    flags.includes('--json') ? `${JSON.stringify({ ok: isOk, findings }, null, 2)}\n` : `${showFindings(findings)}\n`,
  );
  if (!isOk) process.exitCode = 1;
}

/** Opens no database: it only installs packages. */
async function runSetupVoice(flags: readonly string[]): Promise<void> {
  const { setupVoice, showVoice } = await import('./setup-voice.ts');
  const { voice } = readConfig(process.env);
  const progress = createProgress(process.stderr);
  const result = await setupVoice(voice.folder, progress.show).finally(progress.end);
  process.stdout.write(flags.includes('--json') ? `${JSON.stringify(result, null, 2)}\n` : `${showVoice(result)}\n`);
}

/** Opens no database: the settings say everything about a provider. */
async function runTryModels(ids: string[], flags: string[]): Promise<void> {
  const options = { yes: { type: 'boolean' }, json: { type: 'boolean' }, record: { type: 'string' } } as const;
  const { values } = misuseOf(() => parseArgs({ args: flags, options, allowPositionals: false }));
  const { tryModels } = await import('./try-models.ts');
  const stopping = new AbortController();
  process.once('SIGINT', () => stopping.abort());
  const isJson = values.json === true;
  const report = await tryModels({
    config: readConfig(process.env),
    env: process.env,
    ids,
    isConfirmed: values.yes === true,
    recordTo: values.record ?? null,
    progress: createProgress(process.stderr),
    print: (line) => (isJson ? process.stderr : process.stdout).write(`${line}\n`),
    signal: stopping.signal,
  });
  if (isJson) process.stdout.write(`${JSON.stringify(report, null, 2)}\n`);
  else if (report.recording) process.stdout.write(`\nThe recording is in ${report.recording}, without keys.\n`);
  if (!report.ok) process.exitCode = stopping.signal.aborted ? 130 : 1;
}

function splitArguments(given: readonly string[]): [string[], string[]] {
  const at = given.findIndex((word) => word.startsWith('-'));
  return at === -1 ? [[...given], []] : [given.slice(0, at), given.slice(at)];
}
