import { join } from 'node:path';
import { defineConfig } from 'vitest/config';

// A process reads a thousand modules before its first test: as V8 has compiled them once, that takes half the time.
process.env.NODE_COMPILE_CACHE ??= join(import.meta.dirname, 'node_modules/.cache/vitest');

/**
 * What starts programs, browsers or computers, sends signals, changes rights, counts what its process does or tells Node of a
 * proxy: each file in a process of its own.
 */
const alone = [
  'packages/server/src/{platform/{cluster,config,db,files,jobs,json-schema,outbound,sandbox,secrets},computers,main,agents/{documents,embeddings,mcp-client},account/telemetry,engine/{pictures,policy-hook},voice/speech}/**/*.test.ts',
  'packages/server/src/engine/runs/reply-text.test.ts',
  'packages/models/src/vendors/{proxy,published-types}.test.ts',
  'tests/{chaos,upgrades}/**/*.test.ts',
  'tests/{deploy,network-loss}.test.ts',
  'tests/scenarios/{backup,cli,computer,browser,console,session-embedding,session-page,session-screen}*.test.ts',
  'tests/scenarios/{contract-examples,documented-blocks,package,python-sdk,sdk-package,voice}.test.ts',
  'tests/scenarios/{durability,files-on-s3,frozen-owner,pooler,several-processes,webhook-deliveries}.test.ts',
  'tests/scenarios/{functions,going-down,hostile-bodies,hostile-model,metrics,operator,start}.test.ts',
  'tests/scenarios/{messages-turns,money-adds-up,plain-message}.test.ts',
];

const common = {
  pool: 'forks',
  // One more than the cores of a small machine: much of a test is waiting.
  maxWorkers: 3,
  testTimeout: 120_000,
  hookTimeout: 120_000,
  // A machine that is busy takes its time; what comes is seen at once.
  expect: { poll: { timeout: 30_000 } },
  // What a test has put in the place of something else is gone before the next, which may be of another file.
  restoreMocks: true,
  unstubEnvs: true,
} as const;

export default defineConfig({
  test: {
    globalSetup: ['tests/support/postgres-server.ts'],
    maxWorkers: common.maxWorkers,
    projects: [
      { test: { ...common, name: 'alone', include: alone } },
      // A process goes on to the next file, with the modules that it has.
      {
        test: {
          ...common,
          name: 'together',
          include: ['packages/**/*.test.ts', 'tests/**/*.test.ts'],
          exclude: [...alone, '**/node_modules/**'],
          isolate: false,
        },
      },
    ],
  },
});
