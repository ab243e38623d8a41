import { test as playTests, type TestOptions } from '@vestra/sdk/commands/test';
import { misuse } from '../fault.ts';
import type { Invocation, OwnCommand } from '../invocation.ts';
import { moneyHintOfRun } from '../money-hint.ts';
import { namedInFolder } from '../named-in-folder.ts';
import { printJson } from '../output/print-answer.ts';
import { readingHint, summaryOf } from '../output/show-test-run.ts';
import { shown } from './apply.ts';

export const test: OwnCommand = { positional: ['deployment'], takesNoUser: true, run };

async function run({ terminal, isJson, values, flags, connect }: Invocation): Promise<number> {
  if (flags.user !== undefined) {
    throw misuse('A simulated user plays a test: omit --user.', '--user');
  }
  const { signal } = terminal;
  const client = await connect();
  const deployment = (values.deployment as string | undefined) ?? (await namedInFolder(terminal.cwd));
  const play = (onProgress: TestOptions['onProgress']) => playTests(client, { deployment }, { signal, onProgress });
  const run = await shown(terminal, isJson, play, ['tests']);
  if (isJson) printJson(terminal, run);
  else if (terminal.isInteractive) terminal.out(`${run.id}: ${summaryOf(run)}\n`);
  for (const hint of isJson ? [] : [readingHint(run), moneyHintOfRun(run)]) if (hint) terminal.out(`${hint}\n`);
  return run.status === 'passed' ? 0 : 1;
}
