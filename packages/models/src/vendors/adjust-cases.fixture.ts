import type { Adjustments, SentRequest } from './adjustments.ts';

export type AdjustCase = {
  name: string;
  words: string;
  param?: string;
  vendor?: 'openai' | 'compatible';
  sent: SentRequest;
  expected: Partial<Adjustments> | null;
};

const plain: SentRequest = {
  body: { model: 'x', stream: true, stream_options: {}, max_tokens: 100, messages: [] },
  tools: ['read', 'write', 'include'],
  answerTool: null,
  output: null,
  isToolForced: false,
  maxOutputTokens: 100,
  hasMedia: false,
  hasLevel: false,
};

/** Rejections in the words of vendors and gateways, as public threads quote them. */
export const adjustCases: AdjustCase[] = [
  {
    name: 'Mistral, as a list of faults',
    words:
      '{"detail":[{"type":"extra_forbidden","loc":["body","stream_options","include_usage"],"msg":"Extra inputs are not permitted"}]}',
    sent: plain,
    expected: { fields: ['stream_options'] },
  },
  {
    name: 'Groq',
    words: "property 'stream_options' is unsupported",
    sent: plain,
    expected: { fields: ['stream_options'] },
  },
  {
    name: 'OpenAI, with the name of the field alone',
    words: 'Unsupported value.',
    param: 'max_tokens',
    sent: plain,
    expected: { fields: ['max_tokens'] },
  },
  {
    name: 'a limit that is lower',
    words: 'max_tokens is too large: 100. This model supports at most 64 completion tokens, whereas you provided 100.',
    param: 'max_tokens',
    sent: plain,
    expected: { mostOutputTokens: 64 },
  },
  {
    name: 'Vertex AI, with an exclusive limit',
    words:
      'Unable to submit request because it has a maxOutputTokens value of 100 but the supported range is from 1 (inclusive) to 65 (exclusive).',
    sent: plain,
    expected: { mostOutputTokens: 64 },
  },
  {
    name: 'a tool by its place',
    words: 'tools.1.custom.input_schema: JSON schema is invalid.',
    sent: plain,
    expected: { tools: new Map([['write', 'plain']]) },
  },
  {
    name: 'a tool by its name, inside the words of a gateway',
    words: `litellm.BadRequestError: OpenAIException - Invalid schema for function 'write': In context=('properties', 'include'), array schema missing items.`,
    sent: plain,
    expected: { tools: new Map([['write', 'plain']]) },
  },
  {
    name: 'several tools of Google',
    words:
      '* GenerateContentRequest.tools[0].function_declarations[0].parameters.required[0]: property is not defined\n* GenerateContentRequest.tools[0].function_declarations[1].parameters.required[0]: property is not defined\n',
    sent: plain,
    expected: {
      tools: new Map([
        ['read', 'plain'],
        ['write', 'plain'],
      ]),
    },
  },
  { name: 'a tool that was not sent', words: 'tools.7: not today', sent: plain, expected: null },
  { name: 'nothing that can be changed', words: 'Your account is not active.', sent: plain, expected: null },
  {
    name: 'an endpoint that knows no schemas',
    words: "Invalid parameter: 'response_format' of type 'json_schema' is not supported with this model.",
    sent: { ...plain, output: 'strict' },
    expected: { output: 'json', isOutputLimited: true },
  },
  {
    name: 'an answer schema',
    words: "Invalid schema for response_format 'answer'",
    param: 'text.format.schema',
    sent: { ...plain, output: 'strict' },
    expected: { output: 'loose' },
  },
  {
    name: 'nothing in particular, with an answer schema',
    words: 'Bad request',
    sent: { ...plain, output: 'loose' },
    expected: { output: 'json' },
  },
  {
    name: 'nothing in particular from a vendor that names what it rejects',
    vendor: 'openai',
    words: 'Bad request',
    sent: { ...plain, output: 'loose' },
    expected: null,
  },
  {
    name: 'a schema with too many states at Gemini',
    vendor: 'openai',
    words: 'The specified schema produces a constraint that has too many states for serving.',
    sent: { ...plain, output: 'loose' },
    expected: { output: 'json' },
  },
  {
    name: 'a filtered prompt',
    words: "The response was filtered due to the prompt triggering Azure OpenAI's content management policy.",
    sent: { ...plain, output: 'strict', hasMedia: true },
    expected: null,
  },
  {
    name: 'the tool that carries the answer',
    words: 'tools.2.custom.input_schema: too complex',
    sent: { ...plain, output: 'loose', answerTool: 'include' },
    expected: { output: 'words' },
  },
  {
    name: 'a forced tool',
    words: "tool_choice 'any' is not supported",
    sent: { ...plain, output: 'loose', answerTool: 'include', isToolForced: true },
    expected: { isToolUnforced: true },
  },
  {
    name: 'nothing in particular, with a picture of a tool',
    words: 'Could not process image',
    sent: { ...plain, hasMedia: true },
    expected: { isMediaLeftOut: true },
  },
];
