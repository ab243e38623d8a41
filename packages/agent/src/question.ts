import type { z } from 'zod';
import type { Message } from './message.ts';
import type { Purpose } from './model.ts';

/** A question to a model outside the agent's loop: a prompt, its subject, and the shape of the answer. */
export type Question<Answer, Value = Answer> = {
  purpose: Purpose;
  prompt: string;
  messages: readonly Message[];
  /** The schema that a usable answer must match. */
  schema: z.ZodType<Answer>;
  /** The schema shown to the model, if it is stricter than `schema`. Default: `schema`. */
  shown?: z.ZodType;
  /** How often the model is informed of faults in its answer and asked again. Default: never. */
  repairs?: number;
  /** Default: the answer is the value. `answer` is null if the model answered with `text` that does not match. */
  read?: (answer: Answer | null, isLast: boolean, text: string) => Reading<Value> | Promise<Reading<Value>>;
};

/** `again`: the answer is unusable, and this message is sent to the model. */
export type Reading<Value> = { value: Value } | { again: string };

/** The caller pays for the answer and sets the time limit. */
export type Ask = <Answer, Value = Answer>(question: Question<Answer, Value>) => Promise<Value>;

export const saidByUser = (text: string): Message => ({ role: 'user', parts: [{ kind: 'text', text }] });

/** Formats the faults of an answer for the model. */
export const unusable = (faults: readonly string[]) =>
  `This cannot be used:\n${faults.map((fault) => `- ${fault}`).join('\n')}`;

export const notOfTheShape = 'It is not JSON of the asked shape.';

/** Returns undefined if the text is not JSON. */
export function parsedJson(text: string): unknown {
  try {
    return JSON.parse(withoutFence(text)) as unknown;
  } catch {
    return undefined;
  }
}

/** Removes the code fence that models often put around an answer. Runs in linear time. */
export function withoutFence(text: string): string {
  const trimmed = text.trim();
  const [opening] = /^```[a-z]*[^\S\n]*\n/.exec(trimmed) ?? [];
  return opening !== undefined && trimmed.endsWith('```') ? trimmed.slice(opening.length, -3) : text;
}
