import { VestraError } from '@vestra/sdk/errors';
import type { Health, Me } from '@vestra/sdk/resources';
import type { LocalInvocation } from '../invocation.ts';
import { printJson } from '../output/print-answer.ts';
import { showRecord } from '../output/show-record.ts';
import { precedence } from '../settings.ts';

/** Shows the server and key in use, their source, and whether both work. */
export async function status({ terminal, isJson, settings, connect }: LocalInvocation): Promise<number> {
  const { signal } = terminal;
  const { url, urlSource, key, source } = await settings();
  const client = await connect({ needsKey: false });
  const health = await outcome<Health>(client.health.get({}, { signal, retries: 0 }));
  const me = key === null || 'fault' in health ? null : await outcome<Me>(client.me.get({}, { signal }));
  const found = me && 'value' in me ? me.value : null;
  const shown = {
    server: {
      url,
      from: urlSource,
      status: 'fault' in health ? health.fault : health.value.status,
      version: 'fault' in health ? null : health.value.version,
    },
    key: {
      from: source,
      status: key === null ? 'none was found' : me === null ? 'not tried' : 'fault' in me ? me.fault : 'good',
      mode: found?.mode ?? null,
      last4: key?.slice(-4) ?? null,
    },
    org: found?.org ?? null,
  };
  if (isJson) printJson(terminal, { ...shown, precedence });
  else {
    terminal.out(showRecord(terminal, shown));
    terminal.err(
      terminal.paintError(
        'dim',
        `\nThe first one that is set wins:\n${precedence.map((each, at) => `  ${at + 1}. ${each}\n`).join('')}`,
      ),
    );
  }
  return found && 'value' in health && health.value.status === 'ok' ? 0 : 1;
}

type Outcome<Value> = { value: Value } | { fault: string };

async function outcome<Value>(asked: Promise<Value>): Promise<Outcome<Value>> {
  try {
    return { value: await asked };
  } catch (error) {
    if (!(error instanceof VestraError)) throw error;
    return { fault: error.message };
  }
}
