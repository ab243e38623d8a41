import { pino } from 'pino';
import type { Awake, Computers } from '../running-computer.ts';
import { createBrowserPool } from './browser-pool.ts';

/** Of computers that are always awake, and on which no browser starts: whoever gets that far is told so by a 503. */
export const poolWithoutBrowser = () =>
  createBrowserPool({
    computers,
    start: () => Promise.reject(new Error('None is there.')),
    obstacle: async () => null,
    log: pino({ level: 'silent' }),
  });

const computers: Computers = {
  self: 'this process',
  use: (owner, work) => work({ owner } as Awake),
  ifAwake: () => null,
  countAwake: () => 0,
  keepUntil: () => {},
  beforeSleep: () => {},
  sleep: async () => {},
  erase: async () => {},
  stop: async () => {},
};
