import { area } from '../requirement.ts';

export const files = area('files', 'done', [
  [
    'FILE-001',
    'docs/api/files.md#file',
    'A file shows `id` (`file_`), `object: file`, `user_id`, `filename`, `mime_type`, `size_bytes`, `source`, `task_id`, `conversation_id`, `created_at`, null for missing values.',
  ],
  ['FILE-002', 'docs/api/files.md#file', "`source` is `upload` for the caller's and `output` for the agent's files."],
  [
    'FILE-003',
    'docs/api/files.md#get-v1filesfile_id',
    'Get-one adds `download_url`, good for 15 minutes, and `download_expires_at`.',
  ],
  ['FILE-004', 'docs/files.md#rules-of-the-routes', 'The download gives exactly the bytes that were uploaded.'],
  ['FILE-005', 'docs/files.md#rules-of-the-routes', 'A download link past its time, or changed, gives nothing.'],
  [
    'FILE-006',
    'docs/api/files.md#post-v1files',
    '`POST /v1/files` accepts multipart/form-data with one part `file` and answers 201 with the file.',
  ],
  ['FILE-007', 'docs/api/files.md#post-v1files', "The query `user_id` of the upload names the file's owner."],
  [
    'FILE-008',
    'docs/files.md#rules-of-the-routes',
    'A file of 10 MB is taken; a larger one answers 413 `file_too_large`.',
  ],
  [
    'FILE-009',
    'docs/api/files.md#get-v1files',
    '`GET /v1/files` lists by pages, filtered by `user_id`, `task_id`, `conversation_id`, `source`.',
  ],
  ['FILE-010', 'docs/api/files.md#get-v1files', '`task_id` lists outputs only.'],
  [
    'FILE-011',
    'docs/api/files.md#get-v1files',
    '`source` absent means outputs when a task or conversation is given, else uploads.',
  ],
  ['FILE-012', 'docs/api/files.md#get-v1filesfile_id', '`GET /v1/files/{file_id}` answers the file with its link.'],
  [
    'FILE-013',
    'docs/api/files.md#delete-v1filesfile_id',
    '`DELETE /v1/files/{file_id}` answers `{id, object: file, deleted: true}` and the bytes are gone.',
  ],
  [
    'FILE-014',
    'docs/files.md#rules-of-the-routes',
    'A multipart body without a part `file` answers 400 `file_required`.',
  ],
  [
    'FILE-015',
    'docs/files.md#rules-of-the-routes',
    'A filename with slashes or control characters, or over 255 bytes, answers 400 `invalid_filename`.',
  ],
  [
    'FILE-016',
    'docs/files.md#rules-of-the-routes',
    '`POST /v1/files` with another content type answers 400 `multipart_required`.',
  ],
  ['FILE-017', 'docs/files.md#rules-of-the-routes', 'An output of the agent emits `file.created`.'],
  ['FILE-018', 'docs/files.md#rules-of-the-routes', 'An unknown file answers 404 `file_not_found`.'],
  [
    'FILE-201',
    'docs/files.md#rules-of-the-routes',
    'A file name with a character that turns the direction of text answers 400 `invalid_filename`.',
  ],
]);
