import { conversationRules } from './conversation-rules.ts';
import { refusalBySchema } from './published-schemas.ts';
import { asList, asRecord } from './scripted-answer.ts';
import {
  anthropicDraftFault,
  anthropicKeyFault,
  anthropicPatternFault,
  anthropicRootFault,
  googleReferenceFault,
  googleRequiredFault,
  openaiDescriptionFault,
  openaiFormatFault,
  openaiItemsFault,
  openaiRootFault,
  strictFault,
} from './vendor-schema-rules.ts';

/**
 * A request that a vendor is known to reject, with the vendor's response. Test servers check every request against
 * these rules, because a server that accepts anything hides such a request. Add a row for each new rejection.
 */
export type VendorRule = {
  /** The public thread that quotes the rejection. */
  thread: string;
  /** Part of the request's path. */
  path: RegExp;
  /** The fault in the vendor's words; null if there is none. */
  fault: (body: Body) => string | null;
  status: number;
  error: (message: string) => object;
};

type Body = Record<string, unknown>;
/** `schemaFault`: the body does not match the vendor's published schema, which no request may do. */
export type Refusal = { status: number; body: object; schemaFault?: string };

const chatCompletions = /\/chat\/completions$/;
const responses = /\/responses$/;
const openaiFormats = /\/(responses|chat\/completions)$/;
/** Anthropic itself, Bedrock and Vertex AI. */
const anthropic = /\/messages$|\/invoke-with-response-stream$|:streamRawPredict$/;
const google = /:streamGenerateContent$/;
/** Rules of one compatible endpoint that others do not share. A test puts `mistral` into the address. */
const mistral = /\/mistral\/.*\/chat\/completions$/;

/** vLLM's error for a chat template that raised an exception. */
const ofTemplate = (message: string) => ({ error: { message, type: 'BadRequestError', code: 400 } });
const ofMistral = (message: string) => ({
  object: 'error',
  message,
  type: 'invalid_request_message_order',
  param: null,
  code: '3230',
});
const ofOpenai = (code: string | null) => (message: string) => ({
  error: { message, type: 'invalid_request_error', param: null, code },
});

const ofAnthropic = (message: string) => ({ type: 'error', error: { type: 'invalid_request_error', message } });
const ofGoogle = (message: string) => ({ error: { code: 400, message, status: 'INVALID_ARGUMENT' } });

