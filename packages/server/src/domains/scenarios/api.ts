export { type FileScenario, replaceFileScenarios } from './replace-file-managed.ts';
export { countScenarios, scenariosOf } from './store.ts';
export type { ScenarioRow } from './tables.ts';
