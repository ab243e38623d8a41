import { replaceFileManaged } from './replace-file-managed.ts';
import { countScenarios } from './store.ts';

/** What applying a file needs of scenarios. */
export const scenarioPort = { replaceFileManaged, count: countScenarios };
