import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

/** The network between a process and its database: it can be led elsewhere, cut, or carry nothing. */
export type CuttableLink = {
  /** The same database, reached over this link. */
  url: string;
  /** From now on new connections lead there. */
  leadTo: (connectionString: string) => void;
  /** Ends every connection and, until `mend`, refuses new ones. */
  cut: () => void;
  mend: () => void;
  /** Ends every connection when this many questions, counted from now, have been sent over them; answers whether that has come. */
  cutAfter: (questions: number) => () => boolean;
  /** Connections stay open and carry nothing any more, as where the machine behind them has lost its power. */
  silence: () => void;
  close: () => Promise<void>;
};

export async function linkTo(connectionString: string): Promise<CuttableLink> {
  let target = targetOf(connectionString);
  let isCut = false;
  let questionsLeft = 0;
  const pairs = new Set<{ near: Socket; far: Socket }>();
  const server = createServer((near) => {
    near.on('error', () => {});
    if (isCut) return near.destroy();
    const far = connect(target);
    const pair = { near, far };
    pairs.add(pair);
    far.on('error', () => {});
    near.on('data', (asked) => {
      // Signing in is none: its messages begin otherwise.
      if (questionsLeft === 0 || !'QPCB'.includes(String.fromCharCode(asked[0] ?? 0))) return;
      questionsLeft -= 1;
      if (questionsLeft === 0) endAll();
    });
    near.pipe(far);
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
    mend() {
      isCut = false;
    },
    cutAfter(questions) {
      questionsLeft = questions;
      return () => questionsLeft === 0;
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
