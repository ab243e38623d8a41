export { startRun } from './create.ts';
export { findTestRun } from './find-test-run.ts';
export { playTestRun, unfinishedTestRuns } from './play.ts';
export type { Player } from './playing.ts';
export { latestRuns } from './store.ts';
export type { TestRun } from './tables.ts';
