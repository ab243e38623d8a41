import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['packages/**/*.test.ts', 'tests/**/*.test.ts'],
    globalSetup: ['tests/support/postgres-server.ts'],
    // Tests send signals, change rights and end processes: each file in a process of its own.
    pool: 'forks',
    // One more than the cores of a small machine: much of a test is waiting.
    maxWorkers: 3,
    testTimeout: 120_000,
    hookTimeout: 120_000,
  },
});
