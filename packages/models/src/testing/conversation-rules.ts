import { asList, asRecord } from './scripted-answer.ts';
import type { VendorRule } from './vendor-rules.ts';

type Body = Record<string, unknown>;

/** Anthropic's format: its own address, Bedrock and Vertex AI. */
const anthropic = /\/messages$|\/invoke-with-response-stream$|\/publishers\/anthropic\//;
const google = /:streamGenerateContent$/;
const openai = /\/(responses|chat\/completions)$/;
const mistral = /\/mistral\/v1\/chat\/completions$/;
const ollama = /\/ollama\/v1\/chat\/completions$/;

const ofAnthropic = (message: string) => ({ type: 'error', error: { type: 'invalid_request_error', message } });
const ofGoogle = (message: string) => ({ error: { code: 400, message, status: 'INVALID_ARGUMENT' } });
const ofOpenai = (code: string | null) => (message: string) => ({
  error: { message, type: 'invalid_request_error', param: 'input', code },
});
const ofMistral = (field: string) => ({
  object: 'error',
  message: { detail: [{ type: 'extra_forbidden', loc: ['body', field], msg: 'Extra inputs are not permitted' }] },
  type: 'invalid_request_error',
  param: null,
  code: null,
});

const refused = (
  thread: string,
  path: RegExp,
  error: VendorRule['error'],
  fault: VendorRule['fault'],
  status = 400,
) => ({
  thread,
  path,
  fault,
  status,
  error,
});

