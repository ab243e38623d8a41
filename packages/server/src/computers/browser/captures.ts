import { isUtf8 } from 'node:buffer';
import { fail } from '@vestra/contract/errors';
import type { RE2JS } from 're2js';
import type { DataCall, Tab } from '../chromium/tab.ts';

type WantedCapture = { match: string; required: boolean };

type CapturedCall = {
  match: string;
  url: string;
  status: number;
  content_type: string;
  body: unknown;
  truncated: boolean;
};

export type Captures = {
  found: readonly CapturedCall[];
  isAnyRequired: boolean;
  /** Resolves once every required capture has a response. */
  complete: Promise<void>;
  stop: () => void;
};

const maxCaptures = 100;
const maxTotalBytes = 16 * 1024 * 1024;

/** Collects the responses to the page's data requests from now on. */
export async function startCapturing(tab: Tab, wanted: readonly WantedCapture[]): Promise<Captures> {
  const matchers: { match: string; fits: Matcher }[] = [];
  for (const [at, { match }] of wanted.entries()) {
    matchers.push({ match, fits: await matcherOf(match, `capture.${at}.match`) });
  }
  const missing = new Set(wanted.filter(({ required }) => required).map(({ match }) => match));
  const isAnyRequired = missing.size > 0;
  const found: CapturedCall[] = [];
  const { promise: complete, resolve } = Promise.withResolvers<void>();
  let bytes = 0;

  async function take({ url, status, contentType, body }: DataCall): Promise<void> {
    const fitting = matchers.filter(({ fits }) => fits(url));
    if (fitting.length === 0 || found.length >= maxCaptures) return;
    const read = await body();
    bytes += read?.length ?? 0;
    const shown = readBody(bytes > maxTotalBytes ? null : read);
    for (const { match } of fitting) {
      found.push({ match, url, status, content_type: contentType, ...shown });
      missing.delete(match);
    }
    if (missing.size === 0) resolve();
  }

  const stop = tab.onDataCall((call) => void take(call).catch(() => {}));
  if (!isAnyRequired) resolve();
  return { found, isAnyRequired, complete, stop };
}

type Matcher = (address: string) => boolean;

const maxAddressLength = 8192;

/**
 * Matches an address by `/regex/`, by a glob with `*`, or by a substring. A glob matches the whole address, or
 * everything after the host if it begins with a slash. RE2 runs in linear time, so a hostile expression cannot block
 * the server.
 */
export async function matcherOf(match: string, param: string): Promise<Matcher> {
  const fits = await fitter(match, param);
  return (address) => fits(address.slice(0, maxAddressLength));
}

async function fitter(match: string, param: string): Promise<Matcher> {
  const isExpression = match.length > 2 && match.startsWith('/') && match.endsWith('/');
  if (!isExpression && !match.includes('*')) return (address) => address.includes(match);
  const { RE2JS: engine } = await import('re2js');
  if (isExpression) {
    const expression = compile(engine, match.slice(1, -1), param);
    return (address) => expression.matcher(address).find();
  }
  const glob = compile(engine, match.split('*').map(engine.quote).join('.*'), param);
  return (address) => glob.matches(match.startsWith('/') ? behindHost(address) : address);
}

function compile(engine: typeof RE2JS, expression: string, param: string): RE2JS {
  try {
    return engine.compile(expression);
  } catch {
    throw fail('invalid_request', { param, message: 'This is not a regular expression that can be used here.' });
  }
}

const behindHost = (address: string) => address.replace(/^[a-z][a-z0-9+.-]*:\/\/[^/?#]*/i, '');

const maxBodyBytes = 1024 * 1024;

/** JSON if the body is an object or a list, text if it is UTF-8, and base64 otherwise. */
export function readBody(bytes: Buffer | null): { body: unknown; truncated: boolean } {
  if (bytes === null) return { body: '', truncated: true };
  if (bytes.length > maxBodyBytes) return { body: cutText(bytes), truncated: true };
  if (!isUtf8(bytes)) return { body: bytes.toString('base64'), truncated: false };
  const text = bytes.toString('utf8');
  return { body: asJson(text) ?? text, truncated: false };
}

/** Drops an incomplete character at the end. */
function cutText(bytes: Buffer): string {
  return new TextDecoder().decode(bytes.subarray(0, maxBodyBytes), { stream: true });
}

/** Parses objects and lists only. A bare number or string stays text. */
function asJson(text: string): unknown {
  if (!/^\s*[[{]/.test(text)) return undefined;
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}
