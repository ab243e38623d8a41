import { answers } from '../examples/answers.ts';
import type { Step } from '../examples/step.ts';
import { story } from '../examples/story.ts';

/** An operation’s example: a call of the story, and what was answered to it. */
export type Example = { call: Step; answer: unknown };

const calls = new Map<string, Step>();
for (const call of story) if (!calls.has(call.operation)) calls.set(call.operation, call);

export function exampleOf(operation: string): Example | undefined {
  const call = calls.get(operation);
  if (!call) return undefined;
  return { call, answer: call.unsent ? call.unsent.answer : answers[operation] };
}
