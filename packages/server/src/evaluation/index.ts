export { type FileScenario, replaceFileScenarios } from './scenarios/replace-file-managed.ts';
export { countScenarios } from './scenarios/store.ts';
export { startRun } from './test-runs/create.ts';
export { findTestRun } from './test-runs/find-test-run.ts';
export { latestRuns } from './test-runs/store.ts';
export type { TestRun } from './test-runs/tables.ts';
