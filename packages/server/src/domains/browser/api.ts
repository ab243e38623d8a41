export { workBrowsers } from './agent-tools.ts';
export { createDesks, type Desks } from './desks.ts';
export type { Viewer } from './screen.ts';
export { createScreens, type Screens } from './screens.ts';
