import { area } from '../requirement.ts';

export const notebooks = area('notebooks', 'done', [
  [
    'NB-001',
    'configuration.md · Notebook and document',
    'A notebook shows `id` (`nb_`), `object: notebook`, `slug`, `name`, `description`, `access`, `document_count`, `bytes`, `created_at`, `updated_at`.',
  ],
  [
    'NB-002',
    'configuration.md · Notebook and document',
    '`slug` is required: lowercase letters, digits, hyphens, starting with a letter, at most 40.',
  ],
  ['NB-003', 'configuration.md · Notebook and document', '`name` is required and takes 1 to 80 characters.'],
  [
    'NB-004',
    'configuration.md · Notebook and document',
    '`description` takes at most 300 characters and is empty when absent.',
  ],
  [
    'NB-005',
    'configuration.md · Notebook and document',
    'The agent sees the description and looks into the notebook by it.',
  ],
  [
    'NB-006',
    'configuration.md · Notebook and document',
    "`access` is `{mode: all}` when absent: every user's agent reads it.",
  ],
  [
    'NB-007',
    'configuration.md · Notebook and document',
    '`document_count` and `bytes` follow each document that is added or removed.',
  ],
  [
    'NB-008',
    'configuration.md · Notebook and document',
    'A document shows `id` (`doc_`), `object: document`, `notebook_id`, `title`, `content_type`, `bytes`, `sha256`, `created_at`.',
  ],
  ['NB-009', 'configuration.md · Notebook and document', "`sha256` is the SHA-256 of the document's text."],
  ['NB-010', 'configuration.md · Notebooks', '`POST /v1/notebooks` answers 201 with the notebook.'],
  ['NB-011', 'configuration.md · Notebooks', '`GET /v1/notebooks` lists notebooks by pages.'],
  ['NB-012', 'configuration.md · Notebooks', '`GET /v1/notebooks/{notebook_id}` answers the notebook with `access`.'],
  [
    'NB-013',
    'configuration.md · Notebooks',
    '`PATCH /v1/notebooks/{notebook_id}` changes `name`, `description` and `access` under the limits of create.',
  ],
  ['NB-014', 'configuration.md · Notebooks', 'A changed `access` holds from the next look into the notebook.'],
  [
    'NB-015',
    'configuration.md · Notebooks',
    '`DELETE /v1/notebooks/{notebook_id}` answers `{object: notebook, id, deleted: true}` and its documents are gone.',
  ],
  [
    'NB-016',
    'configuration.md · Notebooks',
    '`POST …/documents` takes `title` (1 to 200) and `text` (1 to 524288 characters) and answers 201 with the document.',
  ],
  ['NB-017', 'configuration.md · Notebooks', '`GET …/documents` lists documents.'],
  [
    'NB-018',
    'configuration.md · Notebooks',
    '`DELETE …/documents/{document_id}` answers `{object: document, id, deleted: true}`.',
  ],
  ['NB-019', 'configuration.md · Notebooks', 'A document over 512 KB of text answers 400 `document_too_large`.'],
  [
    'NB-020',
    'configuration.md · Notebooks',
    'A document that would lift the notebook over 5 MB of text answers 400 `notebook_full`.',
  ],
  ['NB-021', 'decisions.md · 6', '`access: {mode: users, user_ids}` takes 1 to 1000 user ids; 0 and 1001 are refused.'],
  ['NB-022', 'decisions.md · 6', 'The agent of a user outside `user_ids` finds nothing of the notebook.'],
  ['NB-023', 'decisions.md · 6', 'A document is taken as multipart part `file`: plain text and Markdown as they are.'],
  ['NB-024', 'decisions.md · 6', 'An HTML file is turned into Markdown.'],
  ['NB-025', 'decisions.md · 6', 'Of a PDF file the text is extracted.'],
  ['NB-026', 'decisions.md · 6', 'Of a DOCX file the text is extracted.'],
  ['NB-027', 'decisions.md · 6', 'A notebook with 1,000 documents answers the next with 400 `notebook_full`.'],
  ['NB-028', 'decisions.md · 6', '`GET …/documents/{id}` answers the document with `text`.'],
  ['NB-029', 'decisions.md · 9', 'A taken notebook slug answers 409 `slug_taken`.'],
  [
    'NB-030',
    'decisions.md · 3',
    'An unknown notebook answers 404 `notebook_not_found`, an unknown document 404 `document_not_found`.',
  ],
  [
    'NB-031',
    'configuration.md · What the service does',
    'The agent answers from the documents of the notebooks that its version names, and from no others.',
  ],
  [
    'NB-121',
    'decisions.md · 11',
    'A text is stored once however many versions fix it, and a change of one document costs that document.',
  ],
  ['NB-122', 'decisions.md · 11', 'A document that neither the newest content nor any version uses is removed.'],
  [
    'NB-123',
    'decisions.md · 11',
    'Deleting a notebook or document that a live version uses, or changing such a notebook, with a test key answers 409 `notebook_live` with the deployments.',
  ],
  [
    'NB-124',
    'decisions.md · 11',
    'A notebook deleted with a live key goes: live traffic goes on without it, and versions that used it list it as `missing` and answer 409 `version_incomplete`.',
  ],
  [
    'NB-261',
    'configuration.md · Notebooks',
    'A part `title` titles an uploaded file; the `<title>` of a page is no part of its text.',
  ],
  [
    'NB-262',
    'configuration.md · Notebooks',
    'CSV, JSON, YAML, XML and source code are taken as text when uploaded as files.',
  ],
  ['NB-263', 'configuration.md · Notebooks', 'A file that is too large is told how many bytes the route takes.'],
]);
