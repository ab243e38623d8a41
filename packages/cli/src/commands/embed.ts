import type { CommandInput } from '@vestra/contract/commands';
import { embed as openSession } from '@vestra/sdk/commands/embed';
import type { Invocation, OwnCommand } from '../invocation.ts';
import { printJson } from '../output/print-answer.ts';
import { showTime } from '../output/show-value.ts';

export const embed: OwnCommand = { run };

async function run({ terminal, isJson, values, connect }: Invocation): Promise<void> {
  const { signal } = terminal;
  const session = await openSession(await connect(), values as CommandInput<'embed'>, { signal });
  if (isJson) return printJson(terminal, session);
  terminal.out(`${session.url}\n`);
  terminal.err(
    terminal.paintError(
      'dim',
      `${session.id}${session.deployment_id ? ` · with ${session.deployment_id}` : ''} · until ${showTime(session.expires_at)}\n`,
    ),
  );
}
