import type { CallToolResult } from '@modelcontextprotocol/server';
import type { Command } from '@vestra/contract/derive/commands';
import { fail } from '@vestra/contract/errors';
import type { Placed } from '@vestra/sdk/transport';
import { answered, patienceMs, type ToolArguments, type ToolCaller } from './tool-caller.ts';

/** A tool that is one call of the API: the route itself decides whether it may be made and whether it fits. */
export async function callRoute(command: Command, given: ToolArguments, caller: ToolCaller): Promise<CallToolResult> {
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
