import type { workBrowsers } from '../../computers/browser/agent-tools.ts';
import { createBrowserPool } from '../../computers/browser/browser-pool.ts';
import { type Browsers, browsersAtHolder } from '../../computers/browser/remote-browser.ts';
import { createScreens } from '../../computers/browser/screens.ts';
import { browserStarter } from '../../computers/chromium/browser.ts';
import { browserObstacle } from '../../computers/chromium/chromium.ts';
import type { Kernel } from '../kernel.ts';
import type { ComputerParts } from './computers.ts';

/** The browsers of users. Whether this machine can run any is found out when the first is asked for. */
export function assembleBrowsers(
  { config, db, log }: Kernel,
  { computers, holders, browserObstacle: obstacleElsewhere }: ComputerParts,
): {
  browsers: Browsers;
  workBrowsers: Omit<Parameters<typeof workBrowsers>[0], 'db'>;
  hasBrowser: () => Promise<boolean>;
  countRunning: () => number;
  stop: () => void;
} {
  const { chromium: executable, allowPrivateAddresses: allowPrivate } = config;
  let looked: Promise<string | null> | undefined;
  const browserPool = createBrowserPool({
    computers,
    log,
    start: browserStarter({ executable, allowPrivate, log }),
    obstacle: () => {
      looked ??= config.computer.setting === 'off' ? Promise.resolve(switchedOff) : browserObstacle(executable);
      return looked;
    },
  });
  const screens = createScreens({ db, browserPool, log });
  return {
    browsers: browsersAtHolder({ db, browserPool, screens, holders }),
    workBrowsers: { browserPool, holders, obstacle: obstacleElsewhere ?? browserPool.obstacle },
    hasBrowser: async () => (await browserPool.obstacle()) === null,
    countRunning: browserPool.countRunning,
    stop: browserPool.stop,
  };
}

const switchedOff = 'Computers, and with them browsers, are switched off on this server.';
