import { type Client, createClient } from '@vestra/sdk/client';
import { VestraError } from '@vestra/sdk/errors';
import { CommandFault } from './fault.ts';
import { keyMissing, precedence, type Settings } from './settings.ts';
import type { Terminal } from './terminal.ts';

type Options = { terminal: Terminal; isJson: boolean; isDebug: boolean; settings: Settings; needsKey: boolean };

/** Creates a client for the server and key in use. */
export function connect({ terminal, isJson, isDebug, settings, needsKey }: Options): Client {
  const { url, urlSource, key, source, notice } = settings;
  if (needsKey && key === null)
    throw new CommandFault(keyMissing(url), { exitCode: 1, told: { type: 'authentication', code: 'key_missing' } });
  // With --json, standard error contains only the error.
  if (notice && needsKey && !isJson) terminal.err(terminal.paintError('dim', `${notice}\n`));
  if (isDebug) {
    terminal.err(`Server ${url} (${urlSource}), key of ${source ?? 'nobody'}\n`);
    terminal.err(`The first one that is set wins: ${precedence.join('; ')}.\n`);
  }
  const send: typeof fetch = isDebug ? (...given) => toldFetch(terminal, ...given) : (...given) => fetch(...given);
  return createClient({ baseUrl: url, key: key ?? undefined, retries: 1, fetch: impatient(url, send) });
}

/**
 * Reports a refused connection at once, because a user waits. After the first response the server may be restarting, so
 * the usual retries apply.
 */
function impatient(url: string, send: typeof fetch): typeof fetch {
  let hasAnswered = false;
  return async (...given) => {
    try {
      const response = await send(...given);
      hasAnswered = true;
      return response;
    } catch (error) {
      const { code } = ((error as Error).cause ?? {}) as NodeJS.ErrnoException;
      const words = hasAnswered ? null : refusalOf(url, code ?? '');
      if (words === null) throw error;
      throw new VestraError(words, { code: 'connection_refused' }, { cause: error });
    }
  };
}

/** The reason that another attempt would not change; null if one might succeed. */
function refusalOf(url: string, code: string): string | null {
  if (code === 'ENOTFOUND') return `The host name of ${url} cannot be resolved.`;
  if (code === 'ECONNREFUSED') return `No server listens at ${url}.`;
  if (code.startsWith('ERR_SSL_')) return `${url} does not speak https: try ${url.replace(/^https:/, 'http:')}.`;
  if (code === 'DEPTH_ZERO_SELF_SIGNED_CERT' || code.startsWith('UNABLE_TO_') || code.startsWith('CERT_')) {
    return `The certificate of ${url} is not trusted (${code}): name its authority in NODE_EXTRA_CA_CERTS.`;
  }
  return null;
}

/** Logs each request and its status, but never its headers, which contain the key. */
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
