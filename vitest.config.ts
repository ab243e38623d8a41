import { join } from 'node:path';
import { defineConfig } from 'vitest/config';

// A process reads a thousand modules before its first test. V8's cache of compiled code halves that time.
process.env.NODE_COMPILE_CACHE ??= join(import.meta.dirname, 'node_modules/.cache/vitest');

/**
 * Files that measure or change their process, send signals, run sandboxes or count what every server of a process does run
 * in a process each. Each process reads the server, in 1.5 seconds of CPU, and its code is slow at first. Files
 * beside the code are listed by name, so that they may move.
 */
export const alone = [
  'packages/server/src/**/{browser,bubblewrap,choose-host,clone,gvisor,home-archive,just-bash,computer-folder}.test.ts',
  'packages/server/src/**/{encoder,response-limits,settings-files,conformance,hostile-servers,real-servers,offline,open-zip,reader,reply-text}.test.ts',
  'packages/server/src/**/{embedded,embedded-*,failover,migrate,cluster-notifications,shutdown,takeover}.test.ts',
  'packages/models/src/vendors/{proxy,published-types}.test.ts',
  'packages/contract/src/derive/editor-completion.test.ts',
  'tests/{chaos,upgrades}/**/*.test.ts',
  'tests/{deploy,network-loss}.test.ts',
  'tests/scenarios/{browser-agent,browser-process,computer-crash,computer-warm}.test.ts',
  'tests/scenarios/{contract-examples,documented-blocks,package,python-sdk,voice}.test.ts',
  'tests/scenarios/{durability,files-on-s3,frozen-owner,pooler,several-processes,webhook-deliveries}.test.ts',
  'tests/scenarios/{cells,going-down,hostile-bodies,hostile-model,metrics,operator,org-move,start}.test.ts',
  'tests/scenarios/{messages-turns,money-adds-up,plain-message,random-walk,run-ends,statement-budgets}.test.ts',
];

/** Files beside the code that take longer than five seconds, most of it in waiting or in hashing passwords. */
export const slow = [
  'packages/**/{check,console-sessions,customer-memory,invitations,members,memory,recall,sign-in}.test.ts',
  'packages/**/{running-computer,schemas,site,spreadsheets,vendor-model,watchdog,worker}.test.ts',
];

/** `npm run test:quick` adds these to the tests beside the code and to the checks of the repository. */
const quickScenarios = ['tests/scenarios/{lists,messages,routes,users}.test.ts'];

const common = {
  pool: 'forks',
  // Twice the cores of a small machine: a third of what tests do is waiting.
  maxWorkers: 4,
  // Tests create much that is soon garbage. With the default, a sixth of the CPU goes into collecting it.
  execArgv: ['--min-semi-space-size=32', '--max-semi-space-size=32'] as string[],
  testTimeout: 120_000,
  hookTimeout: 120_000,
  // A busy machine may be slow; a result is seen as soon as it is there.
  expect: { poll: { timeout: 30_000 } },
  // Mocks and environment variables end with their test, since the next file may run in the same process.
  restoreMocks: true,
  unstubEnvs: true,
} as const;

export default defineConfig({
  test: {
    globalSetup: ['tests/support/postgres-server.ts'],
    maxWorkers: common.maxWorkers,
    projects: [
      { test: { ...common, name: 'alone', include: alone } },
      // Files of the next two share processes: a process continues with the next file and the modules that it has read.
      {
        test: {
          ...common,
          name: 'quick',
          include: ['packages/**/*.test.ts', 'tests/*.test.ts', ...quickScenarios],
          exclude: [...alone, ...slow, '**/node_modules/**'],
          isolate: false,
        },
      },
      {
        test: {
          ...common,
          name: 'together',
          include: [...slow, 'tests/**/*.test.ts'],
          exclude: [...alone, 'tests/*.test.ts', ...quickScenarios, '**/node_modules/**'],
          isolate: false,
        },
      },
    ],
  },
});
