import { z } from 'zod';
import { failsWith } from './fault.ts';
import { id } from './ids.ts';
import { deleted, page, pageQuery } from './page.ts';
import { route } from './route.ts';
import { shown } from './session-access.ts';
import { tag } from './tag.ts';
import { createdAt, time } from './time.ts';
import { userId } from './user-id.ts';

const listedSources = ['upload', 'output'] as const;
/** Files that a tool returned, such as pictures, are not listed: the trace of their step shows them. */
const fileSources = [...listedSources, 'tool'] as const;

export const maxUploadBytes = 10 * 1024 * 1024;

export const file = z
  .object({
    object: tag('file'),
    id: id('file'),
    user_id: userId().nullable().describe('The user of the file; null: the org’s own agent.'),
    filename: z.string().nullable().describe('The name of the file; null if it has none.'),
    mime_type: z
      .string()
      .nullable()
      .describe('The media type, detected from the content if possible, such as `application/pdf`.'),
    size_bytes: z.int().nullable().describe('Its size in bytes.'),
    source: z
      .enum(fileSources)
      .describe('`upload`: a caller or a person sent it; `output`: a task created it; `tool`: a tool returned it.'),
    task_id: id('task').nullable().describe('The task that created it; null for an upload.'),
    conversation_id: id('conv').nullable().describe('The conversation it was created in; null for an upload.'),
    created_at: createdAt,
  })
  .describe('A file that was uploaded, or created by a task.');

export const fileSeen = shown(
  'object',
  'id',
  'user_id',
  'filename',
  'mime_type',
  'size_bytes',
  'source',
  'task_id',
  'conversation_id',
  'created_at',
);

const fileParams = z.strictObject({ file_id: failsWith('file_not_found', id('file')) });

export const files = {
  list: route({
    method: 'GET',
    path: '/v1/files',
    auth: 'key',
    scopes: ['runtime'],
    summary: 'List files: the outputs of a task or conversation, else uploads.',
    description:
      'Needs scope `runtime`; newest first. Files that a tool returned are not listed: the trace shows them.',
    query: z.strictObject({
      user_id: userId().optional().describe('Only this user’s; absent: everybody’s.'),
      task_id: failsWith('invalid_task_id', id('task')).optional().describe('Only outputs of this task.'),
      conversation_id: failsWith('invalid_conversation_id', id('conv'))
        .optional()
        .describe('Only outputs of this conversation.'),
      source: z
        .enum(listedSources)
        .optional()
        .describe('Uploads or outputs; absent: outputs if a task or conversation is named, else uploads.'),
      ...pageQuery,
    }),
    status: 200,
    response: page(file),
    errors: ['invalid_task_id', 'invalid_conversation_id'],
    command: 'files',
  }),
  create: route({
    method: 'POST',
    path: '/v1/files',
    auth: 'key',
    scopes: ['runtime'],
    session: { needs: ['chat'], sends: ['user_id'], sees: fileSeen },
    summary: 'Upload a file of at most 10 MB.',
    description:
      'multipart/form-data with one part `file`. Use its id in `attachments` of a message of the same user. A session token with `chat` uploads for its own user.',
    idempotent: true,
    query: z.strictObject({
      user_id: userId()
        .optional()
        .describe('The user of the file; absent: the org’s own agent, unless the org requires a user.'),
    }),
    accepts: ['multipart/form-data'],
    // Adds space for the part's headers, so that a file of exactly 10 MB passes.
    bodyLimit: maxUploadBytes + 64 * 1024,
    // The only part, `file`, is read separately.
    body: z.strictObject({}),
    status: 201,
    response: file,
    errors: [
      'file_required',
      'multipart_required',
      'invalid_filename',
      'file_too_large',
      'user_required',
      'user_disabled',
    ],
    command: 'files upload',
  }),
  get: route({
    method: 'GET',
    path: '/v1/files/{file_id}',
    auth: 'key',
    scopes: ['runtime'],
    session: { needs: ['chat'], sends: [], sees: { ...fileSeen, ...shown('download_url', 'download_expires_at') } },
    summary: 'Show a file with a download link that works for 15 minutes.',
    description:
      'Read it again for a new link after the old one has expired. A session token sees files of its own conversation and user.',
    params: fileParams,
    status: 200,
    response: file.extend({
      download_url: z.string().describe('The download address, valid for 15 minutes and without a key.'),
      download_expires_at: time.describe('When that address expires, as ISO 8601 in UTC.'),
    }),
    errors: [],
    command: 'files get',
  }),
  delete: route({
    method: 'DELETE',
    path: '/v1/files/{file_id}',
    auth: 'key',
    scopes: ['runtime'],
    summary: 'Delete a file.',
    description: 'Also deletes the content. Messages that refer to it keep its id.',
    params: fileParams,
    status: 200,
    response: deleted('file'),
    errors: [],
    command: 'files delete',
  }),
};
