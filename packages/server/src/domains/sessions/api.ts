export { createSessionIdentity } from './identity.ts';
export { embedOriginsOf, liveSessionsOf, removeSessionsOfUser } from './store.ts';
