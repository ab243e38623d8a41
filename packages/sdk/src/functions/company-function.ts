import { type Answer, outputOf, reasonFrom } from './deliver-answer.ts';
import { type OutputOf, readInput, type StandardSchema } from './standard-schema.ts';

/** What a function is told besides its arguments. */
export type FunctionContext = {
  /** The same however often this call is taken: use it as the key under which the effect happens once. */
  call_id: string;
  conversation_id: string;
  task_id: string | null;
  /** Who the agent talks to; null: the org's own agent. */
  user_id: string | null;
  /** Above 1: somebody took this call before, may have carried it out, and was not heard of again. */
  attempt: number;
  /** Aborted when nobody waits for the answer any more: it came too late, was cancelled, or this server stops. */
  signal: AbortSignal;
  /** Says to the person how far it is, in at most 200 characters. */
  progress: (text: string) => void;
};

/** What the agent reads of it is its message. Of any other error it reads that the function failed, and nothing else. */
export class ToolError extends Error {
  override readonly name = 'ToolError';
}

/** By its name: a function may come from a module with a copy of this one of its own. */
export const isToolError = (error: Error): boolean => error.name === 'ToolError';

/** `input` is a zod schema, or one of any library that follows Standard Schema. */
export type CompanyFunction = {
  input?: StandardSchema | undefined;
  // biome-ignore lint/suspicious/noExplicitAny: `defineFunction` has checked it against the schema.
  run: (input: any, context: FunctionContext) => unknown;
};

/** A function whose argument has the type of its schema. */
export function defineFunction<Schema extends StandardSchema>(declared: {
  input: Schema;
  run: (input: OutputOf<Schema>, context: FunctionContext) => unknown;
}): CompanyFunction {
  return declared;
}

/** What the agent is told of one call; `error` is for whoever runs the function. */
export async function carryOut(
  { input, run }: CompanyFunction,
  call: Omit<FunctionContext, 'signal' | 'progress'> & { arguments?: unknown },
  { signal, progress }: Pick<FunctionContext, 'signal' | 'progress'>,
): Promise<{ answer: Answer; error?: unknown }> {
  const { call_id, conversation_id, task_id, user_id, attempt } = call;
  try {
    const read = input ? await readInput(input, call.arguments) : { value: call.arguments };
    if ('fault' in read) throw new ToolError(`The arguments do not fit. ${read.fault}`);
    const context = { call_id, conversation_id, task_id, user_id, attempt, signal, progress };
    return { answer: outputOf(await run(read.value, context)) };
  } catch (error) {
    return {
      answer: {
        error: error instanceof Error && isToolError(error) ? reasonFrom(error.message) : 'The function failed.',
      },
      error,
    };
  }
}
