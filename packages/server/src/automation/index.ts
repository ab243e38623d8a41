export { type FileRoutine, replaceFileRoutines } from './routines/file-managed.ts';
export { readSchedule } from './routines/schedule.ts';
export { type CreatedEndpoint, prepareFileEndpoints, replaceFileEndpoints } from './webhooks/endpoints.ts';
export { assertMayRoll, isSigningSecret, newSecret, signedHeaders } from './webhooks/signatures.ts';
