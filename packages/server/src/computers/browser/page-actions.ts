import { setTimeout as sleep } from 'node:timers/promises';
import type { Api } from '@vestra/contract/api';
import { fail } from '@vestra/contract/errors';
import type { BodyOf } from '@vestra/contract/route';
import { untilAborted } from '../../platform/async/waiters.ts';
import { PageFailed } from '../chromium/devtools.ts';
import type { ElementQuery } from '../chromium/page-script.ts';
import type { BlockedPage } from '../chromium/request-guard.ts';
import type { Tab } from '../chromium/tab.ts';
import { matcherOf, readBody } from './captures.ts';
import { verdictOn } from './site-rules.ts';

type ActionResult = { ok: true } | { ok: false; why: string };

const lookAgainMs = 100;
/** A page starts to navigate a moment after the click. */
const reactionMs = 80;

export async function click(
  tab: Tab,
  wanted: ElementQuery & { role?: string | undefined; name?: string | undefined },
  withinMs: number,
  signal: AbortSignal,
): Promise<ActionResult> {
  const { role, name = '', text, selector, number, nth, near_text } = wanted;
  return retryUntilDone(withinMs, signal, async () => {
    const elements = role === undefined ? [] : await untilAborted(tab.elementsByRole(role, name), signal);
    const spot = await untilAborted(tab.run('spotOf', [{ text, selector, number, nth, near_text }], elements), signal);
    if (!spot.found) return { ok: false, why: spot.why };
    await untilAborted(tab.clickAt(spot.x, spot.y), signal);
    await waitUntilSettled(tab, signal);
    return { ok: true };
  });
}

export async function typeText(
  tab: Tab,
  { text, submit, ...field }: ({ into: string } | { number: number }) & { text: string; submit: boolean },
  withinMs: number,
  signal: AbortSignal,
): Promise<ActionResult> {
  return retryUntilDone(withinMs, signal, async () => {
    const taken = await untilAborted(tab.run('takeField', [field, text]), signal);
    if (!taken.found) return { ok: false, why: taken.why };
    if (!taken.isDone) await untilAborted(tab.write(text), signal);
    if (submit) {
      await untilAborted(tab.press('Enter'), signal);
      await waitUntilSettled(tab, signal);
    }
    return { ok: true };
  });
}

/** Waits until the page that an action leads to can be used. */
export async function waitUntilSettled(tab: Tab, signal: AbortSignal): Promise<void> {
  await sleep(reactionMs, undefined, { signal });
  await tab.until(() => tab.readiness() !== 'loading', signal);
}

/** Retries, because an element may appear later and a page may navigate meanwhile. */
async function retryUntilDone(
  withinMs: number,
  signal: AbortSignal,
  attempt: () => Promise<ActionResult>,
): Promise<ActionResult> {
  const end = performance.now() + withinMs;
  for (;;) {
    const done = await attempt().catch((error: unknown) => resultOfLostPage(error, signal));
    if (done.ok || performance.now() >= end) return done;
    await sleep(lookAgainMs, undefined, { signal });
  }
}

/** A page that navigates away is a failed attempt, not an error. Every other error is thrown. */
export function resultOfLostPage(error: unknown, signal: AbortSignal): { ok: false; why: string } {
  signal.throwIfAborted();
  if (!(error instanceof PageFailed)) throw error;
  return { ok: false, why: 'The page went away meanwhile.' };
}

type FetchStep = BodyOf<Api['browser']['fetch']>['steps'][number];

export type StepResult = { kind: FetchStep['kind']; ok: boolean; duration_ms: number; result: unknown };

/** How long a step looks for an element that is not on the page. */
const defaultMs = 5_000;
const nothing = null;

/**
 * Runs the steps in order. A failed step is recorded and the next one runs: a cookie banner, for example, may be
 * absent.
 */
export async function runSteps(
  tab: Tab,
  steps: readonly FetchStep[],
  of: StepLimits & { done: StepResult[]; after: (name: string) => Promise<void> },
): Promise<void> {
  for (const [at, step] of steps.entries()) {
    const began = performance.now();
    const { ok, result } = await runStep(tab, step, at, of).catch((error: unknown) =>
      outcomeOf(resultOfLostPage(error, of.signal)),
    );
    of.done.push({ kind: step.kind, ok, duration_ms: Math.round(performance.now() - began), result });
    await of.after(`step ${at + 1}: ${step.kind}`);
  }
}

type StepLimits = {
  signal: AbortSignal;
  timeoutMs: number;
  /** Records in the audit log that a blocked page was requested. */
  blocked: (page: BlockedPage) => Promise<void>;
};

type StepOutcome = { ok: boolean; result: unknown };

async function runStep(tab: Tab, step: FetchStep, at: number, limits: StepLimits): Promise<StepOutcome> {
  const { signal, timeoutMs } = limits;
  switch (step.kind) {
    case 'click':
      return outcomeOf(await click(tab, step, step.within_ms ?? defaultMs, signal));
    case 'type':
      return outcomeOf(await typeText(tab, step, defaultMs, signal));
    case 'scroll':
      return { ok: true, result: await untilAborted(tab.run('scroll', [step.to]), signal) };
    case 'wait_for':
      return outcomeOf(
        await retryUntilDone(step.within_ms ?? timeoutMs, signal, await conditionOf(tab, step, at, signal)),
      );
    case 'page_fetch':
      return callFromPage(tab, step, at, limits);
  }
}

const outcomeOf = (done: ActionResult): StepOutcome =>
  done.ok ? { ok: true, result: nothing } : { ok: false, result: { error: done.why } };

async function conditionOf(tab: Tab, step: Extract<FetchStep, { kind: 'wait_for' }>, at: number, signal: AbortSignal) {
  const { text, selector, url } = step;
  const missing: ActionResult = { ok: false, why: 'It did not come.' };
  if (url !== undefined) {
    const fits = await matcherOf(url, `steps.${at}.url`);
    return async (): Promise<ActionResult> => (fits(tab.url()) ? { ok: true } : missing);
  }
  const wanted = text !== undefined ? { text } : { selector: selector as string };
  return async (): Promise<ActionResult> =>
    (await untilAborted(tab.run('shows', [wanted]), signal)) ? { ok: true } : missing;
}

async function callFromPage(
  tab: Tab,
  step: Extract<FetchStep, { kind: 'page_fetch' }>,
  at: number,
  { signal, blocked }: StepLimits,
): Promise<StepOutcome> {
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
