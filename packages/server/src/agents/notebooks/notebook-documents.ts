import { createHash } from 'node:crypto';
import type { Api } from '@vestra/contract/api';
import { maxDocumentBytes, maxDocuments, maxNotebookBytes } from '@vestra/contract/document-limits';
import { fail } from '@vestra/contract/errors';
import { newId } from '@vestra/contract/ids';
import { documentTitle } from '@vestra/contract/notebooks';
import { isPlainFileName } from '@vestra/contract/plain-file-name';
import type { ResponseOf } from '@vestra/contract/route';
import { recordAudit } from '../../account/index.ts';
import type { Origin } from '../../platform/caller.ts';
import type { Transaction } from '../../platform/db/pool.ts';
import type { Upload } from '../../platform/http/multipart.ts';
import type { JobSender } from '../../platform/jobs/catalog.ts';
import type { DocumentReader } from '../documents/reader.ts';
import { liveVersionsUsing, lockVersions } from '../versions/store.ts';
import type { RepublishLive } from '../versions/versions.ts';
import { outlineOf, splitPassages } from './passages.ts';
import { deleteUnusedDocuments, revisionsWith, startRevision } from './revisions.ts';
import { detectLanguage } from './search-words.ts';
import {
  addToCounts,
  documentsTitled,
  findDocument,
  insertDocument,
  lockNotebook,
  type PreparedDocument,
  type RevisionChange,
  removeFromRevision,
  restoreDocument,
  type TitledDocument,
} from './store.ts';
import type { DocumentRow, NotebookRow } from './tables.ts';

type Request = { orgId: string; body: { title: string; text: string; replace: boolean }; upload: Upload | null };

/** Reads the document of a request, sent as JSON or as a file. */
export async function readUpload(
  { orgId, body, upload }: Request,
  reader: DocumentReader,
): Promise<{ document: PreparedDocument; replace: boolean }> {
  if (!upload) {
    const { replace, ...given } = body;
    return { document: prepareDocument({ ...given, contentType: 'text/plain', param: 'text' }), replace };
  }
  const { replace, ...converted } = await convertUpload({ orgId, upload }, reader);
  return { document: prepareDocument({ ...converted, param: 'file' }), replace };
}

type ConvertedDocument = { title: string; text: string; contentType: string; replace: boolean };

async function convertUpload(
  { orgId, upload }: { orgId: string; upload: Upload },
  reader: DocumentReader,
): Promise<ConvertedDocument> {
  const form = readForm(upload);
  // A UTF-16 unit takes at least one byte of UTF-8, so a text with more units is always too large.
  return { ...form, ...(await reader.read(upload, { orgId, maxCharacters: maxDocumentBytes })) };
}

/** Converts a file with all checks of an added document, and saves nothing. */
export async function previewUpload(
  { orgId, upload }: { orgId: string; upload: Upload | null },
  reader: DocumentReader,
): Promise<ResponseOf<Api['notebooks']['convertDocument']>> {
  if (!upload) throw fail('file_required', { param: 'file' });
  const { replace: _, ...converted } = await convertUpload({ orgId, upload }, reader);
  const { title, contentType, bytes, sha256 } = prepareDocument({ ...converted, param: 'file' });
  const { text } = converted;
  return { object: 'converted_document', title, content_type: contentType, bytes, sha256, text };
}

/** Reads the fields beside the file. Without a field `title` the file name is the title. */
function readForm({ filename, form }: Upload): { title: string; replace: boolean } {
  const { title, replace = 'false', ...others } = form;
  const [field] = Object.keys(others);
  if (field !== undefined) {
    throw fail('invalid_request', {
      param: field,
      message: `Unknown field \`${field}\`: send \`file\`, \`title\` and \`replace\`.`,
    });
  }
  if (replace !== 'true' && replace !== 'false') {
    throw fail('invalid_request', { param: 'replace', message: '`replace` is `true` or `false`.' });
  }
  const name = titleOf(filename);
  if (title === undefined) return { title: name, replace: replace === 'true' };
  if (documentTitle.safeParse(title).success) return { title, replace: replace === 'true' };
  throw fail('invalid_request', { param: 'title', message: 'A title has 1 to 200 characters of plain text.' });
}

const maxTitleCharacters = 200;

