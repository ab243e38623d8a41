import { setTimeout as delay } from 'node:timers/promises';
import { type Exchange, post } from '../vendors/exchange.ts';
import { AttemptFailed, type Fault, failureOf, faultOf, Unreadable, vendorErrorOfResponse } from '../vendors/fault.ts';
import { defaultTiming, mayTryAgain, pauseBefore, type Timing } from '../vendors/timing.ts';
import { type EmbeddingSettings, type EmbeddingVendor, embeddingVendorOf, type Purpose } from './embedding-vendor.ts';

export type Embedder = {
  /** Stored with each vector: vectors of different models must not be compared. */
  model: string;
  dimensions: number;
  /**
   * Returns one vector for each text, in order, of any length above 0. Accepts at most `textsAtOnce` texts, none empty.
   * An aborted call throws the signal's reason; every other error is a `ModelFailure`.
   */
  embed: (texts: readonly string[], purpose: Purpose, signal: AbortSignal) => Promise<Float32Array[]>;
};

/** Google accepts 100. */
export const textsAtOnce = 96;
/** Far above 96 vectors of 4,096 numbers as text. */
const longestAnswer = 64 * 1_048_576;
const timingOfEmbeddings = { ...defaultTiming, idleTimeoutMs: 30_000 };

/** Creates an embedder with the same retries and the same secrecy about keys as the language models. */
export function createEmbedder(settings: EmbeddingSettings, given: Partial<Timing> = {}): Embedder {
  const vendor = embeddingVendorOf(settings);
  const timing = { ...timingOfEmbeddings, ...given };
  return {
    model: `${settings.provider}/${settings.model}/${settings.dimensions}`,
    dimensions: settings.dimensions,
    async embed(texts, purpose, signal) {
      for (let attempt = 1; ; attempt++) {
        signal.throwIfAborted();
        let fault: Fault;
        try {
          return await ask(vendor, vendor.body(texts, purpose), { count: texts.length, signal, timing });
        } catch (error) {
          signal.throwIfAborted();
          fault = faultOf(error, vendor, timing.idleTimeoutMs);
        }
        if (!mayTryAgain(fault, attempt, timing)) throw failureOf(fault);
        await delay(pauseBefore(timing, attempt, fault.retryAfterMs), undefined, { signal }).catch(() =>
          signal.throwIfAborted(),
        );
      }
    },
  };
}

async function ask(
  vendor: EmbeddingVendor,
  body: object,
  { count, signal, timing }: { count: number; signal: AbortSignal; timing: Timing },
): Promise<Float32Array[]> {
  const { url, headers } = vendor;
  const { idleTimeoutMs } = timing;
  const exchange = post({ url, headers: headers(), body: JSON.stringify(body), signal, idleTimeoutMs });
  let isComplete = false;
  try {
    const { status, headers: received } = await exchange.begun();
    const text = await wholeOf(exchange);
    isComplete = true;
    if (status < 200 || status > 299) throw vendorErrorOfResponse(status, received, text);
    return vectorsIn(vendor, parsed(text), count);
  } finally {
    exchange.leave(isComplete);
  }
}

async function wholeOf(exchange: Exchange): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for (let chunk = await exchange.read(); chunk; chunk = await exchange.read()) {
    bytes += chunk.length;
    if (bytes > longestAnswer) throw new Unreadable();
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new Unreadable();
  }
}

/**
 * Rejects an answer unless it has exactly the expected number and size of vectors. Incomplete vectors must not be
 * compared.
 */
function vectorsIn(vendor: EmbeddingVendor, answer: unknown, count: number): Float32Array[] {
  const rows = vendor.read(answer);
  if (rows.length !== count) throw new Unreadable();
  return rows.map((row) => {
    const vector = Float32Array.from(row, Number);
    if (vector.length !== vendor.dimensions) throw otherSize(vendor, vector.length);
    if (!vector.every(Number.isFinite) || vector.every((value) => value === 0)) throw new Unreadable();
    return vector;
  });
}

function otherSize({ title, modelId, dimensions }: EmbeddingVendor, found: number): AttemptFailed {
  const message =
    `${title} gives vectors of ${found} numbers for ${modelId}, and ${dimensions} are expected. ` +
    'Set VESTRA_EMBEDDINGS_DIMENSIONS: everything is then indexed again.';
  return new AttemptFailed({ reason: 'invalid_answer', message, isPassing: false, retryAfterMs: null, status: null });
}
