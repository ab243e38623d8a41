/** Written by `npm run fix` from the table of routes: what a client needs of it, without schemas. */
export type PathRow = {
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  path: string;
  params?: readonly string[];
  query?: readonly string[];
  /** `fields`: a fixed set of names, none of them one of params or query; `value`: anything else. */
  body?: 'fields' | 'value';
  bodyOptional?: true;
  /** Content types of the body; absent: JSON alone. */
  accepts?: readonly string[];
  /** Content types of the answer beyond JSON. */
  produces?: readonly string[];
  idempotent?: true;
  streams?: true;
};

/** By family and operation. */
export const paths: Readonly<Record<string, Readonly<Record<string, PathRow>>>> = {
  deployments: {
    list: {
      method: 'GET',
      path: '/v1/deployments',
      query: ['limit', 'cursor'],
    },
    create: {
      method: 'POST',
      path: '/v1/deployments',
      body: 'fields',
      idempotent: true,
    },
    get: {
      method: 'GET',
      path: '/v1/deployments/{deployment_id}',
      params: ['deployment_id'],
      query: ['format'],
      produces: ['application/yaml'],
    },
    put: {
      method: 'PUT',
      path: '/v1/deployments/{deployment_id}',
      params: ['deployment_id'],
      query: ['promote', 'expected_version'],
      body: 'fields',
    },
    update: {
      method: 'PATCH',
      path: '/v1/deployments/{deployment_id}',
      params: ['deployment_id'],
      body: 'fields',
    },
    listVersions: {
      method: 'GET',
      path: '/v1/deployments/{deployment_id}/versions',
      params: ['deployment_id'],
      query: ['limit', 'cursor'],
    },
    getVersion: {
      method: 'GET',
      path: '/v1/deployments/{deployment_id}/versions/{version}',
      params: ['deployment_id', 'version'],
    },
    contentChanges: {
      method: 'GET',
      path: '/v1/deployments/{deployment_id}/versions/{version}/content-changes',
      params: ['deployment_id', 'version'],
      query: ['from'],
    },
    promote: {
      method: 'POST',
      path: '/v1/deployments/{deployment_id}/promote',
      params: ['deployment_id'],
      body: 'fields',
      bodyOptional: true,
      idempotent: true,
    },
    rollback: {
      method: 'POST',
      path: '/v1/deployments/{deployment_id}/rollback',
      params: ['deployment_id'],
      idempotent: true,
    },
    archive: {
      method: 'POST',
      path: '/v1/deployments/{deployment_id}/archive',
      params: ['deployment_id'],
    },
    unarchive: {
      method: 'POST',
      path: '/v1/deployments/{deployment_id}/unarchive',
      params: ['deployment_id'],
    },
    delete: {
      method: 'DELETE',
      path: '/v1/deployments/{deployment_id}',
      params: ['deployment_id'],
    },
    interview: {
      method: 'POST',
      path: '/v1/deployments/interview',
      body: 'fields',
      idempotent: true,
    },
  },
  scenarios: {
    list: {
      method: 'GET',
      path: '/v1/deployments/{deployment_id}/scenarios',
      params: ['deployment_id'],
      query: ['limit', 'cursor'],
    },
    create: {
      method: 'POST',
      path: '/v1/deployments/{deployment_id}/scenarios',
      params: ['deployment_id'],
      body: 'fields',
      idempotent: true,
    },
    generate: {
      method: 'POST',
      path: '/v1/deployments/{deployment_id}/scenarios/generate',
      params: ['deployment_id'],
      body: 'fields',
      bodyOptional: true,
      idempotent: true,
    },
    get: {
      method: 'GET',
      path: '/v1/deployments/{deployment_id}/scenarios/{scenario_id}',
      params: ['deployment_id', 'scenario_id'],
    },
    update: {
      method: 'PATCH',
      path: '/v1/deployments/{deployment_id}/scenarios/{scenario_id}',
      params: ['deployment_id', 'scenario_id'],
      body: 'fields',
    },
    delete: {
      method: 'DELETE',
      path: '/v1/deployments/{deployment_id}/scenarios/{scenario_id}',
      params: ['deployment_id', 'scenario_id'],
    },
  },
  testRuns: {
    create: {
      method: 'POST',
      path: '/v1/deployments/{deployment_id}/test-runs',
      params: ['deployment_id'],
      idempotent: true,
    },
    list: {
      method: 'GET',
      path: '/v1/deployments/{deployment_id}/test-runs',
      params: ['deployment_id'],
      query: ['limit', 'cursor'],
    },
    get: {
      method: 'GET',
      path: '/v1/test-runs/{run_id}',
      params: ['run_id'],
    },
    events: {
      method: 'GET',
      path: '/v1/test-runs/{run_id}/events',
      params: ['run_id'],
      produces: ['text/event-stream'],
      streams: true,
    },
    cancel: {
      method: 'POST',
      path: '/v1/test-runs/{run_id}/cancel',
      params: ['run_id'],
    },
  },
  replays: {
    create: {
      method: 'POST',
      path: '/v1/deployments/{deployment_id}/replays',
      params: ['deployment_id'],
      body: 'fields',
      bodyOptional: true,
      idempotent: true,
    },
    list: {
      method: 'GET',
      path: '/v1/deployments/{deployment_id}/replays',
      params: ['deployment_id'],
      query: ['limit', 'cursor'],
    },
    get: {
      method: 'GET',
      path: '/v1/replays/{replay_id}',
      params: ['replay_id'],
    },
    cancel: {
      method: 'POST',
      path: '/v1/replays/{replay_id}/cancel',
      params: ['replay_id'],
    },
  },
  notebooks: {
    list: {
      method: 'GET',
      path: '/v1/notebooks',
      query: ['limit', 'cursor'],
    },
    create: {
      method: 'POST',
      path: '/v1/notebooks',
      body: 'fields',
      idempotent: true,
    },
    get: {
      method: 'GET',
      path: '/v1/notebooks/{notebook_id}',
      params: ['notebook_id'],
    },
    update: {
      method: 'PATCH',
      path: '/v1/notebooks/{notebook_id}',
      params: ['notebook_id'],
      body: 'fields',
    },
    delete: {
      method: 'DELETE',
      path: '/v1/notebooks/{notebook_id}',
      params: ['notebook_id'],
    },
    search: {
      method: 'GET',
      path: '/v1/notebooks/{notebook_id}/search',
      params: ['notebook_id'],
      query: ['q', 'user_id'],
    },
    listDocuments: {
      method: 'GET',
      path: '/v1/notebooks/{notebook_id}/documents',
      params: ['notebook_id'],
      query: ['limit', 'cursor'],
    },
    createDocument: {
      method: 'POST',
      path: '/v1/notebooks/{notebook_id}/documents',
      params: ['notebook_id'],
      query: ['promote'],
      body: 'fields',
      accepts: ['application/json', 'multipart/form-data'],
      idempotent: true,
    },
    getDocument: {
      method: 'GET',
      path: '/v1/notebooks/{notebook_id}/documents/{document_id}',
      params: ['notebook_id', 'document_id'],
    },
    deleteDocument: {
      method: 'DELETE',
      path: '/v1/notebooks/{notebook_id}/documents/{document_id}',
      params: ['notebook_id', 'document_id'],
      query: ['promote'],
    },
  },
  skills: {
    list: {
      method: 'GET',
      path: '/v1/skills',
      query: ['limit', 'cursor', 'source'],
    },
    create: {
      method: 'POST',
      path: '/v1/skills',
      query: ['slug'],
      body: 'fields',
      accepts: ['application/json', 'application/zip', 'multipart/form-data'],
      idempotent: true,
    },
    get: {
      method: 'GET',
      path: '/v1/skills/{skill_id}',
      params: ['skill_id'],
    },
    replace: {
      method: 'PUT',
      path: '/v1/skills/{skill_id}',
      params: ['skill_id'],
      query: ['promote'],
      body: 'fields',
      accepts: ['application/json', 'application/zip', 'multipart/form-data'],
    },
    delete: {
      method: 'DELETE',
      path: '/v1/skills/{skill_id}',
      params: ['skill_id'],
    },
    versions: {
      method: 'GET',
      path: '/v1/skills/{skill_id}/versions',
      params: ['skill_id'],
      query: ['limit', 'cursor'],
    },
  },
  mcpServers: {
    list: {
      method: 'GET',
      path: '/v1/mcp-servers',
      query: ['limit', 'cursor'],
    },
    create: {
      method: 'POST',
      path: '/v1/mcp-servers',
      body: 'fields',
      idempotent: true,
    },
    get: {
      method: 'GET',
      path: '/v1/mcp-servers/{server_id}',
      params: ['server_id'],
    },
    update: {
      method: 'PATCH',
      path: '/v1/mcp-servers/{server_id}',
      params: ['server_id'],
      body: 'fields',
    },
    delete: {
      method: 'DELETE',
      path: '/v1/mcp-servers/{server_id}',
      params: ['server_id'],
    },
    check: {
      method: 'POST',
      path: '/v1/mcp-servers/{server_id}/check',
      params: ['server_id'],
    },
  },
  secrets: {
    list: {
      method: 'GET',
      path: '/v1/secrets',
      query: ['limit', 'cursor', 'user_id'],
    },
    put: {
      method: 'PUT',
      path: '/v1/secrets/{name}',
      params: ['name'],
      body: 'fields',
    },
    delete: {
      method: 'DELETE',
      path: '/v1/secrets/{name}',
      params: ['name'],
      query: ['user_id'],
    },
  },
  conversations: {
    list: {
      method: 'GET',
      path: '/v1/conversations',
      query: ['user_id', 'limit', 'cursor'],
    },
    create: {
      method: 'POST',
      path: '/v1/conversations',
      body: 'fields',
      bodyOptional: true,
      produces: ['text/event-stream'],
      idempotent: true,
      streams: true,
    },
    get: {
      method: 'GET',
      path: '/v1/conversations/{conversation_id}',
      params: ['conversation_id'],
    },
    send: {
      method: 'POST',
      path: '/v1/conversations/{conversation_id}/messages',
      params: ['conversation_id'],
      body: 'fields',
      bodyOptional: true,
      produces: ['text/event-stream'],
      idempotent: true,
      streams: true,
    },
    messages: {
      method: 'GET',
      path: '/v1/conversations/{conversation_id}/messages',
      params: ['conversation_id'],
      query: ['limit', 'cursor'],
    },
    events: {
      method: 'GET',
      path: '/v1/conversations/{conversation_id}/events',
      params: ['conversation_id'],
      query: ['task_id', 'format', 'after', 'limit'],
      produces: ['text/event-stream'],
      streams: true,
    },
    turn: {
      method: 'GET',
      path: '/v1/conversations/{conversation_id}/turns/{turn_id}',
      params: ['conversation_id', 'turn_id'],
    },
    trace: {
      method: 'GET',
      path: '/v1/conversations/{conversation_id}/turns/{turn_id}/trace',
      params: ['conversation_id', 'turn_id'],
    },
    stop: {
      method: 'POST',
      path: '/v1/conversations/{conversation_id}/stop',
      params: ['conversation_id'],
    },
    draftScenario: {
      method: 'POST',
      path: '/v1/conversations/{conversation_id}/scenario-draft',
      params: ['conversation_id'],
      body: 'fields',
      bodyOptional: true,
      idempotent: true,
    },
  },
  feedback: {
    rate: {
      method: 'POST',
      path: '/v1/messages/{message_id}/feedback',
      params: ['message_id'],
      body: 'fields',
    },
    ofConversation: {
      method: 'GET',
      path: '/v1/conversations/{conversation_id}/feedback',
      params: ['conversation_id'],
      query: ['limit', 'cursor'],
    },
    list: {
      method: 'GET',
      path: '/v1/deployments/{deployment_id}/feedback',
      params: ['deployment_id'],
      query: ['rating', 'version', 'limit', 'cursor'],
    },
    counts: {
      method: 'GET',
      path: '/v1/deployments/{deployment_id}/feedback/counts',
      params: ['deployment_id'],
    },
  },
  interactions: {
    list: {
      method: 'GET',
      path: '/v1/interactions',
      query: ['user_id', 'conversation_id', 'task_id', 'type', 'kind', 'approver', 'status', 'limit', 'cursor'],
    },
    get: {
      method: 'GET',
      path: '/v1/interactions/{interaction_id}',
      params: ['interaction_id'],
    },
    answer: {
      method: 'POST',
      path: '/v1/interactions/{interaction_id}/answer',
      params: ['interaction_id'],
      body: 'fields',
      bodyOptional: true,
    },
    cancel: {
      method: 'POST',
      path: '/v1/interactions/{interaction_id}/cancel',
      params: ['interaction_id'],
    },
  },
  functions: {
    list: {
      method: 'GET',
      path: '/v1/deployments/{deployment_id}/functions',
      params: ['deployment_id'],
    },
    take: {
      method: 'POST',
      path: '/v1/deployments/{deployment_id}/tool-calls/take',
      params: ['deployment_id'],
      body: 'fields',
    },
    renew: {
      method: 'POST',
      path: '/v1/tool-calls/{call_id}/renew',
      params: ['call_id'],
      body: 'fields',
    },
    release: {
      method: 'POST',
      path: '/v1/tool-calls/{call_id}/release',
      params: ['call_id'],
      body: 'fields',
    },
    endpoint: {
      method: 'GET',
      path: '/v1/deployments/{deployment_id}/function-endpoint',
      params: ['deployment_id'],
    },
    setEndpoint: {
      method: 'PUT',
      path: '/v1/deployments/{deployment_id}/function-endpoint',
      params: ['deployment_id'],
      body: 'fields',
    },
    deleteEndpoint: {
      method: 'DELETE',
      path: '/v1/deployments/{deployment_id}/function-endpoint',
      params: ['deployment_id'],
    },
    rollEndpointSecret: {
      method: 'POST',
      path: '/v1/deployments/{deployment_id}/function-endpoint/roll-secret',
      params: ['deployment_id'],
      idempotent: true,
    },
  },
  tasks: {
    list: {
      method: 'GET',
      path: '/v1/tasks',
      query: [
        'status',
        'user_id',
        'deployment_id',
        'conversation_id',
        'created_after',
        'created_before',
        'limit',
        'cursor',
      ],
    },
    get: {
      method: 'GET',
      path: '/v1/tasks/{task_id}',
      params: ['task_id'],
    },
    delete: {
      method: 'DELETE',
      path: '/v1/tasks/{task_id}',
      params: ['task_id'],
    },
    trace: {
      method: 'GET',
      path: '/v1/tasks/{task_id}/trace',
      params: ['task_id'],
    },
    data: {
      method: 'GET',
      path: '/v1/tasks/{task_id}/data',
      params: ['task_id'],
    },
  },
  batches: {
    list: {
      method: 'GET',
      path: '/v1/batches',
      query: ['limit', 'cursor'],
    },
    create: {
      method: 'POST',
      path: '/v1/batches',
      body: 'fields',
      idempotent: true,
    },
    get: {
      method: 'GET',
      path: '/v1/batches/{batch_id}',
      params: ['batch_id'],
    },
    items: {
      method: 'GET',
      path: '/v1/batches/{batch_id}/items',
      params: ['batch_id'],
      query: ['limit', 'cursor'],
    },
    cancel: {
      method: 'POST',
      path: '/v1/batches/{batch_id}/cancel',
      params: ['batch_id'],
    },
  },
  routines: {
    list: {
      method: 'GET',
      path: '/v1/routines',
      query: ['user_id', 'limit', 'cursor'],
    },
    create: {
      method: 'POST',
      path: '/v1/routines',
      body: 'fields',
      idempotent: true,
    },
    get: {
      method: 'GET',
      path: '/v1/routines/{routine_id}',
      params: ['routine_id'],
    },
    update: {
      method: 'PATCH',
      path: '/v1/routines/{routine_id}',
      params: ['routine_id'],
      body: 'fields',
    },
    delete: {
      method: 'DELETE',
      path: '/v1/routines/{routine_id}',
      params: ['routine_id'],
    },
    run: {
      method: 'POST',
      path: '/v1/routines/{routine_id}/run',
      params: ['routine_id'],
    },
    trigger: {
      method: 'POST',
      path: '/v1/routines/{routine_id}/trigger',
      params: ['routine_id'],
      body: 'value',
      bodyOptional: true,
    },
  },
  users: {
    list: {
      method: 'GET',
      path: '/v1/users',
      query: ['status', 'email', 'created_after', 'limit', 'cursor'],
    },
    create: {
      method: 'POST',
      path: '/v1/users',
      body: 'fields',
      idempotent: true,
    },
    get: {
      method: 'GET',
      path: '/v1/users/{user_id}',
      params: ['user_id'],
    },
    update: {
      method: 'PATCH',
      path: '/v1/users/{user_id}',
      params: ['user_id'],
      body: 'fields',
    },
    delete: {
      method: 'DELETE',
      path: '/v1/users/{user_id}',
      params: ['user_id'],
    },
    warm: {
      method: 'POST',
      path: '/v1/users/{user_id}/warm',
      params: ['user_id'],
      body: 'fields',
      bodyOptional: true,
    },
    screenshot: {
      method: 'GET',
      path: '/v1/users/{user_id}/screenshot',
      params: ['user_id'],
      produces: ['image/jpeg'],
    },
  },
  browser: {
    fetch: {
      method: 'POST',
      path: '/v1/users/{user_id}/browser/fetch',
      params: ['user_id'],
      body: 'fields',
    },
    cookies: {
      method: 'GET',
      path: '/v1/users/{user_id}/browser/cookies',
      params: ['user_id'],
      query: ['domain', 'names', 'deployment'],
    },
    watch: {
      method: 'GET',
      path: '/v1/users/{user_id}/browser/watch',
      params: ['user_id'],
      query: ['deployment'],
      produces: ['text/event-stream'],
      streams: true,
    },
  },
  memory: {
    list: {
      method: 'GET',
      path: '/v1/memory',
      query: ['user_id', 'limit', 'cursor'],
    },
    create: {
      method: 'POST',
      path: '/v1/memory',
      body: 'fields',
      idempotent: true,
    },
    search: {
      method: 'GET',
      path: '/v1/memory/search',
      query: ['user_id', 'q'],
    },
    delete: {
      method: 'DELETE',
      path: '/v1/memory/{memory_id}',
      params: ['memory_id'],
      query: ['user_id'],
    },
    deleteAll: {
      method: 'DELETE',
      path: '/v1/memory',
      query: ['user_id'],
    },
  },
  files: {
    list: {
      method: 'GET',
      path: '/v1/files',
      query: ['user_id', 'task_id', 'conversation_id', 'source', 'limit', 'cursor'],
    },
    create: {
      method: 'POST',
      path: '/v1/files',
      query: ['user_id'],
      body: 'fields',
      accepts: ['multipart/form-data'],
      idempotent: true,
    },
    get: {
      method: 'GET',
      path: '/v1/files/{file_id}',
      params: ['file_id'],
    },
    delete: {
      method: 'DELETE',
      path: '/v1/files/{file_id}',
      params: ['file_id'],
    },
  },
  sessions: {
    create: {
      method: 'POST',
      path: '/v1/sessions',
      body: 'fields',
      bodyOptional: true,
      idempotent: true,
    },
    get: {
      method: 'GET',
      path: '/v1/sessions/{session_id}',
      params: ['session_id'],
    },
    delete: {
      method: 'DELETE',
      path: '/v1/sessions/{session_id}',
      params: ['session_id'],
    },
    framePolicy: {
      method: 'GET',
      path: '/v1/sessions/{session_id}/frame-policy',
      params: ['session_id'],
    },
    screen: {
      method: 'GET',
      path: '/v1/sessions/{session_id}/screen',
      params: ['session_id'],
    },
    screenInput: {
      method: 'POST',
      path: '/v1/sessions/{session_id}/screen/input',
      params: ['session_id'],
      body: 'fields',
    },
    voice: {
      method: 'POST',
      path: '/v1/sessions/{session_id}/voice',
      params: ['session_id'],
      body: 'fields',
    },
  },
  webhooks: {
    list: {
      method: 'GET',
      path: '/v1/webhooks',
      query: ['limit', 'cursor'],
    },
    create: {
      method: 'POST',
      path: '/v1/webhooks',
      body: 'fields',
      idempotent: true,
    },
    get: {
      method: 'GET',
      path: '/v1/webhooks/{endpoint_id}',
      params: ['endpoint_id'],
    },
    update: {
      method: 'PATCH',
      path: '/v1/webhooks/{endpoint_id}',
      params: ['endpoint_id'],
      body: 'fields',
    },
    delete: {
      method: 'DELETE',
      path: '/v1/webhooks/{endpoint_id}',
      params: ['endpoint_id'],
    },
    rollSecret: {
      method: 'POST',
      path: '/v1/webhooks/{endpoint_id}/roll-secret',
      params: ['endpoint_id'],
      idempotent: true,
    },
    test: {
      method: 'POST',
      path: '/v1/webhooks/{endpoint_id}/test',
      params: ['endpoint_id'],
    },
    deliveries: {
      method: 'GET',
      path: '/v1/webhooks/{endpoint_id}/deliveries',
      params: ['endpoint_id'],
      query: ['limit', 'cursor'],
    },
    retry: {
      method: 'POST',
      path: '/v1/webhooks/{endpoint_id}/deliveries/{delivery_id}/retry',
      params: ['endpoint_id', 'delivery_id'],
    },
  },
  events: {
    list: {
      method: 'GET',
      path: '/v1/events',
      query: ['type', 'limit', 'cursor'],
    },
    get: {
      method: 'GET',
      path: '/v1/events/{event_id}',
      params: ['event_id'],
    },
  },
  apps: {
    list: {
      method: 'GET',
      path: '/v1/apps',
      query: ['limit', 'cursor'],
    },
    getClient: {
      method: 'GET',
      path: '/v1/apps/{app}/client',
      params: ['app'],
    },
    putClient: {
      method: 'PUT',
      path: '/v1/apps/{app}/client',
      params: ['app'],
      body: 'fields',
    },
    deleteClient: {
      method: 'DELETE',
      path: '/v1/apps/{app}/client',
      params: ['app'],
    },
  },
  connections: {
    list: {
      method: 'GET',
      path: '/v1/connections',
      query: ['user_id', 'app', 'limit', 'cursor'],
    },
    create: {
      method: 'POST',
      path: '/v1/connections',
      body: 'fields',
      idempotent: true,
    },
    callback: {
      method: 'GET',
      path: '/v1/connections/callback',
      query: ['state', 'code', 'error', 'iss'],
      produces: ['text/html'],
    },
    delete: {
      method: 'DELETE',
      path: '/v1/connections/{connection_id}',
      params: ['connection_id'],
    },
  },
  protocols: {
    mcp: {
      method: 'POST',
      path: '/v1/mcp',
      body: 'value',
      produces: ['text/event-stream'],
      streams: true,
    },
    a2a: {
      method: 'POST',
      path: '/v1/a2a/{deployment_id}',
      params: ['deployment_id'],
      body: 'value',
      produces: ['text/event-stream'],
      streams: true,
    },
    agentCard: {
      method: 'GET',
      path: '/v1/a2a/{deployment_id}/.well-known/agent-card.json',
      params: ['deployment_id'],
    },
  },
  oauth: {
    token: {
      method: 'POST',
      path: '/v1/oauth/token',
      body: 'value',
      accepts: ['application/x-www-form-urlencoded', 'application/json'],
    },
    register: {
      method: 'POST',
      path: '/v1/oauth/register',
      body: 'value',
    },
    revoke: {
      method: 'POST',
      path: '/v1/oauth/revoke',
      body: 'value',
      accepts: ['application/x-www-form-urlencoded', 'application/json'],
    },
  },
  openai: {
    chat: {
      method: 'POST',
      path: '/v1/openai/chat/completions',
      body: 'fields',
      produces: ['text/event-stream'],
      streams: true,
    },
    respond: {
      method: 'POST',
      path: '/v1/openai/responses',
      body: 'fields',
      produces: ['text/event-stream'],
      streams: true,
    },
    response: {
      method: 'GET',
      path: '/v1/openai/responses/{response_id}',
      params: ['response_id'],
      query: ['stream', 'starting_after'],
      produces: ['text/event-stream'],
      streams: true,
    },
    cancel: {
      method: 'POST',
      path: '/v1/openai/responses/{response_id}/cancel',
      params: ['response_id'],
    },
    createConversation: {
      method: 'POST',
      path: '/v1/openai/conversations',
      body: 'fields',
      bodyOptional: true,
    },
    conversation: {
      method: 'GET',
      path: '/v1/openai/conversations/{conversation_id}',
      params: ['conversation_id'],
    },
    models: {
      method: 'GET',
      path: '/v1/openai/models',
    },
    model: {
      method: 'GET',
      path: '/v1/openai/models/{model}',
      params: ['model'],
    },
  },
  agUi: {
    run: {
      method: 'POST',
      path: '/v1/agui/{deployment_id}',
      params: ['deployment_id'],
      body: 'value',
      produces: ['text/event-stream'],
      streams: true,
    },
  },
  me: {
    get: {
      method: 'GET',
      path: '/v1/me',
    },
  },
  orgs: {
    get: {
      method: 'GET',
      path: '/v1/org',
    },
    update: {
      method: 'PATCH',
      path: '/v1/org',
      body: 'fields',
    },
    rollMemorySecret: {
      method: 'POST',
      path: '/v1/org/memory-endpoint/roll-secret',
      idempotent: true,
    },
  },
  keys: {
    list: {
      method: 'GET',
      path: '/v1/keys',
      query: ['limit', 'cursor'],
    },
    create: {
      method: 'POST',
      path: '/v1/keys',
      body: 'fields',
      idempotent: true,
    },
    roll: {
      method: 'POST',
      path: '/v1/keys/{key_id}/roll',
      params: ['key_id'],
      body: 'fields',
      bodyOptional: true,
      idempotent: true,
    },
    revoke: {
      method: 'DELETE',
      path: '/v1/keys/{key_id}',
      params: ['key_id'],
    },
  },
  mcpGrants: {
    list: {
      method: 'GET',
      path: '/v1/mcp-grants',
      query: ['member_id', 'limit', 'cursor'],
    },
    revoke: {
      method: 'DELETE',
      path: '/v1/mcp-grants/{grant_id}',
      params: ['grant_id'],
    },
    show: {
      method: 'POST',
      path: '/v1/console/mcp-authorization/show',
      body: 'fields',
    },
    decide: {
      method: 'POST',
      path: '/v1/console/mcp-authorization',
      body: 'fields',
    },
  },
  limits: {
    get: {
      method: 'GET',
      path: '/v1/limits',
    },
    update: {
      method: 'PATCH',
      path: '/v1/limits',
      body: 'fields',
    },
  },
  usage: {
    report: {
      method: 'GET',
      path: '/v1/usage',
      query: ['group_by', 'from', 'to', 'user_id', 'deployment_id', 'conversation_id', 'limit', 'cursor'],
    },
    lineItems: {
      method: 'GET',
      path: '/v1/usage/line-items',
      query: ['task_id', 'conversation_id', 'limit', 'cursor'],
    },
  },
  auditLog: {
    list: {
      method: 'GET',
      path: '/v1/audit-log',
      query: ['action', 'actor_id', 'from', 'to', 'limit', 'cursor'],
    },
  },
  models: {
    list: {
      method: 'GET',
      path: '/v1/models',
    },
  },
  members: {
    list: {
      method: 'GET',
      path: '/v1/members',
      query: ['limit', 'cursor'],
    },
    invite: {
      method: 'POST',
      path: '/v1/members',
      body: 'fields',
      idempotent: true,
    },
    accept: {
      method: 'POST',
      path: '/v1/members/accept',
      body: 'fields',
    },
    update: {
      method: 'PATCH',
      path: '/v1/members/{member_id}',
      params: ['member_id'],
      body: 'fields',
    },
    remove: {
      method: 'DELETE',
      path: '/v1/members/{member_id}',
      params: ['member_id'],
    },
    resetPassword: {
      method: 'POST',
      path: '/v1/members/{member_id}/password-reset',
      params: ['member_id'],
      idempotent: true,
    },
  },
  consoleAccess: {
    login: {
      method: 'POST',
      path: '/v1/console/login',
      body: 'fields',
    },
    resetPassword: {
      method: 'POST',
      path: '/v1/console/password-reset',
      body: 'fields',
    },
    logout: {
      method: 'POST',
      path: '/v1/console/logout',
    },
    session: {
      method: 'GET',
      path: '/v1/console/session',
    },
  },
  consoleAccount: {
    show: {
      method: 'GET',
      path: '/v1/console/account',
    },
    update: {
      method: 'PATCH',
      path: '/v1/console/account',
      body: 'fields',
    },
    changePassword: {
      method: 'POST',
      path: '/v1/console/account/password',
      body: 'fields',
    },
    signIns: {
      method: 'GET',
      path: '/v1/console/sessions',
      query: ['limit', 'cursor'],
    },
    endSignIn: {
      method: 'DELETE',
      path: '/v1/console/sessions/{console_session_id}',
      params: ['console_session_id'],
    },
    endOtherSignIns: {
      method: 'DELETE',
      path: '/v1/console/sessions',
    },
  },
  consoleSignIn: {
    begin: {
      method: 'GET',
      path: '/v1/console/sign-in/{org_id}',
      params: ['org_id'],
      query: ['return_to'],
      produces: ['text/html'],
    },
    callback: {
      method: 'GET',
      path: '/v1/console/sign-in/callback',
      query: ['state', 'code', 'error', 'iss'],
      produces: ['text/html'],
    },
    link: {
      method: 'POST',
      path: '/v1/console/sign-in/link',
    },
    unlink: {
      method: 'DELETE',
      path: '/v1/console/sign-in/link',
    },
  },
  passkeys: {
    list: {
      method: 'GET',
      path: '/v1/console/passkeys',
      query: ['limit', 'cursor'],
    },
    beginRegistration: {
      method: 'POST',
      path: '/v1/console/passkeys/registration',
      body: 'fields',
    },
    register: {
      method: 'POST',
      path: '/v1/console/passkeys',
      body: 'fields',
    },
    update: {
      method: 'PATCH',
      path: '/v1/console/passkeys/{passkey_id}',
      params: ['passkey_id'],
      body: 'fields',
    },
    remove: {
      method: 'DELETE',
      path: '/v1/console/passkeys/{passkey_id}',
      params: ['passkey_id'],
    },
    beginSignIn: {
      method: 'POST',
      path: '/v1/console/passkeys/sign-in-options',
    },
    signIn: {
      method: 'POST',
      path: '/v1/console/passkeys/sign-in',
      body: 'fields',
    },
  },
  identityProvider: {
    get: {
      method: 'GET',
      path: '/v1/identity-provider',
    },
    set: {
      method: 'PUT',
      path: '/v1/identity-provider',
      body: 'fields',
    },
    remove: {
      method: 'DELETE',
      path: '/v1/identity-provider',
    },
  },
  health: {
    get: {
      method: 'GET',
      path: '/v1/health',
    },
  },
};
