export { createSessionIdentity } from './identity.ts';
export { createScreenCredentials } from './screen-credential.ts';
export {
  embedOriginsOf,
  embedOriginsOfToken,
  liveSessions,
  liveSessionsOf,
  pruneSessions,
  removeSessionsOfUser,
} from './store.ts';
