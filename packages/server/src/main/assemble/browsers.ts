import type { agentBrowsers } from '../../computers/browser/agent-tools.ts';
import { createBrowserPool } from '../../computers/browser/browser-pool.ts';
import { createRemoteBrowsers, type RemoteBrowsers } from '../../computers/browser/remote-browser.ts';
import { createScreens } from '../../computers/browser/screens.ts';
import { browserStarter } from '../../computers/chromium/browser.ts';
import { browserObstacle } from '../../computers/chromium/chromium.ts';
import type { Kernel } from '../kernel.ts';
import type { ComputerParts } from './computers.ts';

/** The browsers of users. Whether this machine can run any is found out when the first is asked for. */
export function assembleBrowsers(
  { config, db, log }: Kernel,
  { computers, routing, browserObstacle: obstacleElsewhere }: ComputerParts,
): {
  browsers: RemoteBrowsers;
  workBrowsers: Omit<Parameters<typeof agentBrowsers>[0], 'db'>;
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
    browsers: createRemoteBrowsers({ db, browserPool, screens, routing }),
    workBrowsers: { browserPool, routing, obstacle: obstacleElsewhere ?? browserPool.obstacle },
    hasBrowser: async () => (await browserPool.obstacle()) === null,
    countRunning: browserPool.countRunning,
    stop: browserPool.stop,
  };
}

const switchedOff = 'Computers, and with them browsers, are switched off on this server.';
