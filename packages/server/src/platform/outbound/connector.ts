import { lookup as lookupAddresses } from 'node:dns/promises';
import { connect, isIP, type LookupFunction, type Socket } from 'node:net';
import type { buildConnector } from 'undici';
import { mayConnect, mayReach } from './address.ts';
import { OutboundFailure, refusedConnection } from './outbound-failure.ts';

/** Every address of a name, as the machine's resolver gives them. */
export type Lookup = (hostname: string) => Promise<readonly { address: string }[]>;

export type OutboundLog = { warn: (details: object, message: string) => void };

type Dependencies = {
  allowPrivate: boolean;
  lookup?: Lookup;
  log?: OutboundLog;
  /** Makes the plain one, which the guard stands in front of. */
  build: (options: buildConnector.BuildOptions) => buildConnector.connector;
};

const connectTimeoutMs = 10_000;

/**
 * Opens sockets to permitted addresses only. A name is resolved once per connection, and the socket gets the
 * very addresses that were checked: asking twice would let the name answer differently the second time.
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
    // Node resolves names only: an address in the URL never passes the lookup.
    if (isIP(hostname) !== 0 && !permitted(hostname)) {
      // The caller's state is not ready for an answer within its own call.
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
 * A plain socket to a permitted address, whatever is spoken over it: for a proxy, which sees only bytes. Names are held
 * against the same rule as above, and public addresses may be spoken to without TLS.
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

/** One bad answer among good ones refuses the name: which one the socket would take is not ours to choose. */
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
        // Copied once, so that what is checked is what is connected to.
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
