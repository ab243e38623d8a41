import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createEncoder } from '@vestra/server/agents/embeddings/sentence-encoder/encoder';
import { openNative, openPortable } from '@vestra/server/agents/embeddings/sentence-encoder/runtime';
import { percentile } from './load.ts';
import type { Row, Stage } from './report.ts';

const textsAtOnce = 4;

/** Processor time of the offline encoder, in machine code and in the portable way, in turns over the same texts. */
export async function measureEmbeddings({ share }: Stage): Promise<Row[]> {
  const encoders = [createEncoder(await openNative('onnxruntime-node')), createEncoder(await openPortable())];
  const rounds = Math.max(2, Math.round(5 * share));
  const sentences = await sentencesOfDocs(Math.max(8, Math.round(40 * share)));
  const question = ['Where is my parcel, and when does it arrive?'];
  const characters = sentences.join('').length;
  const [native = 0, portable = 0] = await inTurns(encoders, rounds, sentences);
  const [one = 0, oneBefore = 0] = await inTurns(encoders, rounds, question);
  const figure = (time: number) => `${((time / characters) * 1000).toFixed(1)} ms`;
  return [
    {
      what: 'encoding 1,000 characters of plain text, processor time: native, portable',
      measured: `${figure(native)}, ${figure(portable)}`,
      ratio: `${(portable / native).toFixed(1)} × as fast`,
    },
    {
      what: `encoding one question of ${question[0]?.length} characters: native, portable`,
      measured: `${one.toFixed(1)} ms, ${oneBefore.toFixed(1)} ms`,
      ratio: `${(oneBefore / one).toFixed(1)} × as fast`,
    },
  ];
}

/** The median round of each, after one that does not count. */
async function inTurns(
  encoders: readonly ReturnType<typeof createEncoder>[],
  rounds: number,
  texts: readonly string[],
): Promise<number[]> {
  const times = encoders.map((): number[] => []);
  for (let round = 0; round <= rounds; round++) {
    for (const [at, encode] of encoders.entries()) {
      const before = process.cpuUsage();
      for (let next = 0; next < texts.length; next += textsAtOnce) await encode(texts.slice(next, next + textsAtOnce));
      const { user, system } = process.cpuUsage(before);
      if (round > 0) times[at]?.push((user + system) / 1000);
    }
  }
  return times.map((each) =>
    percentile(
      each.sort((a, b) => a - b),
      0.5,
    ),
  );
}

async function sentencesOfDocs(most: number): Promise<string[]> {
  const docs = join(import.meta.dirname, '../docs');
  const pages = await Promise.all(
    ['operating.md', 'memory.md', 'sessions.md'].map((name) => readFile(join(docs, name), 'utf8')),
  );
  const sentences = pages.flatMap((page) => page.replace(/\s+/g, ' ').split(/(?<=\.) (?=[A-Z])/));
  return sentences.filter(({ length }) => length >= 65 && length <= 400).slice(0, most);
}
