import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

/** A TCP proxy between a process and its database that can be redirected, cut or silenced. */
export type CuttableLink = {
  /** The address of the database through this proxy. */
  url: string;
  /** Redirects new connections. */
  leadTo: (connectionString: string) => void;
  /** Ends every connection and refuses new ones until `restore`. */
  cut: () => void;
  restore: () => void;
  /** Ends every connection after this many queries. The returned function reports whether that has happened. */
  cutAfter: (queries: number) => () => boolean;
  /**
   * Ends every connection once, at the first message that `matches`: before the server gets it, or after the server has
   * executed it and before its answer arrives. The returned function reports whether that has happened.
   */
  breakAt: (matches: (sent: Buffer) => boolean, when: 'before' | 'after') => () => boolean;
  /** Connections stay open and deliver nothing, as after a power loss of the server. */
  silence: () => void;
  close: () => Promise<void>;
};

export async function linkTo(connectionString: string): Promise<CuttableLink> {
  let target = targetOf(connectionString);
  let isCut = false;
  let queriesLeft = 0;
  let breaking: { matches: (sent: Buffer) => boolean; when: 'before' | 'after' } | null = null;
  const pairs = new Set<{ near: Socket; far: Socket }>();
  const server = createServer((near) => {
    near.on('error', () => {});
    if (isCut) return near.destroy();
    const far = connect(target);
    const pair = { near, far };
    pairs.add(pair);
    far.on('error', () => {});
    let isAnswerLost = false;
    near.on('data', (asked) => {
      if (breaking?.matches(asked)) {
        isAnswerLost = breaking.when === 'after';
        breaking = null;
        if (!isAnswerLost) endAll();
      }
      // Do not count the messages of the login.
      if (queriesLeft === 0 || !'QPCB'.includes(String.fromCharCode(asked[0] ?? 0))) return;
      queriesLeft -= 1;
      if (queriesLeft === 0) endAll();
    });
    near.pipe(far);
    far.on('data', () => isAnswerLost && endAll());
    far.pipe(near);
    const end = () => {
      pairs.delete(pair);
      near.destroy();
      far.destroy();
    };
    near.once('close', end);
    far.once('close', end);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const endAll = () => {
    for (const { near, far } of [...pairs]) {
      near.destroy();
      far.destroy();
    }
  };
  const url = new URL(connectionString);
  url.search = '?sslmode=disable';
  url.hostname = '127.0.0.1';
  url.port = String((server.address() as AddressInfo).port);
  return {
    url: url.href,
    leadTo(other) {
      target = targetOf(other);
    },
    cut() {
      isCut = true;
      endAll();
    },
    restore() {
      isCut = false;
    },
    cutAfter(queries) {
      queriesLeft = queries;
      return () => queriesLeft === 0;
    },
    breakAt(matches, when) {
      const own = { matches, when };
      breaking = own;
      return () => breaking !== own;
    },
    silence() {
      for (const { near, far } of pairs) {
        near.unpipe(far);
        far.unpipe(near);
        near.resume();
        far.resume();
      }
    },
    async close() {
      endAll();
      server.close();
      await once(server, 'close');
    },
  };
}

/** A socket in a folder, or a port. */
function targetOf(connectionString: string): { path: string } | { host: string; port: number } {
  const { searchParams, hostname, port } = new URL(connectionString);
  const folder = searchParams.get('host');
  return folder ? { path: `${folder}/.s.PGSQL.5432` } : { host: hostname, port: Number(port || 5432) };
}
