import { isDeepStrictEqual } from 'node:util';
import {
  type CallToolResult,
  InsufficientScopeError,
  MissingRequiredClientCapabilityError,
  ProtocolError,
  SdkHttpError,
} from '@modelcontextprotocol/client';
import { OutboundFailure } from '../../platform/outbound/outbound-failure.ts';
import { type McpTarget, OlderTransport, SessionTimeout } from './session.ts';

/** The answer of a tool as one text for a model, with the images, audio and files that it names. */
export type McpToolAnswer = {
  text: string;
  isError: boolean;
  media?: readonly McpMedia[];
  files?: readonly McpFile[];
};

type McpMedia = { mediaType: string; content: Uint8Array };
/** Bytes that a model can neither see nor hear. */
type McpFile = { filename: string; content: Uint8Array };

/** With the notice, below the limit of the agent's loop: a second cut would remove the notice. */
const maxTextLength = 99_000;
const maxLineLength = 300;

export function answerOf(result: CallToolResult, hide: (text: string) => string): McpToolAnswer {
  const { text, pictures } = textOf(result);
  const parts = result.content.filter(isMedia).flatMap(bytesOf);
  // A server may repeat a picture in its text. The model needs it once.
  const others = pictures.filter(({ base64 }) => !parts.some((part) => part.base64 === base64));
  const media = [...parts, ...others].slice(0, maxMedia).map(mediaIn);
  const files = result.content.flatMap(fileIn).slice(0, maxFiles);
  return {
    text: shownText(text, hide),
    isError: result.isError === true,
    ...(media.length > 0 && { media }),
    ...(files.length > 0 && { files }),
  };
}

/** Hide before cutting: a cut secret would not be recognized. */
export const shownText = (text: string, hide: (text: string) => string): string => bounded(hide(text));

/** A model gets fewer. The text describes all of them. */
const maxMedia = 16;
const maxFiles = 16;

const isMedia = (part: Part): boolean =>
  part.type === 'image' || part.type === 'audio' || (part.type === 'resource' && isMediaType(part.resource.mimeType));

const isMediaType = (mimeType: string | undefined) => /^(image|audio)\/[\w.+-]+$/i.test(mimeType ?? '');

function bytesOf(part: Part): Base64[] {
  if (part.type === 'image' || part.type === 'audio') return [{ mediaType: part.mimeType, base64: part.data }];
  if (part.type !== 'resource' || !('blob' in part.resource)) return [];
  return [{ mediaType: part.resource.mimeType ?? '', base64: part.resource.blob }];
}

const mediaIn = ({ mediaType, base64 }: Base64): McpMedia => ({
  mediaType: isMediaType(mediaType) ? mediaType.toLowerCase() : 'application/octet-stream',
  content: Buffer.from(base64, 'base64'),
});

function fileIn(part: Part): McpFile[] {
  if (part.type !== 'resource' || !('blob' in part.resource) || isMedia(part)) return [];
  const { uri, blob } = part.resource;
  return textIn(part.resource) === null ? [{ filename: fileNameOf(uri), content: Buffer.from(blob, 'base64') }] : [];
}

