import { z } from 'zod';
import { failsWith } from './fault.ts';
import { id } from './ids.ts';
import { metadataInput } from './metadata.ts';
import { namedDeployment } from './named-deployment.ts';
import { route } from './route.ts';
import { userId } from './user-id.ts';

/** Tunes how a model picks its words, which is the deployment's to say: taken, and without effect. */
const withoutEffect = z.unknown().optional().meta({ description: 'Taken, and without effect.' });
const tuning = Object.fromEntries(
  [
    ...['temperature', 'top_p', 'frequency_penalty', 'presence_penalty', 'seed', 'logit_bias', 'stop', 'verbosity'],
    ...['max_tokens', 'max_completion_tokens', 'max_output_tokens', 'max_tool_calls', 'parallel_tool_calls'],
    ...['reasoning', 'reasoning_effort', 'service_tier', 'prediction', 'truncation', 'include', 'context_management'],
    ...['prompt_cache_key', 'prompt_cache_options', 'prompt_cache_retention'],
  ].map((name) => [name, withoutEffect]),
);

const model = namedDeployment.meta({
  description: 'A deployment: its slug, its dep_ id or its name, with `@version`.',
});
const user = userId().nullish().meta({ description: 'The user whom the agent works for.' });

const image = z
  .string()
  .regex(/^data:[\w.+/-]+;base64,/, 'Send a picture as a data URL: addresses are not fetched.')
  .meta({ description: 'A data URL.' });
const inlineFile = z
  .string()
  .regex(/^data:[\w.+/-]+;base64,/, 'Send a file as a data URL, or upload it with POST /v1/files and name its id.');

const text = <const Type extends string>(type: Type) => z.looseObject({ type: z.literal(type), text: z.string() });
const chatText = text('text');
const chatFile = z.looseObject({
  type: z.literal('file'),
  file: z.looseObject({
    file_data: inlineFile.optional(),
    file_id: z.string().optional(),
    filename: z.string().optional(),
  }),
});
const chatPart = z.discriminatedUnion('type', [
  chatText,
  z.looseObject({ type: z.literal('image_url'), image_url: z.looseObject({ url: image }) }),
  chatFile,
]);
const words = z.union([z.string(), z.array(chatText)]);

const functionCall = z.looseObject({
  id: z.string(),
  type: z.literal('function').default('function'),
  function: z.looseObject({ name: z.string(), arguments: z.string() }),
});

const chatMessage = z.discriminatedUnion('role', [
  z.looseObject({ role: z.enum(['system', 'developer']), content: words }),
  z.looseObject({ role: z.literal('user'), content: z.union([z.string(), z.array(chatPart)]) }),
  z.looseObject({
    role: z.literal('assistant'),
    content: words.nullish(),
    tool_calls: z.array(functionCall).nullish(),
  }),
  z.looseObject({ role: z.literal('tool'), tool_call_id: z.string(), content: words }),
]);

const parameters = z.record(z.string(), z.unknown()).nullish();
const chatTool = z.looseObject({
  type: z.literal('function', 'Only functions can be given here: what the agent itself uses is in its deployment.'),
  function: z.looseObject({ name: z.string(), description: z.string().nullish(), parameters }),
});
/** No model can be made to call a function by us. */
const toolChoice = z.enum(['auto', 'none'], 'Only `auto` and `none`: the agent decides what it calls.').nullish();
const onlyOne = z.literal(1, 'Only one answer is given.').nullish();
const never = (message: string) => z.literal(false, message).nullish();
const jsonSchema = z.record(z.string(), z.unknown());

const chatBody = z.strictObject({
  model,
  messages: z.array(chatMessage).min(1).max(2000),
  user,
  safety_identifier: user,
  tools: z.array(chatTool).nullish(),
  tool_choice: toolChoice,
  response_format: z
    .discriminatedUnion('type', [
      z.looseObject({ type: z.literal('text') }),
      z.looseObject({ type: z.literal('json_object') }),
      z.looseObject({ type: z.literal('json_schema'), json_schema: z.looseObject({ schema: jsonSchema }) }),
    ])
    .nullish(),
  stream: z.boolean().nullish(),
  stream_options: z.looseObject({ include_usage: z.boolean().nullish() }).nullish(),
  metadata: metadataInput.nullish(),
  store: z.boolean().nullish(),
  n: onlyOne,
  logprobs: never('Probabilities of words are not given.'),
  modalities: z.array(z.literal('text', 'Only text is answered.')).nullish(),
  ...tuning,
});

