import type { Part } from '../../adapters/browser/page-script.ts';
import { untilAborted } from '../../async/until-aborted.ts';
import type { OpenTab } from './desks.ts';

type Extent = { kind: 'whole' } | { kind: 'pending' } | { kind: 'part'; part: Part };

const missedForMs = 20_000;
const lookMs = 2_000;
/** Since when the element has not been there, by what names it. */
const missedSince = new WeakMap<object, number>();

/** How much of a tab the screen shows: where a hand-off names one element, that one alone, and nothing until it is there. */
export async function extentOf({ tab, use }: OpenTab, now: () => number = Date.now): Promise<Extent> {
  const crop = use.kind === 'fetch' ? use.crop : null;
  if (!crop) return { kind: 'whole' };
  const part = await untilAborted(find(tab, crop), AbortSignal.timeout(lookMs)).catch(() => null);
  if (part) {
    missedSince.delete(crop);
    return { kind: 'part', part };
  }
  const since = missedSince.get(crop) ?? now();
  missedSince.set(crop, since);
  return { kind: now() - since < missedForMs ? 'pending' : 'whole' };
}

type Crop = { role?: string | undefined; name?: string | undefined; text?: string | undefined };

async function find(tab: OpenTab['tab'], crop: Crop): Promise<Part | null> {
  const elements = crop.role === undefined ? [] : await tab.elementsByRole(crop.role, crop.name ?? '');
  return tab.run('partOf', [crop], elements);
}
