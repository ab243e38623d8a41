import { pino } from 'pino';
import type { Computers, RunningComputer } from '../running-computer.ts';
import { createBrowserPool } from './browser-pool.ts';

/**
 * A pool whose computers are always awake and whose browsers never start: a request that gets that far fails with 503.
 */
export const poolWithoutBrowser = () =>
  createBrowserPool({
    computers,
    start: () => Promise.reject(new Error('None is there.')),
    openTasks: async (ids) => new Set(ids),
    obstacle: async () => null,
    log: pino({ level: 'silent' }),
  });

const computers: Computers = {
  self: 'this process',
  use: (owner, work) => work({ owner } as RunningComputer),
  ifAwake: () => null,
  countAwake: () => 0,
  keepUntil: () => {},
  beforeSleep: () => {},
  sleep: async () => {},
  erase: async () => {},
  leave: () => {},
  stop: async () => {},
};