/** The last part of the address, without characters that a file name cannot have. */
function fileNameOf(uri: string): string {
  const last =
    uri
      .split(/[?#]/, 1)[0]
      ?.split('/')
      .findLast((each) => each !== '') ?? '';
  const name = last.replaceAll(/%[0-9a-f]{2}|[^\p{L}\p{N}._-]/giu, '_').replace(/^\.+/, '');
  return name.slice(-100) || 'resource.bin';
}

type Part = CallToolResult['content'][number];

/** The text, and the pictures that were written into it as base64. */
function textOf({ content, structuredContent }: CallToolResult): { text: string; pictures: Base64[] } {
  const pictures: Base64[] = [];
  const lines = content.map((part) => {
    if (part.type !== 'text') return partAsText(part);
    const { text, found } = withoutBytes(part.text);
    pictures.push(...found.filter(({ mediaType }) => isMediaType(mediaType)));
    return text;
  });
  if (structuredContent !== undefined && !repeats(content, structuredContent)) {
    lines.push(JSON.stringify(withoutBytesIn(structuredContent)));
  }
  return { text: lines.filter((line) => line !== '').join('\n') || 'The tool answered with nothing.', pictures };
}

/** Media is described and not included: a model cannot read bytes in a text. */
function partAsText(part: Exclude<Part, { type: 'text' }>): string {
  switch (part.type) {
    case 'image':
    case 'audio':
      return line(`${part.type} ${part.mimeType}, ${bytesIn(part.data)} bytes`);
    case 'resource_link':
      return line(`resource ${part.uri} ${part.name}`);
    case 'resource': {
      const { resource } = part;
      const named = `resource ${resource.uri} ${resource.mimeType ?? ''}`.trimEnd();
      const text = 'text' in resource ? resource.text : textIn(resource);
      return text === null
        ? line(`${named}, ${bytesIn((resource as { blob: string }).blob)} bytes`)
        : `${line(named)}\n${text}`;
    }
    default:
      return line('a part of a kind that is not known here');
  }
}

const textTypes = /^(text\/|application\/([\w.-]+\+)?(json|xml|yaml|toml|csv|javascript|sql)\b)/i;

/** Some servers send a text as bytes. Null if it is none. */
function textIn({ mimeType = '', blob }: { mimeType?: string | undefined; blob: string }): string | null {
  if (!textTypes.test(mimeType)) return null;
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(Buffer.from(blob, 'base64'));
  } catch {
    return null;
  }
}

/** Replaces line breaks, so that the text stays on one line. */
export const line = (text: string) => `[${text.replaceAll(/\s+/g, ' ').slice(0, maxLineLength).toWellFormed()}]`;

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
  /** No server answered, or only a proxy in front of it. */
  isUnreachable?: true;
};

/**
 * Describes a failed session for the org. It never quotes the server or the MCP client, whose text may contain the
 * credentials.
 */
export function failureOf(error: unknown, target: McpTarget): McpFailure {
  return describe(error, target, () => '');
}

/**
 * Describes a failed call for the model. It quotes the server, so that the model can correct its arguments. `hide`
 * removes credentials.
 */
export function failureOfCall(error: unknown, target: McpTarget, hide: (text: string) => string): McpFailure {
  return describe(error, target, (said) => ` It says: ${hide(said).slice(0, maxQuoteLength).toWellFormed()}`);
}

const maxQuoteLength = 1000;

