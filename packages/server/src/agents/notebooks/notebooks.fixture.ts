import { randomBytes } from 'node:crypto';
import { startTestApp, systemOrigin } from '../../../../../tests/support/app.ts';
import type { Database } from '../../platform/db/pool.ts';
import { transaction } from '../../platform/db/transaction.ts';
import { createDocumentReader } from '../documents/reader.ts';
import { createNotebook, type NotebookAccess } from './notebook.ts';
import { addDocument, prepareDocument } from './notebook-documents.ts';
import { notebookRoutes } from './routes.ts';
import { searchNotebooks } from './search.ts';

const republishLive = async () => {};
/** No worker runs these jobs: a test indexes the documents it needs. */
export const jobs = { send: async () => '', sendMany: async () => [] };

/** Starts the notebook routes. `key` is the test key of an org. */
export async function startNotebooks({ encoder = 'none' }: { encoder?: string } = {}) {
  const app = await startTestApp(({ db }) => ({
    notebooks: notebookRoutes({
      db,
      reader: createDocumentReader(),
      republishLive,
      jobs,
      embeddings: { model: encoder },
      search: (asked) => searchNotebooks(db, asked),
    }),
  }));
  return {
    ...app,
    async newOrg() {
      const org = await app.newOrg();
      return { ...org, key: org.testKey };
    },
  };
}

/** A multipart body with one file. */
export function formOf(bytes: Uint8Array | string, filename: string, type = ''): FormData {
  const form = new FormData();
  form.set('file', new File([bytes as Uint8Array<ArrayBuffer>], filename, { type }));
  return form;
}

/** Creates a notebook with these documents directly, without a request. */
export async function newNotebook(
  db: Database,
  orgId: string,
  documents: Record<string, string> = {},
  access: NotebookAccess = { mode: 'all' },
): Promise<string> {
  const slug = `n${randomBytes(6).toString('hex')}`;
  const { id } = await transaction(db, (tx) =>
    createNotebook(tx, systemOrigin(orgId), { name: slug, slug, description: `About ${slug}`, access }),
  );
  for (const [title, text] of Object.entries(documents)) await newDocument(db, orgId, id, { title, text });
  return id;
}

export function newDocument(db: Database, orgId: string, notebookId: string, given: { title: string; text: string }) {
  const document = prepareDocument({ ...given, contentType: 'text/plain', param: 'text' });
  return transaction(db, (tx) =>
    addDocument(
      tx,
      systemOrigin(orgId),
      { notebookId, document, replace: false },
      { promote: 'no', republishLive, jobs },
    ),
  );
}
