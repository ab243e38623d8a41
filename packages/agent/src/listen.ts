import type { Reasoning, ToolCall } from './message.ts';
import { type Model, ModelFailure, type ModelRequest, type ModelWarning, type Usage } from './model.ts';

/** The model's answer to one request. */
export type Answer = {
  text: string;
  calls: readonly ToolCall[];
  reasoning: Reasoning | null;
  usage: Usage;
  isCut: boolean;
};

type Ears = {
  onText: (text: string) => Promise<void>;
  /** A tool that the vendor rejected and that was not offered. */
  onWarning?: (warning: ModelWarning) => Promise<void>;
  /** Aborted if the run was ended from outside. Its reason is then thrown. */
  ended: AbortSignal;
  /** Aborted when the run has used up its minutes. */
  timeUp: AbortSignal;
};

/**
 * Reads the stream of a model to its end. Errors of the model are returned as a `ModelFailure`; errors of `onText` are
 * thrown.
 */
export async function listen(model: Model, request: ModelRequest, ears: Ears): Promise<Answer | ModelFailure> {
  let text = '';
  const calls: ToolCall[] = [];
  const events = model.stream(request)[Symbol.asyncIterator]();
  try {
    for (;;) {
      const next = await heard(events.next(), ears);
      if (next instanceof ModelFailure) return next;
      if (next.done) return new ModelFailure('invalid_answer', 'The model ended its answer without saying so.');
      const event = next.value;
      if (event.type === 'end') {
        return { text, calls, reasoning: event.reasoning ?? null, usage: event.usage, isCut: event.cut };
      }
      if (event.type === 'warning') await ears.onWarning?.(event);
      else if (event.type === 'call') calls.push(event.call);
      else {
        text += event.text;
        await ears.onText(event.text);
      }
    }
  } finally {
    await events.return?.();
  }
}

/** If the run was ended, its reason is thrown: the model failed only because of that. */
async function heard<T>(next: Promise<T>, { ended, timeUp }: Ears): Promise<T | ModelFailure> {
  try {
    return await next;
  } catch (error) {
    ended.throwIfAborted();
    if (error instanceof ModelFailure) return error;
    if (timeUp.aborted) return new ModelFailure('timeout', 'The time was up before the model had answered.');
    throw error;
  }
}
