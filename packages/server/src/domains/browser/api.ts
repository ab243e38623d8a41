export { workBrowsers } from './agent-tools.ts';
export { type Browsers, browsersAtHolder } from './at-holder.ts';
export { createBrowserPool } from './browser-pool.ts';
export type { Viewer } from './screen.ts';
export { createScreens, type Screens } from './screens.ts';
