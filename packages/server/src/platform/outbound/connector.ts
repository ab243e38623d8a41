import { lookup as lookupAddresses } from 'node:dns/promises';
import { connect, isIP, type LookupFunction, type Socket } from 'node:net';
import type { buildConnector } from 'undici';
import { mayConnect, mayReach } from './address.ts';
import { OutboundFailure, refusedConnection } from './outbound-failure.ts';

/** Returns all addresses of a name, as the system's resolver does. */
export type Lookup = (hostname: string) => Promise<readonly { address: string }[]>;

export type OutboundLog = { warn: (details: object, message: string) => void };

type Dependencies = {
  allowPrivate: boolean;
  lookup?: Lookup;
  log?: OutboundLog;
  /** Creates the unguarded connector. */
  build: (options: buildConnector.BuildOptions) => buildConnector.connector;
};

const connectTimeoutMs = 10_000;

/**
 * Opens sockets to permitted addresses only. It resolves a name once per connection and connects to exactly the checked
 * addresses: a second lookup could return others.
 */
export function guardedConnector({
  allowPrivate,
  lookup = resolveAll,
  log,
  build,
}: Dependencies): buildConnector.connector {
  const connectorFor = (protocol: string) => {
    const permitted = (address: string) => mayConnect(address, { allowPrivate, protocol });
    return { permitted, open: build(socketOptions(checkedLookup({ lookup, permitted, refuse }))) };
  };
  const secure = connectorFor('https:');
  const plain = connectorFor('http:');

  function refuse(host: string, address: string): OutboundFailure {
    log?.warn({ host, address }, 'A connection to an address that is not permitted was refused.');
    return refusedConnection(host);
  }

  return (options, callback) => {
    const { hostname, protocol } = options;
    const { permitted, open } = protocol === 'https:' ? secure : plain;
    // Node does not call the lookup for a literal address.
    if (isIP(hostname) !== 0 && !permitted(hostname)) {
      // undici does not expect the callback before the call returns.
      process.nextTick(callback, refuse(hostname, hostname), null);
      return;
    }
    open(options, (...[error, socket]) => {
      if (error) return callback(error, null);
      const address = socket.remoteAddress;
      if (address !== undefined && permitted(address)) return callback(null, socket);
      socket.destroy();
      callback(address === undefined ? closedAtOnce(hostname) : refuse(hostname, address), null);
    });
  };
}

/**
 * Opens a plain socket to a permitted address, for a proxy that sees only bytes. Names follow the same rule as above,
 * but public addresses need no TLS.
 */
export function openCheckedSocket(
  { host, port }: { host: string; port: number },
  { allowPrivate, lookup = resolveAll, log }: Pick<Dependencies, 'allowPrivate' | 'lookup' | 'log'>,
): Promise<Socket> {
  const permitted = (address: string) => mayReach(address, { allowPrivate });
  const refuse = (name: string, address: string) => {
    log?.warn({ host: name, address }, 'A connection to an address that is not permitted was refused.');
    return refusedConnection(name);
  };
  return new Promise((resolve, reject) => {
    if (isIP(host) !== 0 && !permitted(host)) return reject(refuse(host, host));
    const socket = connect({
      host,
      port,
      lookup: checkedLookup({ lookup, permitted, refuse }),
      autoSelectFamily: true,
      timeout: connectTimeoutMs,
    });
    const giveUp = (error: Error) => {
      socket.destroy();
      reject(error);
    };
    socket.once('timeout', () => giveUp(new OutboundFailure('timeout', `${host} did not answer in time.`)));
    socket.once('error', giveUp);
    socket.once('connect', () => {
      socket.removeAllListeners('timeout').removeListener('error', giveUp).setTimeout(0);
      const address = socket.remoteAddress;
      if (address !== undefined && permitted(address)) return resolve(socket);
      giveUp(address === undefined ? closedAtOnce(host) : refuse(host, address));
    });
  });
}

const closedAtOnce = (host: string) => new OutboundFailure('network', `${host} closed the connection at once.`);

const resolveAll: Lookup = (hostname) => lookupAddresses(hostname, { all: true });

const socketOptions = (lookup: LookupFunction): buildConnector.BuildOptions => ({
  allowH2: false,
  autoSelectFamily: true,
  lookup,
  timeout: connectTimeoutMs,
});

/** One forbidden address refuses the name, because the socket may choose any of them. */
function checkedLookup({
  lookup,
  permitted,
  refuse,
}: {
  lookup: Lookup;
  permitted: (address: string) => boolean;
  refuse: (host: string, address: string) => OutboundFailure;
}): LookupFunction {
  return (hostname, options, callback) => {
    lookup(hostname).then(
      (answers) => {
        // Copy the addresses, so that the checked values are the ones used.
        const addresses = answers
          .map(({ address }) => String(address))
          .map((address) => ({ address, family: isIP(address) }));
        const [first] = addresses;
        if (!first) return callback(new OutboundFailure('network', `${hostname} has no address.`), '', 0);
        const bad = addresses.find(({ address }) => !permitted(address));
        if (bad) return callback(refuse(hostname, bad.address), '', 0);
        if (options.all) return callback(null, addresses);
        callback(null, first.address, first.family);
      },
      (error) => callback(error, '', 0),
    );
  };
}
