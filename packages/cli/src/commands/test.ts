import { readServiceFile } from '@vestra/sdk/apply/service-file';
import { misuse } from '../fault.ts';
import type { Invocation, OwnCommand } from '../invocation.ts';
import { printJson } from '../output/print-answer.ts';
import { summaryOf } from '../output/show-test-run.ts';
import { shown } from './apply.ts';
import { followTests } from './follow-tests.ts';

export const test: OwnCommand = { positional: ['deployment'], run };

async function run({ terminal, isJson, values, flags, connect }: Invocation): Promise<number> {
  if (flags.user !== undefined) {
    throw misuse('A test is played by a pretend user and runs for nobody’s account: leave --user out.', '--user');
  }
  const { signal } = terminal;
  const client = await connect();
  const named = values.deployment as string | undefined;
  const deployment_id = named ?? (await readServiceFile({ folder: terminal.cwd, file: 'service.yaml' })).content.name;
  const run = await shown(
    terminal,
    isJson,
    async (tell) => {
      const started = await client.testRuns.create({ deployment_id }, { signal });
      return followTests({ client, run: started, signal, tell });
    },
    ['tests'],
  );
  if (isJson) printJson(terminal, run);
  else if (terminal.isInteractive) terminal.out(`${run.id}: ${summaryOf(run)}\n`);
  return run.status === 'passed' ? 0 : 1;
}
