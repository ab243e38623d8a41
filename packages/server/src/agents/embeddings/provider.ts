import { ModelFailure } from '@vestra/agent/model';
import { type Embedder, textsAtOnce } from '@vestra/models/embeddings/embedder';
import { createLimiter } from '../../platform/async/limiter.ts';
import { mapLimited } from '../../platform/async/map-limited.ts';
import { untilAborted } from '../../platform/async/until-aborted.ts';
import { cutText, type Embeddings, EmbeddingsFailure, type EmbedOptions } from './embeddings.ts';

/** A provider counts calls and tokens: this many at once index a notebook in a minute, and a query always has a place. */
const callsAtOnce = 4;
const callsToIndex = 3;
/** Google reads 2,048 tokens and leaves out the rest without a word; a character of Hindi or Japanese may be one. */
const longestPiece = 1600;
const longestText = 8000;
const charactersInCall = 60_000;

/** A provider's embeddings. They read every language, cost the operator money, and see every text they embed. */
export function createProviderEmbeddings(embedder: Embedder): Embeddings {
  const { model, dimensions } = embedder;
  const limiter = createLimiter({ atOnce: callsAtOnce, atOnceEach: callsToIndex });
  let least: Promise<number> | null = null;

  async function embed(
    texts: readonly string[],
    { signal = new AbortController().signal, urgency = 'query' }: EmbedOptions = {},
  ): Promise<Float32Array[]> {
    signal.throwIfAborted();
    const parts = texts.map((text) => (isReadable(text) ? cutText(cleaned(text), longestPiece) : []));
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
    pieces: (text) => cutText(text, longestPiece),
    embed,
    leastSimilarity: ({ signal } = {}) => {
      // One call for the life of the process, for whoever asks: nobody's signal ends it.
      least ??= calibrate(embed).catch((error: unknown) => {
        least = null;
        throw error;
      });
      return signal ? untilAborted(least, signal) : least;
    },
  };
}

const isReadable = (text: string) => /[\p{L}\p{N}]/u.test(text);
const cleaned = (text: string) => text.slice(0, longestText).toWellFormed();

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

/** Of length 1; of no vectors all zero. */
function mean(vectors: readonly Float32Array[], dimensions: number): Float32Array {
  const sum = new Float32Array(dimensions);
  for (const vector of vectors) {
    const length = Math.hypot(...vector);
    for (const [at, value] of vector.entries()) sum[at] = (sum[at] as number) + value / length;
  }
  const length = Math.hypot(...sum);
  return length === 0 ? sum : sum.map((value) => value / length);
}

/** Questions and statements that have nothing to do with each other, in the shapes that queries and facts come in. */
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
 * From what similarity on two texts have to do with each other, for a model that nobody has measured: above it lies one in
 * twenty of pairs that have not. For the offline model it comes out close to what was measured there.
 */
async function calibrate(embed: Embeddings['embed']): Promise<number> {
  const [asked, told] = await Promise.all([embed(questions), embed(statements, { urgency: 'index' })]);
  const unrelated = asked
    .flatMap((query) => told.map((text) => text.reduce((sum, value, at) => sum + value * (query[at] as number), 0)))
    .sort((a, b) => a - b);
  return unrelated[Math.floor(unrelated.length * 0.95)] as number;
}
