import { area } from '../requirement.ts';

export const models = area('models', 'done', [
  ['MOD-001', 'docs/models.md#provider-requests', "A provider's key lists its models with `available: true`."],
  ['MOD-002', 'docs/models.md#the-offline-model', 'Without any provider key test mode runs on `offline`.'],
  [
    'MOD-003',
    'docs/models.md#the-offline-model',
    'Without a provider key live mode answers 503 `model_unavailable` unless `VESTRA_DEFAULT_MODEL` names a model.',
  ],
  ['MOD-004', 'docs/models.md#the-offline-model', '`VESTRA_DEFAULT_MODEL=offline` lets live mode run on `offline`.'],
  ['MOD-005', 'docs/models.md#the-offline-model', '`offline` is deterministic: the same input gives the same output.'],
  ['MOD-006', 'docs/models.md#the-offline-model', '`offline` says once in a conversation that it is a stand-in.'],
  ['MOD-007', 'docs/models.md#the-offline-model', '`offline` answers from notebooks.'],
  ['MOD-008', 'docs/models.md#the-offline-model', '`offline` answers from memory.'],
  ['MOD-009', 'docs/models.md#the-offline-model', '`offline` calls a tool whose name and description fit the message.'],
  ['MOD-010', 'docs/models.md#the-offline-model', '`offline` asks when an argument of the fitting tool is missing.'],
  ['MOD-011', 'docs/models.md#the-offline-model', '`offline` fills an `output_schema` with data that fits it.'],
  ['MOD-012', 'docs/models.md#the-offline-model', '`offline` plays the user and judges scenarios.'],
  [
    'MOD-013',
    'docs/models.md#the-offline-model',
    '`offline` stands behind the same model interface as every other model.',
  ],
  [
    'MOD-014',
    'docs/models.md#the-offline-model',
    "A deployment's `model` is the model its turns run on, and `default` follows the server's default.",
  ],
  ['MOD-015', 'docs/deployment-file.md#language', "`language` fixes the agent's language; `auto` follows each user."],
  ['MOD-016', 'docs/models.md#provider-requests', '`available` of a model is whether it can be used now.'],
  [
    'MOD-017',
    'docs/models.md#provider-requests',
    "Each model call is charged at the model's price and counted in tokens.",
  ],
  [
    'MOD-150',
    'docs/models.md#provider-requests',
    'Text that arrives together is one event, and text that arrives apart is passed on as it arrives.',
  ],
  [
    'MOD-151',
    'docs/models.md#provider-requests',
    "However the bytes of a model's answer are cut, the same text and calls come of it.",
  ],
  [
    'MOD-152',
    'docs/models.md#provider-requests',
    'An answer that breaks off, or an error inside it, gives the text before it and then a failure, and no call.',
  ],
  [
    'MOD-153',
    'docs/models.md#provider-requests',
    'A model call that is stopped, left or timed out leaves no connection behind.',
  ],
  [
    'MOD-154',
    'docs/models.md#provider-requests',
    "A provider's redirect is not followed: its key goes to no other address.",
  ],
  [
    'MOD-155',
    'docs/models.md#provider-requests',
    'A slow reader slows the provider down, and an event without an end is not stored.',
  ],
  [
    'MOD-156',
    'docs/models.md#provider-requests',
    'An output schema that a provider cannot be held to is asked for by a tool whose arguments are the answer.',
  ],
  [
    'MOD-157',
    'docs/models.md#provider-requests',
    'The server trusts no shape that a provider sends: it ignores unknown events, and counts that are not numbers count nothing.',
  ],
  [
    'MOD-158',
    'docs/models.md#provider-requests',
    'How long a provider wants to be left alone is understood in seconds, milliseconds, as a date and in the body.',
  ],
  [
    'MOD-201',
    'docs/models.md',
    'Which models there are, what they cost and when they end is data: a file with the source of each figure, and the operator’s own.',
  ],
  [
    'MOD-202',
    'docs/models.md#your-own-file',
    '`VESTRA_MODELS_FILE` adds and overrides models; a faulty one stops the start and names the entry and field.',
  ],
  [
    'MOD-203',
    'docs/models.md#unpriced-models',
    'A model that a vendor lists and nobody has priced runs in test mode and is refused in live mode, when it is to go live too.',
  ],
  [
    'MOD-204',
    'docs/models.md#retired-models',
    'A model that its vendor no longer lists is shown as unavailable and why; a vendor that cannot be asked changes nothing.',
  ],
  [
    'MOD-205',
    'docs/models.md#retired-models',
    'A retired model is no default and cannot be applied; a failure of one that still runs names its end when its vendor refuses it.',
  ],
  ['MOD-206', 'docs/models.md', 'The start and `vestra models` say what retires within 60 days and what replaces it.'],
  [
    'MOD-207',
    'docs/models.md#cost-of-a-call',
    'A call is billed at the price of its day, by how much it has read and for how long its cache lasts, to the micro-dollar.',
  ],
  [
    'MOD-208',
    'docs/models.md#when-a-vendor-is-unreachable',
    'While a vendor is unreachable the models of `model_fallbacks` answer, each billed and shown as itself, in its mode only.',
  ],
  [
    'MOD-760',
    'docs/models.md#verification',
    "Test servers check each request against the vendor's published schema, and fail even if the client recovers from a refusal.",
  ],
  [
    'MOD-761',
    'docs/models.md#verification',
    'Every provider accepts a matrix of more than 30 requests, hard tool schemas, and a conversation with calls and reasoning.',
  ],
  [
    'MOD-762',
    'docs/models.md#verification',
    'Test servers refuse what vendors are known to refuse, and each rule names the thread or page that it comes from.',
  ],
  [
    'MOD-765',
    'docs/models.md#try-a-model',
    '`vestra models try` shows what works at a provider with its time and cost, after an estimate, and exits with 1 if an essential check fails.',
  ],
  [
    'MOD-766',
    'docs/models.md#try-a-model',
    '`vestra models try` says in one sentence that a key is missing or wrong, a model unknown or retired, or the answer a web page, and tries nothing else.',
  ],
  [
    'MOD-767',
    'docs/models.md#try-a-model',
    'A recording of `vestra models try` contains requests and responses, and no key, token, secret or URL parameter.',
  ],
  [
    'MOD-210',
    'docs/models.md#clouds',
    'Amazon Bedrock, Azure OpenAI and Vertex AI are asked with their own addresses, keys and framing, and no key is ever repeated.',
  ],
  [
    'MOD-209',
    'docs/models.md#cost-of-a-call',
    'The common part of two consecutive requests is the same to the byte, and the trace shows how much the cache served.',
  ],
  [
    'MOD-490',
    'docs/benchmarks.md#cost-of-a-model-call',
    'Answers that are written at once are read together, at most every 60 ms; one alone is read as it comes.',
  ],
  [
    'MOD-630',
    'docs/models.md#provider-requests',
    'Gemini on Vertex AI gets back the ids of calls that it gave and no others; calls without ids are paired by their order.',
  ],
  [
    'MOD-631',
    'docs/models.md#your-own-model-server',
    'A chat-completions request has at most one system message, at its beginning, and its roles in an order that every chat template accepts.',
  ],
  [
    'MOD-632',
    'docs/models.md#provider-requests',
    'Object schemas of tools reach OpenAI, Azure and compatible endpoints with `properties`, and the outermost with its `type`.',
  ],
  [
    'MOD-633',
    'docs/models.md#provider-requests',
    'Encrypted reasoning is asked only of models that reason, and not again of one that refused it.',
  ],
  [
    'MOD-634',
    'docs/models.md#cost-of-a-call',
    'Chat-completions usage is billed exactly: reasoning outside `completion_tokens`, and cache reads and writes under each documented name.',
  ],
  [
    'MOD-635',
    'docs/models.md#provider-requests',
    "Test servers refuse what vendors are known to refuse, and request bodies fit the types that OpenAI's own client publishes.",
  ],
]);
