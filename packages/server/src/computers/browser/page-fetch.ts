import { setTimeout as sleep } from 'node:timers/promises';
import type { Api } from '@vestra/contract/api';
import { Failure, fail } from '@vestra/contract/errors';
import type { BodyOf, ResponseOf } from '@vestra/contract/route';
import { charge, computerTime, refusalFailure, releaseHold, reserve } from '../../billing/index.ts';
import { untilAborted } from '../../platform/async/waiters.ts';
import type { Origin } from '../../platform/caller.ts';
import type { Database } from '../../platform/db/pool.ts';
import { transaction } from '../../platform/db/transaction.ts';
import { enterUser, findRequestedUser } from '../../users/index.ts';
import type { BlockedPage, RequestRefusal, SiteRules } from '../chromium/request-guard.ts';
import type { Tab } from '../chromium/tab.ts';
import type { Owner } from '../store.ts';
import type { BrowserPool, OpenBrowser, OpenTab } from './browser-pool.ts';
import { type Captures, matcherOf, startCapturing } from './captures.ts';
import { resultOfLostPage, runSteps, type StepResult } from './page-actions.ts';
import { hiddenReasonOfTab, jpegAddress, updateHidden } from './screen-redaction.ts';
import { deploymentOfBrowser, fetchRules, recordBlocked, verdictOn } from './site-rules.ts';

type Dependencies = { db: Database; browserPool: BrowserPool };

/** A person needs a while to sign in. */
const frontKeptMs = 600_000;

/** Opens a page in a background tab of the user's browser or in a kept tab. Returns what the page loaded. */
export async function fetchPage(
  { db, browserPool }: Dependencies,
  origin: Origin,
  userId: string,
  body: FetchBody,
  signal: AbortSignal,
): Promise<FetchAnswer> {
  const owner: Owner = { orgId: origin.orgId, mode: origin.mode, userId };
  const user = (await findRequestedUser(db, origin, userId)) ?? null;
  const { deploymentId, settings } = await deploymentOfBrowser(db, origin, user, body.deployment);
  const rules = fetchRules(settings);
  const blocked = (page: { host: string; path: string }) => recordBlocked(db, origin, userId, page);
  await assertOpen(rules, body, blocked);
  for (const [at, { match }] of body.capture.entries()) await matcherOf(match, `capture.${at}.match`);
  if (!user && body.url === undefined) throw fail('no_open_tab');
  await updateHidden(browserPool, owner);
  browserPool.control.assertFree(owner);
  const leave = browserPool.enter(owner);
  try {
    const userCaps = { daily: user?.daily_cap_micros ?? null, monthly: user?.monthly_cap_micros ?? null };
    const amountMicros = computerTime.maxCost(body.timeout_ms / 1000);
    const held = await reserve(db, origin, { userId, userCaps, amountMicros });
    if (!held.allowed && !held.isHeldByRunningCalls) throw refusalFailure(held);
    const reservationId = held.allowed ? held.reservationId : null;
    let began: number | null = null;
    const asked = performance.now();
    try {
      // Not earlier: a refused request must not create a user.
      if (!user) await transaction(db, (tx) => enterUser(tx, origin, userId));
      return await browserPool.use(owner, async (browser) => {
        browserPool.control.assertFree(owner);
        began = performance.now();
        const run: FetchRun = { wakeMs: Math.round(began - asked), body, rules, blocked, signal };
        return await inTab({ browserPool, browser, owner }, deploymentId, run);
      });
    } finally {
      const seconds = began === null ? 0 : Math.ceil(performance.now() - began) / 1000;
      await chargeFetch(db, origin, { userId, deploymentId, seconds, reservationId });
    }
  } finally {
    leave();
  }
}

/** Checks before anything wakes: neither the page nor a request from inside it may lead to a blocked address. */
async function assertOpen(
  rules: SiteRules,
  { url, steps }: FetchBody,
  blocked: (page: { host: string; path: string }) => Promise<void>,
): Promise<void> {
  const calls = steps.flatMap((step, at) =>
    step.kind === 'page_fetch' && URL.canParse(step.url) ? [{ address: step.url, param: `steps.${at}.url` }] : [],
  );
  for (const { address, param } of [...(url === undefined ? [] : [{ address: url, param: 'url' }]), ...calls]) {
    const verdict = verdictOn(rules, address);
    if (verdict.kind === 'site') throw fail('domain_not_allowed', { param });
    if (verdict.kind !== 'page') continue;
    await blocked(verdict.page);
    throw fail('page_blocked', { param });
  }
}

type FetchTarget = { browserPool: BrowserPool; browser: OpenBrowser; owner: Owner };

