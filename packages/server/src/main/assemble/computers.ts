import { type AgentComputers, createAgentComputers } from '../../computers/agent-computers.ts';
import { createComputerHosts, startHosting } from '../../computers/computer-hosts.ts';
import { type ComputerRouting, createComputerRouting } from '../../computers/computer-routing.ts';
import { createHomes, type Homes, removeLeftFolders } from '../../computers/homes.ts';
import { chooseHost } from '../../computers/machine/choose-host.ts';
import { makeComputerFolders, numbersHere, removeComputerFolders } from '../../computers/machine/computer-folder.ts';
import { createHomeArchive } from '../../computers/machine/home-archive.ts';
import { homePath } from '../../computers/machine/home-files.ts';
import { type Computers, createComputers } from '../../computers/running-computer.ts';
import {
  type AnswerCall,
  createAskProcess,
  createCallSeal,
  createProcessDoor,
  type ProcessDoor,
} from '../../platform/cluster/process-calls.ts';
import type { Kernel } from '../kernel.ts';

export type ComputerParts = {
  computers: Computers;
  computerWork: AgentComputers;
  routing: ComputerRouting;
  /** Null where browsers are awake in this process, if anywhere: it looks for itself whether it can have any. */
  browserObstacle: (() => Promise<string | null>) | null;
  /** Where other processes come in. */
  door: ProcessDoor;
  /** Other processes reach this one from now on. */
  reachable: (address: string, hasBrowser: () => Promise<boolean>) => void;
  stop: () => Promise<void>;
};

/** The computers of users, and what work does with them. What they are made of is found out once the server is reachable. */
export function assembleComputers(kernel: Kernel): ComputerParts {
  const { config, db, processNews, log, vault, files, signingSecret } = kernel;
  const { idleMs, savesHomes } = config.computer;
  // Without bubblewrap nothing can be packed: a home that is to be saved must not lie on another kind of computer.
  const setting = config.computer.setting ?? (savesHomes ? 'bubblewrap' : null);
  let address: string | null = null;
  let hosting: { stop: () => Promise<void> } | null = null;
  const computers = createComputers({
    db,
    log,
    processNews,
    address: () => address,
    makeFolders: (number) => makeComputerFolders(config.dataDir, number),
    removeFolders: (number) => removeComputerFolders(config.dataDir, number),
    homes: savesHomes ? assembleHomes(kernel) : undefined,
    // One that is to sleep soon is looked at often enough to do so.
    settings: { idleMs, renewEveryMs: Math.min(4_000, Math.max(200, idleMs / 4)) },
  });
  const { cgroup, cpus } = config.computer;
  const { promise: isReachable, resolve: onReachable } = Promise.withResolvers<void>();
  const { allowPrivateAddresses: allowPrivate } = config;
  const choice = isReachable.then(() => chooseHost({ setting, allowPrivate, cgroup, cpus, log }));
  void choice.then(({ host, ...told }) => {
    if (host && 'limitsHeld' in told) log.info(`limits of computers are held ${told.limitsHeld}`);
  });
  const isHost = setting !== 'elsewhere' && setting !== 'off';
  const seal = createCallSeal(signingSecret);
  const { ask, close } = createAskProcess(seal);
  const hosts = createComputerHosts(db);
  const routing = createComputerRouting({ db, computers, hosts, isHost, ask, log });
  const obstacleHere = async () => {
    const chosen = await choice;
    return chosen.host === null ? chosen.why : null;
  };
  const obstacle = setting === 'elsewhere' ? () => hosts.obstacle('computer') : obstacleHere;
  const computerWork = createAgentComputers({ db, vault, files, computers, routing, choice, obstacle, homePath });
  return {
    computers,
    computerWork,
    routing,
    browserObstacle: setting === 'elsewhere' ? () => hosts.obstacle('browser') : null,
    door: createProcessDoor({ self: computers.self, seal, answer: routing.answer as AnswerCall, log }),
    reachable(at, hasBrowser) {
      address = at;
      onReachable();
      const begin = async () => {
        if (isHost && (await obstacleHere()) === null) {
          hosting = startHosting({ db, log, self: computers.self, address: at, hasBrowser });
        }
      };
      void begin();
    },
    async stop() {
      await hosting?.stop();
      await computers.stop();
      await close();
    },
  };
}

const everyHour = 3_600_000;

function assembleHomes({ config, db, files, log }: Kernel): Homes {
  const sweep = () =>
    removeLeftFolders(db, {
      numbersHere: () => numbersHere(config.dataDir),
      removeFolders: (number) => removeComputerFolders(config.dataDir, number),
    }).catch((error: unknown) => log.warn({ err: error }, 'folders of erased computers could not be removed'));
  void sweep();
  setInterval(() => void sweep(), everyHour).unref();
  return createHomes({ db, files, log, archive: createHomeArchive(), everyMs: config.computer.saveEveryMs });
}
