import { type Client, createClient } from '@vestra/sdk/client';
import { CommandFault } from './fault.ts';
import { keyMissing, type Settings } from './settings.ts';
import type { Terminal } from './terminal.ts';

type Options = { terminal: Terminal; isJson: boolean; isDebug: boolean; settings: Settings; needsKey: boolean };

/** A client for the server and key in force. */
export function connect({ terminal, isJson, isDebug, settings, needsKey }: Options): Client {
  const { url, key, source, notice } = settings;
  if (needsKey && key === null)
    throw new CommandFault(keyMissing(url), { exitCode: 1, told: { type: 'authentication', code: 'key_missing' } });
  // Whoever reads JSON off standard error finds the error there and nothing else.
  if (notice && needsKey && !isJson) terminal.err(terminal.paintError('dim', `${notice}\n`));
  if (isDebug) terminal.err(`Server ${url}, key of ${source ?? 'nobody'}\n`);
  return createClient({
    baseUrl: url,
    key: key ?? undefined,
    // A person waits: a server that is not there should be told of soon.
    retries: 1,
    ...(isDebug && { fetch: (...given) => toldFetch(terminal, ...given) }),
  });
}

/** Says what was called and what came of it, never what was sent with it: a header holds the key. */
async function toldFetch(terminal: Terminal, ...[input, init]: Parameters<typeof fetch>): Promise<Response> {
  const { pathname, search } = new URL(input instanceof Request ? input.url : input);
  const startedAt = performance.now();
  const tell = (outcome: string) => {
    const ms = Math.round(performance.now() - startedAt);
    terminal.err(`${init?.method ?? 'GET'} ${pathname}${search} → ${outcome} (${ms} ms)\n`);
  };
  try {
    const response = await fetch(input, init);
    tell(`${response.status} ${response.headers.get('request-id') ?? ''}`.trim());
    return response;
  } catch (error) {
    tell((error as Error).message);
    throw error;
  }
}
