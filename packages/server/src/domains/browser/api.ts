export { workBrowsers } from './agent-tools.ts';
export { type BrowserPool, createBrowserPool } from './browser-pool.ts';
export { createScreens, type Screens, type Viewer } from './screens.ts';