const inputPart = z.discriminatedUnion('type', [
  text('input_text'),
  text('output_text'),
  z.looseObject({ type: z.literal('input_image'), image_url: image }),
  z.looseObject({
    type: z.literal('input_file'),
    file_data: inlineFile.nullish(),
    file_id: z.string().nullish(),
    filename: z.string().nullish(),
  }),
]);
const inputWords = z.union([z.string(), z.array(inputPart)]);

const inputItem = z.union([
  z.looseObject({
    type: z.literal('message').optional(),
    role: z.enum(['user', 'assistant', 'system', 'developer']),
    content: inputWords,
  }),
  z.looseObject({ type: z.literal('function_call'), call_id: z.string(), name: z.string(), arguments: z.string() }),
  z.looseObject({
    type: z.literal('function_call_output'),
    call_id: z.string(),
    output: z.union([z.string(), z.array(text('input_text'))]),
  }),
  z.looseObject({
    type: z.literal('mcp_approval_response'),
    approval_request_id: z.string(),
    approve: z.boolean(),
    reason: z.string().nullish(),
  }),
  // What an earlier answer held and a client sends along: it is known here.
  z.looseObject({ type: z.enum(['mcp_approval_request', 'reasoning', 'item_reference']) }),
]);

const responseBody = z.strictObject({
  model: model.optional().meta({ description: 'May be left out where the conversation is named.' }),
  input: z.union([z.string(), z.array(inputItem).min(1).max(2000)]),
  instructions: z.string().nullish().meta({ description: 'Read as facts beside the instructions of the deployment.' }),
  user,
  safety_identifier: user,
  previous_response_id: z.string().nullish(),
  conversation: z.union([z.string(), z.looseObject({ id: z.string() })]).nullish(),
  tools: z
    .array(
      z.looseObject({
        type: chatTool.shape.type,
        name: z.string(),
        description: z.string().nullish(),
        parameters,
      }),
    )
    .nullish(),
  tool_choice: toolChoice,
  text: z
    .looseObject({
      format: z
        .discriminatedUnion('type', [
          z.looseObject({ type: z.literal('text') }),
          z.looseObject({ type: z.literal('json_object') }),
          z.looseObject({ type: z.literal('json_schema'), schema: jsonSchema }),
        ])
        .nullish(),
    })
    .nullish(),
  stream: z.boolean().nullish(),
  stream_options: z.unknown().optional(),
  background: z.boolean().nullish(),
  metadata: metadataInput.nullish(),
  store: z.boolean().nullish().meta({ description: 'false: the response cannot be asked for again.' }),
  prompt: z.null('Prompts are not kept here: the deployment holds the instructions.').optional(),
  top_logprobs: z.literal(0, 'Probabilities of words are not given.').nullish(),
  ...tuning,
});

const chatCompletion = z.looseObject({
  id: z.string(),
  object: z.literal('chat.completion'),
  created: z.int(),
  model: z.string(),
  choices: z.array(z.looseObject({ index: z.int(), message: z.looseObject({}), finish_reason: z.string() })),
  usage: z.looseObject({ prompt_tokens: z.int(), completion_tokens: z.int(), total_tokens: z.int() }),
});

const response = z.looseObject({
  id: z.string(),
  object: z.literal('response'),
  created_at: z.int(),
  status: z.enum(['completed', 'failed', 'in_progress', 'cancelled', 'incomplete']),
  model: z.string(),
  conversation: z.object({ id: z.string() }),
  output: z.array(z.looseObject({ type: z.string() })),
});

const modelShown = z.object({
  id: z.string().meta({ description: 'The slug of a deployment.' }),
  object: z.literal('model'),
  created: z.int(),
  owned_by: z.string(),
});

