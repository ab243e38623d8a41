import { fail } from '@vestra/contract/errors';
import { type Route, sessionAccessOf } from '@vestra/contract/route';
import { type Seen, seenBySession } from '@vestra/contract/session-access';
import type { Caller } from '../caller.ts';

/** The one place that holds a session token to what the rows of the table open to it. */

/** A session opens a route with what it has switched on. */
export function requireSwitchedOn(route: Route, { switchedOn }: NonNullable<Caller['session']>): void {
  const access = sessionAccessOf(route);
  if (!access) throw fail('session_scope');
  const { needs } = access;
  if (needs === 'itself' || needs.some((each) => switchedOn.includes(each))) return;
  throw fail('session_scope', { message: `This needs a session that was opened with ${listed(needs, 'or')}.` });
}

/** Before the fields are looked at any closer: a closed one is refused however it is filled in. */
export function requireSendable(route: Route, caller: Caller | null, query: URLSearchParams, body: unknown): void {
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

export type View = { answer: (value: unknown) => unknown; event: (value: unknown) => unknown };

const whole: View = { answer: (value) => value, event: (value) => value };

/** What of an answer, and of each event of one that streams, the caller is shown. */
export function viewOf(route: Route, caller: Caller | null): View {
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
