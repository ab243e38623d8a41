import { describe, expect, it } from 'vitest';
import { clientAddress, type IsTrustedProxy, readTrustedProxies } from './client-address.ts';

const isTrusted = readTrustedProxies('10.0.0.0/8, 192.0.2.7, 2001:db8::/32') as IsTrustedProxy;

describe('the address of the client', () => {
  it.each([
    ['nobody in between', '203.0.113.9', null, '203.0.113.9'],
    ['a header of somebody who is no proxy', '203.0.113.9', '198.51.100.1', '203.0.113.9'],
    ['one proxy', '10.1.2.3', '203.0.113.9', '203.0.113.9'],
    ['a made up address before the real one', '10.1.2.3', '198.51.100.1, 203.0.113.9', '203.0.113.9'],
    ['two proxies', '10.1.2.3', '198.51.100.1, 203.0.113.9, 192.0.2.7', '203.0.113.9'],
    ['a proxy that says nothing', '10.1.2.3', null, '10.1.2.3'],
    ['an entry that is no address', '10.1.2.3', '203.0.113.9, unknown', '10.1.2.3'],
    ['proxies alone', '10.1.2.3', '10.9.9.9, 192.0.2.7', '10.9.9.9'],
    ['an entry with a port', '10.1.2.3', '203.0.113.9:5123', '203.0.113.9'],
    ['IPv6 with a port, told by a proxy of IPv6', '2001:db8::1', '[2001:dead::9]:443', '2001:dead::9'],
    ['an older address on a newer socket', '::ffff:10.1.2.3', '::ffff:203.0.113.9', '203.0.113.9'],
    ['an address beside the one that is trusted', '192.0.2.8', '203.0.113.9', '192.0.2.8'],
  ])('%s [REQ-201]', (_what, socket, forwarded, expected) => {
    expect(clientAddress(socket, forwarded, isTrusted)).toBe(expected);
  });

  it.each(['nonsense', '10.0.0.0/33', '10.0.0.0/8,', '300.1.1.1', 'proxy.example'])(
    'takes no %s for a proxy',
    (text) => {
      expect(readTrustedProxies(text)).toBeNull();
    },
  );
});
