import { type Model, ModelFailure, type ModelRequest, type Usage } from '@vestra/agent/model';
import { type PricedModel, ratesOf } from '../prices.ts';
import type { MediaKind } from '../settings.ts';
import { tokensOfRequest } from '../tokens.ts';
import { type CheckOutcome, type CheckStatus, checks, type TrialAnswer, type TrialModel } from './checks.ts';
import type { Recorder } from './recording.ts';
import { followPrompt } from './rehearsal.ts';

export type CheckReport = {
  check: string;
  essential: boolean;
  status: CheckStatus;
  note: string;
  requests: number;
  cost_usd: number;
  ms: number;
};

type TriedModel = Pick<PricedModel, 'id' | 'price' | 'context_tokens' | 'reasons'>;
type Trial = {
  model: Model;
  entry: TriedModel;
  reads: (kind: MediaKind) => boolean;
  recorder: Recorder;
  signal: AbortSignal;
};

/** The longest answer that a check asks for. It limits the cost, and leaves room for reasoning. */
const mostOutputTokens = 4096;

/** Runs the checks one after the other and yields each result. Stops after a failure of `text`. */
export async function* runTrial(trial: Trial): AsyncGenerator<CheckReport> {
  for (const { name, isEssential, run } of checks) {
    if (trial.signal.aborted) return;
    trial.recorder.begin(`${trial.entry.id} ${name}`);
    const spent: Usage[] = [];
    const startedAt = performance.now();
    const outcome = await run(modelOf(trial, spent)).catch((error: unknown) => outcomeOf(error, trial.recorder));
    if (trial.signal.aborted) return;
    yield {
      check: name,
      essential: isEssential,
      ...outcome,
      requests: trial.recorder.count(),
      cost_usd: spent.reduce((sum, usage) => sum + costOf(trial.entry, usage), 0),
      ms: Math.round(performance.now() - startedAt),
    };
    // Every other check would fail for the same reason.
    if (name === 'text' && outcome.status === 'fails') return;
  }
}

/** The number of requests and their cost: typically, and if every answer has the greatest length. */
export async function estimateTrial(entry: TriedModel, reads: (kind: MediaKind) => boolean) {
  const asked: ModelRequest[] = [];
  const ask = async (request: Partial<ModelRequest>) => {
    asked.push(wholeRequest(entry, request, AbortSignal.abort()));
    return rehearsed(entry, request);
  };
  const cancel = async (request: Partial<ModelRequest>) => ask(request).then(() => true);
  for (const { run } of checks) await run({ ask, cancel, reads, contextTokens: entry.context_tokens });
  const cost = (outputTokens: number) =>
    asked.reduce((sum, request) => {
      const inputTokens = tokensOfRequest(request) + mediaTokens(request);
      return sum + costOf(entry, { inputTokens, outputTokens, cacheReadTokens: 0, cacheWriteTokens: 0 });
    }, 0);
  return { requests: asked.length, usual_usd: cost(entry.reasons ? 500 : 100), most_usd: cost(mostOutputTokens) };
}

/** Vendors count an image or a page as up to this many tokens. */
const mediaTokens = ({ messages }: ModelRequest) =>
  1500 *
  messages.filter(
    (message) =>
      (message.role === 'user' && message.parts.some(({ kind }) => kind === 'file')) ||
      (message.role === 'tool' && message.results.some(({ media }) => media !== undefined)),
  ).length;

function rehearsed(
  { id }: TriedModel,
  { messages = [], tools = [], outputSchema }: Partial<ModelRequest>,
): TrialAnswer {
  const last = messages.at(-1);
  const text = last?.role === 'user' ? last.parts.map((part) => (part.kind === 'text' ? part.text : '')).join('') : '';
  const answer = followPrompt({
    text,
    isAfterResults: last?.role === 'tool',
    tools: tools.map(({ name }) => name),
    wantsJson: outputSchema !== undefined,
  });
  return {
    text: answer.text,
    pieces: 1,
    calls: answer.calls.map((call, at) => ({ id: `call_${at}`, ...call })),
    usage: { inputTokens: 0, outputTokens: 0, cacheReadTokens: 0, cacheWriteTokens: 0 },
    reasoning: { model: id, parts: [{ kind: 'thought' }] },
    leftOut: [],
  };
}

