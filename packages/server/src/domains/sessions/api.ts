export { createSessionIdentity } from './identity.ts';
export { createScreenCredentials } from './screen-credential.ts';
export { embedOriginsOf, liveSessions, liveSessionsOf, pruneSessions, removeSessionsOfUser } from './store.ts';
