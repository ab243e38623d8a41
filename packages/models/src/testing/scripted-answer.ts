import { createHash } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';

export type ScriptedVendor = 'anthropic' | 'openai' | 'google' | 'compatible';

export type NormalisedMessage =
  | { role: 'user'; text: string; files: { mediaType: string }[] }
  | { role: 'agent'; text: string; calls: { id: string; name: string; arguments: unknown }[] }
  | { role: 'tool'; results: { callId: string; output: string; files?: { mediaType: string }[] }[] };

/** A request as any vendor's model would see it. */
export type NormalisedRequest = {
  vendor: ScriptedVendor;
  model: string;
  system: string[];
  messages: NormalisedMessage[];
  /** What stands behind the last message of the user and holds for this request alone: the time, memory, what is open. */
  passing: string;
  tools: { name: string; description: string; inputSchema: unknown }[];
  outputSchema: unknown;
  /** How many requests the server has had, this one included. */
  count: number;
  headers: IncomingHttpHeaders;
  body: Record<string, unknown>;
};

type ScriptedCall = {
  id?: string;
  name: string;
  /** A string is sent as it is, valid JSON or not. */
  arguments: unknown;
};

export type ScriptedAnswer = {
  /** What the model thinks first, sealed as its vendor does it; from then on the server wants it back as the vendor would. */
  thinking?: string;
  /** One chunk, or the chunks. */
  text?: string | readonly string[];
  calls?: readonly ScriptedCall[];
  /** `inputTokens` holds neither cached nor newly cached tokens. */
  usage?: { inputTokens: number; outputTokens: number; cacheReadTokens?: number; cacheWriteTokens?: number } | null;
  stop?: 'length' | 'filter';
  /** Before the first byte. */
  delayMs?: number;
  /** Between chunks of text. */
  chunkDelayMs?: number;
  /** How long the response stays open after its last event. */
  lingerMs?: number;
  /** The answer in pieces of so many bytes, wherever that cuts a character. */
  bytesPerWrite?: number;
  /** A status is answered at once; `hang` and `cut` come after the text, or before any byte where there is none. */
  fail?: number | 'hang' | 'cut';
  /** For `fail` with a status. */
  failMessage?: string;
  failCode?: string;
  headers?: Record<string, string>;
};

/** How one vendor writes requests and answers. */
export type Wire = {
  normalise: (
    body: Record<string, unknown>,
    path: string,
  ) => Omit<NormalisedRequest, 'count' | 'headers' | 'vendor' | 'passing'>;
  /** Server-sent events: what opens the answer, one for each chunk of text, what completes it. */
  frames: (answer: CompleteAnswer, request: { model: string }) => { opening: string; text: string[]; closing: string };
  error: (status: number, message: string, code: string | undefined) => unknown;
  /** What the vendor finds wrong with the thoughts that a request brings back, or does not; null: nothing. */
  refuses?: (
    body: Record<string, unknown>,
    model: string,
    given: GivenThoughts,
  ) => { message: string; code?: string } | null;
};

/** By the calls that they led to: what the server's models have thought. */
export type GivenThoughts = ReadonlyMap<string, { model: string; thinking: string }>;

/** Tells calls apart without their ids, which whoever sends them back may have changed. */
export const keyOfCalls = (calls: readonly { name: string; arguments: unknown }[]) =>
  JSON.stringify(calls.map(({ name, arguments: given }) => [name, given]));

/** No one else can make it, and it fits one text of one model. */
export const sealOf = (model: string, thinking: string) =>
  createHash('sha256').update(`${model} thought ${thinking}`).digest('base64');

/** The thought itself, unreadable, for vendors that let nobody read it. */
export const encryptedOf = (model: string, thinking: string) =>
  Buffer.from(JSON.stringify({ thinking, seal: sealOf(model, thinking) })).toString('base64');

export function isEncryptedBy(model: string, content: unknown): boolean {
  try {
    const { thinking, seal } = asRecord(JSON.parse(Buffer.from(String(content), 'base64').toString('utf8')));
    return seal === sealOf(model, String(thinking));
  } catch {
    return false;
  }
}

type CompleteAnswer = {
  thinking: string | null;
  text: readonly string[];
  calls: readonly { id: string; name: string; arguments: string }[];
  usage: { inputTokens: number; outputTokens: number; cacheReadTokens: number; cacheWriteTokens: number } | null;
  stop: 'length' | 'filter' | null;
};

const passing =
  /(?:\n\n)?<data-[0-9a-f]{24} of="(?:context|memory|missing memory|open work|open questions|time)">[\s\S]*$/;

/** The messages without what is said to the model once, and that by itself. */
export function partPassing(messages: readonly NormalisedMessage[]): {
  messages: NormalisedMessage[];
  passing: string;
} {
  let found = '';
  const parted = messages.map((message) => {
    if (message.role !== 'user') return message;
    found = passing.exec(message.text)?.[0].trimStart() ?? found;
    return { ...message, text: message.text.replace(passing, '') };
  });
  return { messages: parted, passing: found };
}

export const asRecord = (value: unknown): Record<string, unknown> => (value ?? {}) as Record<string, unknown>;
export const asList = (value: unknown): Record<string, unknown>[] =>
  Array.isArray(value) ? (value as Record<string, unknown>[]) : [];

/** Content is a text or a list of parts, in every vendor's format. */
export function textOf(content: unknown): string {
  if (typeof content === 'string') return content;
  return asList(content)
    .map((part) => (typeof part.text === 'string' ? part.text : ''))
    .join('');
}

export function parsed(json: unknown): unknown {
  return typeof json === 'string' ? JSON.parse(json) : json;
}
