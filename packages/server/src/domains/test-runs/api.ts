export { playTestRun, unfinishedTestRuns } from './play.ts';
export type { Player } from './playing.ts';
export { testRunPort } from './port.ts';
