import type { VersionRow } from '../../agents/deployments/index.ts';
import { holdRevisions, isAnyChanged } from '../../agents/notebooks/index.ts';
import { findSkills } from '../../agents/skills/index.ts';
import { findById, sameAddress } from '../../agents/tool-servers/index.ts';
import type { FixedContent, Manifest } from '../../agents/versions/index.ts';
import type { Transaction } from '../../platform/db/pool.ts';

/** What a version of these settings fixes: the content as it is now, held until the transaction ends. */
export async function fixContent(tx: Transaction, orgId: string, manifest: Manifest): Promise<FixedContent> {
  const found = await findSkills(tx, orgId, skillIds(manifest), { hold: true });
  return {
    notebooks: await holdRevisions(tx, orgId, manifest.notebooks),
    skills: Object.fromEntries([...found].map(([id, { hash }]) => [id, hash])),
  };
}

/**
 * What has other content now than the version before fixes, among the notebooks and skills that both name: that another
 * one is named shows in the settings.
 */
export async function changedContent(
  tx: Transaction,
  { orgId, before, manifest }: { orgId: string; before: VersionRow | null; manifest: Manifest },
): Promise<('skills' | 'knowledge')[]> {
  if (!before) return [];
  const { content } = before;
  const ids = skillIds(manifest).filter((id) => id in content.skills);
  const found = ids.length === 0 ? new Map() : await findSkills(tx, orgId, ids, { hold: false });
  const fixed = Object.entries(content.notebooks).filter(([id]) => manifest.notebooks.includes(id));
  return [
    ...(ids.some((id) => found.get(id)?.hash !== content.skills[id]) ? (['skills'] as const) : []),
    ...((await isAnyChanged(tx, orgId, Object.fromEntries(fixed))) ? (['knowledge'] as const) : []),
  ];
}

/** The servers of the settings at the URLs that they have now; those that were deleted stay as they are. */
export async function serversNow(tx: Transaction, orgId: string, { mcp_servers }: Manifest) {
  const ids = mcp_servers.map(({ id }) => id);
  const found = ids.length === 0 ? [] : await findById(tx, orgId, ids, { hold: true });
  const urls = new Map(found.map(({ id, url }) => [id, url]));
  return mcp_servers.map((server) => {
    const url = urls.get(server.id) ?? server.url;
    return sameAddress(url, server.url) ? server : { ...server, url };
  });
}

const skillIds = ({ skills }: Manifest) => skills.flatMap((skill) => ('id' in skill ? [skill.id] : []));
