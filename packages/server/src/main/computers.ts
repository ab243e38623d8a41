import { type AgentComputers, createAgentComputers } from '../computers/agent-computers.ts';
import type { agentBrowsers } from '../computers/browser/agent-tools.ts';
import { createBrowserPool } from '../computers/browser/browser-pool.ts';
import { createRemoteBrowsers, type RemoteBrowsers } from '../computers/browser/remote-browser.ts';
import { createScreens } from '../computers/browser/screens.ts';
import { browserObstacle } from '../computers/chromium/chromium.ts';
import {
  type ComputerRouting,
  createComputerHosts,
  createComputerRouting,
  startHosting,
} from '../computers/computer-routing.ts';
import { createHomes, type Homes, removeLeftFolders } from '../computers/homes.ts';
import { chooseHost } from '../computers/machine/choose-host.ts';
import { makeComputerFolders, numbersHere, removeComputerFolders } from '../computers/machine/computer-folder.ts';
import { createHomeArchive } from '../computers/machine/home-archive.ts';
import { homePath } from '../computers/machine/home-files.ts';
import { type Computers, createComputers } from '../computers/running-computer.ts';
import type { Owner } from '../computers/store.ts';
import { unfinishedTaskIds } from '../engine/tasks/index.ts';
import {
  type AnswerCall,
  createAskProcess,
  createCallSeal,
  createProcessDoor,
  type ProcessCallServer,
} from '../platform/cluster/process-calls.ts';
import type { Kernel } from './kernel.ts';

export type ComputerParts = {
  computers: Computers;
  computerWork: AgentComputers;
  routing: ComputerRouting;
  /** Null if this process may run browsers. It then checks for itself whether the machine can. */
  browserObstacle: (() => Promise<string | null>) | null;
  /** Answers calls from other processes. */
  processCalls: ProcessCallServer;
  /** Call this when other processes can reach this one. It announces the address and starts hosting. */
  reachable: (address: string, hasBrowser: () => Promise<boolean>) => void;
  /** Call this when the process begins to shut down. Other processes wake the computers that no run here uses. */
  leave: (hasRun: (owner: Owner) => boolean) => void;
  stop: () => Promise<void>;
};

/** Wires the computers of users. The host is chosen only when the server is reachable. */
export function assembleComputers(kernel: Kernel): ComputerParts {
  const { config, db, processNews, log, vault, files, signingSecret } = kernel;
  const { idleMs, savesHomes } = config.computer;
  // Only bubblewrap can pack a home, so a server that saves homes must not fall back to another kind of computer.
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
    // A short idle time needs more frequent checks.
    settings: { idleMs, renewEveryMs: Math.min(4_000, Math.max(200, idleMs / 4)) },
  });
  const { cgroup, cpus } = config.computer;
  const { promise: isReachable, resolve: onReachable } = Promise.withResolvers<void>();
  const { allowPrivateAddresses: allowPrivate } = config;
  const choice = isReachable.then(() => chooseHost({ setting, allowPrivate, cgroup, cpus, log }));
  void choice.then(({ host, ...limits }) => {
    if (host && 'limitsHeld' in limits) log.info(limits.limitsHeld);
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
    processCalls: createProcessDoor({ self: computers.self, seal, answer: routing.answer as AnswerCall, log }),
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
    leave(hasRun) {
      void hosting?.stop();
      computers.leave(hasRun);
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

/** Wires the browsers of users. The server checks at the first use whether this machine can run one. */
export function assembleBrowsers(
  { config, db, log }: Kernel,
  { computers, routing, browserObstacle: obstacleElsewhere }: ComputerParts,
): {
  browsers: RemoteBrowsers;
  taskBrowsers: Omit<Parameters<typeof agentBrowsers>[0], 'db'>;
  hasBrowser: () => Promise<boolean>;
  countRunning: () => number;
  stop: () => void;
} {
  const { chromium: executable, allowPrivateAddresses: allowPrivate } = config;
  let looked: Promise<string | null> | undefined;
  const browserPool = createBrowserPool({
    computers,
    log,
    // Browsers are loaded with the first one, so that a start reads less.
    start: async (folders) => {
      const { browserStarter } = await import('../computers/chromium/browser.ts');
      return browserStarter({ executable, allowPrivate, log })(folders);
    },
    openTasks: (ids) => unfinishedTaskIds(db, ids),
    obstacle: () => {
      looked ??= config.computer.setting === 'off' ? Promise.resolve(switchedOff) : browserObstacle(executable);
      return looked;
    },
  });
  const screens = createScreens({ db, browserPool, log });
  return {
    browsers: createRemoteBrowsers({ db, browserPool, screens, routing }),
    taskBrowsers: { browserPool, routing, obstacle: obstacleElsewhere ?? browserPool.obstacle },
    hasBrowser: async () => (await browserPool.obstacle()) === null,
    countRunning: browserPool.countRunning,
    stop: browserPool.stop,
  };
}

const switchedOff = 'Computers, and with them browsers, are switched off on this server.';
