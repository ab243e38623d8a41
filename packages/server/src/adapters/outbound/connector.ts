import { lookup as lookupAddresses } from 'node:dns/promises';
import { isIP, type LookupFunction } from 'node:net';
import { buildConnector } from 'undici';
import { mayConnect } from './address.ts';
import { OutboundFailure, refusedConnection } from './outbound-failure.ts';

/** Every address of a name, as the machine's resolver gives them. */
export type Lookup = (hostname: string) => Promise<readonly { address: string }[]>;

export type OutboundLog = { warn: (details: object, message: string) => void };

type Dependencies = {
  allowPrivate: boolean;
  lookup?: Lookup;
  log?: OutboundLog;
  build?: (options: buildConnector.BuildOptions) => buildConnector.connector;
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
  build = buildConnector,
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
