import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { WASI } from 'node:wasi';
import { fliteVoices } from './voice-packages.ts';

/** Flite as WebAssembly. It sees only its own folder. */
export async function openTextToSpeech(program: string): Promise<(text: string, voice: string) => Promise<Int16Array>> {
  const module = await WebAssembly.compile(await readFile(program));
  const folder = mkdtempSync(join(tmpdir(), 'vestra-voice-'));
  process.on('exit', () => rmSync(folder, { recursive: true, force: true }));

  const [written, said] = [join(folder, 'text'), join(folder, 'said.wav')];

  /** Instantiated before there is text, which saves a fifth of the time of a short sentence. */
  async function makeReady(voice: string): Promise<() => number> {
    const wasi = new WASI({
      version: 'preview1',
      args: ['flite', '-voice', fliteVoices[voice] ?? 'slt', '-f', '/own/text', '-o', '/own/said.wav'],
      preopens: { '/own': folder },
      returnOnExit: true,
    });
    const instance = await WebAssembly.instantiate(module, wasi.getImportObject() as WebAssembly.Imports);
    return () => wasi.start(instance);
  }
  let ready: { voice: string; start: Promise<() => number> } | null = null;

  return async (text, voice) => {
    const own = ready?.voice === voice ? ready.start : makeReady(voice);
    // Each instance runs once.
    ready = null;
    const start = await own;
    try {
      writeFileSync(written, text.replaceAll('\0', ''));
      const code = start();
      if (code !== 0) throw new Error(`Flite ended with ${code}.`);
      const samples = silenceLast(samplesOfWave(readFileSync(said)));
      return /[,;:]$/.test(text) ? shortPause(samples) : samples;
    } finally {
      // Spoken text must not stay in a file, even if this process crashes.
      for (const file of [written, said]) rmSync(file, { force: true });
      ready = { voice, start: makeReady(voice) };
    }
  };
}

/** Two of the voices begin with a fifth of a second of inaudible noise, up to 80 loud. */
const audible = 150;
/** Kept before the first sound, which begins softly. */
const softSamples = 480;

/**
 * Moves the silence at the start, a fifth of a second, to the end. There it is a pause between sentences that no one
 * waits for.
 */
export function silenceLast(samples: Int16Array): Int16Array {
  const from = Math.max(0, samples.findIndex((sample) => Math.abs(sample) > audible) - softSamples);
  const moved = new Int16Array(samples.length);
  moved.set(samples.subarray(from));
  return moved;
}

const clausePauseSamples = 1_920;

/** A sentence that continues gets a shorter pause. */
export function shortPause(samples: Int16Array): Int16Array {
  return samples.slice(0, samples.findLastIndex((sample) => Math.abs(sample) > audible) + clausePauseSamples);
}

/** Reads a file with one channel of 16 bits. */
function samplesOfWave(file: Buffer): Int16Array {
  const at = file.indexOf('data') + 8;
  const samples = new Int16Array((file.length - at) >> 1);
  for (let each = 0; each < samples.length; each++) samples[each] = file.readInt16LE(at + each * 2);
  return samples;
}
