import { describe, expect, it } from 'vitest';
import { refuseMetrics } from './operator-routes.ts';

const token = 'operator-token-0123456789';
const here = '127.0.0.1';
const away = '203.0.113.9';
const own = { host: '127.0.0.1:4600' };

describe('access to the metrics [OPS-202]', () => {
  it.each<[string, string, Record<string, string>, string | null, number | null]>([
    // name, address of the socket, headers, token of the server, expected refusal
    ['from this machine', here, own, null, null],
    ['from this machine by its other names', '::1', { host: '[::1]:4600' }, null, null],
    ['from this machine on a socket of both kinds', '::ffff:127.0.0.1', { host: 'LOCALHOST:4600' }, null, null],
    ['from this machine where a token is set too', here, own, token, null],
    ['with the token from elsewhere', away, { host: 'api.example.com', authorization: `Bearer ${token}` }, token, null],
    [
      'with the token through a proxy here',
      here,
      { ...own, 'x-forwarded-for': away, authorization: `bearer ${token}` },
      token,
      null,
    ],
    ['from elsewhere where there is no token', away, own, null, 404],
    ['from elsewhere without the token', away, own, token, 401],
    [
      'from elsewhere by one who says to be here',
      away,
      { host: 'localhost', 'x-forwarded-for': '127.0.0.1' },
      token,
      401,
    ],
    ['by a proxy here for somebody else', here, { ...own, 'x-forwarded-for': away }, null, 404],
    ['by a proxy here for one who says to be here', here, { ...own, 'x-forwarded-for': '127.0.0.1' }, null, 404],
    ['by a proxy here that writes Forwarded', here, { ...own, forwarded: 'for=203.0.113.9' }, null, 404],
    ['by a proxy here that writes X-Real-IP', here, { ...own, 'x-real-ip': away }, token, 401],
    ['by a proxy here that writes Via', here, { ...own, via: '1.1 gateway' }, null, 404],
    ['by a proxy here with an empty header', here, { ...own, 'x-forwarded-for': '' }, null, 404],
    ['by a page whose name was led to this machine', here, { host: 'evil.example:4600' }, null, 404],
    ['by a page whose name begins like this machine', here, { host: '127.0.0.1.evil.example' }, null, 404],
    ['for the public name of the server', here, { host: 'api.example.com' }, token, 401],
    ['for no name at all', here, {}, null, 404],
    [
      'with another token from this machine',
      here,
      { ...own, authorization: 'Bearer operator-token-012345678' },
      token,
      401,
    ],
    [
      'with an API key from this machine',
      here,
      { ...own, authorization: `Bearer vk_live_${'A'.repeat(43)}` },
      token,
      401,
    ],
    ['with a credential that nobody knows', here, { ...own, authorization: 'Bearer x' }, null, 404],
    ['with the token in another scheme', away, { ...own, authorization: `Basic ${token}` }, token, 401],
    ['with the token and more', away, { ...own, authorization: `Bearer ${token} ${token}` }, token, 401],
    ['with nothing where a token belongs', away, { ...own, authorization: 'Bearer ' }, token, 401],
    ['over no socket', '', own, null, 404],
  ])('%s', (_what, address, headers, known, status) => {
    expect(refuseMetrics(address, new Headers(headers), known)?.status ?? null).toBe(status);
  });
});
