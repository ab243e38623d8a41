import type { Client } from '../client.ts';
import { isPassing, VestraError } from '../errors.ts';

export type FunctionAnswer = { output: unknown } | { error: string };

/** Another process answered it, its time ran out, or its task was stopped: nothing is left to do. */
const settledCodes = ['already_answered', 'interaction_expired', 'interaction_not_found'];

const mostAttempts = 10;

/**
 * Retries until the answer has arrived: an answer that arrived unconfirmed returns `already_answered`. Returns the code
 * of an already settled call, or null if this answer settled it.
 */
export async function deliverAnswer(
  client: Client,
  callId: string,
  made: FunctionAnswer,
  signal: AbortSignal | undefined,
): Promise<string | null> {
  let answer = made;
  for (let attempt = 1; ; attempt++) {
    try {
      await client.interactions.answer({ interaction_id: callId, ...answer }, { signal });
      return null;
    } catch (error) {
      if (signal?.aborted) return null;
      if (error instanceof VestraError && settledCodes.includes(error.code)) return error.code;
      if (error instanceof VestraError && error.status === 400 && 'output' in answer) {
        answer = { error: `The server refused the result of the function: ${error.message}` };
        continue;
      }
      if (!isPassing(error) || attempt === mostAttempts) throw error;
      await client.backOff(attempt, signal);
    }
  }
}

/** Throws here if the value is not serialisable: that is a failure of the function, not of the delivery. */
export const outputOf = (given: unknown): FunctionAnswer => ({ output: JSON.parse(JSON.stringify(given ?? null)) });

/** The maximum length of a reason in the service. */
const longestReason = 32_000;

export const reasonFrom = (text: string): string =>
  (text.replaceAll('\0', '').trim() || 'The function failed.').toWellFormed().slice(0, longestReason).toWellFormed();
