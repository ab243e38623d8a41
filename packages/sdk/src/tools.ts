import type { Client } from './client.ts';
import { type Answer, deliverAnswer, outputOf, reasonFrom } from './functions/deliver-answer.ts';
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
      .then(async (answer) => void (await deliverAnswer(client, call.call_id, answer, signal)))
      .catch((error: unknown) => {
        // An answer that cannot be delivered would leave the agent waiting unseen: it ends the following.
        failure ??= error;
        following.abort();
      })
      .finally(() => running.delete(answering));
    running.add(answering);
  }

  async function carryOut(run: ToolFunction, { call_id, task_id, arguments: input }: Call): Promise<Answer> {
    try {
      return outputOf(await run(input, { call_id, conversation_id, task_id, signal }));
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

const reasonOf = (error: unknown): string => reasonFrom(error instanceof Error ? error.message : String(error));
