import { fail } from '@vestra/contract/errors';
import type { Tenant } from '../../platform/caller.ts';
import type { Executor } from '../../platform/db/pool.ts';
import { resolveDeployment } from '../deployments/deployment-reference.ts';
import { liveVersionsUsing, versionOf } from '../versions/store.ts';
import { versionToRun } from '../versions/version-pointers.ts';
import type { NotebookReader } from './store.ts';

/**
 * Returns the revisions of the notebook that an agent would read: of the named deployment and version, or else of
 * everything live in live mode and the newest content in test mode.
 */
export async function revisionsToSearch(
  db: Executor,
  { orgId, mode }: Tenant,
  notebookId: string,
  asked: { deployment?: string | undefined; version?: number | undefined },
): Promise<NotebookReader['revisions']> {
  if (asked.deployment === undefined) {
    if (asked.version !== undefined) {
      throw fail('invalid_query', { param: 'version', message: 'Name the `deployment` of this version too.' });
    }
    return mode === 'live' ? liveRevisions(db, orgId, notebookId) : null;
  }
  // A key that searches may read every version, so one that was never live is found in both modes.
  const named = await resolveDeployment(db, { orgId, mode: 'test' }, asked.deployment, 'deployment');
  const { deployment } = named;
  const pinned = asked.version ?? named.version;
  const version = pinned ?? versionToRun(deployment, mode, null);
  const { manifest, content } = await versionOf(db, deployment.id, version);
  if (!manifest.notebooks.includes(notebookId)) {
    throw fail('invalid_deployment', {
      param: 'deployment',
      message: `Version ${version} of \`${deployment.slug}\` does not use this notebook.`,
    });
  }
  // Test conversations with the draft read the newest content.
  return mode === 'test' && pinned === null ? null : content.notebooks;
}

/** Lists the revisions that live versions fix, without those of archived deployments, which nobody can ask. */
async function liveRevisions(db: Executor, orgId: string, notebookId: string): Promise<number[]> {
  const found = await liveVersionsUsing(db, orgId, notebookId);
  const revisions = found.flatMap(({ status, content }) =>
    status === 'archived' ? [] : content.notebooks[notebookId],
  );
  return [...new Set(revisions.filter((revision) => revision !== undefined))];
}
