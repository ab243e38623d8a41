/** Runs in its own process: a sentence keeps a core busy, and a crash in native code ends only this process. */

import { openSpeechToText } from './speech-models.ts';
import { openTextToSpeech } from './text-to-speech.ts';
import type { SpeechFiles } from './voice-packages.ts';

/** One kind per process, so that speaking does not wait for recognition. */
export type SpeechTask = { kind: 'hear' | 'speak'; files: SpeechFiles; runtime: string };
export type SpeechRequest = { id: number; sound: Int16Array } | { id: number; text: string; voice: string };
export type SpeechAnswer =
  | { id: number; text: string }
  | { id: number; sound: Int16Array }
  | { id: number; reason: string };

// The server process is gone.
process.on('disconnect', () => process.exit());

const { kind, files, runtime } = JSON.parse(process.argv[2] as string) as SpeechTask;
const answer = await (kind === 'hear' ? hearing() : speaking());
let last: Promise<void> = Promise.resolve();

process.on('message', (request: SpeechRequest) => {
  last = last.then(async () => {
    try {
      process.send?.(await answer(request));
    } catch (error) {
      process.send?.({ id: request.id, reason: error instanceof Error ? error.message : 'unknown error' });
    }
  });
});

async function hearing(): Promise<(request: SpeechRequest) => Promise<SpeechAnswer>> {
  const hear = await openSpeechToText(runtime, files);
  return async (request) => ({ id: request.id, text: 'sound' in request ? await hear(request.sound) : '' });
}

async function speaking(): Promise<(request: SpeechRequest) => Promise<SpeechAnswer>> {
  const speak = await openTextToSpeech(files.flite);
  // The first sentence is slow while its code is compiled.
  await speak('Hello.', 'slt');
  return async (request) => ({
    id: request.id,
    sound: 'text' in request ? await speak(request.text, request.voice) : new Int16Array(0),
  });
}