const conversationShown = z.object({
  id: z.string(),
  object: z.literal('conversation'),
  created_at: z.int(),
  metadata: z.record(z.string(), z.string()),
});

const common = { auth: 'key', scopes: ['runtime'], errorShape: 'openai', command: null } as const;
const responseParams = z.strictObject({ response_id: z.string() });
const refusals = [
  ...(['invalid_deployment', 'deployment_not_live', 'deployment_archived', 'user_required', 'user_disabled'] as const),
  ...(['conversation_not_found', 'conversation_user_mismatch', 'interaction_not_found', 'already_answered'] as const),
  ...(['interaction_expired', 'present_user_required', 'output_schema_invalid', 'output_schema_too_large'] as const),
  ...(['wallet_empty', 'org_cap_reached', 'user_cap_reached', 'model_unavailable', 'model_error'] as const),
  ...(['unsupported_media_type', 'file_not_found'] as const),
] as const;

/** What clients of OpenAI's API speak, with a deployment in the place of a model. */
export const openai = {
  chat: route({
    ...common,
    method: 'POST',
    path: '/v1/openai/chat/completions',
    summary: 'Talk to a deployment as clients of OpenAI’s chat completions do.',
    body: chatBody,
    bodyLimit: 32 * 1024 * 1024,
    status: 200,
    response: chatCompletion,
    produces: ['text/event-stream'],
    streams: true,
    errors: refusals,
  }),
  respond: route({
    ...common,
    method: 'POST',
    path: '/v1/openai/responses',
    summary: 'Talk to a deployment as clients of OpenAI’s responses do.',
    body: responseBody,
    bodyLimit: 32 * 1024 * 1024,
    status: 200,
    response,
    produces: ['text/event-stream'],
    streams: true,
    errors: refusals,
  }),
  response: route({
    ...common,
    method: 'GET',
    path: '/v1/openai/responses/{response_id}',
    summary: 'Show a response as far as it has come, or follow it.',
    params: responseParams,
    query: z.looseObject({
      stream: z.enum(['true', 'false']).optional(),
      starting_after: z
        .string()
        .regex(/^\d{1,9}$/, '`starting_after` is the `sequence_number` of an event.')
        .optional(),
    }),
    status: 200,
    response,
    produces: ['text/event-stream'],
    streams: true,
    errors: ['response_not_found'],
  }),
  cancel: route({
    ...common,
    method: 'POST',
    path: '/v1/openai/responses/{response_id}/cancel',
    summary: 'Stop a response, with the work it began.',
    params: responseParams,
    status: 200,
    response,
    errors: ['response_not_found'],
  }),
  createConversation: route({
    ...common,
    method: 'POST',
    path: '/v1/openai/conversations',
    summary: 'Start a conversation that responses go on with; `metadata.model` and `metadata.user` say whose.',
    body: z.strictObject({
      metadata: metadataInput.nullish(),
      items: z.array(z.unknown()).max(0, 'Send what is said with a response.').nullish(),
    }),
    bodyOptional: true,
    status: 200,
    response: conversationShown,
    errors: ['invalid_deployment', 'deployment_required', 'user_required', 'user_disabled'],
  }),
  conversation: route({
    ...common,
    method: 'GET',
    path: '/v1/openai/conversations/{conversation_id}',
    summary: 'Show a conversation as clients of OpenAI’s API read it.',
    params: z.strictObject({ conversation_id: failsWith('invalid_conversation_id', id('conv')) }),
    status: 200,
    response: conversationShown,
    errors: ['conversation_not_found'],
  }),
  models: route({
    ...common,
    method: 'GET',
    path: '/v1/openai/models',
    summary: 'List the deployments that can be named as a model: those that are live, with a test key all.',
    status: 200,
    response: z.object({ object: z.literal('list'), data: z.array(modelShown) }),
    errors: [],
  }),
  model: route({
    ...common,
    method: 'GET',
    path: '/v1/openai/models/{model}',
    summary: 'Show one deployment as a model.',
    params: z.strictObject({ model: z.string() }),
    status: 200,
    response: modelShown,
    errors: ['deployment_not_found'],
  }),
};
