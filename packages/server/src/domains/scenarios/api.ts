export { scenarioPort } from './port.ts';
export { scenariosOf } from './store.ts';
export type { ScenarioRow } from './tables.ts';
