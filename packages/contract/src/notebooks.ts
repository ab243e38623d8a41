import { z } from 'zod';
import { contentChangeQuery } from './content-change.ts';
import { maxDocumentBytes } from './document-limits.ts';
import { failsWith } from './fault.ts';
import { maxUploadBytes } from './files.ts';
import { id } from './ids.ts';
import { deleted, page, pageQuery } from './page.ts';
import { route } from './route.ts';
import { shortSlug } from './slug.ts';
import { tag } from './tag.ts';
import { text } from './text.ts';
import { createdAt, updatedAt } from './time.ts';
import { userId } from './user-id.ts';

/** Who may read a notebook: every user, or the named ones. */
const access = z.discriminatedUnion('mode', [
  z.strictObject({ mode: z.literal('all').describe('`all`: the agent reads it for every user.') }),
  z.strictObject({
    mode: z.literal('users').describe('`users`: the agent reads it only for the named users.'),
    user_ids: z.array(userId()).min(1).max(1000, 'At most 1000 users.').describe('Your ids of the users, 1 to 1,000.'),
  }),
]);

const notebook = z
  .object({
    object: tag('notebook'),
    id: id('nb'),
    slug: z.string().describe('Its name in lists and files.'),
    name: z.string().describe('Its name for people and the agent.'),
    description: z.string().describe('When to search it: the agent decides by this.'),
    access: access.describe('The users for whom the agent reads it.'),
    document_count: z.int().min(0).describe('The number of its documents, at most 1,000.'),
    bytes: z.int().min(0).describe('The size of its text in bytes, at most 5 MB.'),
    created_at: createdAt,
    updated_at: updatedAt,
  })
  .describe('A collection of documents that the agent reads.');

const document = z
  .object({
    object: tag('document'),
    id: id('doc'),
    notebook_id: id('nb'),
    title: z.string().describe('The title of the document.'),
    content_type: z.string().describe('The media type it was sent as, such as `text/markdown` or `application/pdf`.'),
    bytes: z.int().min(0).describe('The size of its text in bytes.'),
    sha256: z.string().describe('The SHA-256 of its text, to detect changes.'),
    indexed: z
      .boolean()
      .describe('Whether all of it can be found by meaning; until then parts are found by keywords only.'),
    created_at: createdAt,
  })
  .describe('One text of a notebook.');

const notebookParams = z.strictObject({ notebook_id: failsWith('notebook_not_found', id('nb')) });
const documentParams = notebookParams.extend({ document_id: failsWith('document_not_found', id('doc')) });

/** The size is checked in UTF-8 bytes with a separate code; the length here is documentation. */
export const documentTitle = text(1, 200);
const documentText = z.string().min(1).meta({ maxLength: maxDocumentBytes });

