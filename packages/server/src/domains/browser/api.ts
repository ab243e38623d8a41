export { workBrowsers } from './agent-tools.ts';
export { createDesks, type Desks } from './desks.ts';
