export { endGrantsOf } from './end-grant.ts';
export { createGrantIdentity } from './identity.ts';
export { liveGrants, pruneGrants, pruneRegistered, pruneTokens } from './store.ts';
