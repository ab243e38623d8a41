import { isUtf8 } from 'node:buffer';
import { fail } from '@vestra/contract/errors';
import type { RE2JS } from 're2js';
import type { DataCall, Tab } from '../chromium/tab.ts';

type WantedCapture = { match: string; required: boolean };

type Captured = {
  match: string;
  url: string;
  status: number;
  content_type: string;
  body: unknown;
  truncated: boolean;
};

export type Captures = {
  found: readonly Captured[];
  isAnyRequired: boolean;
  /** Resolves once every required one has an answer. */
  complete: Promise<void>;
  stop: () => void;
};

const mostCaptured = 100;
const mostBytes = 16 * 1024 * 1024;

/** Collects what a page's own data calls are answered, from now on. */
export async function startCapturing(tab: Tab, wanted: readonly WantedCapture[]): Promise<Captures> {
  const matchers: { match: string; fits: Matcher }[] = [];
  for (const [at, { match }] of wanted.entries()) {
    matchers.push({ match, fits: await matcherOf(match, `capture.${at}.match`) });
  }
  const missing = new Set(wanted.filter(({ required }) => required).map(({ match }) => match));
  const isAnyRequired = missing.size > 0;
  const found: Captured[] = [];
  const { promise: complete, resolve } = Promise.withResolvers<void>();
  let bytes = 0;

  async function take({ url, status, contentType, body }: DataCall): Promise<void> {
    const fitting = matchers.filter(({ fits }) => fits(url));
    if (fitting.length === 0 || found.length >= mostCaptured) return;
    const read = await body();
    bytes += read?.length ?? 0;
    const shown = readBody(bytes > mostBytes ? null : read);
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

const longestAddress = 8192;

/**
 * Whether an address fits: `/regex/`, a glob with `*`, or any part of it. A glob fits the whole address or, where it
 * begins with a slash, everything behind the host. Expressions are read by an engine whose time grows with the address
 * alone.
 */
export async function matcherOf(match: string, param: string): Promise<Matcher> {
  const fits = await fitter(match, param);
  return (address) => fits(address.slice(0, longestAddress));
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

const longestBody = 1024 * 1024;

/** What a page was answered: JSON where it is JSON, else text; what is neither, as base64. */
export function readBody(bytes: Buffer | null): { body: unknown; truncated: boolean } {
  if (bytes === null) return { body: '', truncated: true };
  if (bytes.length > longestBody) return { body: cutText(bytes), truncated: true };
  if (!isUtf8(bytes)) return { body: bytes.toString('base64'), truncated: false };
  const text = bytes.toString('utf8');
  return { body: asJson(text) ?? text, truncated: false };
}

/** Without half a character at the end. */
function cutText(bytes: Buffer): string {
  return new TextDecoder().decode(bytes.subarray(0, longestBody), { stream: true });
}

/** An object or a list; whatever else could be read as JSON is text as well. */
function asJson(text: string): unknown {
  if (!/^\s*[[{]/.test(text)) return undefined;
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}
