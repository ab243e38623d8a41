import type { Api } from '@vestra/contract/api';
import type { ResponseOf } from '@vestra/contract/route';
import { deploymentsUsing, getVersion, requireDeployment, type VersionRow } from '../../agents/deployments/index.ts';
import { changedDocuments, documentTexts, holdRevisions, isAnyChanged } from '../../agents/notebooks/index.ts';
import { changedFiles, fileTexts, findSkills } from '../../agents/skills/index.ts';
import { findById, sameAddress, sameHeaders, updateServer } from '../../agents/tool-servers/index.ts';
import { type FixedContent, type FixedServers, type Manifest, noContent } from '../../agents/versions/index.ts';
import type { Origin } from '../../platform/caller.ts';
import type { Executor, Transaction } from '../../platform/db/pool.ts';

/**
 * The current content for a version of these settings, locked until the transaction ends. `known` has the headers that
 * a file gives to servers and that are not registered yet, and what the file declares of each server.
 */
export async function fixContent(
  tx: Transaction,
  orgId: string,
  manifest: Manifest,
  known: FixedServers = {},
): Promise<FixedContent> {
  const found = await findSkills(tx, orgId, skillIds(manifest), { hold: true });
  const servers = await findServers(tx, orgId, manifest, { hold: true });
  return {
    notebooks: await holdRevisions(tx, orgId, manifest.notebooks),
    skills: Object.fromEntries([...found].map(([id, { hash }]) => [id, hash])),
    ...(servers.length > 0 && {
      servers: Object.fromEntries(
        servers.map(({ id, headers }) => [id, known[id]?.isOwn ? known[id] : { ...known[id], headers }]),
      ),
    }),
  };
}

const findServers = async (
  tx: Transaction,
  orgId: string,
  { mcp_servers }: Pick<Manifest, 'mcp_servers'>,
  options: { hold: boolean },
) =>
  mcp_servers.length === 0
    ? []
    : findById(
        tx,
        orgId,
        mcp_servers.map(({ id }) => id),
        options,
      );

/** The headers that are only in the version, by the id of the server. */
export const ownHeaders = (servers: FixedServers = {}): Readonly<Record<string, FixedServers[string]['headers']>> =>
  Object.fromEntries(Object.entries(servers).flatMap(([id, { isOwn, headers }]) => (isOwn ? [[id, headers]] : [])));

/** Whether registered headers changed since the version fixed them. */
export async function hasOtherHeaders(tx: Transaction, orgId: string, version: VersionRow): Promise<boolean> {
  const fixed = version.content.servers ?? {};
  const found = await findServers(tx, orgId, version.manifest, { hold: false });
  return found.some(({ id, headers }) => fixed[id] && !fixed[id].isOwn && !sameHeaders(fixed[id].headers, headers));
}

/**
 * Registers the headers that the version brings, now that it is live. If other deployments use the server, it keeps its
 * own: their next versions are made from those.
 */
export async function registerOwnHeaders(tx: Transaction, origin: Origin, version: VersionRow): Promise<void> {
  const own = ownHeaders(version.content.servers);
  for (const { id, headers } of await findServers(tx, origin.orgId, version.manifest, { hold: true })) {
    const wanted = own[id];
    if (!wanted || sameHeaders(wanted, headers)) continue;
    const users = await deploymentsUsing(tx, origin.orgId, id);
    if (users.some((user) => user.id !== version.deployment_id)) continue;
    await updateServer(tx, origin, id, { headers: wanted });
  }
}

/**
 * Whether skills or notebooks that both versions name changed their content. A changed list of names shows in the
 * settings.
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

/** The servers of the version with their current URLs. Deleted ones, and those whose headers are only in the version, stay. */
export async function serversNow(tx: Transaction, orgId: string, version: Pick<VersionRow, 'manifest' | 'content'>) {
  const { mcp_servers } = version.manifest;
  const own = ownHeaders(version.content.servers);
  const found = await findServers(tx, orgId, version.manifest, { hold: true });
  const urls = new Map(found.filter(({ id }) => !own[id]).map(({ id, url }) => [id, url]));
  return mcp_servers.map((server) => {
    const url = urls.get(server.id) ?? server.url;
    return sameAddress(url, server.url) ? server : { ...server, url };
  });
}

const skillIds = ({ skills }: Manifest) => skills.flatMap((skill) => ('id' in skill ? [skill.id] : []));

type Answer = ResponseOf<Api['deployments']['contentChanges']>;
type Change = Answer['changes'][number];

/** A change with the places of its two texts. */
type Found = Pick<Change, 'kind' | 'of_id' | 'of_name' | 'name'> & {
  before: string | null;
  after: string | null;
  bytes: number;
};

const maxChanges = 500;
const maxBytes = 1024 * 1024;

/** The differences of documents and skills between two versions of a deployment. */
export async function readContentChanges(
  db: Executor,
  orgId: string,
  asked: { reference: string; version: number; from: number | undefined },
): Promise<Answer> {
  const deployment = await requireDeployment(db, orgId, asked.reference);
  const version = await getVersion(db, deployment, asked.version);
  const from = asked.from ?? (asked.version === 1 ? null : asked.version - 1);
  const before = from === null ? noContent : (await getVersion(db, deployment, from)).content;
  const after = version.content;
  // High, since the response counts the changes that it leaves out.
  const limit = 10_000;
  const ofDocuments = await changedDocuments(db, orgId, { before: before.notebooks, after: after.notebooks, limit });
  const ofFiles = await changedFiles(db, orgId, { before: before.skills, after: after.skills, limit });
  const found: Found[] = [
    ...ofDocuments.map(({ notebook_id, notebook, title, before_id, after_id, bytes }) => ({
      ...{ kind: 'document' as const, of_id: notebook_id, of_name: notebook, name: title },
      ...{ before: before_id, after: after_id, bytes },
    })),
    ...ofFiles.map(({ skill_id, skill, path, before_sha256, after_sha256, bytes }) => ({
      ...{ kind: 'skill_file' as const, of_id: skill_id, of_name: skill, name: path },
      ...{ before: before_sha256, after: after_sha256, bytes },
    })),
  ];
  const listed = found.slice(0, maxChanges);
  const withText = new Set(withinBytes(listed, maxBytes));
  const textsOf = (kind: Found['kind']) =>
    [...withText].flatMap((each) =>
      each.kind === kind ? [each.before, each.after].filter((place) => place !== null) : [],
    );
  const texts = new Map([
    ...(await documentTexts(db, orgId, textsOf('document'))),
    ...(await fileTexts(db, orgId, textsOf('skill_file'))),
  ]);
  const textAt = (place: string | null) => (place === null ? null : (texts.get(place) ?? null));
  return {
    object: 'content_changes',
    deployment_id: deployment.id,
    from,
    version: version.version,
    changes: listed.map((each) => ({
      ...{ kind: each.kind, of_id: each.of_id, of_name: each.of_name, name: each.name },
      change: each.before === null ? 'added' : each.after === null ? 'removed' : 'changed',
      before: textAt(each.before),
      after: textAt(each.after),
      text_left_out: !withText.has(each),
    })),
    left_out: found.length - listed.length,
  };
}

/** As many items as fit, in order. The first is always included, and short items after a long one are too. */
export function withinBytes<Item extends { bytes: number }>(items: readonly Item[], most: number): Item[] {
  let left = most;
  return items.filter(({ bytes }, at) => {
    if (bytes > left && at > 0) return false;
    left -= bytes;
    return true;
  });
}
