import { createHash } from 'node:crypto';
import { fail } from '@vestra/contract/errors';
import type { Logger } from 'pino';
import type { Peer } from '../platform/cluster/process-calls.ts';
import type { Database } from '../platform/db/pool.ts';
import { computerKey } from './running-computer.ts';
import { type HostRow, listHosts, type Owner, removeHost, renewHost } from './store.ts';

/** The processes on which computers can run. */
export type ComputerHosts = {
  /** The process that wakes a sleeping computer. Stays the same for an owner while that process lives. */
  choose: (owner: Owner, except: ReadonlyMap<string, unknown>) => Promise<Peer>;
  /** Why no process has computers, or browsers; null if one has. */
  obstacle: (of: 'computer' | 'browser') => Promise<string | null>;
};

const knownMs = 2_000;

export function createComputerHosts(db: Database): ComputerHosts {
  let known: { at: number; rows: Promise<HostRow[]> } | null = null;
  const list = () => {
    if (!known || performance.now() - known.at > knownMs) known = { at: performance.now(), rows: listHosts(db) };
    known.rows.catch(() => {
      known = null;
    });
    return known.rows;
  };
  return {
    async choose(owner, except) {
      const rows = (await list()).filter(({ id }) => !except.has(id));
      const [first] = rows
        .map((row) => ({ row, weight: weightOf(row.id, owner) }))
        .sort((a, b) => (a.weight < b.weight ? -1 : 1));
      if (!first) throw fail('computer_unavailable', { message: except.size > 0 ? notReached : noHost });
      return { id: first.row.id, address: first.row.address };
    },
    async obstacle(of) {
      const rows = await list();
      if (rows.length === 0) return noHost;
      return of === 'computer' || rows.some((row) => row.has_browser) ? null : noBrowser;
    },
  };
}

/**
 * Rendezvous hashing: the host with the smallest weight wins. A host that joins or leaves moves only its own computers.
 */
const weightOf = (hostId: string, owner: Owner) =>
  createHash('sha256')
    .update(`${hostId}\n${computerKey(owner)}`)
    .digest('base64');

const noHost = 'No process of this server has computers: also start one with VESTRA_ROLE=worker, computers or all.';
const notReached =
  'No process with computers can be reached: each VESTRA_INTERNAL_URL must be an address that the other processes reach.';
const noBrowser = 'No process of this server that has computers has browsers.';

const beatEveryMs = 10_000;
const goodForMs = 35_000;

/** Announces to the other processes that computers can run in this one. */
export function startHosting(options: {
  db: Database;
  log: Logger;
  self: string;
  address: string;
  hasBrowser: () => Promise<boolean>;
}): { stop: () => Promise<void> } {
  const { db, log, self, address, hasBrowser } = options;
  const announce = async () => {
    try {
      await renewHost(db, { id: self, address, hasBrowser: await hasBrowser() }, goodForMs);
    } catch (error) {
      log.warn({ err: error }, 'this process could not be announced as a host of computers; trying again');
    }
  };
  let announcing = announce();
  const beating = setInterval(() => {
    announcing = announce();
  }, beatEveryMs);
  beating.unref();
  return {
    async stop() {
      clearInterval(beating);
      await announcing;
      await removeHost(db, self).catch(() => {});
    },
  };
}
