import { z } from 'zod';
import { maxEdgeTools } from './message.ts';
import { metadataInput } from './metadata.ts';
import { namedDeployment } from './named-deployment.ts';

/** Sampling parameters are set by the deployment: accepted and ignored. */
const withoutEffect = z.unknown().optional().describe('Accepted and ignored.');
const tuning = Object.fromEntries(
  [
    ...['temperature', 'top_p', 'frequency_penalty', 'presence_penalty', 'seed', 'logit_bias', 'stop', 'verbosity'],
    ...['max_tokens', 'max_completion_tokens', 'max_output_tokens', 'max_tool_calls', 'parallel_tool_calls'],
    ...['reasoning', 'reasoning_effort', 'service_tier', 'prediction', 'truncation', 'include', 'context_management'],
    ...['prompt_cache_key', 'prompt_cache_options', 'prompt_cache_retention'],
  ].map((name) => [name, withoutEffect]),
);

const list = <Part extends z.ZodType>(part: Part) => z.array(part).max(1000, 'At most 1000 entries.');
const toolList = <Tool extends z.ZodType>(tool: Tool) =>
  z.array(tool).max(maxEdgeTools, `At most ${maxEdgeTools} tools.`);

const model = namedDeployment.describe('A deployment: its slug, its dep_ id or its name, with `@version`.');
/** OpenAI accepts any text here. Text that is no user id becomes one. */
const user = z
  .string()
  .max(1000)
  .nullish()
  .describe('The user whom the agent works for. Empty: none. Text that is no valid user id gets one derived from it.');

const image = z
  .string()
  .regex(/^data:[\w.+/-]+;base64,/, 'Send a picture as a data URL: addresses are not fetched.')
  .describe('A data URL.');
const inlineFile = z
  .string()
  .regex(/^data:[\w.+/-]+;base64,/, 'Send a file as a data URL, or upload it with POST /v1/files and name its id.');

const text = <const Type extends string>(type: Type) =>
  z.looseObject({
    type: z.literal(type).describe('Marks the part as text.'),
    text: z.string().describe('The text of the part.'),
  });
const chatText = text('text');
const chatFile = z.looseObject({
  type: z.literal('file').describe('`file`: a file of the message.'),
  file: z
    .looseObject({
      file_data: inlineFile.optional().describe('The file as a data URL.'),
      file_id: z.string().optional().describe('The id of a file uploaded with `POST /v1/files`.'),
      filename: z.string().optional().describe('The name of the file.'),
    })
    .describe('The file itself.'),
});
const chatPart = z.discriminatedUnion('type', [
  chatText,
  z.looseObject({
    type: z.literal('image_url').describe('`image_url`: a picture of the message.'),
    image_url: z
      .looseObject({ url: image.describe('The picture as a data URL; addresses are not fetched.') })
      .describe('The picture itself.'),
  }),
  chatFile,
]);
const words = z.union([z.string(), list(chatText)]);

const functionCall = z.looseObject({
  id: z.string().describe('The id of the call, which its result repeats.'),
  type: z.literal('function').default('function').describe('Only functions are called.'),
  function: z
    .looseObject({
      name: z.string().describe('The name of your function.'),
      arguments: z.string().describe('The arguments as JSON text.'),
    })
    .describe('The called function and its arguments.'),
});

const chatMessage = z.discriminatedUnion('role', [
  z.looseObject({
    role: z
      .enum(['system', 'developer'])
      .describe('Your text for the agent; read as facts in addition to the deployment’s instructions.'),
    content: words.describe('The text of the message.'),
  }),
  z.looseObject({
    role: z.literal('user').describe('`user`: a message from the user; the last one is new.'),
    content: z.union([z.string(), list(chatPart)]).describe('Text, or parts with pictures and files.'),
  }),
  z.looseObject({
    role: z.literal('assistant').describe('`assistant`: an earlier answer of the agent.'),
    content: words.nullish().describe('The answer; null if it only called functions.'),
    tool_calls: list(functionCall).nullish().describe('The calls of your functions.'),
  }),
  z.looseObject({
    role: z.literal('tool').describe('`tool`: the result of your function.'),
    tool_call_id: z.string().describe('The call that it answers.'),
    content: words.describe('The output of the function.'),
  }),
]);