export const notebooks = {
  list: route({
    method: 'GET',
    path: '/v1/notebooks',
    auth: 'key',
    scopes: ['setup'],
    summary: 'List the notebooks.',
    description: 'Needs scope `setup`; newest first. Both modes see the same notebooks.',
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
    description:
      'Use its id in `knowledge` of a file or `notebooks` of a manifest; until a version does, no agent reads it.',
    idempotent: true,
    body: z.strictObject({
      name: text(1, 80).describe('Its name for people and the agent, 1 to 80 characters.'),
      slug: shortSlug.describe(
        'Its name in lists and files: lowercase letters, digits and hyphens, a letter first, at most 40.',
      ),
      description: text(0, 300)
        .default('')
        .describe('When to search it, at most 300 characters: the agent decides by this.'),
      access: access.default({ mode: 'all' }).describe('The users for whom the agent reads it; absent: all.'),
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
    description: '`document_count` and `bytes` show how full it is.',
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
    summary: 'Change a notebook’s name, description or readers; omitted fields stay.',
    description:
      'Takes effect at once, also for live versions; so one that is live needs a live key (409 `notebook_live`).',
    params: notebookParams,
    body: z.strictObject({
      name: text(1, 80).optional().describe('Its new name for people and the agent.'),
      description: text(0, 300).optional().describe('When to search it: the agent decides by this.'),
      access: access.optional().describe('The users for whom the agent reads it.'),
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
    description: 'Versions that use it can no longer run. One that is live needs a live key (409 `notebook_live`).',
    params: notebookParams,
    status: 200,
    response: deleted('notebook'),
    errors: ['notebook_live'],
    command: 'notebooks delete',
  }),
  search: route({
    method: 'GET',
    path: '/v1/notebooks/{notebook_id}/search',
    auth: 'key',
    scopes: ['setup'],
    summary: 'Search a notebook as the agent would.',
    description:
      'Returns the best passages, by keywords and by meaning. Without `deployment` a live key searches what live versions read, and a test key the newest documents. A notebook for named users shows nothing to others.',
    params: notebookParams,
    query: z.strictObject({
      q: text(1, 500)
        .describe('The text to search for, in plain words.')
        .meta({ example: 'How long may I return shoes?' }),
      user_id: userId().optional().describe('The user to search as; absent: the org’s own agent.'),
      deployment: text(1, 140)
        .optional()
        .describe('A deployment by id, slug or name: what its agent finds in the key’s mode.')
        .meta({ example: 'support' }),
      version: z
        .string()
        .regex(/^[1-9][0-9]{0,8}$/, 'A version must be a whole number from 1.')
        .transform(Number)
        .optional()
        .describe('A version of `deployment`, with the documents that it fixes; absent: the one that runs.'),
    }),
    status: 200,
    response: z.object({
      object: tag('notebook_search'),
      query: z.string().describe('The search text.'),
      passages: z
        .array(
          z.object({
            document_id: id('doc'),
            title: z.string().describe('The title of its document.'),
            heading: z.string().describe('The headings above it, outermost first; empty if there is none.'),
            page: z.int().nullable().describe('The page on which it begins; null for a file without pages.'),
            text: z.string().describe('The passage itself.'),
          }),
        )
        .describe('The best passages, best first; at most six, as the agent gets them.'),
      unindexed: z.int().min(0).describe('The number of documents that can only be found by keywords for now.'),
    }),
    errors: ['invalid_deployment', 'version_not_found', 'deployment_archived', 'deployment_not_live'],
    command: 'notebooks search',
  }),
  listDocuments: route({
    method: 'GET',
    path: '/v1/notebooks/{notebook_id}/documents',
    auth: 'key',
    scopes: ['setup'],
    summary: 'List the documents of a notebook.',
    description: 'Newest first, without their text.',
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
    description:
      'It can be found by keywords at once, and by meaning once it is `indexed`. With a test key live users see it after the next promotion. With `replace` it takes the place of the document of this title.',
    idempotent: true,
    params: notebookParams,
    query: z.strictObject(contentChangeQuery),
    accepts: ['application/json', 'multipart/form-data'],
    // As uploads of files: a file of exactly 10 MB passes with the headers of its part.
    bodyLimit: maxUploadBytes + 64 * 1024,
    body: z.strictObject({
      title: documentTitle.describe('The title, 1 to 200 characters.'),
      text: documentText.describe('Its text or Markdown, at most 512 KB.'),
      replace: z
        .boolean()
        .default(false)
        .describe('True: it replaces the document of the same title at once; false: a taken title is 409.'),
    }),
    status: 201,
    response: document,
    errors: ['title_taken', 'document_too_large', 'notebook_full', 'file_required', 'invalid_filename'],
    command: 'documents create',
  }),
  convertDocument: route({
    method: 'POST',
    path: '/v1/notebooks/convert',
    auth: 'key',
    scopes: ['setup'],
    summary: 'Convert a file to the text that the agent would read, and save nothing.',
    description:
      'multipart/form-data with one part `file`, and `title` if it differs from the file name. Use it to check files before adding them.',
    accepts: ['multipart/form-data'],
    bodyLimit: 3 * 1024 * 1024,
    // The part `file` is read separately.
    body: z.strictObject({}),
    status: 200,
    response: document
      .pick({ title: true, content_type: true, bytes: true, sha256: true })
      .extend({
        object: tag('converted_document'),
        text: z.string().describe('The whole text, as extracted from the file.'),
      })
      .describe('The text of a file that was converted and not saved.'),
    errors: ['document_too_large', 'file_required', 'invalid_filename', 'multipart_required', 'not_ready'],
    command: 'documents convert',
  }),
  getDocument: route({
    method: 'GET',
    path: '/v1/notebooks/{notebook_id}/documents/{document_id}',
    auth: 'key',
    scopes: ['setup'],
    summary: 'Read one document with its text.',
    description: 'The text is what the agent reads, not the file that was sent.',
    params: documentParams,
    status: 200,
    response: document.extend({ text: z.string().describe('The whole text, as extracted from the upload.') }),
    errors: [],
    command: 'documents get',
  }),
  deleteDocument: route({
    method: 'DELETE',
    path: '/v1/notebooks/{notebook_id}/documents/{document_id}',
    auth: 'key',
    scopes: ['setup'],
    summary: 'Delete a document; versions saved with it keep it.',
    description:
      'With a live key it is removed for live users at once, as a new version of each deployment that uses it.',
    params: documentParams,
    query: z.strictObject(contentChangeQuery),
    status: 200,
    response: deleted('document'),
    errors: ['notebook_live'],
    command: 'documents delete',
  }),
};
