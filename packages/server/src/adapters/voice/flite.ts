import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { WASI } from 'node:wasi';
import { fliteVoices } from './flite-voices.ts';

/** Flite as WebAssembly: it sees a folder of its own and nothing else of the machine. */
export async function openFlite(program: string): Promise<(text: string, voice: string) => Promise<Int16Array>> {
  const module = await WebAssembly.compile(await readFile(program));
  const folder = mkdtempSync(join(tmpdir(), 'vestra-voice-'));
  process.on('exit', () => rmSync(folder, { recursive: true, force: true }));

  return async (text, voice) => {
    const wasi = new WASI({
      version: 'preview1',
      args: ['flite', '-voice', fliteVoices[voice] ?? 'slt', '-t', text.replaceAll('\0', ''), '-o', '/out/said.wav'],
      preopens: { '/out': folder },
      returnOnExit: true,
    });
    const instance = await WebAssembly.instantiate(module, wasi.getImportObject() as WebAssembly.Imports);
    const code = wasi.start(instance);
    if (code !== 0) throw new Error(`Flite ended with ${code}.`);
    return silenceLast(samplesOfWave(readFileSync(join(folder, 'said.wav'))));
  };
}

const audible = 40;
/** Kept in front of the first sound, which begins softly. */
const softSamples = 480;

/** Flite begins with a fifth of a second of silence. At the end it is as good a pause between sentences, and nobody waits for it. */
export function silenceLast(samples: Int16Array): Int16Array {
  const from = Math.max(0, samples.findIndex((sample) => Math.abs(sample) > audible) - softSamples);
  const moved = new Int16Array(samples.length);
  moved.set(samples.subarray(from));
  return moved;
}

/** The samples of a file that holds one channel of 16 bits. */
function samplesOfWave(file: Buffer): Int16Array {
  const at = file.indexOf('data') + 8;
  const samples = new Int16Array((file.length - at) >> 1);
  for (let each = 0; each < samples.length; each++) samples[each] = file.readInt16LE(at + each * 2);
  return samples;
}
