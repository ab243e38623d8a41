export { createKey } from './create.ts';
export { createKeyIdentity } from './identity.ts';
