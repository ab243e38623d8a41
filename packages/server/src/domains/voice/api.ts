export { createVoiceCalls, type VoiceCalls } from './calls.ts';
