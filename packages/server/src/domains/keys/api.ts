export { createKey } from './create.ts';
export { createKeyIdentity } from './identity.ts';
export { liveKeys } from './store.ts';