const parameters = z.record(z.string(), z.unknown()).nullish();
const chatTool = z.looseObject({
  type: z
    .literal('function', 'Only functions can be given here: what the agent itself uses is in its deployment.')
    .describe('Only functions: the agent’s own tools are in its deployment.'),
  function: z
    .looseObject({
      name: z.string().describe('The name of the function.'),
      description: z.string().nullish().describe('What it does and when to call it.'),
      parameters: parameters.describe('A JSON Schema for its arguments.'),
    })
    .describe('A function that your code runs.'),
});
const functionChoice = z.literal('function', 'Only your functions can be chosen.').describe('Always `function`.');
const choiceMode = z.enum(['auto', 'required']).describe('`auto`: it may call one of them; `required`: it must.');
const choiceWord = z.enum(['auto', 'none', 'required']);
const unknownChoice = 'Send `auto`, `none`, `required`, or one of your functions by its name.';
const chosenFunction = z
  .looseObject({ name: z.string().describe('The name of one of `tools`.') })
  .describe('The function to call.');
const chatChoice = z.looseObject({ type: functionChoice, function: chosenFunction });
const chatToolChoice = z
  .union(
    [
      choiceWord,
      chatChoice,
      z.looseObject({
        type: z.literal('allowed_tools').describe('`allowed_tools`: only some of `tools`.'),
        allowed_tools: z
          .looseObject({ mode: choiceMode, tools: toolList(chatChoice).describe('The functions that may be called.') })
          .describe('The functions that may be called, and whether one must be.'),
      }),
    ],
    unknownChoice,
  )
  .nullish();
const responseChoice = z.looseObject({ type: functionChoice, name: chosenFunction.shape.name });
const responseToolChoice = z
  .union(
    [
      choiceWord,
      responseChoice,
      z.looseObject({
        type: z.literal('allowed_tools').describe('`allowed_tools`: only some of `tools`.'),
        mode: choiceMode,
        tools: toolList(responseChoice).describe('The functions that may be called.'),
      }),
    ],
    unknownChoice,
  )
  .nullish();
const choiceMeaning =
  '`auto`: the agent decides; `none`: it calls none of `tools`; `required`, or the name of a function: the answer is a call.';
const onlyOne = z.literal(1, 'Only one answer is given.').nullish();
const never = (message: string) => z.literal(false, message).nullish();
const jsonSchema = z.record(z.string(), z.unknown());

export const chatBody = z.strictObject({
  model,
  messages: z
    .array(chatMessage)
    .min(1)
    .max(2000)
    .describe('The conversation so far; if it continues an earlier call, it uses the same conversation.'),
  user,
  safety_identifier: user.describe('Another name for `user`: whom the agent works for.'),
  tools: toolList(chatTool)
    .nullish()
    .describe('Your functions that the agent may call, in addition to the deployment’s.'),
  tool_choice: chatToolChoice.describe(choiceMeaning),
  response_format: z
    .discriminatedUnion('type', [
      z.looseObject({ type: z.literal('text').describe('`text`: plain text, the default.') }),
      z.looseObject({ type: z.literal('json_object').describe('`json_object`: any JSON object.') }),
      z.looseObject({
        type: z.literal('json_schema').describe('`json_schema`: JSON that matches a schema.'),
        json_schema: z
          .looseObject({ schema: jsonSchema.describe('A JSON Schema of the answer, at most 32 KB.') })
          .describe('The schema with its name.'),
      }),
    ])
    .nullish()
    .describe('The format of the answer: text, any JSON, or JSON that matches a schema.'),
  stream: z.boolean().nullish().describe('True: the answer is streamed as chunks.'),
  stream_options: z
    .looseObject({ include_usage: z.boolean().nullish().describe('True: a last chunk contains the token counts.') })
    .nullish()
    .describe('Additional contents of a stream.'),
  metadata: metadataInput.nullish(),
  store: z.boolean().nullish().describe('Accepted for OpenAI’s clients; the conversation is always stored.'),
  n: onlyOne.describe('Only 1: one answer is returned.'),
  logprobs: never('Probabilities of words are not given.').describe(
    'Only false: token probabilities are not available.',
  ),
  modalities: list(z.literal('text', 'Only text is answered.')).nullish().describe('Only text is supported.'),
  ...tuning,
});

