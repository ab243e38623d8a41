import type { Api } from '@vestra/contract/api';
import { fail } from '@vestra/contract/errors';
import type { BodyOf } from '@vestra/contract/route';
import { untilAborted } from '../../platform/async/until-aborted.ts';
import type { ClosedPage } from '../chromium/rules.ts';
import type { Tab } from '../chromium/tab.ts';
import { click, type Done, troubled, type, untilDone } from './act.ts';
import { matcherOf, readBody } from './captures.ts';
import { verdictOn } from './site-rules.ts';

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
