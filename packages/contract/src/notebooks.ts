import { z } from 'zod';
import { contentChangeQuery } from './content-change.ts';
import { failsWith } from './fault.ts';
import { id } from './ids.ts';
import { deleted, page, pageQuery } from './page.ts';
import { route } from './route.ts';
import { shortSlug } from './slug.ts';
import { text } from './text.ts';
import { time } from './time.ts';
import { userId } from './user-id.ts';

/** Who may read a notebook: every user, or the named ones. */
const access = z.discriminatedUnion('mode', [
  z.strictObject({ mode: z.literal('all') }),
  z.strictObject({ mode: z.literal('users'), user_ids: z.array(userId()).min(1).max(1000, 'At most 1000 users.') }),
]);

const notebook = z.object({
  object: z.literal('notebook'),
  id: id('nb'),
  slug: z.string(),
  name: z.string(),
  description: z.string(),
  access,
  document_count: z.int().min(0),
  bytes: z.int().min(0),
  created_at: time,
  updated_at: time,
});

const document = z.object({
  object: z.literal('document'),
  id: id('doc'),
  notebook_id: id('nb'),
  title: z.string(),
  content_type: z.string(),
  bytes: z.int().min(0),
  sha256: z.string(),
  /** Whether it is searched by meaning as a whole; until then what is not gone through yet is found by its words alone. */
  indexed: z.boolean(),
  created_at: time,
});

const notebookParams = z.strictObject({ notebook_id: failsWith('notebook_not_found', id('nb')) });
const documentParams = notebookParams.extend({ document_id: failsWith('document_not_found', id('doc')) });

/** Its size counts in UTF-8 bytes and has a code of its own, so the length is only shown here. */
export const documentTitle = text(1, 200);
const documentText = z.string().min(1).meta({ maxLength: 524_288 });

export const notebooks = {
  list: route({
    method: 'GET',
    path: '/v1/notebooks',
    auth: 'key',
    scopes: ['setup'],
    summary: 'List the notebooks.',
    query: z.strictObject(pageQuery),
    status: 200,
    response: page(notebook),
    errors: [],
    command: 'notebooks list',
  }),
  create: route({
    method: 'POST',
    path: '/v1/notebooks',
    auth: 'key',
    scopes: ['setup'],
    summary: 'Create a notebook for documents the agent reads before it answers.',
    idempotent: true,
    body: z.strictObject({
      name: text(1, 80),
      slug: shortSlug,
      description: text(0, 300).default(''),
      access: access.default({ mode: 'all' }),
    }),
    status: 201,
    response: notebook,
    errors: ['slug_taken'],
    command: 'notebooks create',
  }),
  get: route({
    method: 'GET',
    path: '/v1/notebooks/{notebook_id}',
    auth: 'key',
    scopes: ['setup'],
    summary: 'Read one notebook.',
    params: notebookParams,
    status: 200,
    response: notebook,
    errors: [],
    command: 'notebooks get',
  }),
  update: route({
    method: 'PATCH',
    path: '/v1/notebooks/{notebook_id}',
    auth: 'key',
    scopes: ['setup'],
    summary: 'Change a notebook’s name, description or readers; fields left out stay.',
    params: notebookParams,
    body: z.strictObject({
      name: text(1, 80).optional(),
      description: text(0, 300).optional(),
      access: access.optional(),
    }),
    status: 200,
    response: notebook,
    errors: ['notebook_live'],
    command: 'notebooks update',
  }),
  delete: route({
    method: 'DELETE',
    path: '/v1/notebooks/{notebook_id}',
    auth: 'key',
    scopes: ['setup'],
    summary: 'Delete a notebook and its documents.',
    params: notebookParams,
    status: 200,
    response: deleted('notebook'),
    errors: ['notebook_live'],
    command: 'notebooks delete',
  }),
  listDocuments: route({
    method: 'GET',
    path: '/v1/notebooks/{notebook_id}/documents',
    auth: 'key',
    scopes: ['setup'],
    summary: 'List the documents of a notebook.',
    params: notebookParams,
    query: z.strictObject(pageQuery),
    status: 200,
    response: page(document),
    errors: [],
    command: 'documents list',
  }),
  createDocument: route({
    method: 'POST',
    path: '/v1/notebooks/{notebook_id}/documents',
    auth: 'key',
    scopes: ['setup'],
    summary:
      'Add a document: title and text as JSON, or a multipart part `file` (text, CSV, JSON, YAML, XML, source code, Markdown, HTML, PDF, DOCX, XLSX, PPTX) with or without `title`.',
    idempotent: true,
    params: notebookParams,
    query: z.strictObject(contentChangeQuery),
    accepts: ['application/json', 'multipart/form-data'],
    bodyLimit: 3 * 1024 * 1024,
    body: z.strictObject({ title: documentTitle, text: documentText }),
    status: 201,
    response: document,
    errors: ['document_too_large', 'notebook_full', 'file_required', 'invalid_filename'],
    command: 'documents create',
  }),
  getDocument: route({
    method: 'GET',
    path: '/v1/notebooks/{notebook_id}/documents/{document_id}',
    auth: 'key',
    scopes: ['setup'],
    summary: 'Read one document with its text.',
    params: documentParams,
    status: 200,
    response: document.extend({ text: z.string() }),
    errors: [],
    command: 'documents get',
  }),
  deleteDocument: route({
    method: 'DELETE',
    path: '/v1/notebooks/{notebook_id}/documents/{document_id}',
    auth: 'key',
    scopes: ['setup'],
    summary: 'Delete a document; versions that were saved with it keep it.',
    params: documentParams,
    query: z.strictObject(contentChangeQuery),
    status: 200,
    response: deleted('document'),
    errors: ['notebook_live'],
    command: 'documents delete',
  }),
};
