export { workBrowsers } from './agent-tools.ts';
export { createDesks, type Desks } from './desks.ts';
export { createScreens, type Screens, type Viewer } from './screens.ts';
