import type { Origin } from '../../platform/caller.ts';
import type { Transaction } from '../../platform/db/pool.ts';
import { liveVersionsUsing } from '../deployments/store.ts';
import type { ChangeLive } from '../versions/change-live.ts';
import type { RevisionChange } from './revisions-store.ts';

/** How a change of documents is wanted: `changeLive` is how versions that are live go on. */
export type ContentChange = { promote: 'now' | 'no'; changeLive: ChangeLive };

/** With a live key live users see it at once, unless the caller wants to promote it later. */
export const reachesLive = ({ mode }: Pick<Origin, 'mode'>, { promote }: ContentChange) =>
  mode === 'live' && promote === 'now';

export type LiveReader = { slug: string; isArchived: boolean; revision: number };

/** The deployments that read the notebook live, each with the revision that its version fixes. */
export async function liveReaders(tx: Transaction, orgId: string, notebookId: string): Promise<LiveReader[]> {
  const found = await liveVersionsUsing(tx, orgId, notebookId);
  return found.map(({ slug, status, content }) => ({
    slug,
    isArchived: status === 'archived',
    revision: content.notebooks[notebookId] as number,
  }));
}

/** Lets live traffic go on with the copies that have the change. */
export function carryIntoLive(
  tx: Transaction,
  origin: Origin,
  notebookId: string,
  { copies }: RevisionChange,
  { changeLive }: ContentChange,
): Promise<void> {
  return changeLive(tx, origin, notebookId, ({ manifest, content }, { status }) => {
    const copy = copies.get(content.notebooks[notebookId] as number);
    if (copy === undefined || status === 'archived') return null;
    const notebooks = { ...content.notebooks, [notebookId]: copy };
    return { manifest, content: { ...content, notebooks }, changed: 'knowledge', note: null };
  });
}
