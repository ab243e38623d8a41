import { chooseHost } from '../../adapters/computer/choose-host.ts';
import { homePath } from '../../adapters/computer/home-path.ts';
import { makePlace, removePlace } from '../../adapters/computer/place.ts';
import { type Computers, type ComputerWork, createComputers, createComputerWork } from '../../domains/computers/api.ts';
import type { Kernel } from '../kernel.ts';

/** The computers of users, and what work does with them. What they are made of is found out beside the start. */
export function assembleComputers({ config, db, bell, log, vault, files }: Kernel): {
  computers: Computers;
  computerWork: ComputerWork;
} {
  const { setting, idleMs } = config.computer;
  const computers = createComputers({
    db,
    log,
    bell,
    makePlace: (number) => makePlace(config.dataDir, number),
    removePlace: (number) => removePlace(config.dataDir, number),
    // One that is to sleep soon is looked at often enough to do so.
    settings: { idleMs, renewEveryMs: Math.min(4_000, Math.max(200, idleMs / 4)) },
  });
  const choice = chooseHost({ setting, allowPrivate: config.allowPrivateAddresses, log });
  const computerWork = createComputerWork({ db, vault, files, computers, choice, homePath });
  return { computers, computerWork };
}
