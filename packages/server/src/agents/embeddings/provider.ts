import { ModelFailure } from '@vestra/agent/model';
import { type Embedder, textsAtOnce } from '@vestra/models/embeddings/embedder';
import { createLimiter, mapLimited } from '../../platform/async/limiter.ts';
import { untilAborted } from '../../platform/async/waiters.ts';
import { cutText, type Embeddings, EmbeddingsFailure, type EmbedOptions } from './embeddings.ts';

/**
 * Limits concurrent requests to a provider: enough to index a notebook in a minute, with one slot always free for a
 * query.
 */
const callsAtOnce = 4;
const callsToIndex = 3;
/** Google reads 2,048 tokens and silently ignores the rest. A character of Hindi or Japanese may be one token. */
const maxPieceLength = 1600;
const maxTextLength = 8000;
const charactersInCall = 60_000;

/** Embeddings of a provider. They read every language and cost the operator money, and the provider sees every text. */
export function createProviderEmbeddings(embedder: Embedder): Embeddings {
  const { model, dimensions } = embedder;
  const limiter = createLimiter({ atOnce: callsAtOnce, atOnceEach: callsToIndex });
  let least: Promise<number> | null = null;

  async function embed(
    texts: readonly string[],
    { signal = new AbortController().signal, urgency = 'query' }: EmbedOptions = {},
  ): Promise<Float32Array[]> {
    signal.throwIfAborted();
    const parts = texts.map((text) => (isReadable(text) ? cutText(cleaned(text), maxPieceLength) : []));
    const purpose = urgency === 'query' ? 'query' : 'document';
    const answers = await mapLimited(callsToIndex, callsOf(parts.flat()), (call) =>
      limiter.run(urgency, () => embedder.embed(call, purpose, signal), signal),
    ).catch((error: unknown) => {
      throw error instanceof ModelFailure ? new EmbeddingsFailure(error.message) : error;
    });
    const vectors = answers.flatMap((answer) => answer ?? []);
    return parts.map(({ length }) => mean(vectors.splice(0, length), dimensions));
  }

  return {
    model,
    dimensions,
    languages: 'every',
    understands: isReadable,
    pieces: (text) => cutText(text, maxPieceLength),
    embed,
    leastSimilarity: ({ signal } = {}) => {
      // One request per process, shared by all callers, so no single signal aborts it.
      least ??= calibrate(embed).catch((error: unknown) => {
        least = null;
        throw error;
      });
      return signal ? untilAborted(least, signal) : least;
    },
  };
}

const isReadable = (text: string) => /[\p{L}\p{N}]/u.test(text);
const cleaned = (text: string) => text.slice(0, maxTextLength).toWellFormed();

function callsOf(texts: readonly string[]): string[][] {
  const calls: string[][] = [];
  let characters = 0;
  for (const text of texts) {
    const last = calls.at(-1);
    characters += text.length;
    if (last && last.length < textsAtOnce && characters <= charactersInCall) last.push(text);
    else {
      calls.push([text]);
      characters = text.length;
    }
  }
  return calls;
}

/** Returns a vector of length 1, or zeros if there are no vectors. */
function mean(vectors: readonly Float32Array[], dimensions: number): Float32Array {
  const sum = new Float32Array(dimensions);
  for (const vector of vectors) {
    const length = Math.hypot(...vector);
    for (const [at, value] of vector.entries()) sum[at] = (sum[at] as number) + value / length;
  }
  const length = Math.hypot(...sum);
  return length === 0 ? sum : sum.map((value) => value / length);
}

/** Unrelated questions and statements in the style of real queries and facts. */
const questions = [
  'How long does it take to boil an egg?',
  'What is the fastest way to the airport?',
  'Who wrote the song that was played at the wedding?',
  'Is there a pharmacy near the station?',
  'Why do leaves change their colour in autumn?',
  'chess openings',
  'Do I need a visa for this country?',
  'nuclear fusion',
  'Can you explain how the printer is connected?',
  'What did the committee vote on?',
];
const statements = [
  'She bought a used bicycle from a friend.',
  'Prefers to be called in the evening.',
  'The elevator is out of order until Friday.',
  'Sales grew by four percent in the second quarter.',
  'Is allergic to shellfish.',
  'The contract with the cleaning company ends in June.',
  'He has played tennis since he was a child.',
  'Lives with two dogs near the river.',
  'Wants invoices by post only.',
  'The new warehouse opens in spring.',
];

/**
 * Estimates the least similarity of related texts for an unmeasured model: 5 percent of unrelated pairs are above it.
 * For the offline model the result is close to the measured value.
 */
async function calibrate(embed: Embeddings['embed']): Promise<number> {
  const [asked, told] = await Promise.all([embed(questions), embed(statements, { urgency: 'index' })]);
  const unrelated = asked
    .flatMap((query) => told.map((text) => text.reduce((sum, value, at) => sum + value * (query[at] as number), 0)))
    .sort((a, b) => a - b);
  return unrelated[Math.floor(unrelated.length * 0.95)] as number;
}
