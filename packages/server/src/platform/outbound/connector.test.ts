import { connect, type LookupFunction } from 'node:net';
import { buildConnector } from 'undici';
import { describe, expect, it } from 'vitest';
import { guardedConnector, type Lookup } from './connector.ts';
import { answering, cleanups, serveTcp } from './loopback.fixture.ts';
import { OutboundFailure } from './outbound-failure.ts';

type Build = NonNullable<Parameters<typeof guardedConnector>[0]['build']>;

describe('the addresses that a socket is given', () => {
  it('are the ones that were checked, even if a second lookup returns others', async () => {
    const lookup = answering(['93.184.215.14', '2606:4700:4700::1111'], ['127.0.0.1']);
    const { addresses } = await addressesFor('hooks.example.com', { lookup });
    expect(addresses).toEqual([
      { address: '93.184.215.14', family: 4 },
      { address: '2606:4700:4700::1111', family: 6 },
    ]);
    expect(lookup.calls).toBe(1);
  });

  it('are copied before the check, so that an answer cannot change after it', async () => {
    let reads = 0;
    const shifting = {
      get address() {
        reads += 1;
        return reads === 1 ? '93.184.215.14' : '127.0.0.1';
      },
    };
    const { addresses } = await addressesFor('hooks.example.com', { lookup: async () => [shifting] });
    expect(addresses).toEqual([{ address: '93.184.215.14', family: 4 }]);
  });

  it.each([
    ['loopback', ['127.0.0.1']],
    ['private', ['10.0.0.7']],
    ['link-local metadata', ['169.254.169.254']],
    ['IPv6 loopback', ['::1']],
    ['IPv4 inside IPv6', ['::ffff:127.0.0.1']],
    ['translated IPv4', ['64:ff9b::7f00:1']],
    ['one private among public ones', ['93.184.215.14', '2606:4700:4700::1111', '192.168.1.1']],
    ['not an address', ['localhost']],
  ])('are none when the name leads to: %s', async (_what, answers) => {
    const { error } = await addressesFor('hooks.example.com', { lookup: answering(answers) });
    expect(error).toBeInstanceOf(OutboundFailure);
    expect(error).toMatchObject({ reason: 'refused_address' });
    for (const answer of answers) expect(error?.message).not.toContain(answer);
  });

  it('are none when the name has no address', async () => {
    const { error } = await addressesFor('hooks.example.com', { lookup: answering([]) });
    expect(error).toMatchObject({ reason: 'network', message: 'hooks.example.com has no address.' });
  });

  it('are given one by one to a caller that asks for a single address', async () => {
    const { addresses } = await addressesFor('hooks.example.com', {
      lookup: answering(['93.184.215.14', '8.8.8.8']),
      all: false,
    });
    expect(addresses).toBe('93.184.215.14');
  });

  it('are not public over plain http, even where private addresses are open', async () => {
    const refused = await addressesFor('nas.local', {
      lookup: answering(['93.184.215.14']),
      protocol: 'http:',
      allowPrivate: true,
    });
    expect(refused.error).toMatchObject({ reason: 'refused_address' });
    const taken = await addressesFor('nas.local', {
      lookup: answering(['192.168.1.1']),
      protocol: 'http:',
      allowPrivate: true,
    });
    expect(taken.addresses).toEqual([{ address: '192.168.1.1', family: 4 }]);
  });
});

describe('a connected socket', () => {
  it('is destroyed when its other end is not a permitted address, whatever was checked before', async () => {
    const { port } = await serveTcp();
    const opened: ReturnType<typeof connect>[] = [];
    const astray: Build = () => (_options, callback) => {
      const socket = connect(port, '127.0.0.1', () => callback(null, socket));
      opened.push(socket);
    };
    const logged: object[] = [];
    const connector = guardedConnector({
      allowPrivate: false,
      build: astray,
      log: { warn: (details) => logged.push(details) },
    });
    const error = await connectThrough(connector, { hostname: 'hooks.example.com', protocol: 'https:' });
    expect(error).toMatchObject({ reason: 'refused_address' });
    expect(opened.map(({ destroyed }) => destroyed)).toEqual([true]);
    expect(logged).toEqual([{ host: 'hooks.example.com', address: '127.0.0.1' }]);
  });

  it('is handed over when its other end is permitted', async () => {
    const { port } = await serveTcp();
    const connector = guardedConnector({ allowPrivate: true, build: buildConnector });
    const error = await connectThrough(connector, { hostname: '127.0.0.1', protocol: 'http:', port: String(port) });
    expect(error).toBeNull();
  });
});

describe('an address instead of a name', () => {
  it.each(['127.0.0.1', '169.254.169.254', '::1', '::ffff:7f00:1'])('%s opens no socket', async (hostname) => {
    let opened = 0;
    const counting: Build = () => () => {
      opened += 1;
    };
    const connector = guardedConnector({ allowPrivate: false, build: counting });
    const error = await connectThrough(connector, { hostname, protocol: 'https:' });
    expect(error).toMatchObject({ reason: 'refused_address' });
    expect(opened).toBe(0);
  });
});

type Outcome = { error: Error | null; addresses: unknown };

/** Resolves addresses like a socket does, without opening one. */
function addressesFor(
  hostname: string,
  {
    lookup,
    protocol = 'https:',
    allowPrivate = false,
    all = true,
  }: { lookup: Lookup; protocol?: string; allowPrivate?: boolean; all?: boolean },
): Promise<Outcome> {
  const { promise, resolve } = Promise.withResolvers<Outcome>();
  const build: Build = (options) => () => {
    const resolveName = (options as { lookup: LookupFunction }).lookup;
    resolveName(hostname, { all }, (error, addresses) => resolve({ error, addresses }));
  };
  guardedConnector({ allowPrivate, lookup, build })({ hostname, protocol, port: '' }, () => {});
  return promise;
}

function connectThrough(
  connector: ReturnType<typeof guardedConnector>,
  options: { hostname: string; protocol: string; port?: string },
): Promise<Error | null> {
  const { promise, resolve } = Promise.withResolvers<Error | null>();
  connector({ port: '443', ...options }, (error, socket) => {
    if (socket) cleanups.push(() => socket.destroy());
    resolve(error);
  });
  return promise;
}
