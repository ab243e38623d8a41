/** Exports in the forms that the platforms write them. The credentials are invented. */

export const fakeSecrets = {
  openai: 'sk-proj-Zm9yVGVzdHNPbmx5MDEyMzQ1Njc4OQ',
  dify: 'app-Zm9yVGVzdHNPbmx5MDEyMzQ1',
  header: '282811111111111.forTestsOnlyAbc123',
  short: 'pw-12',
  variable: 'variable-of-the-test-77',
  token: 'ya29.forTestsOnly-0123456789',
};

const findLoan = {
  name: 'findLoan',
  description: 'Finds a loan by its number.',
  strict: true,
  parameters: {
    type: 'object',
    properties: {
      number: { type: 'string', description: 'Such as L-17.' },
      include: { type: ['string', 'null'], enum: ['fees', 'history', null] },
    },
    required: ['number', 'include'],
    additionalProperties: false,
  },
};

/** As `GET /v1/assistants/{id}` returns it, with `OpenAI-Beta: assistants=v2`. */
export const assistant = {
  id: 'asst_abc123',
  object: 'assistant',
  created_at: 1699009709,
  name: 'Library Desk',
  description: 'Helps members of a town library.',
  model: 'gpt-4o',
  instructions: `You help the members of a town library. Call the catalogue with ${fakeSecrets.openai}.`,
  tools: [
    { type: 'code_interpreter' },
    { type: 'file_search', file_search: { ranking_options: { ranker: 'default_2024_08_21', score_threshold: 0 } } },
    { type: 'function', function: findLoan },
    { type: 'function', function: { name: 'finish', parameters: { type: 'object', properties: {} } } },
  ],
  tool_resources: {
    code_interpreter: { file_ids: ['file-code1'] },
    file_search: { vector_store_ids: ['vs_loans1'] },
  },
  metadata: { team: 'desk', conversation_starters: 'How long may I keep a book?|What does a late book cost?' },
  top_p: 1.0,
  temperature: 0.2,
  response_format: 'auto',
  reasoning_effort: 'minimal',
};

/** As `GET /v1/assistants` returns them; the second has the first form of the API. */
export const assistants = {
  object: 'list',
  data: [
    { ...assistant, metadata: {} },
    {
      id: 'asst_old',
      object: 'assistant',
      created_at: 1698984975,
      name: 'Library Desk',
      description: null,
      model: 'gpt-4-turbo',
      instructions: 'You tutor.',
      tools: [{ type: 'retrieval' }],
      file_ids: ['file-old1'],
      metadata: {},
    },
  ],
  first_id: 'asst_abc123',
  last_id: 'asst_old',
  has_more: false,
};

/** The body of a request to the Responses API. */
export const responsesRequest = (mcpUrl: string) => ({
  model: 'gpt-5.6-terra',
  reasoning: { effort: 'medium' },
  instructions: 'You book rooms for guests.',
  input: [
    { role: 'developer', content: [{ type: 'input_text', text: 'Look up what is free before you book.' }] },
    { role: 'user', content: 'Is a room free in Oslo?' },
  ],
  tools: [
    { type: 'function', ...findLoan, name: 'find_rooms' },
    { type: 'web_search' },
    {
      type: 'mcp',
      server_label: 'rooms',
      server_url: mcpUrl,
      authorization: fakeSecrets.token,
      allowed_tools: ['list_rooms', 'book_room'],
      require_approval: { never: { tool_names: ['list_rooms'] }, always: { tool_names: ['book_room'] } },
    },
  ],
});

