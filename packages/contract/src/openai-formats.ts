import { z } from 'zod';
import { metadataInput } from './metadata.ts';
import { namedDeployment } from './named-deployment.ts';
import { userId } from './user-id.ts';

/** Sampling parameters are set by the deployment: accepted and ignored. */
const withoutEffect = z.unknown().optional().describe('Taken, and without effect.');
const tuning = Object.fromEntries(
  [
    ...['temperature', 'top_p', 'frequency_penalty', 'presence_penalty', 'seed', 'logit_bias', 'stop', 'verbosity'],
    ...['max_tokens', 'max_completion_tokens', 'max_output_tokens', 'max_tool_calls', 'parallel_tool_calls'],
    ...['reasoning', 'reasoning_effort', 'service_tier', 'prediction', 'truncation', 'include', 'context_management'],
    ...['prompt_cache_key', 'prompt_cache_options', 'prompt_cache_retention'],
  ].map((name) => [name, withoutEffect]),
);

const list = <Part extends z.ZodType>(part: Part) => z.array(part).max(1000, 'At most 1000 entries.');
/** The maximum of a message. */
const toolList = <Tool extends z.ZodType>(tool: Tool) => z.array(tool).max(32, 'At most 32 tools.');

const model = namedDeployment.describe('A deployment: its slug, its dep_ id or its name, with `@version`.');
const user = userId().nullish().describe('The user whom the agent works for.');

const image = z
  .string()
  .regex(/^data:[\w.+/-]+;base64,/, 'Send a picture as a data URL: addresses are not fetched.')
  .describe('A data URL.');
const inlineFile = z
  .string()
  .regex(/^data:[\w.+/-]+;base64,/, 'Send a file as a data URL, or upload it with POST /v1/files and name its id.');

const text = <const Type extends string>(type: Type) =>
  z.looseObject({
    type: z.literal(type).describe('Tells that the part is text.'),
    text: z.string().describe('What is said.'),
  });
const chatText = text('text');
const chatFile = z.looseObject({
  type: z.literal('file').describe('`file`: a file that goes with what is said.'),
  file: z
    .looseObject({
      file_data: inlineFile.optional().describe('The file as a data URL.'),
      file_id: z.string().optional().describe('The id of a file uploaded with `POST /v1/files`.'),
      filename: z.string().optional().describe('What the file is called.'),
    })
    .describe('The file itself.'),
});
const chatPart = z.discriminatedUnion('type', [
  chatText,
  z.looseObject({
    type: z.literal('image_url').describe('`image_url`: a picture that goes with what is said.'),
    image_url: z
      .looseObject({ url: image.describe('The picture as a data URL; addresses are not fetched.') })
      .describe('The picture itself.'),
  }),
  chatFile,
]);
const words = z.union([z.string(), list(chatText)]);

const functionCall = z.looseObject({
  id: z.string().describe('Names the call: its result says it again.'),
  type: z.literal('function').default('function').describe('Only functions are called.'),
  function: z
    .looseObject({
      name: z.string().describe('The function of yours.'),
      arguments: z.string().describe('The arguments as JSON text.'),
    })
    .describe('What is called, and with what.'),
});

const chatMessage = z.discriminatedUnion('role', [
  z.looseObject({
    role: z
      .enum(['system', 'developer'])
      .describe('Your own words to the agent; read as facts beside the deployment’s instructions.'),
    content: words.describe('What it says.'),
  }),
  z.looseObject({
    role: z.literal('user').describe('`user`: what the person says; the last one is new.'),
    content: z.union([z.string(), list(chatPart)]).describe('Text, or parts with pictures and files.'),
  }),
  z.looseObject({
    role: z.literal('assistant').describe('`assistant`: what the agent said before.'),
    content: words.nullish().describe('What the agent said; null where it only called functions.'),
    tool_calls: list(functionCall).nullish().describe('Your functions that it called.'),
  }),
  z.looseObject({
    role: z.literal('tool').describe('`tool`: the result of a function of yours.'),
    tool_call_id: z.string().describe('The call that it answers.'),
    content: words.describe('What the function returned.'),
  }),
]);

const parameters = z.record(z.string(), z.unknown()).nullish();
const chatTool = z.looseObject({
  type: z
    .literal('function', 'Only functions can be given here: what the agent itself uses is in its deployment.')
    .describe('Only functions: what the agent itself uses is in its deployment.'),
  function: z
    .looseObject({
      name: z.string().describe('What the agent calls it by.'),
      description: z.string().nullish().describe('What it does and when to call it.'),
      parameters: parameters.describe('A JSON Schema that its arguments fit.'),
    })
    .describe('A function that your code carries out.'),
});
/** A model cannot be forced to call a function here. */
const toolChoice = z.enum(['auto', 'none'], 'Only `auto` and `none`: the agent decides what it calls.').nullish();
const onlyOne = z.literal(1, 'Only one answer is given.').nullish();
const never = (message: string) => z.literal(false, message).nullish();
const jsonSchema = z.record(z.string(), z.unknown());

