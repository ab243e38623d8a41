export { type FileRoutine, replaceFileRoutines } from './routines/replace-file-managed.ts';
export { readSchedule } from './routines/schedule.ts';
export { type MadeEndpoint, replaceFileEndpoints } from './webhooks/replace-file-managed.ts';
export { signedHeaders } from './webhooks/sign.ts';
export { assertMayRoll, newSecret } from './webhooks/webhook.ts';
