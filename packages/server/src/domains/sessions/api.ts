export { createSessionIdentity } from './identity.ts';
export { liveSessionsOf, removeSessionsOfUser } from './store.ts';
