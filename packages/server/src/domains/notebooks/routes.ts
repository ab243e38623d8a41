import { fail } from '@vestra/contract/errors';
import type { DocumentReader } from '../../adapters/documents/reader.ts';
import type { Database } from '../../db/pool.ts';
import { transaction } from '../../db/transaction.ts';
import type { Handlers } from '../../http/handler.ts';
import { addDocument } from './add-document.ts';
import { createNotebook } from './create.ts';
import { maxDocumentBytes, prepareDocument, titleOf } from './notebook.ts';
import { presentDocument, presentNotebook } from './present.ts';
import { removeDocument } from './remove-document.ts';
import { removeNotebook } from './remove.ts';
import { findDocument, findNotebook, listDocuments, listNotebooks } from './store.ts';
import { changeNotebook } from './update.ts';

export function notebookRoutes({ db, reader }: { db: Database; reader: DocumentReader }): Handlers<'notebooks'> {
  return {
    list: async ({ caller, page }) =>
      page.of(await listNotebooks(db, caller.orgId, page), presentNotebook, (row) => [row.id]),
    create: async ({ origin, body, commit }) =>
      commit(async (tx) => presentNotebook(await createNotebook(tx, origin, body))),
    get: async ({ caller, params }) => presentNotebook(await notebookOf(caller.orgId, params.notebook_id)),
    update: async ({ origin, params, body }) =>
      presentNotebook(await transaction(db, (tx) => changeNotebook(tx, origin, params.notebook_id, body))),
    delete: async ({ origin, params }) => {
      await transaction(db, (tx) => removeNotebook(tx, origin, params.notebook_id));
      return { object: 'notebook', id: params.notebook_id, deleted: true };
    },
    listDocuments: async ({ caller, params, page }) => {
      const notebook = await notebookOf(caller.orgId, params.notebook_id);
      const rows = await listDocuments(db, caller.orgId, notebook.id, page);
      return page.of(rows, presentDocument, (row) => [row.id]);
    },
    createDocument: async ({ origin, params, body, upload, commit }) => {
      // Reading a file takes a while: it is done before the transaction, which may also run more than once.
      const document = prepareDocument(upload ? await readFile(upload) : { ...body, contentType: 'text/plain', param: 'text' });
      return commit(async (tx) => presentDocument(await addDocument(tx, origin, params.notebook_id, document)));
    },
    getDocument: async ({ caller, params }) => {
      const { notebook_id, document_id } = params;
      const row = await findDocument(db, caller.orgId, notebook_id, document_id);
      if (row) return { ...presentDocument(row), text: row.text };
      await notebookOf(caller.orgId, notebook_id);
      throw fail('document_not_found');
    },
    deleteDocument: async ({ origin, params }) => {
      const place = { notebookId: params.notebook_id, documentId: params.document_id };
      await transaction(db, (tx) => removeDocument(tx, origin, place));
      return { object: 'document', id: params.document_id, deleted: true };
    },
  };

  async function readFile(file: Parameters<DocumentReader['read']>[0]) {
    const title = titleOf(file.filename);
    // A character has a byte or more.
    return { title, ...(await reader.read(file, { maxCharacters: maxDocumentBytes })), param: 'file' as const };
  }

  async function notebookOf(orgId: string, notebookId: string) {
    const row = await findNotebook(db, orgId, notebookId);
    if (!row) throw fail('notebook_not_found');
    return row;
  }
}
