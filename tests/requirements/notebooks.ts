import { area } from '../requirement.ts';

export const notebooks = area('notebooks', 'done', [
  [
    'NB-001',
    'docs/api/notebooks.md#notebook',
    'A notebook shows `id` (`nb_`), `object: notebook`, `slug`, `name`, `description`, `access`, `document_count`, `bytes`, `created_at`, `updated_at`.',
  ],
  [
    'NB-002',
    'docs/api/notebooks.md#post-v1notebooks',
    '`slug` is required: lowercase letters, digits, hyphens, starting with a letter, at most 40.',
  ],
  ['NB-003', 'docs/api/notebooks.md#post-v1notebooks', '`name` is required and takes 1 to 80 characters.'],
  [
    'NB-004',
    'docs/api/notebooks.md#post-v1notebooks',
    '`description` accepts at most 300 characters and is empty when absent.',
  ],
  [
    'NB-005',
    'docs/knowledge.md#rules-of-notebooks',
    'The agent sees the description and looks into the notebook by it.',
  ],
  [
    'NB-006',
    'docs/api/notebooks.md#post-v1notebooks',
    "`access` is `{mode: all}` when absent: every user's agent reads it.",
  ],
  [
    'NB-007',
    'docs/knowledge.md#rules-of-notebooks',
    '`document_count` and `bytes` follow each document that is added or removed.',
  ],
  [
    'NB-008',
    'docs/api/notebooks.md#document',
    'A document shows `id` (`doc_`), `object: document`, `notebook_id`, `title`, `content_type`, `bytes`, `sha256`, `created_at`.',
  ],
  ['NB-009', 'docs/knowledge.md#rules-of-notebooks', "`sha256` is the SHA-256 of the document's text."],
  ['NB-010', 'docs/api/notebooks.md#post-v1notebooks', '`POST /v1/notebooks` answers 201 with the notebook.'],
  ['NB-011', 'docs/api/notebooks.md#get-v1notebooks', '`GET /v1/notebooks` lists notebooks by pages.'],
  [
    'NB-012',
    'docs/api/notebooks.md#get-v1notebooksnotebook_id',
    '`GET /v1/notebooks/{notebook_id}` answers the notebook with `access`.',
  ],
  [
    'NB-013',
    'docs/api/notebooks.md#patch-v1notebooksnotebook_id',
    '`PATCH /v1/notebooks/{notebook_id}` changes `name`, `description` and `access` under the limits of create.',
  ],
  ['NB-014', 'docs/knowledge.md#rules-of-notebooks', 'A changed `access` holds from the next look into the notebook.'],
  [
    'NB-015',
    'docs/api/notebooks.md#delete-v1notebooksnotebook_id',
    '`DELETE /v1/notebooks/{notebook_id}` answers `{object: notebook, id, deleted: true}` and its documents are gone.',
  ],
  [
    'NB-016',
    'docs/api/notebooks.md#post-v1notebooksnotebook_iddocuments',
    '`POST …/documents` accepts `title` (1 to 200) and `text` (1 to 524288 characters) and answers 201 with the document.',
  ],
  ['NB-017', 'docs/api/notebooks.md#get-v1notebooksnotebook_iddocuments', '`GET …/documents` lists documents.'],
  [
    'NB-018',
    'docs/api/notebooks.md#delete-v1notebooksnotebook_iddocumentsdocument_id',
    '`DELETE …/documents/{document_id}` answers `{object: document, id, deleted: true}`.',
  ],
  [
    'NB-019',
    'docs/knowledge.md#rules-of-notebooks',
    'A document over 512 KB of text answers 400 `document_too_large`.',
  ],
  [
    'NB-020',
    'docs/knowledge.md#rules-of-notebooks',
    'A document that would lift the notebook over 5 MB of text answers 400 `notebook_full`.',
  ],
  [
    'NB-021',
    'docs/api/notebooks.md#patch-v1notebooksnotebook_id',
    '`access: {mode: users, user_ids}` accepts 1 to 1000 user ids; 0 and 1001 are refused.',
  ],
  [
    'NB-022',
    'docs/knowledge.md#rules-of-notebooks',
    'The agent of a user outside `user_ids` finds nothing of the notebook.',
  ],
  [
    'NB-023',
    'docs/knowledge.md#supported-files',
    'A document is taken as multipart part `file`: plain text and Markdown as they are.',
  ],
  ['NB-024', 'docs/knowledge.md#supported-files', 'An HTML file is turned into Markdown.'],
  ['NB-025', 'docs/knowledge.md#supported-files', 'The text of a PDF file is extracted.'],
  ['NB-026', 'docs/knowledge.md#supported-files', 'The text of a DOCX file is extracted.'],
  [
    'NB-027',
    'docs/knowledge.md#rules-of-notebooks',
    'A notebook with 1,000 documents answers the next with 400 `notebook_full`.',
  ],
  [
    'NB-028',
    'docs/api/notebooks.md#get-v1notebooksnotebook_iddocumentsdocument_id',
    '`GET …/documents/{id}` answers the document with `text`.',
  ],
  ['NB-029', 'docs/knowledge.md#rules-of-notebooks', 'A taken notebook slug answers 409 `slug_taken`.'],
  [
    'NB-030',
    'docs/knowledge.md#rules-of-notebooks',
    'An unknown notebook answers 404 `notebook_not_found`, an unknown document 404 `document_not_found`.',
  ],
  [
    'NB-031',
    'docs/knowledge.md#rules-of-notebooks',
    'The agent answers from the documents of the notebooks that its version names, and from no others.',
  ],
  [
    'NB-700',
    'docs/knowledge.md#search',
    '`GET …/search` finds what an agent finds: of `deployment` and `version`, or without them what is live with a live key and the newest content with a test key.',
  ],
  [
    'NB-701',
    'docs/knowledge.md#search',
    'A search of a deployment that is unknown, not live or without this notebook, or of an unknown version, is refused with the reason.',
  ],
  [
    'NB-702',
    'docs/knowledge.md#replacing-a-document',
    'A taken title is 409 `title_taken`; with `replace: true` the document takes the place of the old one in one step.',
  ],
  [
    'NB-703',
    'docs/knowledge.md#replacing-a-document',
    '`replace` removes all documents of the title, also with several requests at once.',
  ],
  ['NB-704', 'docs/knowledge.md#rules-of-notebooks', 'A document file may have 10 MB, as an upload may.'],
  [
    'NB-121',
    'docs/versions.md#deleting',
    'A text is stored once however many versions fix it, and a change of one document costs that document.',
  ],
  [
    'NB-122',
    'docs/versions.md#deleting',
    'A document that neither the newest content nor any version uses is removed.',
  ],
  [
    'NB-123',
    'docs/versions.md#changing-content',
    'Deleting a notebook or document that a live version uses, or changing such a notebook, with a test key answers 409 `notebook_live` with the deployments.',
  ],
  [
    'NB-124',
    'docs/versions.md#deleting',
    'A notebook deleted with a live key is gone: live traffic continues without it, and versions that used it list it as `missing` and answer 409 `version_incomplete`.',
  ],
  [
    'NB-201',
    'docs/knowledge.md#indexing',
    'A document shows `indexed`: whether everything that the encoder reads of it is searched by meaning.',
  ],
  [
    'NB-202',
    'docs/knowledge.md#indexing',
    'Indexing begins with the upload, and after a crash continues behind the last batch that was stored.',
  ],
  [
    'NB-203',
    'docs/knowledge.md#indexing',
    'The indexed part of a document is found at once, and a search reports documents that are not fully indexed.',
  ],
  [
    'NB-204',
    'docs/knowledge.md#rules-of-notebooks',
    'One process at a time indexes a document, and no window is lost or doubled.',
  ],
  [
    'NB-205',
    'docs/knowledge.md#indexing',
    'A document that is replaced or deleted while it is indexed is left at once.',
  ],
  [
    'NB-206',
    'docs/knowledge.md#rules-of-notebooks',
    'A text is embedded once for all documents of an org that hold it.',
  ],
  [
    'NB-207',
    'docs/knowledge.md#indexing',
    'Another embeddings model indexes all documents again; vectors of two models are never compared.',
  ],
  ['NB-208', 'docs/knowledge.md#rules-of-notebooks', 'Every language that the encoder reads is searched by meaning.'],
  [
    'NB-209',
    'docs/knowledge.md#search',
    'A passage carries the headings, columns or entry it stands under and the page it begins on; hits are cited by them.',
  ],
  [
    'NB-210',
    'docs/knowledge.md#supported-files',
    'The text of XLSX and PPTX files is extracted, with a table for each sheet and a page for each slide.',
  ],
  [
    'NB-211',
    'docs/knowledge.md#indexing',
    'A test run waits for the index of its notebooks, in bounds, and reports it; the agent is told while they are indexed.',
  ],
  [
    'NB-212',
    'docs/knowledge.md#search',
    'If PostgreSQL has pgvector and lets the server use it, PostgreSQL compares vectors; otherwise the process does.',
  ],
  [
    'NB-500',
    'docs/knowledge.md#search',
    'The encoder reads the text of a page, without the addresses of links, tags, checksums and marks.',
  ],
  [
    'NB-501',
    'docs/knowledge.md#search',
    'A text that a document repeats is encoded once, and found at each of its places.',
  ],
  [
    'NB-261',
    'docs/knowledge.md#rules-of-notebooks',
    'A part `title` titles an uploaded file; the `<title>` of a page is no part of its text.',
  ],
  [
    'NB-262',
    'docs/knowledge.md#supported-files',
    'CSV, JSON, YAML, XML and source code are taken as text when uploaded as files.',
  ],
  [
    'NB-263',
    'docs/knowledge.md#rules-of-notebooks',
    'The refusal of a file that is too large names the bytes that the route accepts.',
  ],
  [
    'NB-264',
    'docs/knowledge.md#sources-of-replies',
    'A reply, and the result of a task, has the passages that it cites as `sources`, in the order of their first mark. Their route returns title, heading, page and text.',
  ],
  [
    'NB-265',
    'docs/knowledge.md#sources-of-replies',
    'A mark that belongs to no passage of the conversation is text, and so is a number in brackets in code.',
  ],
  [
    'NB-266',
    'docs/knowledge.md#sources-of-replies',
    'A structured answer, and a reply of an agent without notebooks, cites nothing.',
  ],
  [
    'NB-267',
    'docs/knowledge.md#sources-of-replies',
    'A message stores no text of its passages. Those of a deleted or replaced document are gone at once.',
  ],
  [
    'NB-268',
    'docs/knowledge.md#sources-of-replies',
    'A session reads the text of the passages that its replies cite, without ids. Passages of another org, or of a notebook that is closed to the user, are left out.',
  ],
  [
    'NB-270',
    'docs/knowledge.md#sources-of-replies',
    'A passage keeps its mark for the whole conversation, and a later reply can cite what an earlier one found.',
  ],
]);