/** Returns the file name, cut to the length of a title. */
function titleOf(filename: string | null): string {
  if (filename === null || !isPlainFileName(filename)) throw fail('invalid_filename', { param: 'file' });
  return [...filename].slice(0, maxTitleCharacters).join('');
}

/** `param` is the request field of the text, for error messages. */
export function prepareDocument(given: {
  title: string;
  text: string;
  contentType: string;
  param: 'text' | 'file';
}): PreparedDocument {
  const { title, text, contentType, param } = given;
  const bytes = Buffer.byteLength(text, 'utf8');
  if (bytes > maxDocumentBytes) {
    throw fail('document_too_large', {
      param,
      message: `The text has ${bytes} bytes, and a document can have at most ${maxDocumentBytes}.`,
    });
  }
  return {
    title,
    contentType,
    language: detectLanguage(text),
    bytes,
    sha256: createHash('sha256').update(text, 'utf8').digest('hex'),
    passages: splitPassages(text, outlineOf(title, text)),
  };
}

export function assertFits(notebook: Pick<NotebookRow, 'bytes' | 'document_count'>, bytes: number): void {
  if (notebook.document_count >= maxDocuments) {
    throw fail('notebook_full', {
      message: `The notebook holds ${maxDocuments} documents already, and takes no more.`,
    });
  }
  if (notebook.bytes + bytes > maxNotebookBytes) {
    throw fail('notebook_full', {
      message: `The notebook holds ${notebook.bytes} bytes of text; ${bytes} more would pass its ${maxNotebookBytes}.`,
    });
  }
}

/**
 * Adds a document to the newest content and, for live users, to the live revisions. `replace` removes the documents of
 * its title from both in the same transaction.
 */
export async function addDocument(
  tx: Transaction,
  origin: Origin,
  { notebookId, document, replace }: { notebookId: string; document: PreparedDocument; replace: boolean },
  wanted: ContentChange & { jobs: JobSender },
): Promise<DocumentRow> {
  const { orgId } = origin;
  const isForLive = reachesLiveUsers(origin, wanted);
  if (isForLive) await lockVersions(tx, orgId);
  const notebook = await lockNotebook(tx, orgId, notebookId);
  if (!notebook) throw fail('notebook_not_found');
  const readers = isForLive ? await liveReaders(tx, orgId, notebookId) : [];
  const live = readers.filter(({ isArchived }) => !isArchived).map(({ revision }) => revision);
  const titled = await documentsTitled(tx, notebookId, document.title, live);
  const old = titled.filter(({ in_newest }) => in_newest);
  if (titled.length > 0 && !replace) throw titleTaken(document.title, old.length > 0);
  // A live version that has this very text already gets no new version.
  const copied = live.filter((revision) => !isOnly(document, havingIn(titled, revision)));
  const [same] = old;
  if (same && copied.length === 0 && isOnly(document, old)) return same;
  const oldBytes = old.reduce((sum, { bytes }) => sum + bytes, 0);
  assertFits(
    { bytes: notebook.bytes - oldBytes, document_count: notebook.document_count - old.length },
    document.bytes,
  );
  const change = await startRevision(tx, notebook, copied);
  for (const { id } of titled) await removeFromRevision(tx, id, change);
  const row =
    (await restoreDocument(tx, notebookId, document, change)) ??
    (await insertDocument(tx, { id: newId('doc'), orgId, notebookId }, document, change));
  await addToCounts(tx, notebookId, { documents: 1 - old.length, bytes: row.bytes - oldBytes });
  for (const { id, bytes } of titled.filter((each) => each.id !== row.id)) {
    await recordAudit(tx, origin, {
      action: 'document.deleted',
      target: { type: 'document', id },
      details: { notebook_id: notebookId, bytes, replaced_by: row.id },
    });
  }
  await recordAudit(tx, origin, {
    action: 'document.created',
    target: { type: 'document', id: row.id },
    details: { notebook_id: notebookId, bytes: row.bytes },
  });
  if (isForLive) await republishCopies(tx, origin, notebookId, change, wanted);
  if (titled.length > 0) await deleteUnusedDocuments(tx, notebook);
  await wanted.jobs.send(tx, 'document.index', { org_id: orgId, document_id: row.id });
  return row;
}

const havingIn = (titled: readonly TitledDocument[], revision: number) =>
  titled.filter(({ found_in }) => found_in.includes(revision));

