import { setTimeout as sleep } from 'node:timers/promises';
import type { Api } from '@vestra/contract/api';
import { fail } from '@vestra/contract/errors';
import type { BodyOf, ResponseOf } from '@vestra/contract/route';
import { untilAborted } from '../../platform/async/until-aborted.ts';
import type { ClosedPage, Refusal, Rules } from '../chromium/rules.ts';
import type { Tab } from '../chromium/tab.ts';
import { troubled } from './act.ts';
import type { OpenTab } from './browser-pool.ts';
import { type Captures, startCapturing } from './captures.ts';
import { runSteps, type StepResult } from './run-steps.ts';
import { jpegAddress } from './screenshot.ts';
import { secrecyOfTab } from './secrecy.ts';

export type FetchBody = BodyOf<Api['browser']['fetch']>;
export type FetchAnswer = ResponseOf<Api['browser']['fetch']>;

export type FetchRun = {
  wakeMs: number;
  body: FetchBody;
  rules: Rules;
  /** Writes down that a closed page was met. */
  blocked: (page: ClosedPage) => Promise<void>;
  signal: AbortSignal;
};

/** Pages whose site cannot be reached have no status of their own. */
const unreachable = 502;
const lookAgainMs = 200;

/** What one fetch does in its tab, from the first request to the answer. */
export async function runFetch(open: OpenTab, run: FetchRun): Promise<FetchAnswer> {
  const { tab } = open;
  const { body, wakeMs } = run;
  const began = performance.now();
  const elapsed = () => Math.round(performance.now() - began);
  const late = AbortSignal.timeout(body.timeout_ms);
  const refusals = watchRefusals(open, run);
  const signal = AbortSignal.any([late, refusals.signal, run.signal]);
  const captures = await startCapturing(tab, body.capture);
  const steps: StepResult[] = [];
  const frames: FetchAnswer['frames'] = [];
  const milestone = async (name: string) => {
    if (!body.frames || (await secrecyOfTab(open)) === 'paying') return;
    const at_ms = elapsed();
    const picture = await untilAborted(tab.picture({ width: 320, quality: 40 }), signal).catch((error: unknown) => {
      troubled(error, signal);
    });
    if (picture) frames.push({ milestone: name, at_ms, image: jpegAddress(picture) });
  };
  let openMs = 0;
  let error: string | null = null;
  try {
    if (body.url !== undefined) error = (await untilAborted(tab.navigate(body.url), signal)).error;
    const isHurried = captures.isAnyRequired && body.steps.length === 0 && body.challenge === undefined;
    const isUsable = tab
      .until(() => tab.readiness() !== 'loading', signal)
      .then(() => {
        openMs = elapsed();
      });
    // Whoever waits for captures alone need not wait for the page to be whole.
    await (isHurried ? Promise.race([isUsable, untilAborted(captures.complete, signal)]) : isUsable);
    isUsable.catch(() => {});
    openMs ||= elapsed();
    await milestone('opened');
    if (body.challenge === 'turnstile') await botCheckPassed(tab, signal);
    const limits = { signal, timeoutMs: body.timeout_ms, blocked: run.blocked };
    await runSteps(tab, body.steps, { ...limits, done: steps, after: milestone });
    if (error !== null && captures.isAnyRequired) throw outOfReach(error, partial());
    if (captures.isAnyRequired) await untilAborted(captures.complete, signal);
    else await tab.until(() => tab.readiness() === 'loaded', signal);
    const captureMs = captures.isAnyRequired ? elapsed() : 0;
    await milestone('answered');
    const title = await untilAborted(tab.title(), signal).catch(() => '');
    signal.throwIfAborted();
    return {
      object: 'browser_fetch',
      url: tab.url(),
      status: error === null ? (tab.status() ?? unreachable) : unreachable,
      title,
      tab: null,
      captures: [...captures.found],
      steps,
      timings: { wake_ms: wakeMs, open_ms: openMs, capture_ms: captureMs, total_ms: wakeMs + elapsed() },
      frames,
    };
  } catch (problem) {
    await refusals.written();
    if (refusals.signal.aborted) throw refusals.signal.reason;
    if (late.aborted) await tab.endIfHung();
    if (late.aborted) throw fail('timeout', { message: lateMessage(body, captures), partial: partial() });
    if (run.signal.aborted) throw fail('timeout', { message: 'The caller did not wait for the answer.' });
    throw problem;
  } finally {
    captures.stop();
    await refusals.written();
  }

  function partial() {
    return { url: tab.url(), status: tab.status(), captures: [...captures.found], steps };
  }
}

const outOfReach = (error: string, partial: unknown) =>
  fail('timeout', { message: `The page could not be reached (${error}), so nothing was captured.`, partial });

function lateMessage({ timeout_ms, capture }: FetchBody, { found }: Captures): string {
  const missing = capture.filter(({ match, required }) => required && !found.some((each) => each.match === match));
  const what =
    missing.length === 0 ? '' : ` Nothing came for ${missing.map(({ match }) => `\`${match}\``).join(', ')}.`;
  return `The page was not done within ${timeout_ms} ms.${what}`;
}

/**
 * The first page that may not be opened ends the fetch; a closed frame is only written down. What a kept tab does
 * afterwards by itself is written down too, until the next fetch looks after it.
 */
function watchRefusals(open: OpenTab, { blocked }: FetchRun) {
  const ending = new AbortController();
  const writing: Promise<void>[] = [];
  open.unwatch();
  open.unwatch = open.tab.onRefused((refusal: Refusal) => {
    if (refusal.kind === 'page') {
      const written = blocked(refusal.page);
      written.catch(() => {});
      writing.push(written);
    }
    if (!refusal.isWholePage) return;
    ending.abort(
      refusal.kind === 'page'
        ? fail('page_blocked')
        : fail('domain_not_allowed', {
            message: `The page leads to ${refusal.host}, which is not in the deployment’s \`browser.allowed_domains\`.`,
          }),
    );
  });
  return { signal: ending.signal, written: async () => void (await Promise.all(writing)) };
}

/** It passes by itself or by the person in front of it; nobody here answers it for them. */
async function botCheckPassed(tab: Tab, signal: AbortSignal): Promise<void> {
  for (;;) {
    await tab.until(() => tab.readiness() === 'loaded', signal);
    const state = await untilAborted(tab.run('botCheck', []), signal).catch(() => {
      signal.throwIfAborted();
      return 'pending' as const;
    });
    if (state !== 'pending') return;
    await sleep(lookAgainMs, undefined, { signal });
  }
}