const inputPart = z.discriminatedUnion('type', [
  text('input_text'),
  text('output_text'),
  z.looseObject({
    type: z.literal('input_image').describe('`input_image`: a picture of the message.'),
    image_url: image.describe('The picture as a data URL; addresses are not fetched.'),
  }),
  z.looseObject({
    type: z.literal('input_file').describe('`input_file`: a file of the message.'),
    file_data: inlineFile.nullish().describe('The file as a data URL.'),
    file_id: z.string().nullish().describe('The id of a file uploaded with `POST /v1/files`.'),
    filename: z.string().nullish().describe('The name of the file.'),
  }),
]);
const inputWords = z.union([z.string(), list(inputPart)]);

const inputItem = z.union([
  z.looseObject({
    type: z.literal('message').optional().describe('`message`: a message of the conversation.'),
    role: z.enum(['user', 'assistant', 'system', 'developer']).describe('The author of the message.'),
    content: inputWords.describe('The content: text, or parts with pictures and files.'),
  }),
  z.looseObject({
    type: z.literal('function_call').describe('`function_call`: a call of your function, from an earlier answer.'),
    call_id: z.string().describe('Identifies the call of your function.'),
    name: z.string().describe('The called function.'),
    arguments: z.string().describe('The arguments as JSON text.'),
  }),
  z.looseObject({
    type: z.literal('function_call_output').describe('`function_call_output`: the result of your function.'),
    call_id: z.string().describe('The call that it answers.'),
    output: z.union([z.string(), list(text('input_text'))]).describe('The output of the function.'),
  }),
  z.looseObject({
    type: z
      .literal('mcp_approval_response')
      .describe('`mcp_approval_response`: approval or denial of a pending request.'),
    approval_request_id: z.string().describe('The interaction that it answers.'),
    approve: z.boolean().describe('True approves, false denies.'),
    reason: z.string().nullish().describe('The reason in words.'),
  }),
  // A client sends back parts of an earlier answer. They are already stored here.
  z.looseObject({
    type: z
      .enum(['mcp_approval_request', 'reasoning', 'item_reference'])
      .describe('Sent back by clients; already stored and ignored.'),
  }),
]);

