import type { CallToolResult } from '@modelcontextprotocol/server';
import type { Command } from '@vestra/contract/derive/commands';
import { fail } from '@vestra/contract/errors';
import type { RouteCall } from '../own-routes.ts';
import { RouteFailure, readRefusal } from '../refusal.ts';
import { followFor } from './follow-for.ts';
import { answered, type ToolArguments, type ToolCaller } from './tool-caller.ts';

/** A tool that is one call of the API: the route itself decides whether it may be made and whether it fits. */
export async function callRoute(command: Command, given: ToolArguments, caller: ToolCaller): Promise<CallToolResult> {
  const { routes } = caller;
  const request = { ...requestFor(command, given), headers: routes.once };
  // What streams without being asked to has no other answer.
  if (command.route?.route.streams && request.method === 'GET') {
    const { events, isOver } = await followFor((signal) => routes.follow({ ...request, signal }), caller);
    return answered({ events, is_over: isOver });
  }
  const response = await routes.respond(request);
  if (!response.ok) throw new RouteFailure(await readRefusal(response));
  const type = response.headers.get('content-type') ?? '';
  if (type.startsWith('application/json')) return answered(await response.json());
  if (type.startsWith('image/')) {
    const data = Buffer.from(await response.arrayBuffer()).toString('base64');
    return { content: [{ type: 'image', data, mimeType: type }] };
  }
  return { content: [{ type: 'text', text: await response.text() }] };
}

function requestFor({ route, arguments: taken }: Command, given: ToolArguments): RouteCall {
  if (!route) throw new TypeError('A command of several calls is no route.');
  const { method, path, body: bodySchema } = route.route;
  const values = taken.flatMap((argument) => {
    const value = given[argument.name];
    return value === undefined ? [] : [{ ...argument, value }];
  });
  const fieldsIn = (place: string) =>
    values.flatMap((each) => (each.place === place && each.field !== null ? [[each.field, each.value] as const] : []));
  const params = new Map(fieldsIn('params'));
  const whole = values.find(({ place, field }) => place === 'body' && field === null);
  return {
    method,
    path: path.replace(/\{(\w+)\}/g, (_, field: string) => segment(field, params.get(field))),
    query: Object.fromEntries(fieldsIn('query').map(([field, value]) => [field, written(value)])),
    ...(bodySchema && { body: whole ? whole.value : Object.fromEntries(fieldsIn('body')) }),
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
  return encodeURIComponent(text);
}

const written = (value: unknown) => (typeof value === 'object' ? JSON.stringify(value) : String(value));