export const chatBody = z.strictObject({
  model,
  messages: z
    .array(chatMessage)
    .min(1)
    .max(2000)
    .describe('The conversation so far; one that continues an earlier call goes on in the same conversation.'),
  user,
  safety_identifier: user.describe('Another name for `user`: whom the agent works for.'),
  tools: toolList(chatTool)
    .nullish()
    .describe('Functions of yours that the agent may call, besides those of the deployment.'),
  tool_choice: toolChoice.describe('`auto`: the agent decides; `none`: it calls none of `tools`.'),
  response_format: z
    .discriminatedUnion('type', [
      z.looseObject({ type: z.literal('text').describe('`text`: words, as ever.') }),
      z.looseObject({ type: z.literal('json_object').describe('`json_object`: any JSON object.') }),
      z.looseObject({
        type: z.literal('json_schema').describe('`json_schema`: JSON that fits a schema.'),
        json_schema: z
          .looseObject({ schema: jsonSchema.describe('A JSON Schema of the answer, at most 32 KB.') })
          .describe('The schema with its name.'),
      }),
    ])
    .nullish()
    .describe('The form of the answer: text, any JSON, or JSON that fits a schema.'),
  stream: z.boolean().nullish().describe('True: the answer comes as chunks while it is written.'),
  stream_options: z
    .looseObject({ include_usage: z.boolean().nullish().describe('True: a last chunk tells the tokens.') })
    .nullish()
    .describe('What a stream tells besides.'),
  metadata: metadataInput.nullish(),
  store: z.boolean().nullish().describe('Taken as OpenAI’s clients send it; the conversation is kept either way.'),
  n: onlyOne.describe('Only 1: one answer is given.'),
  logprobs: never('Probabilities of words are not given.').describe(
    'Only false: probabilities of words are not given.',
  ),
  modalities: list(z.literal('text', 'Only text is answered.')).nullish().describe('Only text is answered.'),
  ...tuning,
});

const inputPart = z.discriminatedUnion('type', [
  text('input_text'),
  text('output_text'),
  z.looseObject({
    type: z.literal('input_image').describe('`input_image`: a picture that goes with what is said.'),
    image_url: image.describe('The picture as a data URL; addresses are not fetched.'),
  }),
  z.looseObject({
    type: z.literal('input_file').describe('`input_file`: a file that goes with what is said.'),
    file_data: inlineFile.nullish().describe('The file as a data URL.'),
    file_id: z.string().nullish().describe('The id of a file uploaded with `POST /v1/files`.'),
    filename: z.string().nullish().describe('What the file is called.'),
  }),
]);
const inputWords = z.union([z.string(), list(inputPart)]);

const inputItem = z.union([
  z.looseObject({
    type: z.literal('message').optional().describe('`message`: something that was said.'),
    role: z.enum(['user', 'assistant', 'system', 'developer']).describe('Who said it.'),
    content: inputWords.describe('What was said: text, or parts with pictures and files.'),
  }),
  z.looseObject({
    type: z
      .literal('function_call')
      .describe('`function_call`: a call of a function of yours, as an earlier answer had it.'),
    call_id: z.string().describe('Names the call.'),
    name: z.string().describe('The function that was called.'),
    arguments: z.string().describe('The arguments as JSON text.'),
  }),
  z.looseObject({
    type: z.literal('function_call_output').describe('`function_call_output`: the result of a function of yours.'),
    call_id: z.string().describe('The call that it answers.'),
    output: z.union([z.string(), list(text('input_text'))]).describe('What the function returned.'),
  }),
  z.looseObject({
    type: z.literal('mcp_approval_response').describe('`mcp_approval_response`: a yes or no to what waits.'),
    approval_request_id: z.string().describe('The interaction that it answers.'),
    approve: z.boolean().describe('True for yes, false for no.'),
    reason: z.string().nullish().describe('Why, in words.'),
  }),
  // A client sends back parts of an earlier answer. They are already stored here.
  z.looseObject({
    type: z
      .enum(['mcp_approval_request', 'reasoning', 'item_reference'])
      .describe('What an earlier answer held and a client sends along; it is known here.'),
  }),
]);

