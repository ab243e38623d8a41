export type { Viewer } from './browser/screen.ts';
export type { Screens } from './browser/screens.ts';
export { browserObstacle } from './chromium/chromium.ts';
export { forgetLostHomes, packHome, unpackHome } from './homes.ts';
export { chooseHost } from './machine/choose-host.ts';
export { removeComputerFolders } from './machine/computer-folder.ts';
export { hasHomes, packHomes, unpackHomes } from './machine/home-archive.ts';
