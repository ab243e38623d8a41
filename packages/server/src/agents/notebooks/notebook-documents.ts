import { createHash } from 'node:crypto';
import { fail } from '@vestra/contract/errors';
import { isPlainFileName } from '@vestra/contract/files';
import { newId } from '@vestra/contract/ids';
import { documentTitle } from '@vestra/contract/notebooks';
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
  findDocument,
  insertDocument,
  lockNotebook,
  type PreparedDocument,
  type RevisionChange,
  removeFromRevision,
  restoreDocument,
} from './store.ts';
import type { DocumentRow, NotebookRow } from './tables.ts';

type Request = { orgId: string; body: { title: string; text: string }; upload: Upload | null };

/** Reads the document of a request, sent as JSON or as a file. */
export async function readUpload({ orgId, body, upload }: Request, reader: DocumentReader): Promise<PreparedDocument> {
  if (!upload) return prepareDocument({ ...body, contentType: 'text/plain', param: 'text' });
  const title = readTitle(upload);
  // A UTF-16 unit takes at least one byte of UTF-8, so a text with more units is always too large.
  const { text, contentType } = await reader.read(upload, { orgId, maxCharacters: maxDocumentBytes });
  return prepareDocument({ title, text, contentType, param: 'file' });
}

/** Returns the form field `title`, or else the file name. */
function readTitle({ filename, form }: Upload): string {
  const { title, ...others } = form;
  const [field] = Object.keys(others);
  if (field !== undefined) {
    throw fail('invalid_request', {
      param: field,
      message: `Unknown field \`${field}\`: send \`file\` and \`title\`.`,
    });
  }
  const name = titleOf(filename);
  if (title === undefined) return name;
  if (documentTitle.safeParse(title).success) return title;
  throw fail('invalid_request', { param: 'title', message: 'A title has 1 to 200 characters of plain text.' });
}

const kilobyte = 1024;
const maxDocumentBytes = 512 * kilobyte;
const maxNotebookBytes = 5 * kilobyte * kilobyte;
const maxDocuments = 1000;
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
      message: `The text has ${bytes} bytes, and a document may hold at most ${maxDocumentBytes}.`,
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

export async function addDocument(
  tx: Transaction,
  origin: Origin,
  { notebookId, document }: { notebookId: string; document: PreparedDocument },
  wanted: ContentChange & { jobs: JobSender },
): Promise<DocumentRow> {
  const { orgId } = origin;
  const isForLive = reachesLiveUsers(origin, wanted);
  if (isForLive) await lockVersions(tx, orgId);
  const notebook = await lockNotebook(tx, orgId, notebookId);
  if (!notebook) throw fail('notebook_not_found');
  assertFits(notebook, document.bytes);
  const readers = isForLive ? await liveReaders(tx, orgId, notebookId) : [];
  const copied = readers.filter(({ isArchived }) => !isArchived).map(({ revision }) => revision);
  const change = await startRevision(tx, notebook, copied);
  const row =
    (await restoreDocument(tx, notebookId, document, change)) ??
    (await insertDocument(tx, { id: newId('doc'), orgId, notebookId }, document, change));
  await addToCounts(tx, notebookId, { documents: 1, bytes: row.bytes });
  await recordAudit(tx, origin, {
    action: 'document.created',
    target: { type: 'document', id: row.id },
    details: { notebook_id: notebookId, bytes: row.bytes },
  });
  if (isForLive) await republishCopies(tx, origin, notebookId, change, wanted);
  await wanted.jobs.send(tx, 'document.index', { org_id: orgId, document_id: row.id });
  return row;
}

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
