import { type CallToolResult, ProtocolError, ProtocolErrorCode } from '@modelcontextprotocol/server';
import type { CommandInput } from '@vestra/contract/commands';
import type { Command } from '@vestra/contract/derive/commands';
import { fail } from '@vestra/contract/errors';
import { check } from '@vestra/contract/fault';
import type { Scope } from '@vestra/contract/route';
import type { Client } from '@vestra/sdk/client';
import { answer } from '@vestra/sdk/commands/answer';
import { ask } from '@vestra/sdk/commands/ask';
import { embed } from '@vestra/sdk/commands/embed';
import { events } from '@vestra/sdk/commands/events';
import { test } from '@vestra/sdk/commands/test';
import type { StreamEvent } from '@vestra/sdk/stream';
import type { Placed } from '@vestra/sdk/transport';
import { z } from 'zod';
import { isUnforeseen, type Refusal, refusalOf, toldIfCutShort } from '../refusal.ts';
import { allTools, isAllowed } from './tools.ts';

/** Runs a tool. What the API refuses is an answer of the tool, so that the model behind the client can read it. */
export async function callTool(name: string, given: ToolArguments, caller: ToolCaller): Promise<CallToolResult> {
  const tool = allTools().get(name);
  if (!tool) throw new ProtocolError(ProtocolErrorCode.InvalidParams, `Unknown tool: ${name.slice(0, 100)}`);
  const { command } = tool;
  try {
    if (!isAllowed(command, caller.scopes)) throw missingScope(command);
    refuseUnknown(command, given);
    const composite = compositeTools[name];
    if (!composite) return await callRoute(command, given, caller);
    return answered(await composite(readArguments(command, given), caller));
  } catch (thrown) {
    const error = toldIfCutShort(thrown, caller.signal);
    if (isUnforeseen(error)) caller.logFault(error);
    return refused(namedAsGiven(refusalOf(error, caller.requestId), command));
  }
}

/** Where a refusal carries the API's error. */
const errorKey = 'vestra/error';

/**
 * Without `structuredContent`: clients check that against the tool's `outputSchema`, which an error does not match, and
 * would report the mismatch instead of the reason.
 */
function refused(refusal: Refusal): CallToolResult {
  const { code, message, param, request_id } = refusal;
  const where = param === undefined ? '' : ` (${param})`;
  return {
    isError: true,
    _meta: { [errorKey]: refusal },
    content: [{ type: 'text', text: `${code}${where}: ${message} Request ${request_id}.` }],
  };
}

function missingScope({ scopes }: Command) {
  const needed = Array.isArray(scopes) ? [...scopes, 'all'].join(' or ') : 'all';
  return fail('scope_missing', { message: `This tool needs a key with scope ${needed}.` });
}

function refuseUnknown({ arguments: taken }: Command, given: ToolArguments): void {
  for (const name of Object.keys(given)) {
    if (taken.some((argument) => argument.name === name)) continue;
    throw fail('invalid_request', { param: name, message: `Unknown argument \`${name}\`.` });
  }
}

function readArguments({ arguments: taken }: Command, given: ToolArguments): Record<string, unknown> {
  const schema = z.strictObject(Object.fromEntries(taken.map(({ name, schema: each }) => [name, each])));
  const read = check(schema, given, 'invalid_request');
  if (read.ok) return read.value;
  const [{ code, param, message }] = read.faults;
  throw fail(code, { param, message });
}

/** The API names the field of the request; whoever called the tool knows the argument. */
function namedAsGiven(refusal: Refusal, { arguments: taken }: Command): Refusal {
  if (refusal.param === undefined) return refusal;
  const [first, ...rest] = refusal.param.split('.');
  const name = taken.find(({ field }) => field === first)?.name ?? first;
  return { ...refusal, param: [name, ...rest].join('.') };
}

/** A tool that is one call of the API: the route itself decides whether it may be made and whether it fits. */
async function callRoute(command: Command, given: ToolArguments, caller: ToolCaller): Promise<CallToolResult> {
  if (!command.route) throw new TypeError('A command of several calls is no route.');
  const { name, route } = command.route;
  const placed = placedFor(command, given);
  // What streams without being asked to has no other answer.
  if (route.streams && route.method === 'GET') return answered(await readAWhile(name, placed, caller));
  const { client, idempotencyKey } = caller;
  const response = await client.open(name, placed, { idempotencyKey });
  const type = response.headers.get('content-type') ?? '';
  if (type.startsWith('application/json')) return answered(await response.json());
  if (type.startsWith('image/')) {
    const data = Buffer.from(await response.arrayBuffer()).toString('base64');
    return { content: [{ type: 'image', data, mimeType: type }] };
  }
  return { content: [{ type: 'text', text: await response.text() }] };
}

