import { setTimeout as sleep } from 'node:timers/promises';
import { untilAborted } from '../../platform/async/until-aborted.ts';
import { PageFailed } from '../chromium/browser-failure.ts';
import type { ElementQuery } from '../chromium/page-script.ts';
import type { Tab } from '../chromium/tab.ts';

/** What came of doing something on a page. */
export type Done = { ok: true } | { ok: false; why: string };

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
export async function untilDone(withinMs: number, signal: AbortSignal, attempt: () => Promise<Done>): Promise<Done> {
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
