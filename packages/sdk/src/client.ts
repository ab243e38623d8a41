import { type PathRow, paths } from '@vestra/contract/paths';
import type { Calls } from './calls.ts';
import { VestraError } from './errors.ts';
import {
  followConversation,
  followTestRun,
  isEventStream,
  plainEvents,
  type StreamSource,
  streamTurn,
} from './stream.ts';
import { type CallOptions, createTransport, type Placed, type TransportOptions } from './transport.ts';

/** Every route of the service as `client.<family>.<operation>(fields, options)`. */
export type Client = Calls &
  StreamSource & {
    /** Calls any row by its name, such as `conversations.create`, with its fields sorted by place. */
    request: (row: string, placed?: Placed, options?: CallOptions) => Promise<unknown>;
  };

/**
 * Creates the client of a service. Without arguments it reads `VESTRA_URL` and `VESTRA_KEY`, as the command line does:
 * `createClient({ baseUrl: 'https://vestra.example.com', key: process.env.VESTRA_KEY })`.
 */
export function createClient(options: TransportOptions = {}): Client {
  const transport = createTransport(options);

  function within(call: CallOptions): CallOptions {
    if (!options.signal) return call;
    return { ...call, signal: call.signal ? AbortSignal.any([options.signal, call.signal]) : options.signal };
  }

  async function request(name: string, placed: Placed = {}, given: CallOptions = {}): Promise<unknown> {
    const row = rowOf(name);
    // One key for all attempts, including those after a broken stream.
    const call = { ...within(given), idempotencyKey: given.idempotencyKey ?? transport.keyFor(row) };
    const answer = await transport.send(row, placed, call, decode);
    return 'stream' in answer ? streamOf(name, placed, call, answer.stream) : answer.value;
  }

  /** The events of an open stream, with a way to resume it if there is one. */
  function streamOf(name: string, placed: Placed, call: CallOptions, first: Response): AsyncGenerator<unknown> {
    const { signal } = call;
    const { params = {}, query = {} } = placed;
    if (name === 'conversations.create' || name === 'conversations.send') {
      const again = call.idempotencyKey === undefined ? undefined : () => open(name, placed, call);
      return streamTurn(client, first, { again, signal });
    }
    if (name === 'conversations.events') {
      const after = Number(new Headers(call.headers).get('last-event-id') ?? query.after ?? 0);
      const task_id = query.task_id as string | undefined;
      return followConversation(client, String(params.conversation_id), { after, task_id, signal, first });
    }
    if (name === 'testRuns.events') return followTestRun(client, String(params.run_id), { signal, first });
    return plainEvents(first, signal);
  }

  const open: Client['open'] = (name, placed = {}, call = {}) =>
    transport.send(rowOf(name), placed, within(call), async (response, untimed) => {
      untimed();
      return response;
    });

  const families = Object.entries(paths).map(([family, rows]) => [
    family,
    Object.fromEntries(
      Object.entries(rows).map(([operation, row]) => {
        const name = `${family}.${operation}`;
        return [
          operation,
          async (fields: Record<string, unknown> = {}, call?: CallOptions) =>
            request(name, placeFields(name, row, fields), call),
        ];
      }),
    ),
  ]);
  const client = Object.assign(Object.fromEntries(families), { request, open, backOff: transport.backOff }) as Client;
  return client;
}

function rowOf(name: string): PathRow {
  const [family = '', operation = ''] = name.split('.');
  const row = Object.hasOwn(paths, family) ? paths[family]?.[operation] : undefined;
  if (!row) throw new TypeError(`There is no call \`${name}\`.`);
  return row;
}

/** Sorts fields by place: path, query or body. */
function placeFields(name: string, row: PathRow, fields: Readonly<Record<string, unknown>>): Placed {
  const params: Record<string, unknown> = {};
  const query: Record<string, unknown> = {};
  const rest: Record<string, unknown> = {};
  for (const [field, value] of Object.entries(fields)) {
    if (value === undefined) continue;
    const place = row.params?.includes(field) ? params : row.query?.includes(field) ? query : rest;
    place[field] = value;
  }
  return { params, query, body: bodyOf(name, row, rest) };
}

function bodyOf(name: string, row: PathRow, rest: Record<string, unknown>): unknown {
  const [first] = Object.keys(rest);
  if (!row.body) {
    if (first !== undefined) throw new TypeError(`\`${name}\` takes no \`${first}\`.`);
    return undefined;
  }
  if (row.accepts?.includes('multipart/form-data') && rest.file instanceof Blob) return formOf(rest);
  if (row.accepts?.includes('application/zip') && rest.zip instanceof Blob) {
    return new Blob([rest.zip], { type: 'application/zip' });
  }
  if (row.body === 'value') return rest.body;
  return row.bodyOptional && first === undefined ? undefined : rest;
}

function formOf(fields: Record<string, unknown>): FormData {
  const form = new FormData();
  for (const [field, value] of Object.entries(fields))
    form.append(field, value instanceof Blob ? value : String(value));
  return form;
}

/** Decodes JSON, text or bytes. An event stream is returned unread. */
async function decode(response: Response, untimed: () => void): Promise<{ value: unknown } | { stream: Response }> {
  const type = response.headers.get('content-type') ?? '';
  if (isEventStream(response)) {
    untimed();
    return { stream: response };
  }
  if (/^application\/json\b/i.test(type)) return { value: await readJson(response) };
  if (/^(text\/|application\/yaml\b)/i.test(type)) return { value: await response.text() };
  return { value: new Uint8Array(await response.arrayBuffer()) };
}

async function readJson(response: Response): Promise<unknown> {
  const text = await response.text();
  try {
    return JSON.parse(text);
  } catch (cause) {
    const details = { status: response.status, code: 'unexpected_answer', body: text };
    throw new VestraError('The answer says that it is JSON and is not.', details, { cause });
  }
}
