export { findTestRun } from './find-test-run.ts';
export { playTestRun } from './play.ts';
export type { Player } from './ports.ts';
export { startRun } from './start-run.ts';
export { latestRuns } from './store.ts';
export type { TestRun } from './tables.ts';
export { unfinishedTestRuns } from './unfinished-runs.ts';
