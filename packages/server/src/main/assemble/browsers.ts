import { browserStarter } from '../../adapters/browser/browser.ts';
import { browserObstacle } from '../../adapters/browser/obstacle.ts';
import { type BrowserPool, createBrowserPool } from '../../domains/browser/api.ts';
import type { Computers } from '../../domains/computers/api.ts';
import type { Kernel } from '../kernel.ts';

/** The browsers of users. Whether this machine can run any is found out when the first is asked for. */
export function assembleBrowsers({ config, log }: Kernel, computers: Computers): BrowserPool & { stop: () => void } {
  const { chromium: executable, allowPrivateAddresses: allowPrivate } = config;
  let looked: Promise<string | null> | undefined;
  return createBrowserPool({
    computers,
    log,
    start: browserStarter({ executable, allowPrivate, log }),
    obstacle: () => {
      looked ??= config.computer.setting === 'off' ? Promise.resolve(switchedOff) : browserObstacle(executable);
      return looked;
    },
  });
}

const switchedOff = 'Computers, and with them browsers, are switched off on this server.';
