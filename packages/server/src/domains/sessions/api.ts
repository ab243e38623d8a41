export { createSessionIdentity } from './identity.ts';