export const vendorRules = {
  ...conversationRules,
  vertexKnowsNoCallIds: {
    thread: 'https://github.com/vercel/ai/issues/15664',
    // Gemini 3 assigns ids itself since September 2026 and recognises them.
    path: /\/v1\/projects\/.+\/publishers\/google\/models\/gemini-[12]\b/,
    fault: callIdFault,
    status: 400,
    error: (message) => ({ error: { code: 400, message, status: 'INVALID_ARGUMENT' } }),
  },
  systemComesFirst: {
    thread: 'https://github.com/vllm-project/vllm/issues/41114',
    path: chatCompletions,
    fault: (body) => (rolesOf(body).slice(1).includes('system') ? 'System message must be at the beginning.' : null),
    status: 400,
    error: ofTemplate,
  },
  aUserSpeaks: {
    thread: 'https://github.com/vllm-project/vllm/issues/36432',
    path: chatCompletions,
    fault: (body) => (rolesOf(body).includes('user') ? null : 'No user query found in messages.'),
    status: 400,
    error: ofTemplate,
  },
  rolesAlternate: {
    thread: 'https://github.com/suitenumerique/conversations/issues/197',
    path: chatCompletions,
    fault: alternationFault,
    status: 400,
    error: ofTemplate,
  },
  assistantFollowsTools: {
    thread: 'https://github.com/BerriAI/litellm/issues/17761',
    path: chatCompletions,
    fault: (body) =>
      rolesOf(body).some((role, at, roles) => role === 'user' && roles[at - 1] === 'tool')
        ? "Unexpected role 'user' after role 'tool'"
        : null,
    status: 400,
    error: ofMistral,
  },
  assistantIsNotLast: {
    thread: 'https://github.com/0xPlaygrounds/rig/pull/1130',
    path: chatCompletions,
    fault: (body) =>
      rolesOf(body).at(-1) === 'assistant'
        ? 'Expected last role User or Tool (or Assistant with prefix True) for serving but got assistant'
        : null,
    status: 400,
    error: ofMistral,
  },
  contentIsNotEmpty: {
    thread: 'https://github.com/vllm-project/vllm/issues/21089',
    path: chatCompletions,
    fault: emptyContentFault,
    status: 400,
    error: ofTemplate,
  },
  objectsHaveProperties: {
    thread: 'https://github.com/openai/openai-agents-python/issues/449',
    path: /\/(responses|chat\/completions)$/,
    fault: propertiesFault,
    status: 400,
    error: ofOpenai('invalid_function_parameters'),
  },
  descriptionsAreShort: {
    thread: 'https://github.com/getsentry/sentry-mcp/issues/106',
    path: responses,
    fault: descriptionFault,
    status: 400,
    error: ofOpenai('string_above_max_length'),
  },
  reasoningIsOfReasoningModels: {
    thread: 'https://github.com/pydantic/pydantic-ai/issues/3326',
    path: responses,
    fault: ({ model, include }) =>
      /^(gpt-4|gpt-5-chat|chatgpt)/.test(String(model)) && asList(include).length > 0
        ? 'Encrypted content is not supported with this model.'
        : null,
    status: 400,
    error: ofOpenai(null),
  },
  openaiRoots: {
    thread: 'https://github.com/anomalyco/opencode/issues/47543',
    path: openaiFormats,
    fault: openaiRootFault,
    status: 400,
    error: ofOpenai('invalid_function_parameters'),
  },
  openaiArraysHaveItems: {
    thread: 'https://github.com/meilisearch/meilisearch-mcp/issues/27',
    path: openaiFormats,
    fault: openaiItemsFault,
    status: 400,
    error: ofOpenai('invalid_function_parameters'),
  },
  openaiDescriptionsAreShort: {
    thread: 'https://github.com/getsentry/sentry-mcp/issues/106',
    path: responses,
    fault: openaiDescriptionFault,
    status: 400,
    error: ofOpenai('string_above_max_length'),
  },
  openaiKnowsNineFormats: {
    thread: 'https://github.com/cyanheads/git-mcp-server/issues/47',
    path: responses,
    fault: openaiFormatFault,
    status: 400,
    error: ofOpenai('invalid_function_parameters'),
  },
  strictSchemas: {
    thread: 'https://github.com/camel-ai/camel/issues/3001',
    path: openaiFormats,
    fault: strictFault,
    status: 400,
    error: ofOpenai('invalid_json_schema'),
  },
  anthropicRoots: {
    thread: 'https://github.com/langchain-ai/langchain/issues/39271',
    path: anthropic,
    fault: anthropicRootFault,
    status: 400,
    error: ofAnthropic,
  },
  anthropicKeys: {
    thread: 'https://github.com/ComposioHQ/composio/issues/3500',
    path: anthropic,
    fault: anthropicKeyFault,
    status: 400,
    error: ofAnthropic,
  },
  anthropicDraft: {
    thread: 'https://github.com/kintone/mcp-server/issues/553',
    path: anthropic,
    fault: anthropicDraftFault,
    status: 400,
    error: ofAnthropic,
  },
  anthropicPatterns: {
    thread: 'https://github.com/openclaw/openclaw/issues/29416',
    path: anthropic,
    fault: anthropicPatternFault,
    status: 400,
    error: ofAnthropic,
  },
  googleReferences: {
    thread: 'https://ai.google.dev/api/generate-content#FIELDS.response_json_schema',
    path: google,
    fault: googleReferenceFault,
    status: 400,
    error: ofGoogle,
  },
  googleRequired: {
    thread: 'https://github.com/iBUHub/AIStudioToAPI/issues/154',
    path: google,
    fault: googleRequiredFault,
    status: 400,
    error: ofGoogle,
  },
  mistralKnowsNoStreamOptions: {
    thread: 'https://github.com/openai/openai-agents-python/issues/442',
    path: mistral,
    fault: ({ stream_options }) => (stream_options === undefined ? null : 'Extra inputs are not permitted'),
    status: 422,
    error: (msg) => ({
      object: 'error',
      message: {
        detail: [{ type: 'extra_forbidden', loc: ['body', 'stream_options', 'include_usage'], msg, input: true }],
      },
      type: 'invalid_request_error',
      param: null,
      code: null,
    }),
  },
  mistralCallIds: {
    thread: 'https://github.com/anomalyco/opencode/issues/1680',
    path: mistral,
    fault: mistralIdFault,
    status: 400,
    error: (message) => ({ object: 'error', message, type: 'invalid_function_call', param: null, code: '3280' }),
  },
  reasoningModelsCountCompletionTokens: {
    thread: 'https://github.com/anomalyco/opencode/issues/37964',
    path: chatCompletions,
    fault: ({ model, max_tokens }) =>
      /^(o\d|gpt-[5-9])/.test(String(model)) && max_tokens !== undefined
        ? "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead."
        : null,
    status: 400,
    error: (message) => ({
      error: { message, type: 'invalid_request_error', param: 'max_tokens', code: 'unsupported_parameter' },
    }),
  },
} satisfies Record<string, VendorRule>;