/** What comes on a stream until it ends, the patience does, or the caller goes; a page of it is answered as it is. */
async function readAWhile(name: string, placed: Placed, { client, signal, tellProgress }: ToolCaller) {
  const enough = AbortSignal.any([signal, AbortSignal.timeout(patienceMs)]);
  const answer = await client.request(name, placed, { signal: enough });
  if (!isStream(answer)) return answer;
  const events: { type: string }[] = [];
  for await (const event of answer) {
    events.push(event);
    tellProgress(event.type);
  }
  return { events, is_over: !enough.aborted };
}

const isStream = (answer: unknown): answer is AsyncIterable<{ type: string }> =>
  typeof answer === 'object' && answer !== null && Symbol.asyncIterator in answer;

function placedFor({ route, arguments: taken }: Command, given: ToolArguments): Placed {
  const values = taken.flatMap((argument) => {
    const value = given[argument.name];
    return value === undefined ? [] : [{ ...argument, value }];
  });
  const fieldsIn = (place: string) =>
    values.flatMap((each) => (each.place === place && each.field !== null ? [[each.field, each.value] as const] : []));
  const params = new Map(fieldsIn('params'));
  const whole = values.find(({ place, field }) => place === 'body' && field === null);
  const named = taken.flatMap(({ place, field }) => (place === 'params' && field !== null ? [field] : []));
  return {
    params: Object.fromEntries(named.map((field) => [field, segment(field, params.get(field))])),
    query: Object.fromEntries(fieldsIn('query').map(([field, value]) => [field, written(value)])),
    ...(route?.route.body && { body: whole ? whole.value : Object.fromEntries(fieldsIn('body')) }),
  };
}

function segment(field: string, value: unknown): string {
  if (value === undefined && field === 'user_id') {
    throw fail('user_required', { param: 'user', message: 'Name the `user`: the org’s own agent has no such record.' });
  }
  if (value === undefined) throw fail('invalid_request', { param: field, message: 'This field is required.' });
  const text = written(value).toWellFormed();
  // Both would name another path.
  if (text === '' || text === '.' || text === '..') throw fail('invalid_request', { param: field });
  return text;
}

const written = (value: unknown) => (typeof value === 'object' ? JSON.stringify(value) : String(value));

/** The tools that make several calls, by name. Their arguments have been read by the command table's schemas. */
const compositeTools: Readonly<Record<string, (given: ToolArguments, caller: ToolCaller) => Promise<unknown>>> = {
  ask: (given, { client, signal, idempotencyKey, tellProgress }) =>
    ask(client, given as CommandInput<'ask'>, {
      signal,
      idempotencyKey,
      onEvent: (event) => {
        const news = newsOf(event);
        if (news !== null) tellProgress(news);
      },
    }),
  answer: (given, { client, signal }) => answer(client, given as CommandInput<'answer'>, { signal }),
  embed: (given, { client, signal, idempotencyKey }) =>
    embed(client, given as CommandInput<'embed'>, { signal, idempotencyKey }),
  events: (given, { client, signal }) => events(client, given as CommandInput<'events'>, { signal }),
  test: (given, { client, signal, idempotencyKey, tellProgress }) =>
    test(client, given as CommandInput<'test'>, {
      signal,
      idempotencyKey,
      enough: AbortSignal.timeout(patienceMs),
      onProgress: (progress) => {
        if (progress.type === 'tested') tellProgress(`${progress.result.name}: ${progress.result.status}`);
      },
    }),
};

function newsOf({ type, data }: StreamEvent): string | null {
  if (type === 'reply.delta') return data.text;
  if (type === 'task.started') return data.task.title ?? 'The work has begun.';
  if (type === 'task.progress') return data.progress.find(({ status }) => status === 'in_progress')?.content ?? null;
  return null;
}

/** Who calls a tool, and what reaches them while it runs. */
export type ToolCaller = {
  client: Client;
  /** Of the one call that begins something. */
  idempotencyKey: string | undefined;
  scopes: readonly Scope[];
  requestId: string;
  /** Whoever called has gone, or wants no answer any more. */
  signal: AbortSignal;
  tellProgress: (message: string) => void;
  logFault: (error: unknown) => void;
};

type ToolArguments = Readonly<Record<string, unknown>>;

/** Below the minute after which clients give a call up. */
const patienceMs = 50_000;

/** The answer as data, and as text for a client that reads nothing else. */
const answered = (value: unknown): CallToolResult => ({
  structuredContent: value as CallToolResult['structuredContent'],
  content: [{ type: 'text', text: JSON.stringify(value) }],
});
