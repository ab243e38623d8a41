import { fail } from '@vestra/contract/errors';
import { newId } from '@vestra/contract/ids';
import type { Tenant } from '../../platform/caller.ts';
import type { Database, Executor, Transaction } from '../../platform/db/pool.ts';
import { maybeOne, rowsOf, run } from '../../platform/db/query.ts';
import { type Sql, sql } from '../../platform/db/sql.ts';
import { integer, text } from '../../platform/db/table.ts';
import { transaction } from '../../platform/db/transaction.ts';
import type { JobSender } from '../../platform/jobs/catalog.ts';
import { resolveDeployment } from '../deployments/deployment-reference.ts';
import { fixedRevisions, liveVersionsUsing, versionOf } from '../versions/store.ts';
import { versionToRun } from '../versions/version-pointers.ts';
import {
  insertDocument,
  isInNewest,
  lockNotebook,
  type NotebookReader,
  type PreparedDocument,
  type RevisionChange,
  wholeText,
} from './store.ts';
import { documents, type NotebookRow, notebooks } from './tables.ts';

export async function startRevision(
  tx: Transaction,
  { id, revision }: NotebookRow,
  copied: readonly number[],
): Promise<RevisionChange> {
  const copies = new Map<number, number>();
  let last = revision;
  for (const from of new Set(copied)) {
    last += 1;
    copies.set(from, last);
    await copyRevision(tx, id, { from, to: last });
  }
  await setRevision(tx, id, last + 1);
  return { first: revision + 1, copies };
}

/**
 * Creates a revision that differs from `from` in these documents, and that nothing reads until a version fixes it. The
 * newest content stays. A document replaces those of its title.
 */
export async function branchRevision(
  tx: Transaction,
  { orgId, notebookId, from }: { orgId: string; notebookId: string; from: number },
  changed: readonly PreparedDocument[],
  jobs: JobSender,
): Promise<number> {
  const notebook = await lockNotebook(tx, orgId, notebookId);
  if (!notebook) throw fail('notebook_not_found');
  const to = notebook.revision + 1;
  const branch = sql`${`{[${to},${to + 1})}`}::int4multirange`;
  await copyRevision(tx, notebookId, { from, to });
  await setRevision(tx, notebookId, to + 1);
  for (const document of changed) {
    await run(
      tx,
      sql`UPDATE ${documents} SET revisions = revisions - ${branch}
          WHERE notebook_id = ${notebookId} AND title = ${document.title} AND revisions @> ${to}::int`,
    );
    const place = { id: newId('doc'), orgId, notebookId };
    const { id } = await insertDocument(tx, place, document, { first: to, copies: new Map() });
    await run(tx, sql`UPDATE ${documents} SET revisions = ${branch} WHERE id = ${id}`);
    await jobs.send(tx, 'document.index', { org_id: orgId, document_id: id });
  }
  return to;
}

/**
 * Deletes documents that are neither in the newest content nor in a revision that a version fixes. Lock the notebook
 * first.
 */
export async function deleteUnusedDocuments(
  tx: Transaction,
  { id, org_id }: Pick<NotebookRow, 'id' | 'org_id'>,
): Promise<number> {
  return deleteDocumentsExcept(tx, id, await fixedRevisions(tx, org_id, id));
}

const notebooksAtOnce = 100;

/** Deletes documents that only deleted versions used, notebook by notebook. */
export async function pruneContent(db: Database, signal?: AbortSignal): Promise<void> {
  let after = '';
  for (;;) {
    const found = await notebooksWithOldDocuments(db, { after, limit: notebooksAtOnce });
    for (const { id, org_id } of found) {
      signal?.throwIfAborted();
      await transaction(db, async (tx) => {
        const notebook = await lockNotebook(tx, org_id, id);
        if (notebook) await deleteUnusedDocuments(tx, notebook);
      });
    }
    if (found.length < notebooksAtOnce) return;
    after = found.at(-1)?.id as string;
  }
}

/** Writes only the documents that differ from the newest content: the others are in every later revision already. */
async function copyRevision(
  tx: Transaction,
  notebookId: string,
  { from, to }: { from: number; to: number },
): Promise<void> {
  const copy = sql`${`{[${to},${to + 1})}`}::int4multirange`;
  const isIn = sql`revisions @> ${from}::int`;
  await run(
    tx,
    sql`UPDATE ${documents} SET revisions = CASE WHEN ${isIn} THEN revisions + ${copy} ELSE revisions - ${copy} END
        WHERE notebook_id = ${notebookId} AND (${isIn}) <> ${isInNewest}`,
  );
}

async function setRevision(tx: Transaction, notebookId: string, revision: number): Promise<void> {
  await run(tx, sql`UPDATE ${notebooks} SET revision = ${revision} WHERE id = ${notebookId}`);
}

/** Returns those of the revisions that have the document. */
export async function revisionsWith(
  db: Executor,
  documentId: string,
  revisions: readonly number[],
): Promise<ReadonlySet<number>> {
  if (revisions.length === 0) return new Set();
  const rows = await rowsOf(
    db,
    { revision: integer() },
    sql`SELECT given.revision FROM ${documents}, unnest(${revisions}::int[]) AS given (revision)
        WHERE id = ${documentId} AND revisions @> given.revision`,
  );
  return new Set(rows.map(({ revision }) => revision));
}

