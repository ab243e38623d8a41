import { area } from '../requirement.ts';

export const models = area('models', 'done', [
  ['MOD-001', 'docs/model-reference.md#provider-requests', "A provider's key lists its models with `available: true`."],
  [
    'MOD-002',
    'docs/offline-model.md#rules-of-the-offline-model',
    'Without any provider key test mode runs on `offline`.',
  ],
  [
    'MOD-003',
    'docs/offline-model.md#rules-of-the-offline-model',
    'Without a provider key live mode answers 503 `model_unavailable` unless `VESTRA_DEFAULT_MODEL` names a model.',
  ],
  [
    'MOD-004',
    'docs/offline-model.md#rules-of-the-offline-model',
    '`VESTRA_DEFAULT_MODEL=offline` lets live mode run on `offline`.',
  ],
  [
    'MOD-005',
    'docs/offline-model.md#rules-of-the-offline-model',
    '`offline` is deterministic: the same input gives the same output.',
  ],
  [
    'MOD-006',
    'docs/offline-model.md#rules-of-the-offline-model',
    '`offline` says once in a conversation that it is a stand-in.',
  ],
  ['MOD-007', 'docs/offline-model.md#rules-of-the-offline-model', '`offline` answers from notebooks.'],
  ['MOD-008', 'docs/offline-model.md#rules-of-the-offline-model', '`offline` answers from memory.'],
  [
    'MOD-009',
    'docs/offline-model.md#rules-of-the-offline-model',
    '`offline` calls a tool whose name and description fit the message.',
  ],
  [
    'MOD-010',
    'docs/offline-model.md#rules-of-the-offline-model',
    '`offline` asks when an argument of the fitting tool is missing.',
  ],
  [
    'MOD-011',
    'docs/offline-model.md#rules-of-the-offline-model',
    '`offline` fills an `output_schema` with data that fits it.',
  ],
  ['MOD-012', 'docs/offline-model.md#rules-of-the-offline-model', '`offline` plays the user and judges scenarios.'],
  [
    'MOD-013',
    'docs/offline-model.md#rules-of-the-offline-model',
    '`offline` stands behind the same model interface as every other model.',
  ],
  [
    'MOD-014',
    'docs/offline-model.md#rules-of-the-offline-model',
    "A deployment's `model` is the model its turns run on, and `default` follows the server's default.",
  ],
  [
    'MOD-015',
    'docs/deployment-file-reference.md#language',
    "`language` fixes the agent's language; `auto` follows each user.",
  ],
  ['MOD-016', 'docs/model-reference.md#provider-requests', '`available` of a model is whether it can be used now.'],
  [
    'MOD-017',
    'docs/model-reference.md#provider-requests',
    "Each model call is charged at the model's price and counted in tokens.",
  ],
  [
    'MOD-150',
    'docs/model-reference.md#provider-requests',
    'Text that arrives together is one event, and text that arrives apart is passed on as it arrives.',
  ],
  [
    'MOD-151',
    'docs/model-reference.md#provider-requests',
    "However the bytes of a model's answer are cut, the same text and calls come of it.",
  ],
  [
    'MOD-152',
    'docs/model-reference.md#provider-requests',
    'An answer that breaks off, or an error inside it, gives the text before it and then a failure, and no call.',
  ],
  [
    'MOD-153',
    'docs/model-reference.md#provider-requests',
    'A model call that is stopped, left or timed out leaves no connection behind.',
  ],
  [
    'MOD-154',
    'docs/model-reference.md#provider-requests',
    "A provider's redirect is not followed: its key goes to no other address.",
  ],
  [
    'MOD-155',
    'docs/model-reference.md#provider-requests',
    'A slow reader slows the provider down, and an event without an end is not stored.',
  ],
  [
    'MOD-156',
    'docs/model-reference.md#provider-requests',
    'An output schema that a provider cannot be held to is asked for by a tool whose arguments are the answer.',
  ],
  [
    'MOD-157',
    'docs/model-reference.md#provider-requests',
    'The server trusts no shape that a provider sends: it ignores unknown events, and counts that are not numbers count nothing.',
  ],
  [
    'MOD-158',
    'docs/model-reference.md#provider-requests',
    'How long a provider wants to be left alone is understood in seconds, milliseconds, as a date and in the body.',
  ],
  [
    'MOD-201',
    'docs/models.md',
    'Which models there are, what they cost and when they end is data: a file with the source of each figure, and the operator’s own.',
  ],
  [
    'MOD-202',
    'docs/model-settings.md#your-own-file',
    '`VESTRA_MODELS_FILE` adds and overrides models; a faulty one stops the start and names the entry and field.',
  ],
  [
    'MOD-203',
    'docs/model-prices.md#unpriced-models',
    'A model that a vendor lists and nobody has priced runs in test mode and is refused in live mode, when it is to go live too.',
  ],
  [
    'MOD-204',
    'docs/model-prices.md#retired-models',
    'A model that its vendor no longer lists is shown as unavailable and why; a vendor that cannot be asked changes nothing.',
  ],
  [
    'MOD-205',
    'docs/model-prices.md#retired-models',
    'A retired model is no default and cannot be applied; a failure of one that still runs names its end when its vendor refuses it.',
  ],
  ['MOD-206', 'docs/models.md', 'The start and `vestra models` say what retires within 60 days and what replaces it.'],
  [
    'MOD-207',
    'docs/model-prices.md#cost-of-a-call',
    'A call is billed at the price of its day, by how much it has read and for how long its cache lasts, to the micro-dollar.',
  ],
  [
    'MOD-208',
    'docs/models.md#fallback-models',
    'While a vendor is unreachable the models of `model_fallbacks` answer, each billed and shown as itself, in its mode only.',
  ],
  [
    'MOD-760',
    'docs/model-reference.md#verification',
    "Test servers check each request against the vendor's published schema, and fail even if the client recovers from a refusal.",
  ],
  [
    'MOD-761',
    'docs/model-reference.md#verification',
    'Every provider accepts a matrix of more than 30 requests, hard tool schemas, and a conversation with calls and reasoning.',
  ],
  [
    'MOD-762',
    'docs/model-reference.md#verification',
    'Test servers refuse what vendors are known to refuse, and each rule names the thread or page that it comes from.',
  ],
  [
    'MOD-765',
    'docs/try-a-model.md',
    '`vestra models try` shows what works at a provider with its time and cost, after an estimate, and exits with 1 if an essential check fails.',
  ],
  [
    'MOD-766',
    'docs/try-a-model.md',
    '`vestra models try` says in one sentence that a key is missing or wrong, a model unknown or retired, or the answer a web page, and tries nothing else.',
  ],
  [
    'MOD-767',
    'docs/try-a-model.md',
    'A recording of `vestra models try` contains requests and responses, and no key, token, secret or URL parameter.',
  ],
  [
    'MOD-210',
    'docs/models.md#clouds',
    'Amazon Bedrock, Azure OpenAI and Vertex AI are asked with their own addresses, keys and framing, and no key is ever repeated.',
  ],
  [
    'MOD-209',
    'docs/model-prices.md#cost-of-a-call',
    'The common part of two consecutive requests is the same to the byte, and the trace shows how much the cache served.',
  ],
  [
    'MOD-730',
    'docs/model-reference.md#ends-of-an-answer',
    'A broken end of an answer, or an unknown end with nothing written, is tried again and reported with the reason of the vendor.',
  ],
  [
    'MOD-731',
    'docs/model-reference.md#ends-of-an-answer',
    'Two answers in one stream are a broken answer and call nothing.',
  ],
  [
    'MOD-732',
    'docs/model-reference.md#ends-of-an-answer',
    'A response of 200 that is no stream is its error, its answer, or one sentence that names the setting to check, without retries.',
  ],
  [
    'MOD-733',
    'docs/model-reference.md#ends-of-an-answer',
    'A tool call that the vendor itself cannot read, and a failure inside the model, are tried again.',
  ],
  [
    'MOD-734',
    'docs/model-reference.md#ends-of-an-answer',
    '`<think>` text at the beginning of a chat-completions answer is reasoning, and delays no other reply.',
  ],
  [
    'MOD-735',
    'docs/model-reference.md#ends-of-an-answer',
    'A request that is too long is recognised in the words of each server, and the history is shortened.',
  ],
  [
    'MOD-736',
    'docs/model-prices.md#cost-of-a-call',
    'Reasoning, cache reads and cache writes are billed from the counts of every format.',
  ],
  [
    'MOD-740',
    'docs/model-settings.md#reasoning-levels',
    '`reasoning` of a deployment sets how much its model reasons, in the form that each vendor and model accepts; a rejected level is left out.',
  ],
  [
    'MOD-741',
    'docs/models.md#clouds',
    'The clouds have rows for their current models, input limits shorten the history, and an ended model falls back.',
  ],
  [
    'MOD-742',
    'docs/local-models.md#settings',
    "The window of a compatible endpoint's model is that of its setting or of its list, and an answer fits into it.",
  ],
  [
    'MOD-743',
    'docs/local-models.md#troubleshooting',
    'A call to an address where nothing answers fails with a sentence that names the setting.',
  ],
  [
    'MOD-490',
    'docs/benchmarks.md#cost-of-a-model-call',
    'Answers that are written at once are read together, at most every 100 ms; one alone is read as it comes.',
  ],
  [
    'MOD-491',
    'docs/benchmarks.md#cost-of-a-model-call',
    'The first text of an answer is read at once, however many are written at the same time.',
  ],
  [
    'MOD-630',
    'docs/model-reference.md#provider-requests',
    'Gemini on Vertex AI gets back the ids of calls that it gave and no others; calls without ids are paired by their order.',
  ],
  [
    'MOD-631',
    'docs/models.md#your-own-model-server',
    'A chat-completions request has at most one system message, at its beginning, and its roles in an order that every chat template accepts.',
  ],
  [
    'MOD-632',
    'docs/model-reference.md#provider-requests',
    'Object schemas of tools reach OpenAI, Azure and compatible endpoints with `properties`, and the outermost with its `type`.',
  ],
  [
    'MOD-633',
    'docs/model-reference.md#provider-requests',
    'Encrypted reasoning is asked only of models that reason, and not again of one that refused it.',
  ],
  [
    'MOD-634',
    'docs/model-prices.md#cost-of-a-call',
    'Chat-completions usage is billed exactly: reasoning outside `completion_tokens`, and cache reads and writes under each documented name.',
  ],
  [
    'MOD-635',
    'docs/model-reference.md#provider-requests',
    "Test servers refuse what vendors are known to refuse, and request bodies fit the types that OpenAI's own client publishes.",
  ],
  [
    'MOD-790',
    'docs/model-reference.md#provider-packages',
    "A model whose entry names an AI SDK provider package is served by it and billed at the entry's price, with the faults of the built-in providers.",
  ],
  [
    'MOD-700',
    'docs/model-reference.md#schemas-and-tools',
    'A tool of any schema reaches every vendor in a form that the vendor accepts, and the form accepts every valid argument.',
  ],
  [
    'MOD-701',
    'docs/model-reference.md#schemas-and-tools',
    'Properties that a vendor rejects by name are renamed on the wire, and calls and answers have their true names.',
  ],
  [
    'MOD-702',
    'docs/model-reference.md#schemas-and-tools',
    'The description of a tool is cut to the length that its vendor accepts, and not before.',
  ],
  [
    'MOD-703',
    'docs/model-reference.md#schemas-and-tools',
    'Strict mode is used for schemas that it accepts, and a rejected answer schema is sent in the next looser form.',
  ],
  [
    'MOD-704',
    'docs/model-reference.md#provider-requests',
    'Calls go back to a chat-completions model with its own ids, or with ids of nine letters and digits.',
  ],
  [
    'MOD-705',
    'docs/model-reference.md#after-a-rejection',
    'If a vendor rejects a request and names a field, the request is sent again without it or under its other name.',
  ],
  [
    'MOD-706',
    'docs/model-reference.md#after-a-rejection',
    'A tool that a vendor rejects is sent with a simpler schema, and then left out with a warning.',
  ],
  [
    'MOD-707',
    'docs/model-reference.md#after-a-rejection',
    'Adjustments are kept per model and endpoint for a week, shared by all processes, logged once and listed in `GET /v1/models` without names of tools.',
  ],
  [
    'MOD-709',
    'docs/model-reference.md#provider-faults',
    'A wrong key, a retired model, a web page instead of an answer and a huge tool schema cost one request, end in one sentence, and lose no message.',
  ],
  [
    'MOD-708',
    'docs/model-prices.md#retired-models',
    'A model that its vendor does not have is unavailable, whatever status the vendor uses.',
  ],
]);
