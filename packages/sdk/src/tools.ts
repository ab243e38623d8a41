import type { Client } from './client.ts';
import { isPassing, VestraError } from './errors.ts';
import { followConversation } from './stream.ts';

type Call = { call_id: string; name: string; arguments: unknown; task_id: string | null };

/** What a function is told besides its arguments. */
type CallContext = {
  call_id: string;
  conversation_id: string;
  task_id: string | null;
  signal: AbortSignal | undefined;
};

/** Its arguments fit the input that the deployment file or the message declared. What it throws the agent reads as an error. */
// biome-ignore lint/suspicious/noExplicitAny: each function declares the arguments that its own schema promises.
type ToolFunction = (input: any, context: CallContext) => unknown;

export type AnswerOptions = {
  conversation_id: string;
  /** By name. A call of any other function is left to whoever answers that one. */
  functions: Readonly<Record<string, ToolFunction>>;
  /** Ends with this turn; absent: when the signal is aborted. */
  turn?: string | { id: string } | undefined;
  signal?: AbortSignal | undefined;
};

/**
 * Answers the agent's calls of your functions: those that are open now and each that comes. A call is carried out once
 * by this process however often it is told of, and functions that are called together run together.
 */
export async function answerToolCalls(
  client: Client,
  { conversation_id, functions, turn, signal }: AnswerOptions,
): Promise<void> {
  const turnId = typeof turn === 'object' ? turn.id : turn;
  const begun = new Set<string>();
  const running = new Set<Promise<void>>();
  const following = new AbortController();
  const ends = signal ? AbortSignal.any([signal, following.signal]) : following.signal;
  let failure: unknown;

  function begin(call: Call): void {
    const run = Object.hasOwn(functions, call.name) ? functions[call.name] : undefined;
    if (!run || begun.has(call.call_id)) return;
    begun.add(call.call_id);
    const answering = carryOut(run, call)
      .then((answer) => deliver(client, call, answer, signal))
      .catch((error) => {
        // An answer that cannot be delivered would leave the agent waiting unseen: it ends the following.
        failure ??= error;
        following.abort();
      })
      .finally(() => running.delete(answering));
    running.add(answering);
  }

  async function carryOut(run: ToolFunction, { call_id, task_id, arguments: input }: Call): Promise<Answer> {
    try {
      const output = (await run(input, { call_id, conversation_id, task_id, signal })) ?? null;
      // Here and not while it is sent: what cannot be written as JSON is the function's failure.
      return { output: JSON.parse(JSON.stringify(output)) };
    } catch (error) {
      return { error: reasonOf(error) };
    }
  }

  try {
    const conversation = await client.conversations.get({ conversation_id }, { signal });
    // Told of a turn the caller may have missed its end: it is looked for from the first event on.
    const after = turnId === undefined ? conversation.last_event_seq : 0;
    for (const call of conversation.pending_tool_calls) begin(call);
    for await (const event of followConversation(client, conversation_id, { after, signal: ends })) {
      if (event.type === 'tool_call.created' && event.seq > conversation.last_event_seq) begin(event.data.call as Call);
      if (event.type === 'turn.settled' && event.turn_id === turnId) break;
    }
  } catch (error) {
    if (!signal?.aborted) throw error;
  } finally {
    await Promise.all(running);
  }
  if (failure !== undefined) throw failure;
}

type Answer = { output: unknown } | { error: string };

/** Somebody else answered it, its time ran out, or the work it belonged to was stopped: nothing is left to do. */
const settledCodes = ['already_answered', 'interaction_expired', 'interaction_not_found'];

/** Until it is known to have arrived: an answer that arrived and was not confirmed meets `already_answered`. */
async function deliver(client: Client, call: Call, made: Answer, signal: AbortSignal | undefined): Promise<void> {
  let answer = made;
  for (let attempt = 1; ; attempt++) {
    try {
      await client.interactions.answer({ interaction_id: call.call_id, ...answer }, { signal });
      return;
    } catch (error) {
      if (signal?.aborted) return;
      if (error instanceof VestraError && settledCodes.includes(error.code)) return;
      if (error instanceof VestraError && error.status === 400 && 'output' in answer) {
        answer = { error: `What the function gave back was refused: ${error.message}` };
        continue;
      }
      if (!isPassing(error) || attempt === mostAttempts) throw error;
      await client.backOff(attempt, signal);
    }
  }
}

const mostAttempts = 10;

/** The longest reason that the service takes. */
const longestReason = 32_000;

function reasonOf(error: unknown): string {
  const text = (error instanceof Error ? error.message : String(error)).trim() || 'The function failed.';
  return text.replaceAll('\0', '').toWellFormed().slice(0, longestReason).toWellFormed();
}
