export { readSecrets } from './read-secrets.ts';
export { createAnswerSeal, openFor, sealFor } from './seal.ts';
export { removeSecretsOfUser } from './store.ts';