/** An agent app of Dify 1.x. */
export const difyAgent = `app:
  description: Answers about returns.
  icon: 🤖
  icon_background: '#FFEAD5'
  mode: agent-chat
  name: Returns Desk
  use_icon_as_answer_icon: false
dependencies:
- current_identifier: null
  type: marketplace
  value:
    marketplace_plugin_unique_identifier: langgenius/openai:0.0.7@11ec0b1909200f62b6ebf2cec1da981a9071d11c1ee0e2ef332ce89bcffa2544
kind: app
model_config:
  agent_mode:
    enabled: true
    max_iteration: 5
    prompt: null
    strategy: function_call
    tools:
    - enabled: true
      isDeleted: false
      notAuthor: false
      provider_id: 5f4a2c5e-8a1e-4c53-9a53-2f1f0f6f0c11
      provider_name: orders
      provider_type: api
      tool_label: findOrder
      tool_name: findOrder
      tool_parameters:
        number: ''
        api_key: ${fakeSecrets.header}
    - enabled: false
      provider_id: time
      provider_name: time
      provider_type: builtin
      tool_label: Current Time
      tool_name: current_time
      tool_parameters: {}
    - enabled: true
      provider_id: stock
      provider_name: stock
      provider_type: mcp
      tool_label: find_stock
      tool_name: find_stock
      tool_parameters: {}
  annotation_reply:
    enabled: false
  chat_prompt_config: {}
  completion_prompt_config: {}
  dataset_configs:
    datasets:
      datasets:
      - dataset:
          enabled: true
          id: 8c4620fa-15d7-464f-9cb9-561f1a59eb3f
    reranking_enable: true
    retrieval_model: multiple
    top_k: 4
  dataset_query_variable: ''
  external_data_tools: []
  file_upload:
    enabled: true
    image:
      detail: high
      enabled: true
  model:
    completion_params:
      stop: []
      temperature: 0.3
    mode: chat
    name: gpt-4o-mini
    provider: langgenius/openai/openai
  more_like_this:
    enabled: false
  opening_statement: Hello! Which order is it about?
  pre_prompt: 'You answer questions about returns of {{shop}}. The desk''s key is ${fakeSecrets.dify}.'
  prompt_type: simple
  retriever_resource:
    enabled: true
  sensitive_word_avoidance:
    configs: []
    enabled: true
    type: ''
  speech_to_text:
    enabled: false
  suggested_questions:
  - Within how many days can I return shoes?
  - When does a refund arrive?
  suggested_questions_after_answer:
    enabled: false
  text_to_speech:
    enabled: false
    language: ''
    voice: ''
  user_input_form:
  - text-input:
      default: ''
      label: Shop
      required: true
      variable: shop
version: 0.3.0
`;

const node = (id: string, lines: string) =>
  `    - data:\n${lines.replace(/^/gm, '        ')}\n      height: 90\n      id: '${id}'\n      position:\n        x: 30\n        y: 245\n      type: custom\n      width: 244\n`;

