import { Failure, fail } from '@vestra/contract/errors';
import { charge, computerTime, refusalFailure, releaseHold, reserve } from '../../billing/index.ts';
import type { Origin } from '../../platform/caller.ts';
import type { Database } from '../../platform/db/pool.ts';
import { transaction } from '../../platform/db/transaction.ts';
import { enterUser, findRequestedUser } from '../../users/index.ts';
import type { Rules } from '../chromium/rules.ts';
import type { Owner } from '../store.ts';
import type { BrowserPool, OpenBrowser, OpenTab } from './browser-pool.ts';
import { matcherOf } from './captures.ts';
import { type FetchAnswer, type FetchBody, type FetchRun, runFetch } from './run-fetch.ts';
import { noticeSecrets } from './secrecy.ts';
import { deploymentOfBrowser, recordBlocked } from './site-access.ts';
import { fetchRules, verdictOn } from './site-rules.ts';

type Dependencies = { db: Database; browserPool: BrowserPool };

/** A sign-in takes a person a while. */
const frontKeptMs = 600_000;

/** Opens one page in a background tab of the user's browser, or goes on in a kept one, and answers what it brought. */
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
  await noticeSecrets(browserPool, owner);
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
      // Not before: a call that is refused makes nobody.
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

/** Before anything is woken: neither the page nor a call from inside of it may lead where nothing is opened. */
async function assertOpen(
  rules: Rules,
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

type Place = { browserPool: BrowserPool; browser: OpenBrowser; owner: Owner };

/** A tab that this fetch has opened goes with it, unless it is to be kept; a kept one stays as it was where it fails. */
async function inTab(place: Place, deploymentId: string, run: FetchRun): Promise<FetchAnswer> {
  const { body } = run;
  const isNew = body.tab === undefined && body.url !== undefined;
  const open = isNew ? await openTab(place, deploymentId, run) : await keptTab(place, deploymentId, run);
  open.isBusy = true;
  try {
    const answer = await runFetch(open, run);
    const keptMs = body.keep_open_ms ?? (body.front ? frontKeptMs : null);
    if (keptMs === null) void open.tab.close();
    else place.browserPool.keep(place.owner, open, keptMs);
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

async function openTab({ browser }: Place, deploymentId: string, { body, rules }: FetchRun): Promise<OpenTab> {
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

/** The one that is named, else the one that was used last. Where the version has changed, its sites hold now. */
async function keptTab({ browser }: Place, deploymentId: string, { body, rules, blocked }: FetchRun): Promise<OpenTab> {
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
