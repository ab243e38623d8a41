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
import type { ChangeLive } from '../versions/versions.ts';
import { outlineOf, splitPassages } from './passages.ts';
import { beginChange, removeUnused, revisionsWith } from './revisions.ts';
import { detectLanguage } from './search-words.ts';
import {
  addToSums,
  bringBack,
  findDocument,
  insertDocument,
  lockNotebook,
  type PreparedDocument,
  type RevisionChange,
  takeOut,
} from './store.ts';
import type { DocumentRow, NotebookRow } from './tables.ts';

type Request = { orgId: string; body: { title: string; text: string }; upload: Upload | null };

/** The document of a request, sent as JSON or as a file. */
export async function readUpload({ orgId, body, upload }: Request, reader: DocumentReader): Promise<PreparedDocument> {
  if (!upload) return prepareDocument({ ...body, contentType: 'text/plain', param: 'text' });
  const title = readTitle(upload);
  // A character has a byte or more, so what is longer in characters is too large in any case.
  const { text, contentType } = await reader.read(upload, { orgId, maxCharacters: maxDocumentBytes });
  return prepareDocument({ title, text, contentType, param: 'file' });
}

/** The part `title`, else the name of the file. */
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

/** A file's own name, cut where it is longer than a title may be. */
function titleOf(filename: string | null): string {
  if (filename === null || !isPlainFileName(filename)) throw fail('invalid_filename', { param: 'file' });
  return [...filename].slice(0, maxTitleCharacters).join('');
}

/** `param` is the field the text came in, for the refusal. */
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

export function assertRoomFor(notebook: Pick<NotebookRow, 'bytes' | 'document_count'>, bytes: number): void {
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
  const isForLive = reachesLive(origin, wanted);
  if (isForLive) await lockVersions(tx, orgId);
  const notebook = await lockNotebook(tx, orgId, notebookId);
  if (!notebook) throw fail('notebook_not_found');
  assertRoomFor(notebook, document.bytes);
  const readers = isForLive ? await liveReaders(tx, orgId, notebookId) : [];
  const copied = readers.filter(({ isArchived }) => !isArchived).map(({ revision }) => revision);
  const change = await beginChange(tx, notebook, copied);
  const row =
    (await bringBack(tx, notebookId, document, change)) ??
    (await insertDocument(tx, { id: newId('doc'), orgId, notebookId }, document, change));
  await addToSums(tx, notebookId, { documents: 1, bytes: row.bytes });
  await recordAudit(tx, origin, {
    action: 'document.created',
    target: { type: 'document', id: row.id },
    details: { notebook_id: notebookId, bytes: row.bytes },
  });
  if (isForLive) await carryIntoLive(tx, origin, notebookId, change, wanted);
  await wanted.jobs.send(tx, 'document.index', { org_id: orgId, document_id: row.id });
  return row;
}

/** Takes a document out of the newest content; versions that were saved with it keep it. */
export async function removeDocument(
  tx: Transaction,
  origin: Origin,
  { notebookId, documentId }: { notebookId: string; documentId: string },
  wanted: ContentChange,
): Promise<void> {
  const { orgId } = origin;
  const isForLive = reachesLive(origin, wanted);
  if (isForLive) await lockVersions(tx, orgId);
  // In the order of adding, notebook before document, so that the two never wait for each other.
  const notebook = await lockNotebook(tx, orgId, notebookId);
  if (!notebook) throw fail('notebook_not_found');
  const row = await findDocument(tx, { orgId, notebookId, documentId });
  if (!row) throw fail('document_not_found');
  const readers = wanted.promote === 'now' ? await readersOf(tx, orgId, { notebookId, documentId }) : [];
  if (!isForLive && readers.length > 0) throw stillRead(readers);
  const copied = readers.filter(({ isArchived }) => !isArchived).map(({ revision }) => revision);
  const change = await beginChange(tx, notebook, copied);
  await takeOut(tx, documentId, change);
  await addToSums(tx, notebookId, { documents: -1, bytes: -row.bytes });
  await recordAudit(tx, origin, {
    action: 'document.deleted',
    target: { type: 'document', id: documentId },
    details: { notebook_id: notebookId, bytes: row.bytes },
  });
  if (isForLive) await carryIntoLive(tx, origin, notebookId, change, wanted);
  await removeUnused(tx, notebook);
}

/** The deployments whose live version has the document. */
async function readersOf(tx: Transaction, orgId: string, place: { notebookId: string; documentId: string }) {
  const readers = await liveReaders(tx, orgId, place.notebookId);
  const revisions = await revisionsWith(
    tx,
    place.documentId,
    readers.map(({ revision }) => revision),
  );
  return readers.filter(({ revision }) => revisions.has(revision));
}

const stillRead = (readers: readonly LiveReader[]) =>
  fail('notebook_live', {
    deployments: readers.map(({ slug }) => slug),
    message:
      'A live version uses this document. Delete it with a live key, or with `promote=no` to take it out of what is promoted next.',
  });

/** How a change of documents is wanted: `changeLive` is how versions that are live go on. */
type ContentChange = { promote: 'now' | 'no'; changeLive: ChangeLive };

/** With a live key live users see it at once, unless the caller wants to promote it later. */
const reachesLive = ({ mode }: Pick<Origin, 'mode'>, { promote }: ContentChange) =>
  mode === 'live' && promote === 'now';

type LiveReader = { slug: string; isArchived: boolean; revision: number };

/** The deployments that read the notebook live, each with the revision that its version fixes. */
async function liveReaders(tx: Transaction, orgId: string, notebookId: string): Promise<LiveReader[]> {
  const found = await liveVersionsUsing(tx, orgId, notebookId);
  return found.map(({ slug, status, content }) => ({
    slug,
    isArchived: status === 'archived',
    revision: content.notebooks[notebookId] as number,
  }));
}

/** Lets live traffic go on with the copies that have the change. */
function carryIntoLive(
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
