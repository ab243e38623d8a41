export { type FileRoutine, replaceFileRoutines } from './routines/file-managed.ts';
export { readSchedule } from './routines/schedule.ts';
export { type CreatedEndpoint, replaceFileEndpoints } from './webhooks/endpoints.ts';
export { assertMayRoll, newSecret, signedHeaders } from './webhooks/signatures.ts';