/** Closes the tab that this fetch opened unless it is to be kept. A kept tab survives a timeout as it is. */
async function inTab(target: FetchTarget, deploymentId: string, run: FetchRun): Promise<FetchAnswer> {
  const { body } = run;
  const isNew = body.tab === undefined && body.url !== undefined;
  const open = isNew ? await openTab(target, deploymentId, run) : await keptTab(target, deploymentId, run);
  open.isBusy = true;
  try {
    const answer = await runFetch(open, run);
    const keptMs = body.keep_open_ms ?? (body.front ? frontKeptMs : null);
    if (keptMs === null) void open.tab.close();
    else target.browserPool.keep(target.owner, open, keptMs);
    return { ...answer, tab: keptMs === null ? null : open.id };
  } catch (error) {
    const isLate = error instanceof Failure && error.code === 'timeout';
    if (isNew || !isLate) void open.tab.close();
    throw error;
  } finally {
    open.isBusy = false;
    open.lastUsed = Date.now();
  }
}

const useOf = (deploymentId: string, body: FetchBody) => ({
  kind: 'fetch' as const,
  deploymentId,
  tag: body.tag ?? null,
  stage: body.stage ?? null,
  isPrivate: body.private,
  isFront: body.front,
  crop: body.front_crop ?? null,
});

async function openTab({ browser }: FetchTarget, deploymentId: string, { body, rules }: FetchRun): Promise<OpenTab> {
  const open = await browser.open(useOf(deploymentId, body), rules);
  try {
    if (body.front || body.front_device !== undefined) {
      await open.tab.takeShape(body.front_device === 'desktop' ? 'desktop_in_phone' : 'phone');
    }
    if (body.front) await open.tab.bringToFront();
    return open;
  } catch (error) {
    void open.tab.close();
    throw error;
  }
}

/** The named tab, or else the most recently used one. It gets the site rules of the current version. */
async function keptTab(
  { browser }: FetchTarget,
  deploymentId: string,
  { body, rules, blocked }: FetchRun,
): Promise<OpenTab> {
  const [found] = browser
    .tabs()
    .filter(
      ({ id, use, keptUntil }) =>
        use.kind === 'fetch' &&
        use.deploymentId === deploymentId &&
        (body.tab === undefined || id === body.tab) &&
        (keptUntil === null || keptUntil > Date.now()),
    )
    .sort((one, other) => other.lastUsed - one.lastUsed);
  if (!found) throw fail('no_open_tab');
  if (found.isBusy) throw fail('browser_busy', { retry_after_ms: 1_000, message: 'Another fetch works in this tab.' });
  found.isBusy = true;
  found.tab.setRules(rules);
  const verdict = verdictOn(rules, found.tab.url());
  if (body.url === undefined && verdict.kind !== 'open') {
    void found.tab.close();
    if (verdict.kind === 'site') throw fail('domain_not_allowed');
    await blocked(verdict.page);
    throw fail('page_blocked');
  }
  const before = found.use as Extract<OpenTab['use'], { kind: 'fetch' }>;
  found.use = {
    ...before,
    tag: body.tag ?? before.tag,
    stage: body.stage ?? before.stage,
    crop: body.front_crop ?? before.crop,
    isPrivate: before.isPrivate || body.private,
    isFront: before.isFront || body.front,
  };
  if (body.front) await found.tab.bringToFront();
  return found;
}

async function chargeFetch(
  db: Database,
  origin: Origin,
  of: { userId: string; deploymentId: string; seconds: number; reservationId: string | null },
): Promise<void> {
  const { userId, deploymentId, seconds, reservationId } = of;
  if (seconds === 0) {
    if (reservationId !== null) await releaseHold(db, origin, reservationId);
    return;
  }
  const about = { userId, deploymentId, conversationId: null, taskId: null, turnId: null };
  const items = [computerTime.item(seconds, about)];
  await transaction(db, (tx) => charge(tx, origin, { items, ...(reservationId !== null && { reservationId }) }));
}

export type FetchBody = BodyOf<Api['browser']['fetch']>;
export type FetchAnswer = ResponseOf<Api['browser']['fetch']>;

type FetchRun = {
  wakeMs: number;
  body: FetchBody;
  rules: SiteRules;
  /** Records in the audit log that a blocked page was requested. */
  blocked: (page: BlockedPage) => Promise<void>;
  signal: AbortSignal;
};

/** The status of a page whose site cannot be reached. */
const unreachable = 502;
const lookAgainMs = 200;

/** Runs one fetch in its tab, from the first request to the response. */
async function runFetch(open: OpenTab, run: FetchRun): Promise<FetchAnswer> {
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
    if (!body.frames || (await hiddenReasonOfTab(open)) === 'paying') return;
    const at_ms = elapsed();
    const picture = await untilAborted(tab.picture({ width: 320, quality: 40 }), signal).catch((error: unknown) => {
      resultOfLostPage(error, signal);
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
    // A fetch that only needs captures does not wait for the whole page.
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
 * The first blocked page ends the fetch; a blocked frame is only recorded. Refusals in a kept tab are recorded until
 * the next fetch replaces this watcher.
 */
function watchRefusals(open: OpenTab, { blocked }: FetchRun) {
  const ending = new AbortController();
  const writing: Promise<void>[] = [];
  open.unwatch();
  open.unwatch = open.tab.onRefused((refusal: RequestRefusal) => {
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

/** Waits until the check passes by itself or the user passes it. The server never solves it. */
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
