import type { Answer } from '../../engine/interactions/index.ts';

/** What came of calling the address once. */
export type Outcome =
  | { kind: 'answered'; answer: Answer; fault: string | null }
  /** It was taken, and is answered over the API. */
  | { kind: 'later' }
  | { kind: 'again'; fault: string };

/** Of a status that will not be another one a moment later the agent is told at once: it waits, and a person with it. */
const passingStatuses = new Set([408, 425, 429]);

/** The answer of the address. `fault` is shown to the org: never anything of the body. */
export function readEndpointAnswer(status: number, body: Uint8Array): Outcome {
  if (status === 202) return { kind: 'later' };
  if (status === 204) return answered({ output: null });
  if (status >= 200 && status < 300) return readBody(body);
  if (status >= 500 || passingStatuses.has(status)) return { kind: 'again', fault: `The address answered ${status}.` };
  const why = status < 400 ? 'redirects are not followed' : 'it is not called again for this';
  return failed(`The address answered ${status}: ${why}.`);
}

function readBody(body: Uint8Array): Outcome {
  const given = readJson(body);
  if (typeof given === 'object' && given !== null) {
    const { output, error } = given as { output?: unknown; error?: unknown };
    if (typeof error === 'string' && error.trim() !== '' && output === undefined) return answered({ error });
    if (output !== undefined && error === undefined) return answered({ output });
  }
  return failed('The answer is no JSON object with an `output` or an `error` of text.');
}

function readJson(body: Uint8Array): unknown {
  try {
    return JSON.parse(Buffer.from(body).toString('utf8'));
  } catch {
    return undefined;
  }
}

const answered = (answer: Answer): Outcome => ({ kind: 'answered', answer, fault: null });
const failed = (fault: string): Outcome => ({ kind: 'answered', answer: { error: 'The function failed.' }, fault });

/** In seconds, from one attempt to the next. The time of the call bounds how many there are. */
const pauses = [1, 2, 5, 10, 20, 30];

export const pauseAfter = (attempt: number): number => pauses[Math.min(attempt, pauses.length) - 1] as number;