/** Rules about messages, ids, names and results. The rules about schemas and options are in `vendor-rules.ts`. */
export const conversationRules = {
  anthropicCallIds: refused('https://github.com/maximhq/bifrost/issues/5097', anthropic, ofAnthropic, (body) =>
    firstFault(blocksOf(body), ({ id, tool_use_id, type }, at) => {
      const isWrong = (value: unknown) => !/^[a-zA-Z0-9_-]+$/.test(String(value));
      const field = type === 'tool_use' ? 'id' : 'tool_use_id';
      if (type !== 'tool_use' && type !== 'tool_result') return null;
      return isWrong(id ?? tool_use_id)
        ? `${at}.${type}.${field}: String should match pattern '^[a-zA-Z0-9_-]+$'`
        : null;
    }),
  ),
  anthropicResultsFollowCalls: refused(
    'https://github.com/anthropics/claude-code/issues/8210',
    anthropic,
    ofAnthropic,
    pairFault,
  ),
  anthropicTextsAreNotEmpty: refused(
    'https://github.com/home-assistant/core/pull/175733',
    anthropic,
    ofAnthropic,
    (body) =>
      firstFault([...blocksOf(body), ...systemBlocks(body)], ({ type, text }) =>
        type === 'text' && String(text).trim() === ''
          ? 'messages: text content blocks must contain non-whitespace text'
          : null,
      ),
  ),
  anthropicMessagesAreNotEmpty: refused(
    'https://github.com/anthropics/claude-code/issues/3196',
    anthropic,
    ofAnthropic,
    ({ messages }) => {
      const at = asList(messages).findIndex(({ content }) => (content as { length: number }).length === 0);
      return at === -1 ? null : `messages.${at}: all messages must have non-empty content`;
    },
  ),
  anthropicAnswersEndInText: refused(
    'https://github.com/tailcallhq/forgecode/issues/1872',
    anthropic,
    ofAnthropic,
    ({ messages }) => {
      const { role, content } = asList(messages).at(-1) ?? {};
      const text = asList(content).at(-1)?.text;
      const isFaulty = role === 'assistant' && typeof text === 'string' && text !== text.trimEnd();
      return isFaulty ? 'messages: final assistant content cannot end with trailing whitespace' : null;
    },
  ),
  anthropicCacheMarks: refused('https://github.com/continuedev/continue/pull/6937', anthropic, ofAnthropic, (body) => {
    const marks = JSON.stringify(body).match(/"cache_control":\{/g)?.length ?? 0;
    return marks > 4 ? `A maximum of 4 blocks with cache_control may be provided. Found ${marks}.` : null;
  }),
  anthropicToolNames: refused(
    'https://github.com/home-assistant/core/issues/147760',
    anthropic,
    ofAnthropic,
    ({ tools }) => {
      const at = asList(tools).findIndex(({ name }) => !/^[a-zA-Z0-9_-]{1,128}$/.test(String(name)));
      return at === -1 ? null : `tools.${at}.custom.name: String should match pattern '^[a-zA-Z0-9_-]{1,128}$'`;
    },
  ),
  openaiCallIds: refused(
    'https://github.com/openai/codex/issues/14355',
    openai,
    ofOpenai('string_above_max_length'),
    (body) => {
      const long = callIdsOf(body).find((id) => id.length > 64);
      return long === undefined ? null : `Invalid call_id: string too long. Expected a string with maximum length 64.`;
    },
  ),
  openaiCallsHaveOutputs: refused(
    'https://github.com/openai/codex/issues/620',
    /\/responses$/,
    ofOpenai(null),
    ({ input }) => {
      const idsOf = (type: string) =>
        asList(input).flatMap((item) => (item.type === type ? [String(item.call_id)] : []));
      const [calls, outputs] = [idsOf('function_call'), idsOf('function_call_output')];
      const open = calls.find((id) => !outputs.includes(id));
      const orphan = outputs.find((id) => !calls.includes(id));
      if (open !== undefined) return `No tool output found for function call ${open}.`;
      return orphan === undefined ? null : `No tool call found for function call output with call_id ${orphan}.`;
    },
  ),
  chatCallsHaveOutputs: refused(
    'https://github.com/smallmain/vscode-unify-chat-provider/issues/248',
    /\/chat\/completions$/,
    ofOpenai(null),
    chatPairFault,
  ),
  openaiToolNames: refused(
    'https://github.com/openai/codex/issues/8174',
    openai,
    ofOpenai('invalid_value'),
    ({ tools }) => {
      const names = asList(tools).map((tool) => String(asRecord(tool.function ?? tool).name));
      const at = names.findIndex((name) => !/^[a-zA-Z0-9_-]{1,64}$/.test(name));
      return at === -1
        ? null
        : `Invalid 'tools[${at}].name': string does not match pattern. Expected a string that matches the pattern '^[a-zA-Z0-9_-]+$'.`;
    },
  ),
  geminiToolNames: refused('https://github.com/google-gemini/gemini-cli/issues/2966', google, ofGoogle, (body) => {
    const at = declarationsOf(body).findIndex(({ name }) => !/^[a-zA-Z_][a-zA-Z0-9_.:-]{0,63}$/.test(String(name)));
    return at === -1
      ? null
      : `GenerateContentRequest.tools[0].function_declarations[${at}].name: Invalid function name. Must start with a letter or an underscore.`;
  }),
  geminiArraysHaveItems: refused('https://github.com/cline/cline/issues/7339', google, ofGoogle, (body) => {
    const at = declarationsOf(body).findIndex(({ parameters, parametersJsonSchema }) =>
      hasBareArray(parametersJsonSchema ?? parameters),
    );
    return at === -1
      ? null
      : `GenerateContentRequest.tools[0].function_declarations[${at}].parameters.properties.items: missing field.`;
  }),
  geminiResultsEqualCalls: refused(
    'https://github.com/microsoft/vscode/issues/299295',
    google,
    ofGoogle,
    ({ contents }) => {
      const counts = asList(contents).map(({ parts }) => ({
        calls: asList(parts).filter(({ functionCall }) => functionCall).length,
        results: asList(parts).filter(({ functionResponse }) => functionResponse).length,
      }));
      const isEqual = counts.every(
        ({ calls, results }, at) => results === (counts[at - 1]?.calls ?? 0) && (calls === 0 || at + 1 < counts.length),
      );
      return isEqual
        ? null
        : 'Please ensure that the number of function response parts is equal to the number of function call parts of the function call turn.';
    },
  ),
  mistralKnowsNoReasoningContent: refused(
    'https://github.com/BerriAI/litellm/issues/30835',
    mistral,
    ofMistral,
    ({ messages }) =>
      asList(messages).some((message) => 'reasoning_content' in message || 'reasoning_details' in message)
        ? 'reasoning_content'
        : null,
    422,
  ),
  mistralKnowsNoOtherOptions: refused(
    'https://github.com/editor-code-assistant/eca/issues/231',
    mistral,
    ofMistral,
    (body) => ['max_completion_tokens', 'store', 'logprobs', 'user'].find((name) => body[name] !== undefined) ?? null,
    422,
  ),
  ollamaReadsDataUrlsOnly: refused(
    'https://github.com/ollama/ollama/issues/7247',
    ollama,
    ofOpenai(null),
    ({ messages }) =>
      asList(messages)
        .flatMap(({ content }) => asList(content))
        .some(({ type, image_url }) => type === 'image_url' && !/^data:image\//.test(String(asRecord(image_url).url)))
        ? 'invalid image input'
        : null,
  ),
  // https://docs.ollama.com/api/openai-compatibility lists text and images.
  ollamaKnowsNoFiles: refused(
    'https://docs.ollama.com/api/openai-compatibility',
    ollama,
    ofOpenai(null),
    ({ messages }) =>
      asList(messages)
        .flatMap(({ content }) => asList(content))
        .some(({ type }) => type !== 'text' && type !== 'image_url')
        ? 'invalid message format'
        : null,
  ),
} satisfies Record<string, VendorRule>;

type Block = Record<string, unknown>;

function firstFault(blocks: readonly Block[], faultOf: (block: Block, place: string) => string | null): string | null {
  for (const block of blocks) {
    const fault = faultOf(block, String(block.place ?? ''));
    if (fault !== null) return fault;
  }
  return null;
}

/** Every block of every message, with its place in the vendor's words. */
const blocksOf = ({ messages }: Body): Block[] =>
  asList(messages).flatMap(({ content }, at) =>
    asList(content).map((block, index) => ({ ...block, place: `messages.${at}.content.${index}` })),
  );

const systemBlocks = ({ system }: Body): Block[] => asList(system);

function pairFault({ messages }: Body): string | null {
  const list = asList(messages);
  const idsIn = (message: Block | undefined, type: string, field: string) =>
    asList(message?.content).flatMap((block) => (block.type === type ? [String(block[field])] : []));
  for (const [at, message] of list.entries()) {
    const results = idsIn(list[at + 1], 'tool_result', 'tool_use_id');
    const open = idsIn(message, 'tool_use', 'id').find((id) => !results.includes(id));
    if (open !== undefined)
      return `messages.${at}: \`tool_use\` ids were found without \`tool_result\` blocks immediately after: ${open}.`;
    const calls = idsIn(list[at - 1], 'tool_use', 'id');
    const orphan = idsIn(message, 'tool_result', 'tool_use_id').find((id) => !calls.includes(id));
    if (orphan !== undefined)
      return `messages.${at}: unexpected \`tool_use_id\` found in \`tool_result\` blocks: ${orphan}.`;
    const kinds = asList(message.content).map(({ type }) => type === 'tool_result');
    if (kinds.includes(true) && kinds.lastIndexOf(true) !== kinds.filter(Boolean).length - 1)
      return `messages.${at}: \`tool_result\` blocks must come first.`;
  }
  return null;
}

function chatPairFault({ messages }: Body): string | null {
  const list = asList(messages);
  for (const [at, { role, tool_calls, tool_call_id }] of list.entries()) {
    const following = list.slice(at + 1);
    const end = following.findIndex((each) => each.role !== 'tool');
    const results = (end === -1 ? following : following.slice(0, end)).map((each) => each.tool_call_id);
    if (asList(tool_calls).some(({ id }) => !results.includes(id)))
      return "An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'.";
    const before = list.slice(0, at).findLast((each) => each.role !== 'tool');
    if (role === 'tool' && !asList(before?.tool_calls).some(({ id }) => id === tool_call_id))
      return "Messages with role 'tool' must be a response to a preceding message with 'tool_calls'.";
  }
  return null;
}

const callIdsOf = ({ input, messages }: Body): string[] => [
  ...asList(input).flatMap(({ call_id }) => (call_id === undefined ? [] : [String(call_id)])),
  ...asList(messages).flatMap(({ tool_calls }) => asList(tool_calls).map(({ id }) => String(id))),
];

const declarationsOf = ({ tools }: Body) =>
  asList(tools).flatMap(({ functionDeclarations }) => asList(functionDeclarations));

function hasBareArray(value: unknown): boolean {
  if (Array.isArray(value)) return value.some(hasBareArray);
  if (typeof value !== 'object' || value === null) return false;
  const schema = value as Block;
  const isBare = schema.type === 'array' && schema.items === undefined && schema.prefixItems === undefined;
  return isBare || Object.values(schema).some(hasBareArray);
}
