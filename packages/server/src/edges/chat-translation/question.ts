import { createHash } from 'node:crypto';
import { fail } from '@vestra/contract/errors';
import { maxUploadBytes } from '@vestra/contract/files';
import { reservedToolNames } from '@vestra/contract/reserved-names';

export type ChatLine = { role: 'user' | 'assistant'; text: string };

export type InlineFile = { filename: string; mediaType: string; bytes: Uint8Array<ArrayBuffer> };

/** The request of a client that uses another API, in any format. */
export type ChatQuestion = {
  /** The deployment; absent if an existing conversation determines it. */
  model: string | undefined;
  user: string | undefined;
  /** Text that the conversation does not contain yet. */
  message: string;
  files: InlineFile[];
  fileIds: string[];
  toolResults: { call_id: string; output?: string; error?: string }[];
  /** Answers to pending interactions. */
  answers: InteractionAnswer[];
  /** Earlier messages, as the client sent them. */
  earlier: ChatLine[];
  /** System messages of the client, which become context beside the deployment's instructions. */
  system: string;
  tools: CallerTools;
  outputSchema: Record<string, unknown> | undefined;
  /** Replaces `outputSchema` if our limits for schemas refuse it. */
  briefSchema?: Record<string, unknown> | undefined;
  metadata: Record<string, string> | undefined;
  /** The answer to continue from. */
  previous: string | undefined;
  conversation: string | undefined;
  /** How to find the conversation if the request names none. */
  match: ConversationMatch | undefined;
};

export type InteractionAnswer = {
  id: string;
  answer:
    | { approve?: boolean; answers?: string[]; decision?: 'done' | 'could_not' | 'not_now'; present_user?: boolean }
    | 'cancel';
};

/** `isWhole`: the digest covers all messages, so a conversation that continued since does not match. */
export type ConversationMatch = { digest: string; isWhole: boolean };

export const digestOf = (value: unknown): string =>
  createHash('sha256').update(JSON.stringify(value)).digest('base64url');

/** The client's functions as our message route accepts them. */
type CallerTools = {
  declared: {
    name: string;
    description: string;
    input_schema: Record<string, unknown>;
    run_without_asking: true;
    timeout_s: number;
  }[];
  /** From our name to the client's name, with the entry `forcedCall` if the answer must be a call. */
  names: Record<string, string>;
};

export type DeclaredFunction = {
  name: string;
  description?: string | null | undefined;
  parameters?: Record<string, unknown> | null | undefined;
};

/** The maximum for a caller's function: the client continues when it is ready. */
const maxToolSeconds = 600;

const maxNameLength = 60;

/** The limit of our message route. The client of a model vendor cuts to the vendor's limit. */
const maxDescriptionLength = 32_000;

/** Our names are lowercase; the client's may be anything. */
export function callerTools(given: readonly DeclaredFunction[]): CallerTools {
  const names: Record<string, string> = {};
  const lastNumbers = new Map<string, number>();
  const declared = given.map(({ name, description, parameters }) => {
    const own = freeName(name, names, lastNumbers);
    names[own] = name;
    return {
      name: own,
      description: (description?.trim() || name).slice(0, maxDescriptionLength).toWellFormed(),
      input_schema: { type: 'object', ...parameters },
      // The client runs the function itself, so no approval comes first.
      run_without_asking: true as const,
      timeout_s: maxToolSeconds,
    };
  });
  return { declared, names };
}

/** Numbers duplicate names from 2 on. `lastNumbers` stores the last number of each, so that none is tried twice. */
function freeName(name: string, taken: Record<string, string>, lastNumbers: Map<string, number>): string {
  const snake = name
    .slice(0, maxNameLength)
    .replace(/([a-z0-9])([A-Z])/g, '$1_$2')
    .toLowerCase()
    .replace(/[^a-z0-9_]/g, '_');
  // Names with `mcp__` belong to tools of MCP servers, and a client may name its own functions so.
  const stem = (/^(?!mcp__)[a-z]/.test(snake) ? snake : `f_${snake}`).slice(0, maxNameLength);
  let number = lastNumbers.get(stem) ?? 1;
  let free = number === 1 ? stem : `${stem}_${number}`;
  while (Object.hasOwn(taken, free) || reservedToolNames.has(free)) free = `${stem}_${++number}`;
  lastNumbers.set(stem, number);
  return free;
}

/** Reads `data:image/png;base64,…`. The schema has checked the beginning. */
export function bytesOfDataUrl(url: string): { mediaType: string; bytes: Uint8Array<ArrayBuffer> } {
  const mediaType = url.slice('data:'.length, url.indexOf(';'));
  return { mediaType, bytes: bytesOfBase64(url.slice(url.indexOf(',') + 1)) };
}

/** Longer than the largest file with line breaks. Refused before megabytes are decoded. */
const maxEncodedLength = maxUploadBytes * 1.5;

/** Linear time: the input may be megabytes of anything. */
export function bytesOfBase64(encoded: string): Uint8Array<ArrayBuffer> {
  if (encoded.length > maxEncodedLength) throw fail('file_too_large');
  const text = encoded.trimEnd();
  const padding = text.endsWith('==') ? 2 : text.endsWith('=') ? 1 : 0;
  if (/[^A-Za-z0-9+/\s]/.test(text.slice(0, text.length - padding))) {
    throw fail('invalid_request', { message: 'The content of the file is not base64.' });
  }
  return new Uint8Array(Buffer.from(text, 'base64'));
}

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

const forcedCallPrefix = 'call_for_';

/** The turn of such an answer has settled, so the id of the call leads to the answer. */
export const forcedCallId = (answerId: string): string => forcedCallPrefix + answerId;

/** The answer with a forced call; null if the call belongs to an open turn. */
export const answerOfForcedCall = (callId: string): string | null =>
  callId.startsWith(forcedCallPrefix) ? callId.slice(forcedCallPrefix.length) : null;
