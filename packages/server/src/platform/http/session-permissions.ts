import { fail } from '@vestra/contract/errors';
import { type Route, sessionAccessOf } from '@vestra/contract/route';
import { type Seen, seenBySession } from '@vestra/contract/session-access';
import type { Caller } from '../caller.ts';

/** The only place that enforces what the contract's rows allow a session token. */

/** Refuses a route if the session has none of the capabilities that it needs. */
export function requireCapability(route: Route, { switchedOn }: NonNullable<Caller['session']>): void {
  const access = sessionAccessOf(route);
  if (!access) throw fail('session_scope');
  const { needs } = access;
  if (needs === 'itself' || needs.some((each) => switchedOn.includes(each))) return;
  throw fail('session_scope', { message: `This needs a session that was opened with ${listed(needs, 'or')}.` });
}

/** Refuse a forbidden field before it is validated, whatever its value is. */
export function requireAllowedFields(route: Route, caller: Caller | null, query: URLSearchParams, body: unknown): void {
  if (!caller?.session) return;
  const sends = sessionAccessOf(route)?.sends ?? [];
  const isObject = typeof body === 'object' && body !== null && !Array.isArray(body);
  const closed = [...query.keys(), ...Object.keys(isObject ? body : {})].find((name) => !sends.includes(name));
  if (closed === undefined) return;
  const open = sends.length === 0 ? 'nothing' : listed(sends, 'and');
  throw fail('session_scope', {
    param: closed.slice(0, 200),
    message: `A session token may not send this here; it may send ${open}.`,
  });
}

export type FieldView = { answer: (value: unknown) => unknown; event: (value: unknown) => unknown };

const whole: FieldView = { answer: (value) => value, event: (value) => value };

/** Filters a response, or each event of a stream, to the fields that the caller may see. */
export function viewOf(route: Route, caller: Caller | null): FieldView {
  if (!caller?.session) return whole;
  const { sees = {}, follows = {} } = sessionAccessOf(route) ?? {};
  const as = (seen: Seen) => (value: unknown) => seenBySession(value, seen);
  return { answer: as(sees), event: as(follows) };
}

function listed(names: readonly string[], word: 'and' | 'or'): string {
  const quoted = names.map((name) => `\`${name}\``);
  const last = quoted.pop() as string;
  return quoted.length === 0 ? last : `${quoted.join(', ')} ${word} ${last}`;
}
