import {
  type CallToolResult,
  InsufficientScopeError,
  MissingRequiredClientCapabilityError,
  ProtocolError,
  SdkHttpError,
} from '@modelcontextprotocol/client';
import { OutboundFailure } from '../../platform/outbound/outbound-failure.ts';
import { SessionTimeout } from './session.ts';

/** The answer of a tool as one text for a model, with the images and audio that it names. */
export type McpToolAnswer = { text: string; isError: boolean; media?: readonly McpMedia[] };

type McpMedia = { mediaType: string; content: Uint8Array };

/** With the notice, below the limit of the agent's loop: a second cut would remove the notice. */
const maxTextLength = 99_000;
const maxLineLength = 300;

export function answerOf(result: CallToolResult, hide: (text: string) => string): McpToolAnswer {
  const media = result.content.filter(isMedia).slice(0, maxMedia).flatMap(mediaIn);
  return {
    text: shownText(textOf(result), hide),
    isError: result.isError === true,
    ...(media.length > 0 && { media }),
  };
}

/** Hide before cutting: a cut secret would not be recognized. */
export const shownText = (text: string, hide: (text: string) => string): string => bounded(hide(text));

/** A model gets fewer. The text describes all of them. */
const maxMedia = 16;

const isMedia = (part: Part): boolean =>
  part.type === 'image' || part.type === 'audio' || (part.type === 'resource' && isMediaType(part.resource.mimeType));

const isMediaType = (mimeType: string | undefined) => /^(image|audio)\/[\w.+-]+$/i.test(mimeType ?? '');

function mediaIn(part: Part): McpMedia[] {
  const [mimeType, base64] =
    part.type === 'image' || part.type === 'audio'
      ? [part.mimeType, part.data]
      : part.type === 'resource' && 'blob' in part.resource
        ? [part.resource.mimeType, part.resource.blob]
        : [];
  if (!mimeType || base64 === undefined) return [];
  const mediaType = isMediaType(mimeType) ? mimeType.toLowerCase() : 'application/octet-stream';
  return [{ mediaType, content: Buffer.from(base64, 'base64') }];
}

type Part = CallToolResult['content'][number];

function textOf({ content, structuredContent }: CallToolResult): string {
  const hasText = content.some((part) => part.type === 'text' && part.text !== '');
  const lines = content.map(partAsText);
  if (!hasText && structuredContent !== undefined) lines.unshift(JSON.stringify(structuredContent));
  return lines.filter((line) => line !== '').join('\n') || 'The tool answered with nothing.';
}

/** Media is described and not included: a model cannot read bytes in a text. */
function partAsText(part: Part): string {
  switch (part.type) {
    case 'text':
      return part.text;
    case 'image':
    case 'audio':
      return line(`${part.type} ${part.mimeType}, ${bytesIn(part.data)} bytes`);
    case 'resource_link':
      return line(`resource ${part.uri} ${part.name}`);
    case 'resource': {
      const { resource } = part;
      const named = `resource ${resource.uri} ${resource.mimeType ?? ''}`.trimEnd();
      return 'text' in resource
        ? `${line(named)}\n${resource.text}`
        : line(`${named}, ${bytesIn(resource.blob)} bytes`);
    }
    default:
      return line('a part of a kind that is not known here');
  }
}

/** Replaces line breaks, so that the text stays on one line. */
export const line = (text: string) => `[${text.replaceAll(/\s+/g, ' ').slice(0, maxLineLength).toWellFormed()}]`;
const bytesIn = (base64: string) => Math.floor((base64.length * 3) / 4);

const bounded = (text: string): string =>
  text.length <= maxTextLength
    ? text
    : `${text.slice(0, maxTextLength).toWellFormed()}\n[Cut: the answer has ${text.length} characters, of which these are the first ${maxTextLength}.]`;

export type McpFailure = {
  ok: false;
  code: 'timeout' | 'mcp_server_error';
  message: string;
  /** The server refused the credentials, so nothing happened. */
  isUnauthorized?: true;
};

/**
 * Describes a failed session for the org. It never quotes the server or the MCP client, whose text may contain the
 * credentials.
 */
export function failureOf(error: unknown, url: string): McpFailure {
  return describe(error, url, () => '');
}

/**
 * Describes a failed call for the model. It quotes the server, so that the model can correct its arguments. `hide`
 * removes credentials.
 */
export function failureOfCall(error: unknown, url: string, hide: (text: string) => string): McpFailure {
  return describe(error, url, (said) => ` It says: ${hide(said).slice(0, maxQuoteLength).toWellFormed()}`);
}

const maxQuoteLength = 1000;

function describe(error: unknown, url: string, quote: (said: string) => string): McpFailure {
  const host = new URL(url).hostname;
  const failed = (message: string, isUnauthorized = false): McpFailure => ({
    ok: false,
    code: 'mcp_server_error',
    message,
    ...(isUnauthorized && { isUnauthorized }),
  });
  const late = (message: string): McpFailure => ({ ok: false, code: 'timeout', message });

  for (const cause of causesOf(error)) {
    if (cause instanceof SessionTimeout) return late(`${host} took too long.`);
    if (cause instanceof DOMException) return late(`The call of ${host} was given up before it ended.`);
    if (cause instanceof OutboundFailure) {
      return cause.reason === 'timeout' ? late(cause.message) : failed(cause.message);
    }
    if (cause instanceof SdkHttpError) return failed(`${host} ${answered(cause.status)}`, cause.status === 401);
    if (cause instanceof InsufficientScopeError) return failed(`${host} ${answered(403)}`);
    if (cause instanceof MissingRequiredClientCapabilityError && wantsModel(cause)) {
      return failed(`${host} wants to ask the agent’s model, which \`sampling\` of the server does not allow.`);
    }
    if (cause instanceof ProtocolError)
      return failed(`${host} answered with the MCP error ${cause.code}.${quote(cause.message)}`);
  }
  return failed(`${host} does not speak MCP at this URL: its answer could not be read.`);
}

const wantsModel = ({ data }: MissingRequiredClientCapabilityError) =>
  (data as { requiredCapabilities?: object } | undefined)?.requiredCapabilities !== undefined &&
  'sampling' in (data as { requiredCapabilities: object }).requiredCapabilities;

/** The MCP client wraps errors of the handshake. */
function causesOf(error: unknown): unknown[] {
  const causes: unknown[] = [];
  for (let cause = error; cause instanceof Error && causes.length < 5; cause = cause.cause) causes.push(cause);
  return causes;
}

function answered(status: number): string {
  if (status === 401) return 'answered 401: it did not take the credentials in `auth`, or wants some.';
  if (status === 403) return 'answered 403: the credentials in `auth` do not allow this.';
  if (status >= 300 && status < 400) {
    return `answered ${status}, a redirect, which is not followed: register the URL that it leads to.`;
  }
  return `answered ${status}.`;
}