function costOf({ price }: TriedModel, usage: Usage): number {
  const rates = ratesOf(price, usage);
  const micros =
    usage.inputTokens * rates.input_per_mtok +
    usage.outputTokens * rates.output_per_mtok +
    usage.cacheReadTokens * rates.cache_read_per_mtok +
    usage.cacheWriteTokens * rates.cache_write_per_mtok +
    (usage.cacheWriteLongTokens ?? 0) * rates.cache_write_long_per_mtok;
  return micros / 1_000_000;
}

const wholeRequest = ({ id }: TriedModel, request: Partial<ModelRequest>, signal: AbortSignal): ModelRequest => ({
  model: id,
  system: [],
  messages: [],
  tools: [],
  maxOutputTokens: mostOutputTokens,
  signal,
  ...request,
});

function modelOf({ model, entry, reads, signal }: Trial, spent: Usage[]): TrialModel {
  return {
    reads,
    contextTokens: entry.context_tokens,
    ask: async (request) => {
      const answer: Omit<TrialAnswer, 'usage'> = { text: '', pieces: 0, calls: [], reasoning: null, leftOut: [] };
      try {
        for await (const event of model.stream(wholeRequest(entry, request, signal))) {
          answer.leftOut.push(...leftOutBy(event));
          if (event.type === 'text') {
            answer.text += event.text;
            answer.pieces += 1;
          } else if (event.type === 'call') answer.calls.push({ ...event.call });
          else if (event.type === 'end') {
            spent.push(event.usage);
            return { ...answer, reasoning: event.reasoning ?? null, usage: event.usage };
          }
        }
      } catch (error) {
        if (error instanceof ModelFailure && error.usage) spent.push(error.usage);
        throw error;
      }
      throw new ModelFailure('invalid_answer', 'The answer has no end.');
    },
    cancel: async (request) => {
      const stopping = new AbortController();
      const stopped = AbortSignal.any([signal, stopping.signal]);
      let hasContinued = false;
      let inputTokens = 0;
      const asked = wholeRequest(entry, request, stopped);
      try {
        for await (const event of model.stream(asked)) {
          hasContinued = stopping.signal.aborted && event.type === 'text';
          if (event.type === 'end') {
            // The answer was so short that nothing was left to cancel.
            spent.push(event.usage);
            return true;
          }
          stopping.abort();
        }
      } catch (error) {
        if (!stopping.signal.aborted) throw error;
        inputTokens = tokensOfRequest(asked);
      }
      spent.push({ inputTokens, outputTokens: 50, cacheReadTokens: 0, cacheWriteTokens: 0, isEstimated: true });
      return !hasContinued;
    },
  };
}

/** A warning names a tool that was not offered. */
const leftOutBy = (event: { type: string; tool?: unknown }): string[] =>
  event.type === 'warning' && typeof event.tool === 'string' ? [event.tool] : [];

/** The operator ran this command to see the vendor's own words, so they are shown without secrets. */
function outcomeOf(error: unknown, recorder: Recorder): CheckOutcome {
  const failure = error instanceof ModelFailure ? error.message : 'The check failed.';
  if (!(error instanceof ModelFailure))
    return { status: 'fails', note: `${failure} ${(error as Error).message ?? ''}` };
  const last = recorder.last();
  if (last && /\bhtml\b/.test(last.contentType)) {
    const note = `The address answered with a web page (${last.status} ${last.contentType}): check the …_BASE_URL and the proxy.`;
    return { status: 'fails', note };
  }
  const words = last && last.status >= 400 ? ` The vendor says: ${wordsIn(last.body)}` : '';
  return { status: 'fails', note: failure + words };
}

const longestWords = 300;

function wordsIn(body: string): string {
  const message = /"(?:message|detail|msg)"\s*:\s*"((?:[^"\\]|\\.)*)"/.exec(body)?.[1];
  return (message ?? body).replace(/\\n|\s+/g, ' ').slice(0, longestWords);
}
