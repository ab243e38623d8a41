import type { Readable, Writable } from 'node:stream';
import type { CDPSession } from 'playwright-core';

/** The connection to one target: a page, a frame of another site, a worker, or the browser itself. */
export type DevtoolsSession = { id: string; send: CDPSession['send']; on: CDPSession['on'] };

export type Devtools = {
  browser: DevtoolsSession;
  session: (id: string) => DevtoolsSession;
  forget: (id: string) => void;
};

type Pending = { sessionId: string; resolve: (result: unknown) => void; reject: (error: Error) => void };
type Listener = (payload: unknown) => void;
type Incoming = {
  id?: number;
  sessionId?: string;
  method?: string;
  params?: unknown;
  result?: unknown;
  error?: { message: string };
};

/** The DevTools protocol over two pipes: JSON messages, each ended by a NUL. */
export function openDevtools(output: Readable, input: Writable): Devtools {
  const pending = new Map<number, Pending>();
  const listeners = new Map<string, Map<string, Listener[]>>([['', new Map()]]);
  const sessions = new Map<string, DevtoolsSession>();
  let lastId = 0;
  let isGone = false;

  function dispatch({ id, sessionId = '', method, params, result, error }: Incoming): void {
    if (id !== undefined) {
      const asked = pending.get(id);
      pending.delete(id);
      if (error) asked?.reject(new PageFailed(error.message));
      else asked?.resolve(result);
      return;
    }
    for (const listener of listeners.get(sessionId)?.get(method ?? '') ?? []) listener(params);
  }

  function end(): void {
    isGone = true;
    for (const { reject } of pending.values()) reject(gone());
    pending.clear();
  }

  function session(sessionId: string): DevtoolsSession {
    const known = sessions.get(sessionId);
    if (known) return known;
    const heard = listeners.get(sessionId) ?? new Map<string, Listener[]>();
    listeners.set(sessionId, heard);
    const send = (method: string, params: unknown = {}) =>
      new Promise((resolve, reject) => {
        if (isGone || !listeners.has(sessionId)) return reject(gone());
        const id = ++lastId;
        pending.set(id, { sessionId, resolve, reject });
        input.write(`${JSON.stringify({ id, method, params, ...(sessionId !== '' && { sessionId }) })}\0`);
      });
    const on = (event: string, listener: Listener) => {
      heard.set(event, [...(heard.get(event) ?? []), listener]);
    };
    const made = { id: sessionId, send, on } as unknown as DevtoolsSession;
    sessions.set(sessionId, made);
    return made;
  }

  readMessages(output, (text) => dispatch(JSON.parse(text) as Incoming));
  output.once('close', end).on('error', end);
  input.on('error', end);
  return {
    browser: session(''),
    session,
    forget(sessionId) {
      listeners.delete(sessionId);
      sessions.delete(sessionId);
      for (const [id, asked] of pending) {
        if (asked.sessionId !== sessionId) continue;
        pending.delete(id);
        asked.reject(gone());
      }
    },
  };
}

const gone = () => new BrowserGone('The browser or its page has ended.');

/** Joins the chunks of a message only once: a picture arrives in many. */
function readMessages(output: Readable, dispatch: (text: string) => void): void {
  let pieces: Buffer[] = [];
  output.on('data', (chunk: Buffer) => {
    let rest = chunk;
    for (let end = rest.indexOf(0); end !== -1; end = rest.indexOf(0)) {
      pieces.push(rest.subarray(0, end));
      dispatch(Buffer.concat(pieces).toString('utf8'));
      pieces = [];
      rest = rest.subarray(end + 1);
    }
    if (rest.length > 0) pieces.push(rest);
  });
}

/** The browser or the target has ended. Pending commands get no response. */
export class BrowserGone extends Error {
  override readonly name = 'BrowserGone';
}

/** The browser refused a command, usually because the page navigated away. */
export class PageFailed extends Error {
  override readonly name = 'PageFailed';
}