/** Returns the vendor's response to a body that breaks a rule or the published schema; null if it is accepted. */
export function refusalByRule(path: string, body: Body): Refusal | null {
  for (const { path: of, fault, status, error } of Object.values<VendorRule>(vendorRules)) {
    const message = of.test(path.replace(/\?.*/, '')) ? fault(body) : null;
    if (message !== null) return { status, body: error(message) };
  }
  return refusalBySchema(path, body);
}

function callIdFault({ contents }: Body): string | null {
  for (const [at, { parts }] of asList(contents).entries()) {
    for (const [partAt, part] of asList(parts).entries()) {
      for (const [field, named] of [
        ['functionCall', 'function_call'],
        ['functionResponse', 'function_response'],
      ] as const) {
        if ('id' in asRecord(part[field]))
          return `Invalid JSON payload received. Unknown name "id" at 'contents[${at}].parts[${partAt}].${named}': Cannot find field.`;
      }
    }
  }
  return null;
}

function mistralIdFault({ messages }: Body): string | null {
  const ids = asList(messages).flatMap(({ tool_calls, tool_call_id }) => [
    ...asList(tool_calls).map(({ id }) => String(id)),
    ...(tool_call_id === undefined ? [] : [String(tool_call_id)]),
  ]);
  const bad = ids.find((id) => !/^[a-zA-Z0-9]{9}$/.test(id));
  return bad ? `Tool call id was ${bad} but must be a-z, A-Z, 0-9, with a length of 9.` : null;
}

const rolesOf = ({ messages }: Body) => asList(messages).map(({ role }) => role);

/** Calls and results do not count, as in Mistral's templates. Gemma has neither. */
function alternationFault({ messages }: Body): string | null {
  const turns = asList(messages).filter(
    ({ role, tool_calls }) => role === 'user' || (role === 'assistant' && tool_calls === undefined),
  );
  const isAlternating = turns.every(({ role }, at) => (role === 'user') === (at % 2 === 0));
  return isAlternating ? null : 'Conversation roles must alternate user/assistant/user/assistant/...';
}

function emptyContentFault({ messages }: Body): string | null {
  const isEmpty = ({ content, tool_calls }: Body) =>
    tool_calls === undefined && (typeof content === 'string' ? content.trim() === '' : asList(content).length === 0);
  const at = asList(messages).findIndex(isEmpty);
  return at === -1 ? null : `messages.${at}: content must not be empty`;
}

function propertiesFault({ tools }: Body): string | null {
  for (const tool of asList(tools)) {
    const { name, parameters } = asRecord(tool.function ?? tool);
    const context = bareObjectIn(parameters, []);
    if (asRecord(parameters).type !== 'object')
      return `Invalid schema for function '${name}': schema must be a JSON Schema of 'type: "object"', got 'type: "None"'.`;
    if (context)
      return `Invalid schema for function '${name}': In context=(${context.join(', ')}), object schema missing properties.`;
  }
  return null;
}

function descriptionFault({ tools }: Body): string | null {
  for (const [at, tool] of asList(tools).entries()) {
    const { length } = [...String(asRecord(tool.function ?? tool).description ?? '')];
    if (length > 1024)
      return `Invalid 'tools[${at}].function.description': string too long. Expected a string with maximum length 1024, but got a string with length ${length} instead.`;
  }
  return null;
}

/** The path of an object schema without `properties`; null if there is none. */
function bareObjectIn(value: unknown, context: readonly string[]): readonly string[] | null {
  if (typeof value !== 'object' || value === null) return null;
  const schema = asRecord(value);
  if ([schema.type].flat().includes('object') && schema.properties === undefined) return context;
  const inner = [
    ...Object.entries(asRecord(schema.properties)).map(([name, each]) => [['properties', name], each] as const),
    ...Object.entries(asRecord(schema.$defs)).map(([name, each]) => [['$defs', name], each] as const),
    ...['items', 'additionalProperties'].map((keyword) => [[keyword], schema[keyword]] as const),
    ...['anyOf', 'oneOf', 'allOf'].flatMap((keyword) =>
      asList(schema[keyword]).map((each, at) => [[keyword, String(at)], each] as const),
    ),
  ];
  for (const [path, each] of inner) {
    const found = bareObjectIn(each, [...context, ...path.map((word) => `'${word}'`)]);
    if (found) return found;
  }
  return null;
}
