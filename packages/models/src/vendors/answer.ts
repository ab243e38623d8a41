import type { LanguageModelV4CallOptions, LanguageModelV4StreamPart, LanguageModelV4Usage } from '@ai-sdk/provider';
import type { ToolCall } from '@vestra/agent/message';
import type { ModelEvent, ModelRequest, Usage } from '@vestra/agent/model';
import { tokensOf, tokensOfRequest } from '../tokens.ts';
import { AttemptFailed, EndedEarly, IdleTimeout } from './fault.ts';
import type { Timing } from './timing.ts';
import type { Vendor } from './vendor.ts';
import type { WireNames } from './wire-names.ts';

type Attempt = {
  vendor: Vendor;
  timing: Timing;
  names: WireNames;
  request: ModelRequest;
  options: LanguageModelV4CallOptions;
};

/** One call to the vendor. Tool calls are held until the answer is whole, so that a broken answer calls nothing. */
export async function* readAnswer({ vendor, timing, names, request, options }: Attempt): AsyncGenerator<ModelEvent> {
  const calls: ToolCall[] = [];
  let written = 0;
  for await (const part of partsOf(vendor, options, request.signal, timing.idleTimeoutMs)) {
    switch (part.type) {
      case 'text-delta':
        if (part.delta === '') break;
        written += tokensOf(part.delta);
        yield { type: 'text', text: part.delta };
        break;
      case 'tool-call':
        calls.push({ id: part.toolCallId, name: names.fromWire(part.toolName), arguments: argumentsOf(part.input) });
        break;
      case 'error':
        throw part.error;
      case 'finish': {
        const usage = usageOf(part.usage) ?? {
          inputTokens: tokensOfRequest(request),
          outputTokens: written + tokensOf(JSON.stringify(calls)),
          cacheReadTokens: 0,
          cacheWriteTokens: 0,
          isEstimated: true,
        };
        const reason = part.finishReason.unified;
        if (reason === 'content-filter') throw filtered(vendor, usage);
        if (reason === 'error' || reason === 'interrupted') throw new EndedEarly();
        const cut = reason === 'length';
        for (const call of withOwnIds(cut ? calls.filter(isWhole) : calls)) yield { type: 'call', call };
        yield { type: 'end', usage, cut };
        return;
      }
    }
  }
  throw new EndedEarly();
}

/** The vendor's stream, ended by the caller's signal or by silence. */
async function* partsOf(
  vendor: Vendor,
  options: LanguageModelV4CallOptions,
  signal: AbortSignal,
  idleTimeoutMs: number,
): AsyncGenerator<LanguageModelV4StreamPart> {
  const controller = new AbortController();
  let reader: ReadableStreamDefaultReader<LanguageModelV4StreamPart> | undefined;
  let isWaiting = true;
  let isComplete = false;
  const end = (reason: unknown) => {
    controller.abort(reason);
    // Parsers may hold back what they have; a cancelled reader answers at once.
    void reader?.cancel(reason).catch(() => {});
  };
  const onAbort = () => end(signal.reason);
  // Time that the caller spends with what it was given is not the vendor's silence.
  const idle = setTimeout(() => (isWaiting ? end(new IdleTimeout()) : idle.refresh()), idleTimeoutMs);
  signal.addEventListener('abort', onAbort, { once: true });
  try {
    const model = await vendor.load();
    controller.signal.throwIfAborted();
    // Raw chunks are asked for because reasoning models send many of them before the first part that concerns us.
    const { stream } = await model.doStream({ ...options, abortSignal: controller.signal, includeRawChunks: true });
    reader = stream.getReader();
    for (;;) {
      isWaiting = true;
      idle.refresh();
      const { value, done } = await reader.read();
      isWaiting = false;
      controller.signal.throwIfAborted();
      if (done) return;
      isComplete = value.type === 'finish';
      yield value;
    }
  } catch (error) {
    if (controller.signal.aborted) throw controller.signal.reason;
    throw error;
  } finally {
    clearTimeout(idle);
    signal.removeEventListener('abort', onAbort);
    if (isComplete && reader) void drain(reader, controller);
    else {
      controller.abort();
      void reader?.cancel().catch(() => {});
    }
  }
}

/** A connection whose answer was read to its last byte serves the next call; one that was left early is closed. */
async function drain(reader: ReadableStreamDefaultReader<unknown>, controller: AbortController): Promise<void> {
  const patience = setTimeout(() => controller.abort(), 1000);
  try {
    while (!(await reader.read()).done);
  } catch {
    // The answer is complete; how its connection ended concerns nobody.
  } finally {
    clearTimeout(patience);
  }
}

/** What the model wrote stays as it is where it is no JSON: the agent tells the model so. */
function argumentsOf(input: string): unknown {
  if (input.trim() === '') return {};
  try {
    return JSON.parse(input);
  } catch {
    return input;
  }
}

const isWhole = (call: ToolCall) => typeof call.arguments !== 'string';

/** Some endpoints give every call of an answer the same id. */
function withOwnIds(calls: ToolCall[]): ToolCall[] {
  const seen = new Set<string>();
  return calls.map((call, index) => {
    const id = seen.has(call.id) ? `${call.id}_${index}` : call.id;
    seen.add(id);
    return { ...call, id };
  });
}

/** Vendors that cache count cached tokens into the total; each has a price of its own and is in no other number. */
function usageOf({ inputTokens, outputTokens }: LanguageModelV4Usage): Usage | null {
  if (inputTokens.total === undefined && outputTokens.total === undefined) return null;
  const cacheReadTokens = inputTokens.cacheRead ?? 0;
  const cacheWriteTokens = inputTokens.cacheWrite ?? 0;
  return {
    inputTokens: Math.max(0, (inputTokens.total ?? 0) - cacheReadTokens - cacheWriteTokens),
    outputTokens: outputTokens.total ?? 0,
    cacheReadTokens,
    cacheWriteTokens,
  };
}

const filtered = (vendor: Vendor, usage: Usage) =>
  new AttemptFailed({
    reason: 'refused',
    message: `${vendor.title} stopped the answer by its content filter.`,
    isPassing: false,
    retryAfterMs: null,
    status: null,
    usage,
  });
