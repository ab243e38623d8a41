import type { Route } from '@vestra/contract/route';
import { describe, expect, it } from 'vitest';
import type { Caller } from '../caller.ts';
import { createBodyBytes } from './body-bytes.ts';

const mebibyte = 1024 * 1024;
const most = { user: 2 * mebibyte, key: 4 * mebibyte, sessions: 3 * mebibyte, org: 6 * mebibyte };
const route = {
  method: 'POST',
  auth: 'key',
  bodyLimit: mebibyte,
  session: { bodyLimit: mebibyte },
} as unknown as Route;

const request = (length: number | null) =>
  new Request('http://localhost/', {
    method: 'POST',
    headers: length === null ? { 'transfer-encoding': 'chunked' } : { 'content-length': String(length) },
  });

const key = (id: string, orgId = 'org_a') =>
  ({ orgId, mode: 'test', actor: { id }, session: null }) as unknown as Caller;
const session = (id: string, userId: string | null) =>
  ({ orgId: 'org_a', mode: 'test', actor: { id }, session: { userId } }) as unknown as Caller;

/** How many of ten bodies of a mebibyte are accepted. */
function start(length: number | null = mebibyte) {
  const bytes = createBodyBytes(most);
  const held: ((() => void) | undefined)[] = [];
  const accepted = (caller: Caller) => {
    let count = 0;
    for (let at = 0; at < 10; at++) {
      try {
        held.push(bytes.hold(caller, route, request(length)));
        count += 1;
      } catch (error) {
        expect(error).toMatchObject({ code: 'rate_limited' });
      }
    }
    return count;
  };
  return { accepted, held };
}

describe('the bytes of bodies in progress', () => {
  it('are bounded for a key and for all keys of an org, and other orgs have theirs [HRD-710]', () => {
    const { accepted, held } = start();
    expect([accepted(key('key_1')), accepted(key('key_2')), accepted(key('key_3'))]).toEqual([4, 2, 0]);
    expect(accepted(key('key_4', 'org_b'))).toBe(4);
    held[0]?.();
    held[0]?.();
    expect(accepted(key('key_3'))).toBe(1);
  });

  it('are bounded for all sessions of a user and of an org, which leave room for its keys [HRD-710]', () => {
    const { accepted } = start();
    expect([accepted(session('ses_1', 'ada')), accepted(session('ses_2', 'ada'))]).toEqual([2, 0]);
    expect([accepted(session('ses_3', 'bob')), accepted(session('ses_4', null))]).toEqual([1, 0]);
    expect(accepted(key('key_1'))).toBe(3);
  });

  it('count as the most that the route reads if the length is unknown or larger', () => {
    expect(start(null).accepted(key('key_1'))).toBe(4);
    expect(start(100 * mebibyte).accepted(key('key_1'))).toBe(4);
  });

  it('do not count for small bodies', () => {
    const { accepted, held } = start(64 * 1024 - 1);
    expect([accepted(key('key_1')), held.every((release) => release === undefined)]).toEqual([10, true]);
  });
});
