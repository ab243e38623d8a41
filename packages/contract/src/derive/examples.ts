import recorded from '../../examples/answers.json' with { type: 'json' };
import type { ExampleCall } from '../examples/step.ts';
import { story } from '../examples/story.ts';

/**
 * The recorded response to the first call of each operation. `VESTRA_WRITE_EXAMPLES=1` with contract-examples.test.ts
 * records them.
 */
const answers: Readonly<Record<string, unknown>> = recorded;

/** The example of an operation: a call of the story and its recorded response. */
export type Example = { call: ExampleCall; answer: unknown };

const calls = new Map<string, ExampleCall>();
for (const call of story) if (!calls.has(call.operation)) calls.set(call.operation, call);

export function exampleOf(operation: string): Example | undefined {
  const call = calls.get(operation);
  if (!call) return undefined;
  return { call, answer: call.unsent ? call.unsent.answer : answers[operation] };
}
