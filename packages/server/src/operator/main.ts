import { parseArgs } from 'node:util';
import { Failure } from '@vestra/contract/errors';
import { StartFailure } from '../db/start-failure.ts';
import { readConfig } from '../main/config.ts';
import { type OperatorCommand, operatorCommands } from './commands.ts';
import { openOperator } from './open.ts';

const [words, flags] = splitArguments(process.argv.slice(2));
const name = words.join(' ');
const command: OperatorCommand | undefined = operatorCommands[name];

try {
  if (!command) throw new StartFailure(usage(name));
  await run(command);
} catch (error) {
  if (!(error instanceof StartFailure) && !(error instanceof Failure)) throw error;
  process.stderr.write(`${error.message}\n`);
  process.exit(1);
}

async function run(chosen: OperatorCommand): Promise<void> {
  const values = readFlags(chosen);
  const operator = await openOperator(readConfig(process.env));
  try {
    const result = await chosen.run(operator, values);
    process.stdout.write(values.json ? `${JSON.stringify(result, null, 2)}\n` : `${chosen.show(result)}\n`);
  } finally {
    await operator.close();
  }
}

function readFlags(chosen: OperatorCommand): Record<string, string> {
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
    throw new StartFailure(`${(error as Error).message}\n${usage(name)}`);
  }
  for (const [flag, { required }] of Object.entries(chosen.flags)) {
    if (required && typeof values[flag] !== 'string') throw new StartFailure(`--${flag} is missing.\n${usage(name)}`);
  }
  return values as Record<string, string>;
}

function splitArguments(given: string[]): [string[], string[]] {
  const at = given.findIndex((word) => word.startsWith('-'));
  return at === -1 ? [given, []] : [given.slice(0, at), given.slice(at)];
}

function usage(wanted: string): string {
  const rows = Object.entries(operatorCommands)
    .filter(([each]) => !(wanted in operatorCommands) || each === wanted)
    .map(([each, { flags: its, summary }]) => {
      const shown = Object.entries(its).map(([flag, { value, required }]) =>
        required ? `--${flag} ${value}` : `[--${flag} ${value}]`,
      );
      return `  vestra admin ${[each, ...shown].join(' ')}\n      ${summary}`;
    });
  return ['Usage (add --json for a machine):', ...rows].join('\n');
}
