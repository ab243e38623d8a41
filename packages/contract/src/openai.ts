import { z } from 'zod';
import { failsWith } from './fault.ts';
import { maxUploadBytes } from './files.ts';
import { id } from './ids.ts';
import { metadataInput } from './metadata.ts';
import { chatBody, chatChunk, chatCompletion, response, responseBody, responseEvent } from './openai-formats.ts';
import { conversationShown, fileShown, inputItemList, modelShown } from './openai-objects.ts';
import { pageQuery } from './page.ts';
import { route } from './route.ts';
import { plainText } from './text.ts';

const common = { auth: 'key', scopes: ['runtime'], errorShape: 'openai', command: null } as const;
const responseParams = z.strictObject({
  response_id: failsWith('response_not_found', plainText(1, 64)).describe('The id of a response, `resp_…`.'),
});
const fileParams = z.strictObject({ file_id: failsWith('file_not_found', id('file')) });
const refusals = [
  ...([
    'model_not_found',
    'invalid_deployment',
    'deployment_not_live',
    'deployment_archived',
    'deployment_deleted',
    'user_required',
    'user_disabled',
  ] as const),
  ...(['conversation_not_found', 'conversation_user_mismatch', 'interaction_not_found', 'already_answered'] as const),
  ...(['interaction_expired', 'present_user_required', 'output_schema_invalid', 'output_schema_too_large'] as const),
  ...(['wallet_empty', 'org_cap_reached', 'user_cap_reached', 'model_unavailable', 'model_error'] as const),
  ...([
    'message_required',
    'unsupported_media_type',
    'file_not_found',
    'file_too_large',
    'invalid_tool_input',
  ] as const),
] as const;

