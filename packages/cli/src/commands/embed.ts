import type { Invocation, OwnCommand } from '../invocation.ts';
import { printJson } from '../output/print-answer.ts';
import { showTime } from '../output/show-value.ts';

export const embed: OwnCommand = { run };

async function run({ terminal, isJson, values, connect }: Invocation): Promise<void> {
  const client = await connect();
  const { user, conversation, chat = true, screen, voice, memory } = values as Options;
  const session = await client.sessions.create(
    {
      ...(user !== undefined && { user_id: user }),
      ...(conversation !== undefined && { conversation_id: conversation }),
      chat,
      ...(screen !== undefined && { screen }),
      ...(voice !== undefined && { voice }),
      ...(memory !== undefined && { memory }),
    },
    { signal: terminal.signal },
  );
  if (isJson) return printJson(terminal, session);
  terminal.out(`${session.url}\n`);
  terminal.err(terminal.paintError('dim', `${session.id} · until ${showTime(session.expires_at)}\n`));
}

type Options = {
  user?: string;
  conversation?: string;
  chat?: boolean;
  screen?: false | 'view' | 'control';
  voice?: boolean | string;
  memory?: boolean;
};
