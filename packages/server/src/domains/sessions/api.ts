export { createSessionIdentity } from './identity.ts';
export { pruneSessions } from './prune-sessions.ts';
export { createScreenCredentials } from './screen-credential.ts';
export { embedOriginsOf, liveSessions, liveSessionsOf, removeSessionsOfUser } from './store.ts';
