export { type FileScenario, hasScenarios, replaceFileScenarios } from './scenarios/scenarios.ts';
export type { TestRun } from './tables.ts';
export { latestRuns } from './test-runs/store.ts';
export { findTestRun, redRunOf, startRun } from './test-runs/test-runs.ts';
