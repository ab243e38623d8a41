import { createHash } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';

export type ScriptedVendor = 'anthropic' | 'openai' | 'google' | 'compatible';

export type NormalisedMessage =
  | { role: 'user'; text: string; files: { mediaType: string }[] }
  | { role: 'agent'; text: string; calls: { id: string; name: string; arguments: unknown }[] }
  | { role: 'tool'; results: { callId: string; output: string; files?: { mediaType: string }[] }[] };

/** A request in a vendor-neutral form. */
export type NormalisedRequest = {
  vendor: ScriptedVendor;
  model: string;
  system: string[];
  messages: NormalisedMessage[];
  /** The text after the user's last message that holds for this request only: time, memory, open tasks. */
  passing: string;
  tools: { name: string; description: string; inputSchema: unknown }[];
  outputSchema: unknown;
  /** The number of requests so far, including this one. */
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
  /** The model's reasoning, signed as its vendor does it. The server then requires it back as the vendor would. */
  thinking?: string;
  /** One chunk, or several. */
  text?: string | readonly string[];
  calls?: readonly ScriptedCall[];
  /** `inputTokens` excludes cached and newly cached tokens. */
  usage?: { inputTokens: number; outputTokens: number; cacheReadTokens?: number; cacheWriteTokens?: number } | null;
  stop?: 'length' | 'filter';
  /** Chat completions only: the last choice reports the usage, as at Mistral, instead of a separate event. */
  usageInLastChoice?: boolean;
  /** Before the first byte. */
  delayMs?: number;
  /** Between chunks of text. */
  chunkDelayMs?: number;
  /** How long the response stays open after its last event. */
  lingerMs?: number;
  /** Writes the answer in pieces of this many bytes, also inside a character. */
  bytesPerWrite?: number;
  /** A status is returned at once. `hang` and `cut` follow the text, or come before any byte if there is none. */
  fail?: number | 'hang' | 'cut';
  /** For `fail` with a status. */
  failMessage?: string;
  failCode?: string;
  headers?: Record<string, string>;
};

/** The request and response format of one vendor. */
export type Wire = {
  normalise: (
    body: Record<string, unknown>,
    path: string,
  ) => Omit<NormalisedRequest, 'count' | 'headers' | 'vendor' | 'passing'>;
  /** Server-sent events: the opening, one for each chunk of text, and the closing. */
  frames: (answer: CompleteAnswer, request: { model: string }) => { opening: string; text: string[]; closing: string };
  error: (status: number, message: string, code: string | undefined) => unknown;
  /** The vendor's objection to returned or missing reasoning; null if there is none. */
  refuses?: (
    body: Record<string, unknown>,
    model: string,
    given: GivenThoughts,
  ) => { message: string; code?: string } | null;
};

/** The reasoning of the server's models, by the calls that it led to. */
export type GivenThoughts = ReadonlyMap<string, { model: string; thinking: string }>;

/** Identifies calls without their ids, which a client may change. */
export const keyOfCalls = (calls: readonly { name: string; arguments: unknown }[]) =>
  JSON.stringify(calls.map(({ name, arguments: given }) => [name, given]));

/** A signature that fits one text of one model and cannot be forged by accident. */
export const sealOf = (model: string, thinking: string) =>
  createHash('sha256').update(`${model} thought ${thinking}`).digest('base64');

/** The reasoning in unreadable form, for vendors that hide it. */
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
  usageInLastChoice: boolean;
};

const passing =
  /(?:\n\n)?<data-[0-9a-f]{24} of="(?:context|memory|missing memory|open work|open questions|files of this conversation|time)">[\s\S]*$/;

/** Separates the messages from the text that holds for this request only. */
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

/** Content is a text or a list of parts in every vendor's format. */
export function textOf(content: unknown): string {
  if (typeof content === 'string') return content;
  return asList(content)
    .map((part) => (typeof part.text === 'string' ? part.text : ''))
    .join('');
}

export function parsed(json: unknown): unknown {
  return typeof json === 'string' ? JSON.parse(json) : json;
}
