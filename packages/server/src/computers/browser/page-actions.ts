import { setTimeout as sleep } from 'node:timers/promises';
import type { Api } from '@vestra/contract/api';
import { fail } from '@vestra/contract/errors';
import type { BodyOf } from '@vestra/contract/route';
import { untilAborted } from '../../platform/async/until-aborted.ts';
import { PageFailed } from '../chromium/devtools.ts';
import type { ElementQuery } from '../chromium/page-script.ts';
import type { ClosedPage } from '../chromium/request-guard.ts';
import type { Tab } from '../chromium/tab.ts';
import { matcherOf, readBody } from './captures.ts';
import { verdictOn } from './site-rules.ts';

/** What came of doing something on a page. */
type Done = { ok: true } | { ok: false; why: string };

const lookAgainMs = 100;
/** A page says a moment after the click that it goes elsewhere. */
const reactionMs = 80;

export async function click(
  tab: Tab,
  wanted: ElementQuery & { role?: string | undefined; name?: string | undefined },
  withinMs: number,
  signal: AbortSignal,
): Promise<Done> {
  const { role, name = '', text, selector, number, nth, near_text } = wanted;
  return untilDone(withinMs, signal, async () => {
    const elements = role === undefined ? [] : await untilAborted(tab.elementsByRole(role, name), signal);
    const spot = await untilAborted(tab.run('spotOf', [{ text, selector, number, nth, near_text }], elements), signal);
    if (!spot.found) return { ok: false, why: spot.why };
    await untilAborted(tab.clickAt(spot.x, spot.y), signal);
    await untilStill(tab, signal);
    return { ok: true };
  });
}

export async function type(
  tab: Tab,
  { text, submit, ...field }: ({ into: string } | { number: number }) & { text: string; submit: boolean },
  withinMs: number,
  signal: AbortSignal,
): Promise<Done> {
  return untilDone(withinMs, signal, async () => {
    const taken = await untilAborted(tab.run('takeField', [field, text]), signal);
    if (!taken.found) return { ok: false, why: taken.why };
    if (!taken.isDone) await untilAborted(tab.write(text), signal);
    if (submit) {
      await untilAborted(tab.press('Enter'), signal);
      await untilStill(tab, signal);
    }
    return { ok: true };
  });
}

/** Until the page that something leads to can be used. */
export async function untilStill(tab: Tab, signal: AbortSignal): Promise<void> {
  await sleep(reactionMs, undefined, { signal });
  await tab.until(() => tab.readiness() !== 'loading', signal);
}

/** Looks again and again: what is not there yet may come, and a page that goes away is followed by another. */
async function untilDone(withinMs: number, signal: AbortSignal, attempt: () => Promise<Done>): Promise<Done> {
  const end = performance.now() + withinMs;
  for (;;) {
    const done = await attempt().catch((error: unknown) => troubled(error, signal));
    if (done.ok || performance.now() >= end) return done;
    await sleep(lookAgainMs, undefined, { signal });
  }
}

/** A page that goes away is no end of the work; whatever else went wrong is. */
export function troubled(error: unknown, signal: AbortSignal): { ok: false; why: string } {
  signal.throwIfAborted();
  if (!(error instanceof PageFailed)) throw error;
  return { ok: false, why: 'The page went away meanwhile.' };
}

type Step = BodyOf<Api['browser']['fetch']>['steps'][number];

export type StepResult = { kind: Step['kind']; ok: boolean; duration_ms: number; result: unknown };

/** How long something that is not on the page is looked for. */
const usualMs = 5_000;
const nothing = null;

/** One after the other. One that does not come off is noted, and the next is done: a banner may or may not be there. */
export async function runSteps(
  tab: Tab,
  steps: readonly Step[],
  of: Limits & { done: StepResult[]; after: (name: string) => Promise<void> },
): Promise<void> {
  for (const [at, step] of steps.entries()) {
    const began = performance.now();
    const { ok, result } = await runStep(tab, step, at, of).catch((error: unknown) =>
      outcomeOf(troubled(error, of.signal)),
    );
    of.done.push({ kind: step.kind, ok, duration_ms: Math.round(performance.now() - began), result });
    await of.after(`step ${at + 1}: ${step.kind}`);
  }
}

type Limits = {
  signal: AbortSignal;
  timeoutMs: number;
  /** Writes down that a closed page was met. */
  blocked: (page: ClosedPage) => Promise<void>;
};

type Outcome = { ok: boolean; result: unknown };

async function runStep(tab: Tab, step: Step, at: number, limits: Limits): Promise<Outcome> {
  const { signal, timeoutMs } = limits;
  switch (step.kind) {
    case 'click':
      return outcomeOf(await click(tab, step, step.within_ms ?? usualMs, signal));
    case 'type':
      return outcomeOf(await type(tab, step, usualMs, signal));
    case 'scroll':
      return { ok: true, result: await untilAborted(tab.run('scroll', [step.to]), signal) };
    case 'wait_for':
      return outcomeOf(await untilDone(step.within_ms ?? timeoutMs, signal, await looker(tab, step, at, signal)));
    case 'page_fetch':
      return callFromPage(tab, step, at, limits);
  }
}

const outcomeOf = (done: Done): Outcome =>
  done.ok ? { ok: true, result: nothing } : { ok: false, result: { error: done.why } };

async function looker(tab: Tab, step: Extract<Step, { kind: 'wait_for' }>, at: number, signal: AbortSignal) {
  const { text, selector, url } = step;
  const missing: Done = { ok: false, why: 'It did not come.' };
  if (url !== undefined) {
    const fits = await matcherOf(url, `steps.${at}.url`);
    return async (): Promise<Done> => (fits(tab.url()) ? { ok: true } : missing);
  }
  const wanted = text !== undefined ? { text } : { selector: selector as string };
  return async (): Promise<Done> => ((await untilAborted(tab.run('shows', [wanted]), signal)) ? { ok: true } : missing);
}

async function callFromPage(
  tab: Tab,
  step: Extract<Step, { kind: 'page_fetch' }>,
  at: number,
  { signal, blocked }: Limits,
): Promise<Outcome> {
  const param = `steps.${at}.url`;
  const address = URL.canParse(step.url, tab.url()) ? new URL(step.url, tab.url()).href : step.url;
  const verdict = verdictOn(tab.rules(), address);
  if (verdict.kind === 'site') throw fail('domain_not_allowed', { param });
  if (verdict.kind === 'page') {
    await blocked(verdict.page);
    throw fail('page_blocked', { param });
  }
  const isText = typeof step.body === 'string';
  const body = step.body === undefined ? null : isText ? (step.body as string) : JSON.stringify(step.body);
  const headers = { ...(body !== null && !isText && { 'content-type': 'application/json' }), ...step.headers };
  const answer = await untilAborted(tab.run('call', [{ url: address, method: step.method, headers, body }]), signal);
  if (!answer.ok) return { ok: false, result: { error: 'The call was not answered.' } };
  const { url, status, content_type, text } = answer;
  return { ok: true, result: { url, status, content_type, ...readBody(Buffer.from(text, 'utf8')) } };
}
