import { parseArgs } from 'node:util';
import { readConfig } from '../platform/config/config.ts';
import { operatorCommands, upkeepCommands } from './commands.ts';
import { Misuse } from './misuse.ts';
import { openOperator } from './operator.ts';
import { createProgress } from './progress.ts';

const allCommands = { ...operatorCommands, ...upkeepCommands };
type Command = (typeof allCommands)[string];

/** Runs a command of `vestra admin`. */
export async function runAdmin(words: readonly string[], flags: readonly string[]): Promise<void> {
  const chosen = nameIn(words);
  if (flags.some((flag) => flag === '--help' || flag === '-h')) throw new Misuse(usage(chosen));
  const command = allCommands[chosen];
  if (!command) throw new Misuse(usage(chosen));
  const values: Record<string, string> = {
    ...readFlags(chosen, command, flags),
    ...readArguments(chosen, command, words),
  };
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
function nameIn(given: readonly string[]): string {
  const beginnings = given.map((_, at) => given.slice(0, given.length - at).join(' '));
  return beginnings.find((each) => each in allCommands) ?? given.join(' ');
}

function readArguments(
  chosen: string,
  { arguments: wanted = {} }: Command,
  words: readonly string[],
): Record<string, string> {
  const given = words.slice(chosen.split(' ').length);
  const names = Object.keys(wanted);
  if (given.length !== names.length) throw new Misuse(usage(chosen));
  return Object.fromEntries(names.map((each, at) => [each, given[at] as string]));
}

function readFlags(chosen: string, command: Command, flags: readonly string[]): Record<string, string> {
  const options = Object.fromEntries(
    [...Object.keys(command.flags), 'json'].map((flag) => [
      flag,
      { type: flag === 'json' ? ('boolean' as const) : ('string' as const) },
    ]),
  );
  let values: Record<string, unknown>;
  try {
    ({ values } = parseArgs({ args: [...flags], options, allowPositionals: false }));
  } catch (error) {
    throw new Misuse(`${(error as Error).message}\n${usage(chosen)}`);
  }
  for (const [flag, { required }] of Object.entries(command.flags)) {
    if (required && typeof values[flag] !== 'string') throw new Misuse(`--${flag} is missing.\n${usage(chosen)}`);
  }
  return values as Record<string, string>;
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