export const responseBody = z.strictObject({
  model: model.optional().describe('The deployment; may be left out where the conversation is named.'),
  input: z
    .union([z.string(), z.array(inputItem).min(1).max(2000)])
    .describe('What the person says: a text, or a list of items.'),
  instructions: z.string().nullish().describe('Read as facts beside the instructions of the deployment.'),
  user,
  safety_identifier: user.describe('Another name for `user`: whom the agent works for.'),
  previous_response_id: z.string().nullish().describe('The response that this one goes on from, `resp_…`.'),
  conversation: z
    .union([z.string(), z.looseObject({ id: z.string().describe('The id of the conversation, `conv_…`.') })])
    .nullish()
    .describe('The conversation that this one goes on in.'),
  tools: toolList(
    z.looseObject({
      type: chatTool.shape.type,
      name: z.string().describe('What the agent calls it by.'),
      description: z.string().nullish().describe('What it does and when to call it.'),
      parameters: parameters.describe('A JSON Schema that its arguments fit.'),
    }),
  )
    .nullish()
    .describe('Functions of yours that the agent may call, besides those of the deployment.'),
  tool_choice: toolChoice.describe('`auto`: the agent decides; `none`: it calls none of `tools`.'),
  text: z
    .looseObject({
      format: z
        .discriminatedUnion('type', [
          z.looseObject({ type: z.literal('text').describe('`text`: words, as ever.') }),
          z.looseObject({ type: z.literal('json_object').describe('`json_object`: any JSON object.') }),
          z.looseObject({
            type: z.literal('json_schema').describe('`json_schema`: JSON that fits a schema.'),
            schema: jsonSchema.describe('A JSON Schema of the answer, at most 32 KB.'),
          }),
        ])
        .nullish()
        .describe('Text, any JSON, or JSON that fits a schema.'),
    })
    .nullish()
    .describe('The form of the answer.'),
  stream: z.boolean().nullish().describe('True: the answer comes as events while it is written.'),
  stream_options: z.unknown().optional().describe('Taken, and without effect.'),
  background: z
    .boolean()
    .nullish()
    .describe('True: answers at once with `in_progress`; read the response for the rest.'),
  metadata: metadataInput.nullish(),
  store: z.boolean().nullish().describe('False: the response cannot be asked for again.'),
  prompt: z
    .null('Prompts are not kept here: the deployment holds the instructions.')
    .optional()
    .describe('Only null: the deployment holds the instructions.'),
  top_logprobs: z
    .literal(0, 'Probabilities of words are not given.')
    .nullish()
    .describe('Only 0: probabilities of words are not given.'),
  ...tuning,
});

export const chatCompletion = z
  .looseObject({
    id: z.string().describe('Names this answer.'),
    object: z.literal('chat.completion').describe('Always `chat.completion`: what kind of object this is.'),
    created: z.int().describe('When it was made, in seconds since 1970.'),
    model: z.string().describe('The deployment that answered.'),
    choices: z
      .array(
        z.looseObject({
          index: z.int().describe('Always 0: there is one answer.'),
          message: z.looseObject({}).describe('What the agent said, and which functions of yours it calls.'),
          finish_reason: z
            .string()
            .describe('Why it ended: `stop`, `length`, or `tool_calls` where your functions are called.'),
        }),
      )
      .describe('One answer.'),
    usage: z
      .looseObject({
        prompt_tokens: z.int().describe('Tokens that models read.'),
        completion_tokens: z.int().describe('Tokens that models wrote.'),
        total_tokens: z.int().describe('Both together.'),
      })
      .describe('Tokens of all model calls that it took.'),
  })
  .describe('An answer as clients of OpenAI’s chat completions read it.');

export const response = z
  .looseObject({
    id: z.string().describe('Names this response, `resp_…`.'),
    object: z.literal('response').describe('Always `response`: what kind of object this is.'),
    created_at: z.int().describe('When it was made, in seconds since 1970.'),
    status: z
      .enum(['completed', 'failed', 'in_progress', 'cancelled', 'incomplete'])
      .describe('`in_progress` until it ended in one of the other ways.'),
    model: z.string().describe('The deployment that answers.'),
    conversation: z
      .object({ id: z.string().describe('The id of the conversation, `conv_…`.') })
      .describe('The conversation that it is part of.'),
    output: z
      .array(z.looseObject({ type: z.string().describe('What kind of item it is.') }))
      .describe('What came so far: messages, calls of your functions, approvals that are asked for.'),
  })
  .describe('An answer as clients of OpenAI’s responses read it.');

/** OpenAI's clients parse both streams, so their shapes are OpenAI's. */
export const chatChunk = z.looseObject({
  id: chatCompletion.shape.id,
  object: z.literal('chat.completion.chunk').describe('Always `chat.completion.chunk`: what kind of object this is.'),
  choices: z.array(z.looseObject({})).describe('What has been added to the answer since the chunk before.'),
});
export const responseEvent = z.looseObject({
  type: z.string().describe('What happened, such as `response.output_text.delta` or `response.completed`.'),
  sequence_number: z.int().describe('Counts up within the response.'),
});

export const modelShown = z
  .object({
    id: z.string().describe('The slug of a deployment: send it as `model`.'),
    object: z.literal('model').describe('Always `model`: what kind of object this is.'),
    created: z.int().describe('When the deployment was made, in seconds since 1970.'),
    owned_by: z.string().describe('The id of the org.'),
  })
  .describe('A deployment in the place of a model.');

export const conversationShown = z
  .object({
    id: z.string().describe('The id of the conversation, `conv_…`.'),
    object: z.literal('conversation').describe('Always `conversation`: what kind of object this is.'),
    created_at: z.int().describe('When it was made, in seconds since 1970.'),
    metadata: z.record(z.string(), z.string()).describe('Your own labels as you sent them.'),
  })
  .describe('A conversation as clients of OpenAI’s API read it.');
