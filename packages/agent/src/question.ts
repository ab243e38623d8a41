import type { z } from 'zod';
import type { Message } from './message.ts';
import type { Purpose } from './model.ts';

/** A question to a model outside the agent's loop: a prompt, what it is about, and the shape of the answer. */
export type Question<Answer, Value = Answer> = {
  purpose: Purpose;
  prompt: string;
  messages: readonly Message[];
  /** What an answer must be to be read. */
  schema: z.ZodType<Answer>;
  /** What the model is shown, where an answer of less is read too. Absent: `schema`. */
  shown?: z.ZodType;
  /** How often the model is told what is wrong with its answer and asked again. Absent: never. */
  repairs?: number;
  /** Absent: the answer is the value. Null: the model has not answered in the shape that was asked for, but with `text`. */
  read?: (answer: Answer | null, isLast: boolean, text: string) => Reading<Value> | Promise<Reading<Value>>;
};

/** `again`: the answer is of no use, and this is what the model is told then. */
export type Reading<Value> = { value: Value } | { again: string };

/** Somebody pays for the answer, and waits for it as long as they can. */
export type Ask = <Answer, Value = Answer>(question: Question<Answer, Value>) => Promise<Value>;

export const saidByUser = (text: string): Message => ({ role: 'user', parts: [{ kind: 'text', text }] });

/** What the model is told of an answer that is sent back to it. */
export const unusable = (faults: readonly string[]) =>
  `This cannot be used:\n${faults.map((fault) => `- ${fault}`).join('\n')}`;

export const notOfTheShape = 'It is not JSON of the asked shape.';

/** Undefined where it is no JSON. */
export function parsedJson(text: string): unknown {
  try {
    return JSON.parse(withoutFence(text)) as unknown;
  } catch {
    return undefined;
  }
}

/** Models like to set an answer apart as code: what stands inside is the answer. Looks once, however long the text is. */
export function withoutFence(text: string): string {
  const trimmed = text.trim();
  const [opening] = /^```[a-z]*[^\S\n]*\n/.exec(trimmed) ?? [];
  return opening !== undefined && trimmed.endsWith('```') ? trimmed.slice(opening.length, -3) : text;
}
