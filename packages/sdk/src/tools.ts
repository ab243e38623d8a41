import type { Client } from './client.ts';
import { deliverAnswer, type FunctionAnswer, outputOf, reasonFrom } from './functions/deliver-answer.ts';
import { followConversation } from './stream.ts';

type Call = { call_id: string; name: string; arguments: unknown; task_id: string | null };

/** The context of a function call. */
type CallContext = {
  call_id: string;
  conversation_id: string;
  task_id: string | null;
  signal: AbortSignal | undefined;
};

/** Its arguments match the input declared by the deployment file or the message. The agent reads its errors. */
// biome-ignore lint/suspicious/noExplicitAny: each function declares the arguments that its own schema promises.
type ToolFunction = (input: any, context: CallContext) => unknown;

export type AnswerOptions = {
  conversation_id: string;
  /** By name. Calls of other functions are left to other processes. */
  functions: Readonly<Record<string, ToolFunction>>;
  /** Ends with this turn. Default: when the signal is aborted. */
  turn?: string | { id: string } | undefined;
  signal?: AbortSignal | undefined;
};

/**
 * Answers the agent's calls of your functions: the pending ones and each new one. This process runs a call once,
 * however often it is reported, and runs parallel calls in parallel.
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
      .then(async (answer) => void (await deliverAnswer(client, call.call_id, answer, signal)))
      .catch((error: unknown) => {
        // An undelivered answer ends the loop: the agent would otherwise wait unnoticed.
        failure ??= error;
        following.abort();
      })
      .finally(() => running.delete(answering));
    running.add(answering);
  }

  async function carryOut(run: ToolFunction, { call_id, task_id, arguments: input }: Call): Promise<FunctionAnswer> {
    try {
      return outputOf(await run(input, { call_id, conversation_id, task_id, signal }));
    } catch (error) {
      return { error: reasonOf(error) };
    }
  }

  try {
    const conversation = await client.conversations.get({ conversation_id }, { signal });
    // If a turn is named, its end may be past, so the events are read from the first.
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

const reasonOf = (error: unknown): string => reasonFrom(error instanceof Error ? error.message : String(error));
