import type { Api } from '@vestra/contract/api';
import type { ResponseOf } from '@vestra/contract/route';
import { getVersion, requireDeployment } from '../../agents/deployments/index.ts';
import { changedDocuments, documentTexts } from '../../agents/notebooks/index.ts';
import { changedFiles, fileTexts } from '../../agents/skills/index.ts';
import { noContent } from '../../agents/versions/index.ts';
import type { Executor } from '../../platform/db/pool.ts';

type Answer = ResponseOf<Api['deployments']['contentChanges']>;
type Change = Answer['changes'][number];

/** One change, and where its two texts are found. */
type Found = Pick<Change, 'kind' | 'of_id' | 'of_name' | 'name'> & {
  before: string | null;
  after: string | null;
  bytes: number;
};

const mostChanges = 500;
const mostBytes = 1024 * 1024;

/** How the documents and skills that two versions of a deployment fix differ. */
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
  // One more than are shown of each would not do: what is left out is counted.
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
  const listed = found.slice(0, mostChanges);
  const withText = new Set(withinBytes(listed, mostBytes));
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

/** In their order, as many as fit; the first is there however long it is, and a short one after a long one too. */
export function withinBytes<Item extends { bytes: number }>(items: readonly Item[], most: number): Item[] {
  let left = most;
  return items.filter(({ bytes }, at) => {
    if (bytes > left && at > 0) return false;
    left -= bytes;
    return true;
  });
}
