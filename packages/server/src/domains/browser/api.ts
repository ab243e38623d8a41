export { workBrowsers } from './agent-tools.ts';
export { type BrowserPool, createBrowserPool } from './browser-pool.ts';
export type { Viewer } from './screen.ts';
export { createScreens, type Screens } from './screens.ts';
