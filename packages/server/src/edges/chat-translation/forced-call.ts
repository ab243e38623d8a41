/**
 * The entry in the function names of an answer that must be a call. Its value is the client's name of the function, or
 * empty if the agent chooses one. No function has this name here.
 */
export const forcedCall = '*';

/** The call in the data of a settled answer; null if the answer is no call. */
export function forcedCallIn(
  names: Readonly<Record<string, string>>,
  data: unknown,
): { name: string; arguments: string } | null {
  const name = names[forcedCall];
  if (name === undefined || typeof data !== 'object' || data === null) return null;
  if (name !== '') return { name, arguments: JSON.stringify(data) };
  const { call } = data as { call?: { function: string; arguments: unknown } };
  return call ? { name: call.function, arguments: JSON.stringify(call.arguments) } : null;
}

const prefix = 'call_for_';

/** The turn of such an answer has settled, so the id of the call leads to the answer. */
export const forcedCallId = (answerId: string): string => prefix + answerId;

/** The answer with a forced call; null if the call belongs to an open turn. */
export const answerOfForcedCall = (callId: string): string | null =>
  callId.startsWith(prefix) ? callId.slice(prefix.length) : null;
