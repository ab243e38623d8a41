import { fail } from '@vestra/contract/errors';
import type { Database } from '../../platform/db/pool.ts';
import { transaction } from '../../platform/db/transaction.ts';
import type { Handlers, PageRequest } from '../../platform/http/handler.ts';
import type { JobSender } from '../../platform/jobs/catalog.ts';
import type { DocumentReader } from '../documents/reader.ts';
import type { Embeddings } from '../embeddings/embeddings.ts';
import type { RepublishLive } from '../versions/versions.ts';
import { findIndex } from './document-index.ts';
import { changeNotebook, createNotebook, presentDocument, presentNotebook, removeNotebook } from './notebook.ts';
import { addDocument, previewUpload, readUpload, removeDocument } from './notebook-documents.ts';
import { revisionsToSearch } from './revisions.ts';
import type { SearchResult } from './search.ts';
import { findNotebook, findWholeDocument, listDocuments, listNotebooks, type NotebookReader } from './store.ts';

/** The same number as an agent gets. */
const passages = 6;

type Passage = Pick<SearchResult['hits'][number], 'documentId' | 'title' | 'heading' | 'page' | 'text'>;

export function notebookRoutes({
  db,
  reader,
  republishLive,
  jobs,
  embeddings: { model },
  search,
}: {
  db: Database;
  /** The search that agents use. */
  search: (asked: NotebookReader & { query: string; limit: number }) => Promise<{ hits: Passage[]; unindexed: number }>;
  reader: DocumentReader;
  republishLive: RepublishLive;
  jobs: JobSender;
  embeddings: Pick<Embeddings, 'model'>;
}): Handlers<'notebooks'> {
  return {
    list: async ({ caller, page }) =>
      page.of(
        await listNotebooks(db, caller.orgId, { limit: page.limit, below: page.after?.[0] ?? null }),
        presentNotebook,
        (row) => [row.id],
      ),
    create: async ({ origin, body, commit }) =>
      commit(async (tx) => presentNotebook(await createNotebook(tx, origin, body))),
    get: async ({ caller, params }) => presentNotebook(await notebookOf(caller.orgId, params.notebook_id)),
    update: async ({ origin, params, body }) =>
      presentNotebook(await transaction(db, (tx) => changeNotebook(tx, origin, params.notebook_id, body))),
    delete: async ({ origin, params }) => {
      await transaction(db, (tx) => removeNotebook(tx, origin, params.notebook_id, { republishLive, jobs }));
      return { object: 'notebook', id: params.notebook_id, deleted: true };
    },
    search: async ({ caller, params, query: { q, user_id = null, deployment, version } }) => {
      const { id } = await notebookOf(caller.orgId, params.notebook_id);
      const revisions = await revisionsToSearch(db, caller, id, { deployment, version });
      const reader = { orgId: caller.orgId, notebookIds: [id], revisions, userId: user_id };
      const { hits, unindexed } = await search({ ...reader, query: q, limit: passages });
      const found = hits.map(({ documentId, title, heading, page, text }) => ({
        document_id: documentId,
        title,
        heading,
        page,
        text,
      }));
      return { object: 'notebook_search', query: q, passages: found, unindexed };
    },
    listDocuments: async ({ caller, params, page }) => {
      const notebook = await notebookOf(caller.orgId, params.notebook_id);
      const rows = await listDocuments(db, notebook, { limit: page.limit, below: placeIn(page, notebook.id) }, model);
      return page.of(rows, presentDocument, (row) => [row.notebook_id, row.id]);
    },
    createDocument: async ({ caller, origin, params, query, body, upload, commit }) => {
      // Read the upload before the transaction, which holds a connection and may run more than once.
      const { document, replace } = await readUpload({ orgId: caller.orgId, body, upload }, reader);
      const place = { notebookId: params.notebook_id, document, replace };
      const wanted = { promote: query.promote, republishLive, jobs };
      return commit(async (tx) => {
        const row = await addDocument(tx, origin, place, wanted);
        // A restored document may already be indexed.
        const index = await findIndex(tx, { documentId: row.id, model });
        return presentDocument({ ...row, indexed: index?.completed_at != null });
      });
    },
    convertDocument: async ({ caller, upload }) => previewUpload({ orgId: caller.orgId, upload }, reader),
    getDocument: async ({ caller, params }) => {
      const { notebook_id, document_id } = params;
      const place = { orgId: caller.orgId, notebookId: notebook_id, documentId: document_id };
      const row = await findWholeDocument(db, place, model);
      if (row) return { ...presentDocument(row), text: row.text };
      await notebookOf(caller.orgId, notebook_id);
      throw fail('document_not_found');
    },
    deleteDocument: async ({ origin, params, query }) => {
      const place = { notebookId: params.notebook_id, documentId: params.document_id };
      await transaction(db, (tx) => removeDocument(tx, origin, place, { promote: query.promote, republishLive, jobs }));
      return { object: 'document', id: params.document_id, deleted: true };
    },
  };

  async function notebookOf(orgId: string, notebookId: string) {
    const row = await findNotebook(db, orgId, notebookId);
    if (!row) throw fail('notebook_not_found');
    return row;
  }
}

/** Returns the id in the cursor, and refuses a cursor of another notebook. */
function placeIn({ after }: PageRequest, notebookId: string): string | null {
  if (after === null) return null;
  const [madeFor, place] = after;
  if (madeFor !== notebookId) throw fail('invalid_cursor', { param: 'cursor' });
  return place as string;
}