export const responseBody = z.strictObject({
  model: model.optional().describe('The deployment; optional if the conversation is named.'),
  input: z
    .union([z.string(), z.array(inputItem).min(1).max(2000)])
    .describe('The user’s message: a text, or a list of items.'),
  instructions: z.string().nullish().describe('Read as facts in addition to the deployment’s instructions.'),
  user,
  safety_identifier: user.describe('Another name for `user`: whom the agent works for.'),
  previous_response_id: z.string().nullish().describe('The response that this one continues, `resp_…`.'),
  conversation: z
    .union([z.string(), z.looseObject({ id: z.string().describe('The id of the conversation, `conv_…`.') })])
    .nullish()
    .describe('The conversation that this one continues.'),
  tools: toolList(
    z.looseObject({
      type: chatTool.shape.type,
      name: z.string().describe('The name of the function.'),
      description: z.string().nullish().describe('What it does and when to call it.'),
      parameters: parameters.describe('A JSON Schema for its arguments.'),
    }),
  )
    .nullish()
    .describe('Your functions that the agent may call, in addition to the deployment’s.'),
  tool_choice: responseToolChoice.describe(choiceMeaning),
  text: z
    .looseObject({
      format: z
        .discriminatedUnion('type', [
          z.looseObject({ type: z.literal('text').describe('`text`: plain text, the default.') }),
          z.looseObject({ type: z.literal('json_object').describe('`json_object`: any JSON object.') }),
          z.looseObject({
            type: z.literal('json_schema').describe('`json_schema`: JSON that matches a schema.'),
            schema: jsonSchema.describe('A JSON Schema of the answer, at most 32 KB.'),
          }),
        ])
        .nullish()
        .describe('Text, any JSON, or JSON that matches a schema.'),
    })
    .nullish()
    .describe('The format of the answer.'),
  stream: z.boolean().nullish().describe('True: the answer is streamed as events.'),
  stream_options: z.unknown().optional().describe('Accepted and ignored.'),
  background: z.boolean().nullish().describe('True: returns at once with `in_progress`; read the response later.'),
  metadata: metadataInput.nullish(),
  store: z.boolean().nullish().describe('False: the response cannot be read again.'),
  prompt: z
    .null('Prompts are not kept here: the deployment holds the instructions.')
    .optional()
    .describe('Only null: the deployment contains the instructions.'),
  top_logprobs: z
    .literal(0, 'Probabilities of words are not given.')
    .nullish()
    .describe('Only 0: token probabilities are not available.'),
  ...tuning,
});

export const chatCompletion = z
  .looseObject({
    id: z.string().describe('The id of this answer.'),
    object: z.literal('chat.completion').describe('Always `chat.completion`: what kind of object this is.'),
    created: z.int().describe('When it was created, in seconds since 1970.'),
    model: z.string().describe('The deployment that answered.'),
    choices: z
      .array(
        z.looseObject({
          index: z.int().describe('Always 0: there is one answer.'),
          message: z.looseObject({}).describe('The agent’s text and its calls of your functions.'),
          finish_reason: z
            .string()
            .describe('Why it ended: `stop`, `length`, or `tool_calls` for calls of your functions.'),
        }),
      )
      .describe('One answer.'),
    usage: z
      .looseObject({
        prompt_tokens: z.int().describe('Tokens that models read.'),
        completion_tokens: z.int().describe('Tokens that models wrote.'),
        total_tokens: z.int().describe('Both together.'),
      })
      .describe('Tokens of all model calls for this answer.'),
  })
  .describe('An answer in the format of OpenAI’s chat completions.');

export const response = z
  .looseObject({
    id: z.string().describe('The id of this response, `resp_…`.'),
    object: z.literal('response').describe('Always `response`: what kind of object this is.'),
    created_at: z.int().describe('When it was created, in seconds since 1970.'),
    status: z
      .enum(['completed', 'failed', 'in_progress', 'cancelled', 'incomplete'])
      .describe('`in_progress` until it ended in one of the other ways.'),
    model: z.string().describe('The deployment that answers.'),
    conversation: z
      .object({ id: z.string().describe('The id of the conversation, `conv_…`.') })
      .describe('The conversation that it is part of.'),
    output: z
      .array(z.looseObject({ type: z.string().describe('The type of the item.') }))
      .describe('The output so far: messages, calls of your functions, requested approvals.'),
  })
  .describe('An answer in the format of OpenAI’s responses.');

/** OpenAI's clients parse both streams, so their shapes are OpenAI's. */
export const chatChunk = z.looseObject({
  id: chatCompletion.shape.id,
  object: z.literal('chat.completion.chunk').describe('Always `chat.completion.chunk`: what kind of object this is.'),
  choices: z.array(z.looseObject({})).describe('The additions to the answer since the previous chunk.'),
});
export const responseEvent = z.looseObject({
  type: z.string().describe('The event, such as `response.output_text.delta` or `response.completed`.'),
  sequence_number: z.int().describe('Counts up within the response.'),
});
