import type { Client } from '../client.ts';
import { isPassing, VestraError } from '../errors.ts';

export type Answer = { output: unknown } | { error: string };

/** Somebody else answered it, its time ran out, or the work it belonged to was stopped: nothing is left to do. */
const settledCodes = ['already_answered', 'interaction_expired', 'interaction_not_found'];

const mostAttempts = 10;

/**
 * Until it is known to have arrived: an answer that arrived and was not confirmed meets `already_answered`. Gives the code
 * with which the call was found settled, or null where this answer settled it.
 */
export async function deliverAnswer(
  client: Client,
  callId: string,
  made: Answer,
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
        answer = { error: `What the function gave back was refused: ${error.message}` };
        continue;
      }
      if (!isPassing(error) || attempt === mostAttempts) throw error;
      await client.backOff(attempt, signal);
    }
  }
}

/** What cannot be written as JSON is the function's failure, and not the delivery's: it throws here. */
export const outputOf = (given: unknown): Answer => ({ output: JSON.parse(JSON.stringify(given ?? null)) });

/** The longest reason that the service takes. */
const longestReason = 32_000;

export const reasonFrom = (text: string): string =>
  (text.replaceAll('\0', '').trim() || 'The function failed.').toWellFormed().slice(0, longestReason).toWellFormed();