/** True if the document is the only one of its title, so that replacing would change nothing. */
const isOnly = ({ sha256, contentType }: PreparedDocument, [there, ...others]: readonly TitledDocument[]) =>
  there !== undefined && others.length === 0 && there.sha256 === sha256 && there.content_type === contentType;

const titleTaken = (title: string, isInNewest: boolean) =>
  fail('title_taken', {
    param: 'title',
    message: `${isInNewest ? 'A document of this notebook' : 'A document that live versions read'} is titled \`${title}\`. Send \`replace: true\` to replace it, or another title.`,
  });

/** Removes a document from the newest content. Versions that fix an older revision keep it. */
export async function removeDocument(
  tx: Transaction,
  origin: Origin,
  { notebookId, documentId }: { notebookId: string; documentId: string },
  wanted: ContentChange & { jobs: JobSender },
): Promise<void> {
  const { orgId } = origin;
  const isForLive = reachesLiveUsers(origin, wanted);
  if (isForLive) await lockVersions(tx, orgId);
  // Lock the notebook before the document, as adding does, to avoid deadlocks.
  const notebook = await lockNotebook(tx, orgId, notebookId);
  if (!notebook) throw fail('notebook_not_found');
  const row = await findDocument(tx, { orgId, notebookId, documentId });
  if (!row) throw fail('document_not_found');
  const readers = wanted.promote === 'now' ? await liveReadersOfDocument(tx, orgId, { notebookId, documentId }) : [];
  if (!isForLive && readers.length > 0) throw usedByLiveVersion(readers);
  const copied = readers.filter(({ isArchived }) => !isArchived).map(({ revision }) => revision);
  const change = await startRevision(tx, notebook, copied);
  await removeFromRevision(tx, documentId, change);
  await addToCounts(tx, notebookId, { documents: -1, bytes: -row.bytes });
  await recordAudit(tx, origin, {
    action: 'document.deleted',
    target: { type: 'document', id: documentId },
    details: { notebook_id: notebookId, bytes: row.bytes },
  });
  if (isForLive) await republishCopies(tx, origin, notebookId, change, wanted);
  await deleteUnusedDocuments(tx, notebook);
  await wanted.jobs.send(tx, 'knowledge.empty', { org_id: orgId, object: 'document', id: documentId });
}

/** Lists the deployments whose live version has the document. */
async function liveReadersOfDocument(
  tx: Transaction,
  orgId: string,
  place: { notebookId: string; documentId: string },
) {
  const readers = await liveReaders(tx, orgId, place.notebookId);
  const revisions = await revisionsWith(
    tx,
    place.documentId,
    readers.map(({ revision }) => revision),
  );
  return readers.filter(({ revision }) => revisions.has(revision));
}

const usedByLiveVersion = (readers: readonly LiveReader[]) =>
  fail('notebook_live', {
    deployments: readers.map(({ slug }) => slug),
    message:
      'A live version uses this document. Delete it with a live key, or with `promote=no` to take it out of what is promoted next.',
  });

/** Options for a change of documents. `republishLive` publishes it to live versions. */
type ContentChange = { promote: 'now' | 'no'; republishLive: RepublishLive };

/** A change with a live key reaches live users at once, unless the caller promotes it later. */
const reachesLiveUsers = ({ mode }: Pick<Origin, 'mode'>, { promote }: ContentChange) =>
  mode === 'live' && promote === 'now';

type LiveReader = { slug: string; isArchived: boolean; revision: number };

/** Lists the deployments whose live version reads the notebook, with the revision that each version fixes. */
async function liveReaders(tx: Transaction, orgId: string, notebookId: string): Promise<LiveReader[]> {
  const found = await liveVersionsUsing(tx, orgId, notebookId);
  return found.map(({ slug, status, content }) => ({
    slug,
    isArchived: status === 'archived',
    revision: content.notebooks[notebookId] as number,
  }));
}

/** Moves the live versions to the copied revisions, which have the change. */
function republishCopies(
  tx: Transaction,
  origin: Origin,
  notebookId: string,
  { copies }: RevisionChange,
  { republishLive }: ContentChange,
): Promise<void> {
  return republishLive(tx, origin, notebookId, ({ manifest, content }, { status }) => {
    const copy = copies.get(content.notebooks[notebookId] as number);
    if (copy === undefined || status === 'archived') return null;
    const notebooks = { ...content.notebooks, [notebookId]: copy };
    return { manifest, content: { ...content, notebooks }, changed: 'knowledge', note: null };
  });
}