/** A chatflow of Dify, with one node of each kind that has a counterpart and some that have none. */
export const difyChatflow = (mcpUrl: string) => `app:
  description: ''
  icon: 🤖
  mode: advanced-chat
  name: 退货
kind: app
version: 0.1.5
workflow:
  conversation_variables:
  - description: ''
    id: 1b7a6a55-8a1e-4c53-9a53-2f1f0f6f0c11
    name: language
    selector: [conversation, language]
    value: en
    value_type: string
  environment_variables:
  - description: ''
    id: c086ca90-39e9-44e8-b249-93124d45499a
    name: shop_password
    value: ${fakeSecrets.short}
    value_type: secret
  - description: ''
    id: c086ca90-39e9-44e8-b249-93124d45499b
    name: internal
    value: ${fakeSecrets.variable}
    value_type: secret
  features:
    file_upload:
      enabled: false
    opening_statement: ''
    suggested_questions:
    - Where is my parcel?
  graph:
    edges:
    - data:
        isInIteration: false
        sourceType: start
        targetType: llm
      id: 1-source-2-target
      source: '1'
      target: '2'
      type: custom
    nodes:
${node('1', "desc: ''\ntitle: Start\ntype: start\nvariables:\n- label: Order\n  max_length: 48\n  required: true\n  type: text-input\n  variable: order")}${node(
  '2',
  "context:\n  enabled: false\n  variable_selector: []\nmodel:\n  completion_params:\n    temperature: 0.7\n  mode: chat\n  name: deepseek-chat\n  provider: deepseek\nprompt_template:\n- id: 86a69d9b\n  role: system\n  text: You sort questions of {{#1.order#}}.\n- role: user\n  text: '{{#sys.query#}}'\ntitle: Sort\ntype: llm",
)}${node('3', "classes:\n- id: '1'\n  name: Refund\n- id: '2'\n  name: Delivery\nquery_variable_selector: ['2', text]\ntitle: Classes\ntype: question-classifier")}${node(
  '4',
  "dataset_ids:\n- 9d4620fa-15d7-464f-9cb9-561f1a59eb3f\nquery_variable_selector: ['1', order]\nretrieval_mode: single\ntitle: Knowledge Retrieval\ntype: knowledge-retrieval",
)}${node(
  '5',
  `authorization:\n  config:\n    api_key: ${fakeSecrets.header}\n    header: X-API-Key\n    type: custom\n  type: api-key\nbody:\n  data: '{"order": "{{#1.order#}}", "as": "${fakeSecrets.variable}"}'\n  type: json\nheaders: 'Authorization: Bearer ${fakeSecrets.token}'\nmethod: post\nparams: ''\ntitle: Track Parcel\ntype: http-request\nurl: https://parcels.example.com/v1/track`,
)}${node('6', 'code: "def main(text: str) -> dict:\\n    return {\\"day\\": text[:10]}\\n"\ncode_language: python3\noutputs:\n  day:\n    children: null\n    type: string\ntitle: Cut the day\ntype: code\nvariables:\n- value_selector: [\'5\', body]\n  variable: text')}${node(
  '7',
  "paramSchemas:\n- form: llm\n  human_description:\n    en_US: Money in Yuan.\n  name: money\n  options: []\n  required: true\n  type: number\n- form: form\n  name: title\n  required: true\n  type: string\nprovider_id: pay\nprovider_name: pay\nprovider_type: builtin\ntitle: Pay back\ntool_configurations: {}\ntool_label: Pay back\ntool_name: payBack\ntool_parameters:\n  money:\n    type: mixed\n    value: '{{#6.day#}}'\ntype: tool",
)}${node(
  '8',
  `agent_parameters:\n  instruction:\n    type: constant\n    value: Ask the stock server before you promise anything.\n  mcp_servers_config:\n    type: constant\n    value: '{"stock": {"url": "${mcpUrl}", "headers": {"Authorization": "Bearer ${fakeSecrets.token}"}}}'\n  mcp_server:\n    type: constant\n    value: https://maps.example.com/sse?key=\n  model:\n    type: constant\n    value:\n      model: gpt-4o-mini\n      provider: langgenius/openai/openai\n  query:\n    type: constant\n    value: '{{#sys.query#}}'\nagent_strategy_name: function_calling\ntitle: Stock agent\ntype: agent`,
)}${node('9', 'cases: []\ntitle: Is it late?\ntype: if-else')}${node('10', 'answer: "{{#8.text#}}"\ntitle: Answer\ntype: answer\nvariables: []')}`;

/** As `GET /assistants/{assistant_id}` of a LangGraph server returns it; the settings are those of an Open Agent Platform agent. */
export const langgraphAssistant = (mcpUrl: string) => ({
  assistant_id: '62e209ca-9154-432a-b9e9-2d75c7a9219b',
  graph_id: 'agent',
  name: 'Travel Desk',
  description: 'Books rooms.',
  version: 3,
  created_at: '2026-08-31T03:09:10.230718+00:00',
  updated_at: '2026-08-31T03:09:10.230718+00:00',
  metadata: { created_by: 'user' },
  config: {
    recursion_limit: 25,
    configurable: {
      model_name: 'openai:gpt-4o',
      temperature: 0.7,
      mcp_config: { url: mcpUrl.replace(/\/mcp$/, ''), tools: ['list_rooms'], auth_required: true },
      rag: { rag_url: 'https://rag.example.com', collections: ['3f1c-guide'] },
      agents: [{ deployment_url: 'https://x.example.com', agent_id: 'a1', name: 'Visa desk' }],
    },
  },
  context: {
    system_prompt: 'You book rooms for guests.',
    tavily_api_key: 'tvly-forTestsOnly0123456789',
    max_results: 5,
  },
});

/** `langgraph.json` of an application. */
export const langgraphApplication = {
  $schema: 'https://langgra.ph/schema.json',
  dependencies: ['.'],
  graphs: { agent: './src/agent/graph.py:graph', 'web-research': { path: './src/research.py:graph' } },
  env: { OPENAI_API_KEY: fakeSecrets.openai, REGION: 'eu' },
  auth: { path: './src/auth.py:auth' },
  store: { index: { dims: 1536 } },
};
