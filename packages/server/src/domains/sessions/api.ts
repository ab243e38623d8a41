export { createSessionIdentity } from './identity.ts';
export { createScreenCredentials } from './screen-credential.ts';
export {
  embedOriginsOf,
  embedOriginsOfToken,
  latestVoiceCalls,
  liveSessions,
  liveSessionsOf,
  nextVoiceCall,
  pruneSessions,
  removeSessionsOfUser,
} from './store.ts';
