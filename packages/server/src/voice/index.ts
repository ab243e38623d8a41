export type { VoiceCalls } from './calls.ts';
export { createCallConnections } from './speech/call-connection.ts';
export { createOfflineSpeech } from './speech/offline-speech.ts';
export { samplesPerSecond } from './speech/speech.ts';
export { missingPackages, packageFolder, voicePackages } from './speech/voice-packages.ts';