/** Returns the revision of each notebook's newest content, and locks the notebooks until the transaction ends. */
export async function holdRevisions(
  tx: Transaction,
  orgId: string,
  ids: readonly string[],
): Promise<Record<string, number>> {
  if (ids.length === 0) return {};
  const rows = await rowsOf(
    tx,
    { id: text(), revision: integer() },
    sql`SELECT id, revision FROM ${notebooks} WHERE org_id = ${orgId} AND id = ANY(${ids}) ORDER BY id FOR SHARE`,
  );
  return Object.fromEntries(rows.map(({ id, revision }) => [id, revision]));
}

/** True if the newest content of any notebook differs from the fixed revision. */
export async function isAnyChanged(
  db: Executor,
  orgId: string,
  fixed: Readonly<Record<string, number>>,
): Promise<boolean> {
  const ids = Object.keys(fixed);
  if (ids.length === 0) return false;
  const changed = await maybeOne(
    db,
    { id: text() },
    sql`SELECT n.id FROM unnest(${ids}::text[], ${Object.values(fixed)}::int[]) AS fixed (id, revision)
        JOIN ${notebooks} n ON n.id = fixed.id AND n.org_id = ${orgId} AND n.revision <> fixed.revision
        JOIN ${documents} d ON d.notebook_id = n.id AND (d.revisions @> fixed.revision) <> upper_inf(d.revisions)
        LIMIT 1`,
  );
  return changed !== undefined;
}

/** Deletes documents that are neither in the newest content nor in one of these revisions. */
const deleteDocumentsExcept = (tx: Transaction, notebookId: string, kept: readonly number[]): Promise<number> =>
  run(
    tx,
    sql`DELETE FROM ${documents} WHERE notebook_id = ${notebookId} AND NOT ${isInNewest} AND NOT EXISTS (
          SELECT FROM unnest(${kept}::int[]) AS kept (revision) WHERE revisions @> kept.revision)`,
  );

/** Lists notebooks of all orgs that have documents outside their newest content, ordered by id. */
const notebooksWithOldDocuments = (
  db: Executor,
  { after, limit }: { after: string; limit: number },
): Promise<Pick<NotebookRow, 'id' | 'org_id'>[]> =>
  rowsOf(
    db,
    { id: text(), org_id: text() },
    sql`SELECT DISTINCT notebook_id AS id, org_id FROM ${documents}
        WHERE NOT ${isInNewest} AND notebook_id > ${after} ORDER BY notebook_id LIMIT ${limit}`,
  );

/** Revisions by notebook id, as a version fixes them. */
type Revisions = Readonly<Record<string, number>>;

type ChangedDocument = {
  notebook_id: string;
  notebook: string;
  title: string;
  before_id: string | null;
  after_id: string | null;
  bytes: number;
};

/**
 * Lists the documents in which two versions differ. A removed and an added document with the same title are one changed
 * document. If several share a title, they are paired in the order of creation.
 */
export function changedDocuments(
  db: Executor,
  orgId: string,
  { before, after, limit }: { before: Revisions; after: Revisions; limit: number },
): Promise<ChangedDocument[]> {
  const ids = [...new Set([...Object.keys(before), ...Object.keys(after)])];
  const isIn = (revisions: Revisions): Sql =>
    sql`coalesce(d.revisions @> (${sql.json(revisions)}::json ->> d.notebook_id)::int, false)`;
  return rowsOf(
    db,
    {
      notebook_id: text(),
      notebook: text(),
      title: text(),
      before_id: text().nullable(),
      after_id: text().nullable(),
      bytes: integer(),
    },
    sql`
      SELECT n.id AS notebook_id, n.name AS notebook, c.title, c.before_id, c.after_id, c.bytes
      FROM (
        SELECT notebook_id, title, place, min(id) FILTER (WHERE NOT is_after) AS before_id,
          min(id) FILTER (WHERE is_after) AS after_id, sum(bytes)::int AS bytes
        FROM (
          SELECT d.id, d.notebook_id, d.title, d.bytes, d.sha256, ${isIn(after)} AS is_after,
            row_number() OVER (PARTITION BY d.notebook_id, d.title, ${isIn(after)} ORDER BY d.id) AS place
          FROM ${documents} d
          WHERE d.org_id = ${orgId} AND d.notebook_id = ANY(${ids}) AND ${isIn(before)} <> ${isIn(after)}
        ) differing
        GROUP BY notebook_id, title, place
        HAVING min(sha256) FILTER (WHERE NOT is_after) IS DISTINCT FROM min(sha256) FILTER (WHERE is_after)
      ) c JOIN ${notebooks} n ON n.id = c.notebook_id AND n.org_id = ${orgId}
      ORDER BY n.name, n.id, c.title, c.place LIMIT ${limit}`,
  );
}

/** Returns texts by document id, also for documents that only older versions have. */
export async function documentTexts(
  db: Executor,
  orgId: string,
  ids: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  if (ids.length === 0) return new Map();
  const rows = await rowsOf(
    db,
    { id: text(), text: text() },
    sql`SELECT d.id, ${wholeText} FROM ${documents} d WHERE d.org_id = ${orgId} AND d.id = ANY(${ids})`,
  );
  return new Map(rows.map((row) => [row.id, row.text]));
}

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