function describe(error: unknown, { url, headers }: McpTarget, quote: (said: string) => string): McpFailure {
  const host = new URL(url).hostname;
  const credentials = Object.keys(headers).length > 0;
  const failed = (message: string, more: Pick<McpFailure, 'isUnauthorized' | 'isUnreachable'> = {}): McpFailure => ({
    ok: false,
    code: 'mcp_server_error',
    message,
    ...more,
  });
  const late = (message: string): McpFailure => ({ ok: false, code: 'timeout', message });

  for (const cause of causesOf(error)) {
    if (cause instanceof SessionTimeout) return late(`${host} took too long.`);
    if (cause instanceof DOMException) return late(`The call of ${host} was cancelled before it ended.`);
    if (cause instanceof OutboundFailure) {
      if (cause.reason === 'timeout') return late(cause.message);
      return failed(cause.message, cause.reason === 'too_large' ? {} : { isUnreachable: true });
    }
    if (cause instanceof OlderTransport) {
      return failed(
        `${host} speaks the SSE transport of 2024, which is not supported: ask for its streamable HTTP URL.`,
      );
    }
    if (cause instanceof SdkHttpError) {
      const said = cause.status === 403 ? saidIn(cause) : '';
      return failed(`${host} ${answered(cause.status, credentials)}${said && quote(said)}`, {
        ...(cause.status === 401 && { isUnauthorized: true }),
        ...([502, 503, 504].includes(cause.status) && { isUnreachable: true }),
      });
    }
    if (cause instanceof InsufficientScopeError) return failed(`${host} ${answered(403, credentials)}`);
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

/** The beginning of the body, if it is text and no page. */
function saidIn({ data }: SdkHttpError): string {
  const text = String((data as { text?: unknown } | undefined)?.text ?? '').trim();
  return text.startsWith('<') ? '' : text.replaceAll(/\s+/g, ' ');
}

/** The MCP client wraps errors of the handshake. */
function causesOf(error: unknown): unknown[] {
  const causes: unknown[] = [];
  for (let cause = error; cause instanceof Error && causes.length < 5; cause = cause.cause) causes.push(cause);
  return causes;
}

/** `credentials`: whether the request carried any. */
function answered(status: number | undefined, credentials: boolean): string {
  if (status === undefined) return 'gave an answer that could not be read.';
  if (status === 401) return 'answered 401: it did not accept the credentials in `auth`, or needs some.';
  if (status === 403) {
    return credentials
      ? 'answered 403: the credentials in `auth` do not allow this.'
      : 'answered 403: it refuses this caller, and `auth` sends no credentials. It may need some, or allow only certain hosts.';
  }
  if (status === 404) {
    return 'answered 404: it has no MCP endpoint at this URL. Check the path, which is often `/mcp`.';
  }
  if (status >= 300 && status < 400) {
    return `answered ${status}, a redirect, which is not followed: register the URL that it leads to.`;
  }
  return `answered ${status}.`;
}

type Base64 = { mediaType: string; base64: string };

const bytesIn = (base64: string) => Math.floor((base64.length * 3) / 4);

/** How files of common kinds begin in base64. Other long words may be text. */
const kinds: readonly (readonly [begin: string, mediaType: string])[] = [
  ['iVBORw0KGg', 'image/png'],
  ['/9j/', 'image/jpeg'],
  ['R0lGOD', 'image/gif'],
  ['UklGR', 'image/webp'],
  ['JVBERi0', 'application/pdf'],
  ['UEsDB', 'application/zip'],
];
const embedded =
  /data:([\w.+-]{1,100}\/[\w.+-]{1,100})(?:;[\w.+=-]{1,200}){0,8};base64,([A-Za-z0-9+/]{200,}={0,2})|((?:iVBORw0KGg|\/9j\/|R0lGOD|UklGR|JVBERi0|UEsDB)[A-Za-z0-9+/]{200,}={0,2})/g;

/** Replaces files that are written into a text as base64: a model would pay for each character and see nothing. */
function withoutBytes(text: string): { text: string; found: Base64[] } {
  const found: Base64[] = [];
  const shown = text.replace(embedded, (_whole, named?: string, ofAddress?: string, bare?: string) => {
    const base64 = ofAddress ?? bare ?? '';
    const mediaType = named ?? kinds.find(([begin]) => base64.startsWith(begin))?.[1] ?? '';
    found.push({ mediaType, base64 });
    return `[${mediaType}, ${bytesIn(base64)} bytes]`;
  });
  return { text: shown, found };
}

const minBytesLength = 256;
const isBase64 = (text: string): boolean =>
  text.length >= minBytesLength &&
  /^[A-Za-z0-9+/_-]+={0,2}$/.test(text) &&
  [/[a-z]/, /[A-Z]/, /[0-9]/].every((sign) => sign.test(text));

/** The same for data. */
function withoutBytesIn(value: unknown): unknown {
  if (typeof value === 'string') return isBase64(value) ? `[${bytesIn(value)} bytes]` : withoutBytes(value).text;
  if (Array.isArray(value)) return value.map(withoutBytesIn);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, withoutBytesIn(inner)]));
}

/** Bounds the search for each value in the text. */
const maxValues = 500;
const maxSearched = 200_000;

/** Whether the content says all of the data already, as the protocol recommends. */
function repeats(content: CallToolResult['content'], data: unknown): boolean {
  if (content.length === 0) return false;
  const texts = content.flatMap((part) =>
    part.type === 'text'
      ? [part.text]
      : part.type === 'resource' && 'text' in part.resource
        ? [part.resource.text]
        : [],
  );
  if (texts.some((text) => isDeepStrictEqual(parsed(text), data))) return true;
  const all = texts.join('\n');
  const values = valuesIn(data, []);
  // Data of this size is a repetition if the text has about as much.
  if (values.length > maxValues || all.length > maxSearched) return all.length * 2 > JSON.stringify(data).length;
  const others = new Set(content.filter(({ type }) => type !== 'text').flatMap((part) => valuesIn(part, [])));
  return values.every((value) => others.has(value) || all.includes(value));
}

function parsed(text: string): unknown {
  if (!/^\s*[[{]/.test(text)) return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function valuesIn(value: unknown, found: string[]): string[] {
  if (found.length > maxValues) return found;
  if (typeof value === 'object' && value !== null) for (const inner of Object.values(value)) valuesIn(inner, found);
  else if (value !== undefined) found.push(String(value));
  return found;
}
