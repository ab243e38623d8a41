export { playTestRun } from './play.ts';
export { testRunPort } from './port.ts';
export type { Player } from './ports.ts';
export { unfinishedTestRuns } from './unfinished-runs.ts';
