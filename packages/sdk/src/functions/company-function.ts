import { type FunctionAnswer, outputOf, reasonFrom } from './deliver-answer.ts';
import { type OutputOf, readInput, type StandardSchema } from './standard-schema.ts';

/** The context of a function call. */
export type FunctionContext = {
  /** The same for every attempt at this call. Use it as the idempotency key of the effect. */
  call_id: string;
  conversation_id: string;
  task_id: string | null;
  /** The user of the conversation; null: the org's own agent. */
  user_id: string | null;
  /** Above 1: another process took this call before, may have executed it, and disappeared. */
  attempt: number;
  /** Aborted when nobody waits for the answer: it is too late, was cancelled, or this server stops. */
  signal: AbortSignal;
  /** Shows progress to the user, in at most 200 characters. */
  progress: (text: string) => void;
};

/** The agent reads this error's message. Of any other error it only learns that the function failed. */
export class ToolError extends Error {
  override readonly name = 'ToolError';
}

/** Compares the name, because a function may come from a module with another copy of this class. */
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

/** Runs one call and returns the answer for the agent. `error` is for the operator. */
export async function carryOut(
  { input, run }: CompanyFunction,
  call: Omit<FunctionContext, 'signal' | 'progress'> & { arguments?: unknown },
  { signal, progress }: Pick<FunctionContext, 'signal' | 'progress'>,
): Promise<{ answer: FunctionAnswer; error?: unknown }> {
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
