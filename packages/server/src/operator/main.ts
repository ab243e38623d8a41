import { parseArgs } from 'node:util';
import { Failure } from '@vestra/contract/errors';
import { readConfig } from '../platform/config/config.ts';
import { loadEnvFile } from '../platform/config/settings-files.ts';
import { StartFailure } from '../platform/db/start-failure.ts';
import { operatorCommands, upkeepCommands } from './commands.ts';
import { runChecks, showFindings } from './doctor/doctor.ts';
import { openOperator } from './operator.ts';
import { createProgress } from './progress.ts';
import { setupVoice, showVoice } from './setup-voice.ts';

const allCommands = { ...operatorCommands, ...upkeepCommands };
type Command = (typeof allCommands)[string];

/** The command line is wrong. The exit code is 2, as in the rest of the CLI. */
class Misuse extends StartFailure {}

const [words, flags] = splitArguments(process.argv.slice(2));
const name = nameIn(words);

try {
  loadEnvFile();
  if (words[0] === 'doctor') await runDoctor();
  else if (words.join(' ') === 'setup voice') await runSetupVoice();
  else if (words[0] === 'models' && words[1] === 'try') await runTryModels(words.slice(2));
  else await run(name);
} catch (error) {
  if (!(error instanceof StartFailure) && !(error instanceof Failure)) throw error;
  process.stderr.write(`${error.message}\n`);
  process.exit(error instanceof Misuse ? 2 : 1);
}

/** Opens no database, because the database may be the problem. */
async function runDoctor(): Promise<void> {
  const findings = await runChecks(process.env);
  const isOk = findings.every(({ status }) => status !== 'fail');
  process.stdout.write(
    flags.includes('--json') ? `${JSON.stringify({ ok: isOk, findings }, null, 2)}\n` : `${showFindings(findings)}\n`,
  );
  if (!isOk) process.exitCode = 1;
}

/** Opens no database: it only installs packages. */
async function runSetupVoice(): Promise<void> {
  const { voice } = readConfig(process.env);
  const progress = createProgress(process.stderr);
  const result = await setupVoice(voice.folder, progress.show).finally(progress.end);
  process.stdout.write(flags.includes('--json') ? `${JSON.stringify(result, null, 2)}\n` : `${showVoice(result)}\n`);
}

/** Opens no database: the settings say everything about a provider. Its code is loaded for this command only. */
async function runTryModels(ids: string[]): Promise<void> {
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

function misuseOf<Result>(read: () => Result): Result {
  try {
    return read();
  } catch (error) {
    throw new Misuse((error as Error).message);
  }
}

async function run(chosen: string): Promise<void> {
  if (flags.some((flag) => flag === '--help' || flag === '-h')) throw new Misuse(usage(chosen));
  const command = allCommands[chosen];
  if (!command) throw new Misuse(usage(chosen));
  const values: Record<string, string> = { ...readFlags(command), ...readArguments(command) };
  const result = await resultOf(chosen, values);
  process.stdout.write(values.json ? `${JSON.stringify(result, null, 2)}\n` : `${command.show(result)}\n`);
}

async function resultOf(chosen: string, values: Record<string, string>): Promise<unknown> {
  const config = readConfig(process.env);
  const upkeep = upkeepCommands[chosen];
  if (upkeep) {
    const progress = createProgress(process.stderr);
    return upkeep.run({ config, progress }, values).finally(progress.end);
  }
  const operator = await openOperator(config);
  try {
    return await operatorCommands[chosen]?.run(operator, values);
  } finally {
    await operator.close();
  }
}

/** The longest prefix that is a command. The rest are its arguments. */
function nameIn(given: string[]): string {
  const beginnings = given.map((_, at) => given.slice(0, given.length - at).join(' '));
  return beginnings.find((each) => each in allCommands) ?? given.join(' ');
}

function readArguments({ arguments: wanted = {} }: Command): Record<string, string> {
  const given = words.slice(name.split(' ').length);
  const names = Object.keys(wanted);
  if (given.length !== names.length) throw new Misuse(usage(name));
  return Object.fromEntries(names.map((each, at) => [each, given[at] as string]));
}

function readFlags(chosen: Command): Record<string, string> {
  const options = Object.fromEntries(
    [...Object.keys(chosen.flags), 'json'].map((flag) => [
      flag,
      { type: flag === 'json' ? ('boolean' as const) : ('string' as const) },
    ]),
  );
  let values: Record<string, unknown>;
  try {
    ({ values } = parseArgs({ args: flags, options, allowPositionals: false }));
  } catch (error) {
    throw new Misuse(`${(error as Error).message}\n${usage(name)}`);
  }
  for (const [flag, { required }] of Object.entries(chosen.flags)) {
    if (required && typeof values[flag] !== 'string') throw new Misuse(`--${flag} is missing.\n${usage(name)}`);
  }
  return values as Record<string, string>;
}

function splitArguments(given: string[]): [string[], string[]] {
  const at = given.findIndex((word) => word.startsWith('-'));
  return at === -1 ? [given, []] : [given.slice(0, at), given.slice(at)];
}

/** The usage of a command, or of all that begin with these words. */
function usage(wanted: string): string {
  const isKnown = Object.keys(allCommands).some((each) => each === wanted || each.startsWith(`${wanted} `));
  const matching = isKnown ? wanted : '';
  const rows = Object.entries(allCommands)
    .filter(([each]) => each === matching || matching === '' || each.startsWith(`${matching} `))
    .map(([each, { flags: its, summary, arguments: words = {} }]) => {
      const shown = Object.entries(its).map(([flag, { value, required }]) =>
        required ? `--${flag} ${value}` : `[--${flag} ${value}]`,
      );
      return `  vestra admin ${[each, ...Object.values(words), ...shown].join(' ')}\n      ${summary}`;
    });
  return ['Usage (--json prints the result as JSON):', ...rows].join('\n');
}
