import { fail } from '@vestra/contract/errors';
import { bodyLimitOf, type Route } from '@vestra/contract/route';
import type { Caller } from '../caller.ts';

/** The bytes of large bodies that are in memory, by caller. */
export type BodyBytes = {
  /**
   * Counts the body of a request. Call the result when it was handled. Undefined if it is too small to count. Throws
   * `rate_limited` if there are too many.
   */
  hold: (caller: Caller, route: Route, request: Request) => (() => void) | undefined;
};

const mebibyte = 1024 * 1024;

/** Smaller bodies are not counted: the limits of requests bound them, and each message would pay for the count. */
const countedFrom = 64 * 1024;

/** Per process. A body is in memory as bytes, as text and parsed, so it costs a few times its length. */
const usualMost = { user: 64 * mebibyte, key: 128 * mebibyte, sessions: 128 * mebibyte, org: 256 * mebibyte };

const askAgainMs = 2_000;

/** Keeps one caller from filling the memory of the process with bodies that are still arriving or being handled. */
export function createBodyBytes(most: typeof usualMost = usualMost): BodyBytes {
  const held = new Map<string, number>();
  const count = (id: string, bytes: number) => {
    const left = (held.get(id) ?? 0) + bytes;
    if (left === 0) held.delete(id);
    else held.set(id, left);
  };
  return {
    hold(caller, route, request) {
      const bytes = bytesOf(caller, route, request);
      if (bytes < countedFrom) return undefined;
      const limits = [...limitsOf(caller, most), { id: `org ${caller.orgId}`, most: most.org }];
      for (const limit of limits) {
        if ((held.get(limit.id) ?? 0) + bytes > limit.most) throw tooMany(limit.most);
      }
      for (const { id } of limits) count(id, bytes);
      let isHeld = true;
      return () => {
        if (!isHeld) return;
        isHeld = false;
        for (const { id } of limits) count(id, -bytes);
      };
    },
  };
}

function limitsOf({ orgId, mode, actor, session }: Caller, most: typeof usualMost): { id: string; most: number }[] {
  if (!session) return [{ id: actor.id, most: most.key }];
  return [
    // All sessions of a user count together: a user may have any number of them.
    { id: session.userId ? `user ${orgId} ${mode} ${session.userId}` : actor.id, most: most.user },
    // Users together leave room for the keys of their org.
    { id: `sessions ${orgId}`, most: most.sessions },
  ];
}

/** A body without a length counts as the largest that the route reads. */
function bytesOf({ session }: Caller, route: Route, { headers, method }: Request): number {
  if (method === 'GET') return 0;
  const limit = bodyLimitOf(route, { session: session !== null });
  const declared = headers.get('content-length');
  if (declared === null) return headers.has('transfer-encoding') ? limit : 0;
  return Math.min(Number(declared), limit);
}

const tooMany = (most: number) =>
  fail('rate_limited', {
    message: `Request bodies of at most ${most / mebibyte} MiB together may be in progress. Try again in a moment.`,
    retry_after_ms: askAgainMs,
  });
