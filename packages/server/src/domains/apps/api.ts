export { type Catalogue, readCatalogue } from './catalogue.ts';
export { pruneConnections } from './prune-connections.ts';
export { settleWaits } from './settle-waits.ts';
export { createSignIns } from './sign-ins.ts';
export { isConnected, removeConnectionsOfUser } from './store.ts';
