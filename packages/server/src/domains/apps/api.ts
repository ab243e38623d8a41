export { type Catalogue, readCatalogue } from './catalogue.ts';
export { createConnectableApps } from './connectable-apps.ts';
export { resumeAfterConnecting } from './resume-after-connecting.ts';
export { createSignIns } from './sign-ins.ts';
export { isConnected, pruneConnections, removeConnectionsOfUser } from './store.ts';