/** OpenAI's API, with a deployment instead of a model. */
export const openai = {
  chat: route({
    ...common,
    method: 'POST',
    path: '/v1/openai/chat/completions',
    summary: 'Call a deployment through OpenAI’s chat completions API.',
    description:
      'Point an OpenAI client at `/v1/openai` with a Vestra API key. A call that repeats earlier messages continues their conversation. Unsupported options are rejected by name in OpenAI’s error format.',
    body: chatBody,
    bodyLimit: 32 * 1024 * 1024,
    status: 200,
    response: chatCompletion,
    produces: ['text/event-stream'],
    streams: true,
    streamed: chatChunk,
    passesIdempotencyKey: true,
    errors: refusals,
  }),
  respond: route({
    ...common,
    method: 'POST',
    path: '/v1/openai/responses',
    summary: 'Call a deployment through OpenAI’s responses API.',
    description:
      'Continues with `previous_response_id` or `conversation`. Calls of your functions and approvals arrive as output items; send their results as input.',
    body: responseBody,
    bodyLimit: 32 * 1024 * 1024,
    status: 200,
    response,
    produces: ['text/event-stream'],
    streams: true,
    streamed: responseEvent,
    passesIdempotencyKey: true,
    errors: refusals,
  }),
  response: route({
    ...common,
    method: 'GET',
    path: '/v1/openai/responses/{response_id}',
    summary: 'Show the current state of a response, or follow it.',
    description: 'For responses with `background`, or to read one again.',
    params: responseParams,
    query: z.looseObject({
      stream: z.enum(['true', 'false']).optional().describe('`true` returns its events as a stream.'),
      starting_after: z
        .string()
        .regex(/^\d{1,9}$/, '`starting_after` is the `sequence_number` of an event.')
        .optional()
        .describe('The `sequence_number` of the last received event: the stream continues after it.'),
    }),
    status: 200,
    response,
    produces: ['text/event-stream'],
    streams: true,
    streamed: responseEvent,
    errors: ['response_not_found'],
  }),
  cancel: route({
    ...common,
    method: 'POST',
    path: '/v1/openai/responses/{response_id}/cancel',
    summary: 'Stop a response and its task.',
    description: 'One that has ended stays unchanged.',
    params: responseParams,
    status: 200,
    response,
    errors: ['response_not_found'],
  }),
  inputItems: route({
    ...common,
    method: 'GET',
    path: '/v1/openai/responses/{response_id}/input_items',
    summary: 'List the input of a response: its message, or the results and approvals it continued with.',
    description: 'Newest first, or `order=asc`.',
    params: responseParams,
    query: z.looseObject({
      order: z.enum(['asc', 'desc']).optional().describe('`desc` lists the newest item first and is the default.'),
      limit: pageQuery.limit,
      after: z.string().optional().describe('The id of an item: the list continues after it.'),
    }),
    status: 200,
    response: inputItemList,
    errors: ['response_not_found'],
  }),
  createFile: route({
    ...common,
    method: 'POST',
    path: '/v1/openai/files',
    summary: 'Upload a file of at most 10 MB, for messages that name its id.',
    description:
      'multipart/form-data with the part `file`, as OpenAI’s clients send it. `purpose` is returned and has no effect. A field `user` names the user of the file; without it any user’s message may use it.',
    accepts: ['multipart/form-data'],
    bodyLimit: maxUploadBytes + 64 * 1024,
    body: z.strictObject({}),
    status: 200,
    response: fileShown,
    passesIdempotencyKey: true,
    errors: [
      'file_required',
      'multipart_required',
      'invalid_filename',
      'file_too_large',
      'user_required',
      'user_disabled',
    ],
  }),
  file: route({
    ...common,
    method: 'GET',
    path: '/v1/openai/files/{file_id}',
    summary: 'Show a file in OpenAI’s format.',
    description: 'The same file as `GET /v1/files/{file_id}`, which also has a download link.',
    params: fileParams,
    status: 200,
    response: fileShown,
    errors: ['file_not_found'],
  }),
  deleteFile: route({
    ...common,
    method: 'DELETE',
    path: '/v1/openai/files/{file_id}',
    summary: 'Delete a file, through OpenAI’s API.',
    description: 'Also deletes the content. Copies that were attached to messages of users stay.',
    params: fileParams,
    status: 200,
    response: z.object({
      id: z.string().describe('The id of the file, `file_…`.'),
      object: z.literal('file').describe('Always `file`: what kind of object this is.'),
      deleted: z.literal(true).describe('Always true: the file is gone.'),
    }),
    errors: ['file_not_found'],
  }),
  createConversation: route({
    ...common,
    method: 'POST',
    path: '/v1/openai/conversations',
    summary: 'Start a conversation for responses; `metadata.model` and `metadata.user` select deployment and user.',
    description:
      'Use it as `conversation` of a response; without `metadata.model` the org’s default deployment answers.',
    body: z.strictObject({
      metadata: metadataInput.nullish(),
      items: z
        .array(z.unknown())
        .max(0, 'Send what is said with a response.')
        .nullish()
        .describe('Must be empty: send messages with a response.'),
    }),
    bodyOptional: true,
    status: 200,
    response: conversationShown,
    passesIdempotencyKey: true,
    errors: [
      ...(['model_not_found', 'deployment_required', 'deployment_not_live', 'deployment_archived'] as const),
      ...(['deployment_deleted', 'user_required', 'user_disabled'] as const),
    ],
  }),
  conversation: route({
    ...common,
    method: 'GET',
    path: '/v1/openai/conversations/{conversation_id}',
    summary: 'Show a conversation in OpenAI’s format.',
    description: 'The same conversation as `GET /v1/conversations/{conversation_id}`.',
    params: z.strictObject({ conversation_id: failsWith('invalid_conversation_id', id('conv')) }),
    status: 200,
    response: conversationShown,
    errors: ['conversation_not_found'],
  }),
  models: route({
    ...common,
    method: 'GET',
    path: '/v1/openai/models',
    summary: 'List the deployments that can be used as a model: live ones, or all with a test key.',
    description: 'The choices that an OpenAI client shows.',
    status: 200,
    response: z.object({
      object: z.literal('list').describe('Always `list`: what kind of object this is.'),
      data: z.array(modelShown).describe('The deployments, as models.'),
    }),
    errors: [],
  }),
  model: route({
    ...common,
    method: 'GET',
    path: '/v1/openai/models/{model}',
    summary: 'Show one deployment as a model.',
    description: '404 if a live key names a deployment that is not live.',
    params: z.strictObject({
      model: failsWith('model_not_found', plainText(1, 131)).describe('The slug, id or name of a deployment.'),
    }),
    status: 200,
    response: modelShown,
    errors: ['model_not_found'],
  }),
};
