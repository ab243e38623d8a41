export { readSecrets } from './read-secrets.ts';
export { createAnswerSeal, openFor, sealFor } from './seal.ts';
export { removeSecretsOfUser, storedNames } from './store.ts';
