export { readSecrets } from './read-secrets.ts';
export { createAnswerSeal } from './seal.ts';
