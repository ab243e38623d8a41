import { area } from '../requirement.ts';

export const openai = area('openai', 'done', [
  [
    'OAI-001',
    'docs/api/openai.md#post-v1openaichatcompletions',
    'A chat completion names a deployment as its model, and answers in the shape that OpenAI’s clients read.',
  ],
  [
    'OAI-002',
    'docs/openai.md#rules',
    'A client that sends the whole conversation continues in the one that it began; one that differs begins a new conversation, which is given the earlier text.',
  ],
  [
    'OAI-003',
    'docs/api/openai.md#post-v1openairesponses',
    '`user` names the user; a conversation of another user, deployment, mode or org is not reached.',
  ],
  [
    'OAI-004',
    'docs/openai.md#rules',
    'A streamed chat completion comes in chunks with its role, words, end and, if requested, usage.',
  ],
  [
    'OAI-005',
    'docs/openai.md#rules',
    'Functions of the client are called by its own names, and their results continue the same turn.',
  ],
  ['OAI-006', 'docs/openai.md#concept-mapping', 'A format that is asked for is answered as JSON that fits it.'],
  [
    'OAI-007',
    'docs/api/openai.md#post-v1openairesponses',
    'A wait for a person that has no form is described in words.',
  ],
  [
    'OAI-008',
    'docs/openai.md#concept-mapping',
    'Pictures and files of a message are read by the agent; addresses are not fetched.',
  ],
  [
    'OAI-009',
    'docs/api/openai.md#post-v1openaichatcompletions',
    'A response continues the one before it, or a conversation that is named.',
  ],
  [
    'OAI-010',
    'docs/openai.md#rules',
    'A streamed response comes in the events of OpenAI’s own, numbered from 0, and can be followed again after any of them.',
  ],
  [
    'OAI-011',
    'docs/openai.md#rules',
    'A response in the background is shown as far as it has come, and can be cancelled.',
  ],
  [
    'OAI-012',
    'docs/openai.md#rules',
    'An approval is a request that the client answers; if a person must be present, the client says so.',
  ],
  [
    'OAI-013',
    'docs/openai.md#concept-mapping',
    "An unsupported feature is refused by its name, in OpenAI's error format; a setting that only tunes a model has no effect.",
  ],
  [
    'OAI-014',
    'docs/openai.md#concept-mapping',
    'A request that a client sends again by itself, or under one Idempotency-Key, runs once.',
  ],
  ['OAI-015', 'docs/openai.md#concept-mapping', 'A failed turn is an error that no client sends again by itself.'],
  [
    'OAI-531',
    'docs/openai.md#concept-mapping',
    "A path or deployment that does not exist is refused with a list of those that do, in OpenAI's format; an address without `/openai` gets the right one.",
  ],
  [
    'OAI-016',
    'docs/api/openai.md#get-v1openaimodels',
    'The models are the deployments that are live, with a test key all that are not archived.',
  ],
  [
    'OAI-670',
    'docs/openai.md#rules',
    "An answer that a restart cuts short ends with an error, code `not_ready`, which OpenAI's own client throws.",
  ],
  [
    'OAI-600',
    'docs/openai.md#rules',
    'A file that no upload takes is refused with 413 `file_too_large` before it is decoded.',
  ],
  [
    'OAI-601',
    'docs/openai.md#rules',
    'A request declares at most 128 functions over OpenAI’s formats, and 32 over AG-UI and in a message.',
  ],
  [
    'OAI-700',
    'docs/openai.md#forced-calls',
    'With a forced `tool_choice` the answer is a call of the named function, or of one of the functions, with arguments that fit.',
  ],
  [
    'OAI-701',
    'docs/openai.md#forced-calls',
    'The result of a forced call continues its conversation, once, and the next call can be forced again.',
  ],
  [
    'OAI-702',
    'docs/openai.md#rules',
    'Functions may have any name and a description of any length; the agent is offered at most 128 tools in all.',
  ],
  [
    'OAI-703',
    'docs/openai.md#users',
    'An empty `user` is none; text that is no user id becomes one, the same for the same text.',
  ],
  ['OAI-704', 'docs/openai.md#concept-mapping', 'An unknown model is 404 `model_not_found`.'],
  [
    'OAI-705',
    'docs/openai.md#files',
    'A file that OpenAI’s clients upload is read in messages of any user, unless the upload names one; a file that is too large is refused.',
  ],
  [
    'OAI-706',
    'docs/openai.md#files',
    'The input of a response can be listed: its message, or the results it continued with.',
  ],
  [
    'OAI-707',
    'docs/openai.md#rules',
    'The API reference lists every code with which a call through OpenAI’s API or AG-UI is refused, and the header Idempotency-Key.',
  ],
]);
