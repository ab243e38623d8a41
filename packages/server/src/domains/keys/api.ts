export { createKey } from './create.ts';
export { createKeyIdentity, type KeyIdentity } from './identity.ts';
