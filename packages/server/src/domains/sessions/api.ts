export { createSessionIdentity } from './identity.ts';
export { removeSessionsOfUser } from './store.ts';
