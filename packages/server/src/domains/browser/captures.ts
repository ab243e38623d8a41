import type { DataCall, Tab } from '../../adapters/browser/tab.ts';
import { matcherOf } from './capture-match.ts';
import { readBody } from './read-body.ts';

export type WantedCapture = { match: string; required: boolean };

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
export function startCapturing(tab: Tab, wanted: readonly WantedCapture[]): Captures {
  const matchers = wanted.map(({ match }, at) => ({ match, fits: matcherOf(match, `capture.${at}.match`) }));
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
