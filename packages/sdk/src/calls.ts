/** Written by `npm run fix` from the table of routes. */
import type { Api } from '@vestra/contract/api';
import type { Call } from './call.ts';

/** Every route as `client.<family>.<operation>(fields, options)`. */
export type Calls = {
  deployments: {
    /**
     * List the deployments.
     *
     * `GET /v1/deployments`, scope setup; `vestra deployments list`
     */
    list: Call<Api['deployments']['list']>;
    /**
     * Create a deployment with a first draft version.
     *
     * `POST /v1/deployments`, scope setup; `vestra deployments create`
     *
     * @throws {VestraError} `invalid_manifest`, `invalid_language`, `invalid_repo`, `invalid_tool_input`, `duplicate_name`, `memory_endpoint_required`, `mcp_server_not_listed`, `raw_secret_in_header`, `secret_missing`, `tool_name_reserved`, `slug_taken`
     */
    create: Call<Api['deployments']['create']>;
    /**
     * Read one deployment, or its newest version as a deployment file in YAML.
     *
     * `GET /v1/deployments/{deployment_id}`, scope setup; `vestra deployments get`
     *
     * @throws {VestraError} `deployment_not_found`
     */
    get: Call<Api['deployments']['get']>;
    /**
     * Apply a deployment file; the first call for a name creates the deployment.
     *
     * `PUT /v1/deployments/{deployment_id}`, scope setup; `vestra deployments put`
     *
     * @throws {VestraError} `invalid_manifest`, `invalid_language`, `invalid_repo`, `invalid_tool_input`, `duplicate_name`, `memory_endpoint_required`, `mcp_server_not_listed`, `raw_secret_in_header`, `secret_missing`, `tool_name_reserved`, `auth_twice`, `invalid_schedule`, `invalid_trigger`, `invalid_user_timezone`, `name_mismatch`, `path_not_resolved`, `schedule_too_frequent`, `schedule_unreadable`, `secret_in_url`, `deployment_not_found`, `deployment_archived`, `mcp_server_live`, `mcp_server_shared`
     */
    put: Call<Api['deployments']['put']>;
    /**
     * Change the name or description, which the agent card shows too; needs a live key once a version is live.
     *
     * `PATCH /v1/deployments/{deployment_id}`, scope setup; `vestra deployments update`
     *
     * @throws {VestraError} `deployment_not_found`, `live_key_required`
     */
    update: Call<Api['deployments']['update']>;
    /**
     * List the versions of a deployment, newest first.
     *
     * `GET /v1/deployments/{deployment_id}/versions`, scope setup; `vestra versions list`
     *
     * @throws {VestraError} `deployment_not_found`
     */
    listVersions: Call<Api['deployments']['listVersions']>;
    /**
     * Read one version of a deployment.
     *
     * `GET /v1/deployments/{deployment_id}/versions/{version}`, scope setup; `vestra versions get`
     *
     * @throws {VestraError} `deployment_not_found`
     */
    getVersion: Call<Api['deployments']['getVersion']>;
    /**
     * Let a version become the one that the key’s mode runs, at once or when its tests pass.
     *
     * `POST /v1/deployments/{deployment_id}/promote`, scope setup; `vestra deployments promote`
     *
     * @throws {VestraError} `deployment_not_found`, `version_not_found`, `deployment_archived`, `version_incomplete`, `invalid_manifest`, `secret_missing`, `memory_endpoint_required`
     */
    promote: Call<Api['deployments']['promote']>;
    /**
     * Make the version that was live before live again at once; needs a live key.
     *
     * `POST /v1/deployments/{deployment_id}/rollback`, scope setup; `vestra deployments rollback`
     *
     * @throws {VestraError} `live_key_required`, `deployment_not_found`, `deployment_archived`, `nothing_to_roll_back`, `version_incomplete`, `invalid_manifest`, `secret_missing`, `memory_endpoint_required`
     */
    rollback: Call<Api['deployments']['rollback']>;
    /**
     * Put a deployment away: no new conversation or version reaches it.
     *
     * `POST /v1/deployments/{deployment_id}/archive`, scope setup; `vestra deployments archive`
     *
     * @throws {VestraError} `deployment_not_found`, `live_key_required`
     */
    archive: Call<Api['deployments']['archive']>;
    /**
     * Bring an archived deployment back.
     *
     * `POST /v1/deployments/{deployment_id}/unarchive`, scope setup; `vestra deployments unarchive`
     *
     * @throws {VestraError} `deployment_not_found`, `live_key_required`
     */
    unarchive: Call<Api['deployments']['unarchive']>;
    /**
     * Delete a deployment of which no version is live.
     *
     * `DELETE /v1/deployments/{deployment_id}`, scope setup; `vestra deployments delete`
     *
     * @throws {VestraError} `deployment_not_found`, `deployment_live`
     */
    delete: Call<Api['deployments']['delete']>;
    /**
     * Describe a job and answer a few questions; the answer carries the deployment file so far.
     *
     * `POST /v1/deployments/interview`, scope setup; `vestra init`
     *
     * @throws {VestraError} `describe_or_answer`, `invalid_conversation_id`, `wallet_empty`, `org_cap_reached`, `conversation_not_found`, `deployment_archived`, `slug_taken`, `model_error`, `model_unavailable`, `timeout`
     */
    interview: Call<Api['deployments']['interview']>;
  };
  scenarios: {
    /**
     * List the scenarios of a deployment.
     *
     * `GET /v1/deployments/{deployment_id}/scenarios`, scope setup; `vestra scenarios list`
     *
     * @throws {VestraError} `deployment_not_found`
     */
    list: Call<Api['scenarios']['list']>;
    /**
     * Add a scenario: a pretend user, a goal and what success means.
     *
     * `POST /v1/deployments/{deployment_id}/scenarios`, scope setup; `vestra scenarios create`
     *
     * @throws {VestraError} `deployment_not_found`
     */
    create: Call<Api['scenarios']['create']>;
    /**
     * Draft scenarios for a version; nothing is saved.
     *
     * `POST /v1/deployments/{deployment_id}/scenarios/generate`, scope setup; `vestra scenarios generate`
     *
     * @throws {VestraError} `deployment_not_found`, `version_not_found`, `wallet_empty`, `org_cap_reached`, `model_error`, `model_unavailable`, `timeout`
     */
    generate: Call<Api['scenarios']['generate']>;
    /**
     * Read one scenario.
     *
     * `GET /v1/deployments/{deployment_id}/scenarios/{scenario_id}`, scope setup; `vestra scenarios get`
     *
     * @throws {VestraError} `deployment_not_found`
     */
    get: Call<Api['scenarios']['get']>;
    /**
     * Change a scenario; fields left out stay.
     *
     * `PATCH /v1/deployments/{deployment_id}/scenarios/{scenario_id}`, scope setup; `vestra scenarios update`
     *
     * @throws {VestraError} `deployment_not_found`, `managed_by_file`
     */
    update: Call<Api['scenarios']['update']>;
    /**
     * Delete a scenario.
     *
     * `DELETE /v1/deployments/{deployment_id}/scenarios/{scenario_id}`, scope setup; `vestra scenarios delete`
     *
     * @throws {VestraError} `deployment_not_found`, `managed_by_file`
     */
    delete: Call<Api['scenarios']['delete']>;
  };
  testRuns: {
    /**
     * Play every scenario of a deployment against its latest version.
     *
     * `POST /v1/deployments/{deployment_id}/test-runs`, scope setup; `vestra test-runs create`
     *
     * @throws {VestraError} `deployment_not_found`, `deployment_archived`, `invalid_request`, `wallet_empty`, `org_cap_reached`, `model_unavailable`
     */
    create: Call<Api['testRuns']['create']>;
    /**
     * List the test runs of a deployment, newest first.
     *
     * `GET /v1/deployments/{deployment_id}/test-runs`, scope setup; `vestra test-runs list`
     *
     * @throws {VestraError} `deployment_not_found`
     */
    list: Call<Api['testRuns']['list']>;
    /**
     * Read a test run with the verdict on each scenario.
     *
     * `GET /v1/test-runs/{run_id}`, scope setup; `vestra test-runs get`
     */
    get: Call<Api['testRuns']['get']>;
    /**
     * Follow a test run: first where it stands, then each change, until it has ended.
     *
     * `GET /v1/test-runs/{run_id}/events`, scope setup; `vestra test-runs events`
     */
    events: Call<Api['testRuns']['events']>;
    /**
     * Cancel a test run; one that has ended stays as it is.
     *
     * `POST /v1/test-runs/{run_id}/cancel`, scope setup; `vestra test-runs cancel`
     *
     * @throws {VestraError} `live_key_required`
     */
    cancel: Call<Api['testRuns']['cancel']>;
  };
  notebooks: {
    /**
     * List the notebooks.
     *
     * `GET /v1/notebooks`, scope setup; `vestra notebooks list`
     */
    list: Call<Api['notebooks']['list']>;
    /**
     * Create a notebook for documents the agent reads before it answers.
     *
     * `POST /v1/notebooks`, scope setup; `vestra notebooks create`
     *
     * @throws {VestraError} `slug_taken`
     */
    create: Call<Api['notebooks']['create']>;
    /**
     * Read one notebook.
     *
     * `GET /v1/notebooks/{notebook_id}`, scope setup; `vestra notebooks get`
     */
    get: Call<Api['notebooks']['get']>;
    /**
     * Change a notebook’s name, description or readers; fields left out stay.
     *
     * `PATCH /v1/notebooks/{notebook_id}`, scope setup; `vestra notebooks update`
     *
     * @throws {VestraError} `notebook_live`
     */
    update: Call<Api['notebooks']['update']>;
    /**
     * Delete a notebook and its documents.
     *
     * `DELETE /v1/notebooks/{notebook_id}`, scope setup; `vestra notebooks delete`
     *
     * @throws {VestraError} `notebook_live`
     */
    delete: Call<Api['notebooks']['delete']>;
    /**
     * List the documents of a notebook.
     *
     * `GET /v1/notebooks/{notebook_id}/documents`, scope setup; `vestra documents list`
     */
    listDocuments: Call<Api['notebooks']['listDocuments']>;
    /**
     * Add a document: title and text as JSON, or a multipart part `file` (text, CSV, JSON, YAML, XML, source code, Markdown, HTML, PDF, DOCX, XLSX, PPTX) with or without `title`.
     *
     * `POST /v1/notebooks/{notebook_id}/documents`, scope setup; `vestra documents create`
     *
     * @throws {VestraError} `document_too_large`, `notebook_full`, `file_required`, `invalid_filename`
     */
    createDocument: Call<Api['notebooks']['createDocument']>;
    /**
     * Read one document with its text.
     *
     * `GET /v1/notebooks/{notebook_id}/documents/{document_id}`, scope setup; `vestra documents get`
     */
    getDocument: Call<Api['notebooks']['getDocument']>;
    /**
     * Delete a document; versions that were saved with it keep it.
     *
     * `DELETE /v1/notebooks/{notebook_id}/documents/{document_id}`, scope setup; `vestra documents delete`
     *
     * @throws {VestraError} `notebook_live`
     */
    deleteDocument: Call<Api['notebooks']['deleteDocument']>;
  };
  skills: {
    /**
     * List the org’s skills, or the built-in ones.
     *
     * `GET /v1/skills`, scope setup; `vestra skills list`
     */
    list: Call<Api['skills']['list']>;
    /**
     * Upload a skill: its files as JSON, a zip, or one multipart part `file` that is a zip.
     *
     * `POST /v1/skills`, scope setup; `vestra skills create`
     *
     * @throws {VestraError} `slug_taken`, `binary_file`, `bundle_too_large`, `duplicate_path`, `file_required`, `file_too_large`, `invalid_frontmatter`, `invalid_skill`, `invalid_zip`
     */
    create: Call<Api['skills']['create']>;
    /**
     * Read one skill with its files: the org’s by its id, a built-in one by its name.
     *
     * `GET /v1/skills/{skill_id}`, scope setup; `vestra skills get`
     */
    get: Call<Api['skills']['get']>;
    /**
     * Replace a skill’s files; files that differ make a new version.
     *
     * `PUT /v1/skills/{skill_id}`, scope setup; `vestra skills replace`
     *
     * @throws {VestraError} `slug_taken`, `binary_file`, `bundle_too_large`, `duplicate_path`, `file_required`, `file_too_large`, `invalid_frontmatter`, `invalid_skill`, `invalid_zip`
     */
    replace: Call<Api['skills']['replace']>;
    /**
     * Delete a skill; it goes from every user.
     *
     * `DELETE /v1/skills/{skill_id}`, scope setup; `vestra skills delete`
     *
     * @throws {VestraError} `skill_live`
     */
    delete: Call<Api['skills']['delete']>;
    /**
     * List the versions of a skill, newest first.
     *
     * `GET /v1/skills/{skill_id}/versions`, scope setup; `vestra skills versions`
     */
    versions: Call<Api['skills']['versions']>;
  };
  mcpServers: {
    /**
     * List the registered MCP servers.
     *
     * `GET /v1/mcp-servers`, scope setup; `vestra mcp-servers list`
     */
    list: Call<Api['mcpServers']['list']>;
    /**
     * Register an MCP server; its tool lists are a floor under every deployment that uses it.
     *
     * `POST /v1/mcp-servers`, scope setup; `vestra mcp-servers create`
     *
     * @throws {VestraError} `slug_taken`, `tool_name_reserved`, `secret_in_url`, `raw_secret_in_header`
     */
    create: Call<Api['mcpServers']['create']>;
    /**
     * Read one MCP server.
     *
     * `GET /v1/mcp-servers/{server_id}`, scope setup; `vestra mcp-servers get`
     */
    get: Call<Api['mcpServers']['get']>;
    /**
     * Change an MCP server for every deployment in both modes; a tool list left out stays.
     *
     * `PATCH /v1/mcp-servers/{server_id}`, scope setup; `vestra mcp-servers update`
     *
     * @throws {VestraError} `secret_in_url`, `raw_secret_in_header`, `mcp_server_live`
     */
    update: Call<Api['mcpServers']['update']>;
    /**
     * Remove an MCP server.
     *
     * `DELETE /v1/mcp-servers/{server_id}`, scope setup; `vestra mcp-servers delete`
     *
     * @throws {VestraError} `mcp_server_live`
     */
    delete: Call<Api['mcpServers']['delete']>;
    /**
     * Call an MCP server and list the tools it offers.
     *
     * `POST /v1/mcp-servers/{server_id}/check`, scope setup; `vestra mcp-servers check`
     */
    check: Call<Api['mcpServers']['check']>;
  };
  secrets: {
    /**
     * List the names of the company’s secrets, or of one user’s; scope `runtime` alone needs a `user_id`.
     *
     * `GET /v1/secrets`, scope setup or runtime; `vestra secrets list`
     */
    list: Call<Api['secrets']['list']>;
    /**
     * Store a secret of the company, or of one user; scope `runtime` alone needs a `user_id`.
     *
     * `PUT /v1/secrets/{name}`, scope setup or runtime; `vestra secrets set`
     *
     * @throws {VestraError} `user_disabled`
     */
    put: Call<Api['secrets']['put']>;
    /**
     * Delete a secret of the company, or of one user; scope `runtime` alone needs a `user_id`.
     *
     * `DELETE /v1/secrets/{name}`, scope setup or runtime; `vestra secrets delete`
     *
     * @throws {VestraError} `secret_not_found`
     */
    delete: Call<Api['secrets']['delete']>;
  };
  conversations: {
    /**
     * List conversations, newest first: one user’s, or all of the org’s.
     *
     * `GET /v1/conversations`, scope runtime; `vestra conversations list`
     */
    list: Call<Api['conversations']['list']>;
    /**
     * Start a conversation, with or without its first message.
     *
     * `POST /v1/conversations`, scope runtime; `vestra conversations create`
     *
     * - `deployment`: A dep_ id, a slug or a name; `@version` after it pins a version.
     * - `context`: Data for this message alone; the agent reads it as data, never as instructions.
     * - `output_schema`: JSON Schema of the structured answer, at most 32 KB.
     * - `hand_off`: `always`: straight to work.
     * - `plan`: Work shows its plan and waits for a yes before it starts.
     * - `stream`: Answer with the events of the turn until it settles.
     *
     * @throws {VestraError} `message_required`, `output_schema_invalid`, `output_schema_too_large`, `invalid_tool_input`, `tool_name_reserved`, `duplicate_name`, `user_disabled`, `deployment_not_live`, `deployment_archived`, `wallet_empty`, `org_cap_reached`, `user_cap_reached`, `model_unavailable`, `user_required`, `invalid_deployment`, `deployment_required`
     */
    create: Call<Api['conversations']['create']>;
    /**
     * Show a conversation with its open work, interactions and tool calls.
     *
     * `GET /v1/conversations/{conversation_id}`, scope runtime; `vestra conversations get`
     *
     * @throws {VestraError} `conversation_not_found`
     */
    get: Call<Api['conversations']['get']>;
    /**
     * Send a message; the turn is answered at once, held for with `Prefer: wait=N`, or streamed.
     *
     * `POST /v1/conversations/{conversation_id}/messages`, scope runtime; `vestra conversations send`
     *
     * - `context`: Data for this message alone; the agent reads it as data, never as instructions.
     * - `output_schema`: JSON Schema of the structured answer, at most 32 KB.
     * - `hand_off`: `always`: straight to work.
     * - `plan`: Work shows its plan and waits for a yes before it starts.
     * - `stream`: Answer with the events of the turn until it settles.
     *
     * @throws {VestraError} `message_required`, `output_schema_invalid`, `output_schema_too_large`, `invalid_tool_input`, `tool_name_reserved`, `duplicate_name`, `user_disabled`, `deployment_not_live`, `deployment_archived`, `wallet_empty`, `org_cap_reached`, `user_cap_reached`, `model_unavailable`, `conversation_not_found`, `answer_mismatch`, `interaction_not_found`, `already_answered`, `interaction_expired`
     */
    send: Call<Api['conversations']['send']>;
    /**
     * List the messages of a conversation, newest first: the user’s, the agent’s and summaries of work.
     *
     * `GET /v1/conversations/{conversation_id}/messages`, scope runtime; `vestra conversations messages`
     *
     * @throws {VestraError} `conversation_not_found`
     */
    messages: Call<Api['conversations']['messages']>;
    /**
     * Follow a conversation as server-sent events, or read its events as JSON pages.
     *
     * `GET /v1/conversations/{conversation_id}/events`, scope runtime
     *
     * @throws {VestraError} `conversation_not_found`, `invalid_task_id`, `task_not_found`, `invalid_last_event_id`
     */
    events: Call<Api['conversations']['events']>;
    /**
     * Show each step and each model call of a reply; work that it handed over has a trace of its own.
     *
     * `GET /v1/conversations/{conversation_id}/turns/{turn_id}/trace`, scope runtime; `vestra conversations trace`
     *
     * @throws {VestraError} `conversation_not_found`, `turn_not_found`
     */
    trace: Call<Api['conversations']['trace']>;
    /**
     * Stop the reply and every task the conversation started.
     *
     * `POST /v1/conversations/{conversation_id}/stop`, scope runtime; `vestra conversations stop`
     *
     * @throws {VestraError} `conversation_not_found`
     */
    stop: Call<Api['conversations']['stop']>;
  };
  interactions: {
    /**
     * List what the agent waits on, calls to the caller’s own tools included.
     *
     * `GET /v1/interactions`, scope runtime; `vestra interactions list`
     *
     * - `approver`: Approvals that wait for the user, or for the org.
     *
     * @throws {VestraError} `invalid_conversation_id`, `invalid_task_id`
     */
    list: Call<Api['interactions']['list']>;
    /**
     * Show an interaction; a hand-off carries a picture of the page.
     *
     * `GET /v1/interactions/{interaction_id}`, scope runtime; `vestra interactions get`
     */
    get: Call<Api['interactions']['get']>;
    /**
     * Answer an interaction with the body its type takes.
     *
     * `POST /v1/interactions/{interaction_id}/answer`, scope runtime; `vestra interactions answer`
     *
     * - `answers`: One answer per question, in order.
     * - `output`: What the caller’s tool returned.
     * - `error`: Why the caller’s tool failed.
     * - `present_user`: The yes comes from a person who is present.
     *
     * @throws {VestraError} `answer_mismatch`, `answers_mismatch`, `answers_not_expected`, `answers_required`, `connect_app_instead`, `decision_not_expected`, `install_ability_instead`, `nonce_mismatch`, `present_user_required`, `already_answered`, `interaction_expired`
     */
    answer: Call<Api['interactions']['answer']>;
    /**
     * Withdraw an interaction; the task carries on without that action.
     *
     * `POST /v1/interactions/{interaction_id}/cancel`, scope runtime; `vestra interactions cancel`
     *
     * @throws {VestraError} `already_answered`, `interaction_expired`
     */
    cancel: Call<Api['interactions']['cancel']>;
  };
  functions: {
    /**
     * List the functions that the company’s own code answers, of the version that the key’s mode runs.
     *
     * `GET /v1/deployments/{deployment_id}/functions`, scope runtime or setup; `vestra functions list`
     *
     * @throws {VestraError} `deployment_not_found`, `deployment_archived`, `deployment_not_live`
     */
    list: Call<Api['functions']['list']>;
    /**
     * Take calls of functions that wait, of any conversation of the deployment; waits until there are some.
     *
     * `POST /v1/deployments/{deployment_id}/tool-calls/take`, scope runtime
     *
     * - `functions`: The functions whose calls are taken.
     * - `lease_s`: How long nobody else takes the call, from now on.
     * - `wait_s`: How long to wait where no call is open.
     *
     * @throws {VestraError} `deployment_not_found`
     */
    take: Call<Api['functions']['take']>;
    /**
     * Keep a call that was taken for longer, and say how far it is.
     *
     * `POST /v1/tool-calls/{call_id}/renew`, scope runtime
     *
     * - `claim_id`: Tells who has taken the call, from `take`.
     * - `lease_s`: How long nobody else takes the call, from now on.
     * - `progress`: Shown to the person while they wait.
     *
     * @throws {VestraError} `already_answered`, `interaction_expired`, `tool_call_taken`
     */
    renew: Call<Api['functions']['renew']>;
    /**
     * Give back a call that was taken: others may take it at once.
     *
     * `POST /v1/tool-calls/{call_id}/release`, scope runtime
     *
     * - `claim_id`: Tells who has taken the call, from `take`.
     *
     * @throws {VestraError} `already_answered`, `interaction_expired`, `tool_call_taken`
     */
    release: Call<Api['functions']['release']>;
    /**
     * Show the https address that answers the deployment’s functions in the key’s mode.
     *
     * `GET /v1/deployments/{deployment_id}/function-endpoint`, scope setup; `vestra functions endpoint`
     *
     * @throws {VestraError} `deployment_not_found`, `function_endpoint_not_found`
     */
    endpoint: Call<Api['functions']['endpoint']>;
    /**
     * Name the https address that answers the deployment’s functions; its signing secret is shown once.
     *
     * `PUT /v1/deployments/{deployment_id}/function-endpoint`, scope setup; `vestra functions set-endpoint`
     *
     * @throws {VestraError} `deployment_not_found`
     */
    setEndpoint: Call<Api['functions']['setEndpoint']>;
    /**
     * Call that address no more.
     *
     * `DELETE /v1/deployments/{deployment_id}/function-endpoint`, scope setup; `vestra functions delete-endpoint`
     *
     * @throws {VestraError} `deployment_not_found`, `function_endpoint_not_found`
     */
    deleteEndpoint: Call<Api['functions']['deleteEndpoint']>;
    /**
     * Give that address a new signing secret; the old one is accepted for 24 hours.
     *
     * `POST /v1/deployments/{deployment_id}/function-endpoint/roll-secret`, scope setup; `vestra functions roll-secret`
     *
     * @throws {VestraError} `deployment_not_found`, `function_endpoint_not_found`
     */
    rollEndpointSecret: Call<Api['functions']['rollEndpointSecret']>;
  };
  tasks: {
    /**
     * List pieces of work, newest first.
     *
     * `GET /v1/tasks`, scope runtime; `vestra tasks list`
     *
     * @throws {VestraError} `invalid_deployment_id`, `invalid_conversation_id`
     */
    list: Call<Api['tasks']['list']>;
    /**
     * Show a task with the full text of its result.
     *
     * `GET /v1/tasks/{task_id}`, scope runtime; `vestra tasks get`
     *
     * @throws {VestraError} `task_not_found`
     */
    get: Call<Api['tasks']['get']>;
    /**
     * Delete a task and its outputs; a running one is stopped first.
     *
     * `DELETE /v1/tasks/{task_id}`, scope runtime; `vestra tasks delete`
     *
     * @throws {VestraError} `task_not_found`
     */
    delete: Call<Api['tasks']['delete']>;
    /**
     * Show each step and each model call of a task.
     *
     * `GET /v1/tasks/{task_id}/trace`, scope runtime; `vestra tasks trace`
     *
     * @throws {VestraError} `task_not_found`
     */
    trace: Call<Api['tasks']['trace']>;
    /**
     * Answer the structured result of a task alone; null until there is one.
     *
     * `GET /v1/tasks/{task_id}/data`, scope runtime; `vestra tasks data`
     *
     * @throws {VestraError} `task_not_found`, `no_output_schema`
     */
    data: Call<Api['tasks']['data']>;
  };
  batches: {
    /**
     * List batches, newest first.
     *
     * `GET /v1/batches`, scope runtime; `vestra batches list`
     */
    list: Call<Api['batches']['list']>;
    /**
     * Run one conversation per item, each straight to work, for up to 5,000 items.
     *
     * `POST /v1/batches`, scope runtime; `vestra batches create`
     *
     * - `deployment`: A dep_ id, a slug or a name; `@version` after it pins a version.
     *
     * @throws {VestraError} `user_required`, `invalid_deployment`, `deployment_required`, `deployment_not_live`, `deployment_archived`, `wallet_empty`, `org_cap_reached`, `model_unavailable`
     */
    create: Call<Api['batches']['create']>;
    /**
     * Show a batch with its counts and spend.
     *
     * `GET /v1/batches/{batch_id}`, scope runtime; `vestra batches get`
     */
    get: Call<Api['batches']['get']>;
    /**
     * List the items of a batch in the order they were sent.
     *
     * `GET /v1/batches/{batch_id}/items`, scope runtime; `vestra batches items`
     */
    items: Call<Api['batches']['items']>;
    /**
     * Start no further item of a batch; running ones finish.
     *
     * `POST /v1/batches/{batch_id}/cancel`, scope runtime; `vestra batches cancel`
     *
     * @throws {VestraError} `batch_finished`
     */
    cancel: Call<Api['batches']['cancel']>;
  };
  routines: {
    /**
     * List the routines of one user, or of the org’s own agent.
     *
     * `GET /v1/routines`, scope runtime; `vestra routines list`
     *
     * @throws {VestraError} `user_required`
     */
    list: Call<Api['routines']['list']>;
    /**
     * Ask something on a schedule, or whenever your own system calls.
     *
     * `POST /v1/routines`, scope runtime; `vestra routines add`
     *
     * - `deployment`: A dep_ id, a slug or a name; `@version` after it pins a version.
     * - `filters`: With `on: call`: fields and values that a payload must carry.
     *
     * @throws {VestraError} `invalid_schedule`, `schedule_unreadable`, `schedule_too_frequent`, `invalid_user_timezone`, `invalid_trigger`, `invalid_conversation_id`, `conversation_not_found`, `conversation_user_mismatch`, `invalid_deployment`, `deployment_required`, `user_required`, `user_disabled`, `deployment_not_live`, `deployment_archived`
     */
    create: Call<Api['routines']['create']>;
    /**
     * Show a routine with its last and next run.
     *
     * `GET /v1/routines/{routine_id}`, scope runtime; `vestra routines get`
     */
    get: Call<Api['routines']['get']>;
    /**
     * Change a routine; `enabled: false` pauses it.
     *
     * `PATCH /v1/routines/{routine_id}`, scope runtime; `vestra routines update`
     *
     * - `deployment`: A dep_ id, a slug or a name; `@version` after it pins a version.
     *
     * @throws {VestraError} `invalid_schedule`, `schedule_unreadable`, `schedule_too_frequent`, `invalid_user_timezone`, `invalid_trigger`, `invalid_conversation_id`, `conversation_not_found`, `conversation_user_mismatch`, `invalid_deployment`, `deployment_required`, `user_required`, `user_disabled`, `deployment_not_live`, `deployment_archived`, `not_a_schedule_routine`, `managed_by_file`
     */
    update: Call<Api['routines']['update']>;
    /**
     * Delete a routine; its conversation stays.
     *
     * `DELETE /v1/routines/{routine_id}`, scope runtime; `vestra routines delete`
     *
     * @throws {VestraError} `managed_by_file`
     */
    delete: Call<Api['routines']['delete']>;
    /**
     * Run a routine once, now.
     *
     * `POST /v1/routines/{routine_id}/run`, scope runtime; `vestra routines run`
     *
     * @throws {VestraError} `user_disabled`, `deployment_not_live`, `deployment_archived`, `wallet_empty`, `org_cap_reached`, `user_cap_reached`, `model_unavailable`
     */
    run: Call<Api['routines']['run']>;
    /**
     * Run a routine that waits for a call, with a payload of at most 4 KB.
     *
     * `POST /v1/routines/{routine_id}/trigger`, scope runtime; `vestra routines trigger`
     *
     * @throws {VestraError} `user_disabled`, `deployment_not_live`, `deployment_archived`, `wallet_empty`, `org_cap_reached`, `user_cap_reached`, `model_unavailable`, `payload_too_large`, `not_a_trigger_routine`
     */
    trigger: Call<Api['routines']['trigger']>;
  };
  users: {
    /**
     * List users, newest first.
     *
     * `GET /v1/users`, scope runtime; `vestra users list`
     */
    list: Call<Api['users']['list']>;
    /**
     * Create a user; repeating an existing id changes nothing.
     *
     * `POST /v1/users`, scope runtime; `vestra users create`
     *
     * @throws {VestraError} `invalid_language`, `invalid_user_timezone`, `user_disabled`
     */
    create: Call<Api['users']['create']>;
    /**
     * Show a user with today’s and this month’s spend against the caps.
     *
     * `GET /v1/users/{user_id}`, scope runtime; `vestra users get`
     */
    get: Call<Api['users']['get']>;
    /**
     * Change a user’s profile, caps, default deployment or status; null clears a field.
     *
     * `PATCH /v1/users/{user_id}`, scope runtime; `vestra users update`
     *
     * @throws {VestraError} `invalid_language`, `invalid_user_timezone`, `invalid_deployment`, `cap_above_maximum`
     */
    update: Call<Api['users']['update']>;
    /**
     * Erase a user with computer, files and memory; `user.deleted` says when it is done.
     *
     * `DELETE /v1/users/{user_id}`, scope runtime; `vestra users delete`
     */
    delete: Call<Api['users']['delete']>;
    /**
     * Wake a user’s computer before it is needed.
     *
     * `POST /v1/users/{user_id}/warm`, scope runtime; `vestra users warm`
     *
     * - `keep_ms`: Keeps the computer awake that long.
     *
     * @throws {VestraError} `user_disabled`, `warm_limit`, `computer_unavailable`
     */
    warm: Call<Api['users']['warm']>;
    /**
     * Take a picture of the user’s screen as a JPEG.
     *
     * `GET /v1/users/{user_id}/screenshot`, scope runtime; `vestra users screenshot`
     *
     * @throws {VestraError} `user_not_found`, `user_disabled`, `browser_in_use`, `computer_unavailable`
     */
    screenshot: Call<Api['users']['screenshot']>;
  };
  browser: {
    /**
     * Open one page in the user’s browser and answer what its own data calls brought.
     *
     * `POST /v1/users/{user_id}/browser/fetch`, scope runtime; `vestra browser fetch`
     *
     * - `deployment`: A dep_ id, a slug or a name; `@version` after it pins a version.
     * - `url`: Left out to go on in a kept tab.
     * - `keep_open_ms`: Keeps the tab for the next fetch.
     * - `tab`: A kept tab, as an answer named it.
     * - `tag`: Names the tab in the watch.
     * - `stage`: A label shown in the watch.
     * - `front`: Opens in front of the person, for a sign-in they finish.
     * - `front_crop`: The one element that the screen of a hand-off shows.
     * - `private`: Never shown in the watch.
     * - `frames`: Small pictures at milestones.
     *
     * @throws {VestraError} `user_disabled`, `invalid_deployment`, `deployment_required`, `deployment_not_live`, `deployment_archived`, `wallet_empty`, `org_cap_reached`, `user_cap_reached`, `domain_not_allowed`, `page_blocked`, `browser_in_use`, `browser_busy`, `no_open_tab`, `computer_unavailable`, `timeout`
     */
    fetch: Call<Api['browser']['fetch']>;
    /**
     * Say which of the named cookies the browser holds for a site and until when, never a value.
     *
     * `GET /v1/users/{user_id}/browser/cookies`, scope runtime; `vestra browser cookies`
     *
     * - `names`: Names of cookies, separated by commas.
     * - `deployment`: A dep_ id, a slug or a name; `@version` after it pins a version.
     *
     * @throws {VestraError} `user_not_found`, `user_disabled`, `invalid_deployment`, `deployment_required`, `deployment_not_live`, `deployment_archived`, `domain_not_allowed`, `computer_unavailable`
     */
    cookies: Call<Api['browser']['cookies']>;
    /**
     * Watch the fetch tabs of a user’s browser; never wakes the computer.
     *
     * `GET /v1/users/{user_id}/browser/watch`, scope runtime; `vestra browser watch`
     *
     * - `deployment`: A dep_ id, a slug or a name; `@version` after it pins a version.
     *
     * @throws {VestraError} `user_not_found`, `user_disabled`, `invalid_deployment`, `deployment_required`, `deployment_not_live`, `deployment_archived`
     */
    watch: Call<Api['browser']['watch']>;
  };
  memory: {
    /**
     * Show what the agent remembers about a user, newest first, and the user’s profile.
     *
     * `GET /v1/memory`, scope runtime; `vestra memory list`
     *
     * @throws {VestraError} `user_required`, `user_disabled`, `memory_endpoint_required`, `memory_endpoint_error`
     */
    list: Call<Api['memory']['list']>;
    /**
     * Tell the agent a fact about a user.
     *
     * `POST /v1/memory`, scope runtime; `vestra memory add`
     *
     * @throws {VestraError} `invalid_memory`, `user_required`, `user_disabled`, `memory_endpoint_required`, `memory_endpoint_error`
     */
    create: Call<Api['memory']['create']>;
    /**
     * Search a user’s memory by meaning and words.
     *
     * `GET /v1/memory/search`, scope runtime; `vestra memory search`
     *
     * @throws {VestraError} `query_required`, `user_required`, `user_disabled`, `memory_endpoint_required`, `memory_endpoint_error`
     */
    search: Call<Api['memory']['search']>;
    /**
     * Forget one fact.
     *
     * `DELETE /v1/memory/{memory_id}`, scope runtime; `vestra memory delete`
     *
     * @throws {VestraError} `user_required`, `user_disabled`, `memory_endpoint_required`, `memory_endpoint_error`
     */
    delete: Call<Api['memory']['delete']>;
    /**
     * Forget everything about a user.
     *
     * `DELETE /v1/memory`, scope runtime; `vestra memory clear`
     *
     * @throws {VestraError} `user_required`, `user_disabled`, `memory_endpoint_required`, `memory_endpoint_error`
     */
    deleteAll: Call<Api['memory']['deleteAll']>;
  };
  files: {
    /**
     * List files: the outputs of a task or conversation, else uploads.
     *
     * `GET /v1/files`, scope runtime; `vestra files`
     *
     * @throws {VestraError} `invalid_task_id`, `invalid_conversation_id`
     */
    list: Call<Api['files']['list']>;
    /**
     * Upload a file of at most 10 MB.
     *
     * `POST /v1/files`, scope runtime; `vestra files upload`
     *
     * @throws {VestraError} `file_required`, `multipart_required`, `invalid_filename`, `file_too_large`, `user_required`, `user_disabled`
     */
    create: Call<Api['files']['create']>;
    /**
     * Show a file with a download link that works for 15 minutes.
     *
     * `GET /v1/files/{file_id}`, scope runtime; `vestra files get`
     */
    get: Call<Api['files']['get']>;
    /**
     * Delete a file.
     *
     * `DELETE /v1/files/{file_id}`, scope runtime; `vestra files delete`
     */
    delete: Call<Api['files']['delete']>;
  };
  sessions: {
    /**
     * Open a page for one user to chat, watch or drive the screen, or talk; its token is shown once.
     *
     * `POST /v1/sessions`, scope runtime; `vestra sessions create`
     *
     * - `deployment`: Absent: the user’s default deployment, then the org’s.
     * - `reuse`: Go on in the conversation of the user’s last session with the deployment, where there is one.
     * - `voice`: True, or the name of a voice.
     * - `driver`: `user` opens the screen in the user’s hands from the first frame; absent: `bash`.
     *
     * @throws {VestraError} `user_required`, `user_disabled`, `invalid_conversation_id`, `conversation_not_found`, `conversation_user_mismatch`, `deployment_required`, `invalid_deployment`, `deployment_not_live`, `deployment_archived`
     */
    create: Call<Api['sessions']['create']>;
    /**
     * Show a session.
     *
     * `GET /v1/sessions/{session_id}`, scope runtime; `vestra sessions get`
     */
    get: Call<Api['sessions']['get']>;
    /**
     * End a session at once: its token stops working, streams close, a call hangs up.
     *
     * `DELETE /v1/sessions/{session_id}`, scope runtime; `vestra sessions delete`
     */
    delete: Call<Api['sessions']['delete']>;
    /**
     * Say which origins may embed the page of a session.
     *
     * `GET /v1/sessions/{session_id}/frame-policy`, open
     */
    framePolicy: Call<Api['sessions']['framePolicy']>;
    /**
     * Answer the address of the screen’s stream, good for 5 minutes.
     *
     * `GET /v1/sessions/{session_id}/screen`, session
     *
     * @throws {VestraError} `user_disabled`, `payment_in_progress`, `browser_in_use`, `browser_not_open`, `computer_unavailable`
     */
    screen: Call<Api['sessions']['screen']>;
    /**
     * Pass what the person does with mouse and keyboard on to the page that the screen shows.
     *
     * `POST /v1/sessions/{session_id}/screen/input`, session
     *
     * @throws {VestraError} `user_disabled`, `payment_in_progress`, `browser_in_use`, `browser_not_open`, `no_open_tab`, `computer_unavailable`
     */
    screenInput: Call<Api['sessions']['screenInput']>;
    /**
     * Begin a voice call with the browser’s WebRTC offer.
     *
     * `POST /v1/sessions/{session_id}/voice`, session
     *
     * @throws {VestraError} `conversation_required`, `sdp_required`, `user_disabled`, `wallet_empty`, `org_cap_reached`, `user_cap_reached`, `model_unavailable`
     */
    voice: Call<Api['sessions']['voice']>;
  };
  webhooks: {
    /**
     * List webhook endpoints, newest first.
     *
     * `GET /v1/webhooks`, scope setup; `vestra webhooks list`
     */
    list: Call<Api['webhooks']['list']>;
    /**
     * Register an https address for events; its signing secret is shown once.
     *
     * `POST /v1/webhooks`, scope setup; `vestra webhooks create`
     */
    create: Call<Api['webhooks']['create']>;
    /**
     * Show a webhook endpoint.
     *
     * `GET /v1/webhooks/{endpoint_id}`, scope setup; `vestra webhooks get`
     */
    get: Call<Api['webhooks']['get']>;
    /**
     * Change the address, events, description or state of an endpoint.
     *
     * `PATCH /v1/webhooks/{endpoint_id}`, scope setup; `vestra webhooks update`
     *
     * @throws {VestraError} `managed_by_file`
     */
    update: Call<Api['webhooks']['update']>;
    /**
     * Delete a webhook endpoint.
     *
     * `DELETE /v1/webhooks/{endpoint_id}`, scope setup; `vestra webhooks delete`
     *
     * @throws {VestraError} `managed_by_file`
     */
    delete: Call<Api['webhooks']['delete']>;
    /**
     * Give an endpoint a new signing secret; the old one is accepted for 24 hours.
     *
     * `POST /v1/webhooks/{endpoint_id}/roll-secret`, scope setup; `vestra webhooks roll-secret`
     */
    rollSecret: Call<Api['webhooks']['rollSecret']>;
    /**
     * Send a sample event to an endpoint now.
     *
     * `POST /v1/webhooks/{endpoint_id}/test`, scope setup; `vestra webhooks test`
     */
    test: Call<Api['webhooks']['test']>;
    /**
     * List every attempt to reach an endpoint with its status code and timing.
     *
     * `GET /v1/webhooks/{endpoint_id}/deliveries`, scope setup; `vestra webhooks deliveries`
     */
    deliveries: Call<Api['webhooks']['deliveries']>;
    /**
     * Send one delivery again.
     *
     * `POST /v1/webhooks/{endpoint_id}/deliveries/{delivery_id}/retry`, scope setup; `vestra webhooks retry`
     *
     * @throws {VestraError} `event_not_found`
     */
    retry: Call<Api['webhooks']['retry']>;
  };
  events: {
    /**
     * List the org’s events of the webhook types, newest first.
     *
     * `GET /v1/events`, scope runtime; `vestra events list`
     */
    list: Call<Api['events']['list']>;
    /**
     * Show one event.
     *
     * `GET /v1/events/{event_id}`, scope runtime; `vestra events get`
     */
    get: Call<Api['events']['get']>;
  };
  apps: {
    /**
     * List the apps that users may connect, and what each needs for that.
     *
     * `GET /v1/apps`, scope runtime; `vestra apps list`
     */
    list: Call<Api['apps']['list']>;
    /**
     * Show the OAuth client that the org gave for an app, without its secret.
     *
     * `GET /v1/apps/{app}/client`, scope admin; `vestra app-clients get`
     *
     * - `app`: The id of the app.
     *
     * @throws {VestraError} `app_not_found`, `app_client_not_found`
     */
    getClient: Call<Api['apps']['getClient']>;
    /**
     * Give the OAuth client that the org registered with an app; its users sign in with it from then on.
     *
     * `PUT /v1/apps/{app}/client`, scope admin; `vestra app-clients set`
     *
     * - `app`: The id of the app.
     * - `client_id`: What the app calls the client.
     * - `client_secret`: Its secret, where it has one; it is sealed and never shown again.
     * - `auth_method`: How the secret is sent; left out: as the app says that it wants it.
     *
     * @throws {VestraError} `app_not_found`, `app_not_connectable`, `oauth_not_available`, `mcp_server_error`
     */
    putClient: Call<Api['apps']['putClient']>;
    /**
     * Forget the OAuth client that the org gave for an app; sign-ins made with it last as long as their token.
     *
     * `DELETE /v1/apps/{app}/client`, scope admin; `vestra app-clients delete`
     *
     * - `app`: The id of the app.
     *
     * @throws {VestraError} `app_not_found`, `app_client_not_found`
     */
    deleteClient: Call<Api['apps']['deleteClient']>;
  };
  connections: {
    /**
     * List connected apps, newest first.
     *
     * `GET /v1/connections`, scope runtime; `vestra connections list`
     */
    list: Call<Api['connections']['list']>;
    /**
     * Begin to connect an app: the user signs in at `connect_url`, or gives an `api_key`, which connects at once.
     *
     * `POST /v1/connections`, scope runtime; `vestra connections create`
     *
     * - `user_id`: Whose connection it is; left out: the org’s own agent’s.
     * - `app`: The id of the app, as `GET /v1/apps` lists it.
     * - `return_url`: Where the browser goes after the sign-in; one of the org’s `allowed_return_urls`.
     * - `api_key`: A key of the user’s, for an app that takes one: it is tried, sealed, and connects at once.
     *
     * @throws {VestraError} `user_required`, `user_disabled`, `app_not_found`, `app_not_connectable`, `api_key_refused`, `oauth_not_available`, `return_url_not_allowed`, `mcp_server_error`
     */
    create: Call<Api['connections']['create']>;
    /**
     * Where an app sends the user’s browser back to after the sign-in.
     *
     * `GET /v1/connections/callback`, open
     */
    callback: Call<Api['connections']['callback']>;
    /**
     * Disconnect an app and forget its sign-in.
     *
     * `DELETE /v1/connections/{connection_id}`, scope runtime; `vestra connections delete`
     */
    delete: Call<Api['connections']['delete']>;
  };
  protocols: {
    /**
     * Speak MCP over streamable HTTP: the CLI’s commands as tools.
     *
     * `POST /v1/mcp`, scope runtime
     *
     * @throws {VestraError} `origin_not_allowed`
     */
    mcp: Call<Api['protocols']['mcp']>;
    /**
     * Speak A2A with a deployment: an exchange is a conversation, an A2A task its work.
     *
     * `POST /v1/a2a/{deployment_id}`, scope runtime
     *
     * @throws {VestraError} `deployment_not_found`, `deployment_not_live`, `deployment_archived`, `user_disabled`, `user_required`
     */
    a2a: Call<Api['protocols']['a2a']>;
    /**
     * Show the agent card of a deployment.
     *
     * `GET /v1/a2a/{deployment_id}/.well-known/agent-card.json`, open
     *
     * @throws {VestraError} `deployment_not_found`, `deployment_not_live`
     */
    agentCard: Call<Api['protocols']['agentCard']>;
  };
  openai: {
    /**
     * Talk to a deployment as clients of OpenAI’s chat completions do.
     *
     * `POST /v1/openai/chat/completions`, scope runtime
     *
     * - `model`: A deployment: its slug, its dep_ id or its name, with `@version`.
     * - `user`: The user whom the agent works for.
     * - `safety_identifier`: The user whom the agent works for.
     * - `temperature`: Taken, and without effect.
     * - `top_p`: Taken, and without effect.
     * - `frequency_penalty`: Taken, and without effect.
     * - `presence_penalty`: Taken, and without effect.
     * - `seed`: Taken, and without effect.
     * - `logit_bias`: Taken, and without effect.
     * - `stop`: Taken, and without effect.
     * - `verbosity`: Taken, and without effect.
     * - `max_tokens`: Taken, and without effect.
     * - `max_completion_tokens`: Taken, and without effect.
     * - `max_output_tokens`: Taken, and without effect.
     * - `max_tool_calls`: Taken, and without effect.
     * - `parallel_tool_calls`: Taken, and without effect.
     * - `reasoning`: Taken, and without effect.
     * - `reasoning_effort`: Taken, and without effect.
     * - `service_tier`: Taken, and without effect.
     * - `prediction`: Taken, and without effect.
     * - `truncation`: Taken, and without effect.
     * - `include`: Taken, and without effect.
     * - `context_management`: Taken, and without effect.
     * - `prompt_cache_key`: Taken, and without effect.
     * - `prompt_cache_options`: Taken, and without effect.
     * - `prompt_cache_retention`: Taken, and without effect.
     *
     * @throws {VestraError} `invalid_deployment`, `deployment_not_live`, `deployment_archived`, `user_required`, `user_disabled`, `conversation_not_found`, `conversation_user_mismatch`, `interaction_not_found`, `already_answered`, `interaction_expired`, `present_user_required`, `output_schema_invalid`, `output_schema_too_large`, `wallet_empty`, `org_cap_reached`, `user_cap_reached`, `model_unavailable`, `model_error`, `unsupported_media_type`, `file_not_found`
     */
    chat: Call<Api['openai']['chat']>;
    /**
     * Talk to a deployment as clients of OpenAI’s responses do.
     *
     * `POST /v1/openai/responses`, scope runtime
     *
     * - `model`: May be left out where the conversation is named.
     * - `instructions`: Read as facts beside the instructions of the deployment.
     * - `user`: The user whom the agent works for.
     * - `safety_identifier`: The user whom the agent works for.
     * - `store`: false: the response cannot be asked for again.
     * - `temperature`: Taken, and without effect.
     * - `top_p`: Taken, and without effect.
     * - `frequency_penalty`: Taken, and without effect.
     * - `presence_penalty`: Taken, and without effect.
     * - `seed`: Taken, and without effect.
     * - `logit_bias`: Taken, and without effect.
     * - `stop`: Taken, and without effect.
     * - `verbosity`: Taken, and without effect.
     * - `max_tokens`: Taken, and without effect.
     * - `max_completion_tokens`: Taken, and without effect.
     * - `max_output_tokens`: Taken, and without effect.
     * - `max_tool_calls`: Taken, and without effect.
     * - `parallel_tool_calls`: Taken, and without effect.
     * - `reasoning`: Taken, and without effect.
     * - `reasoning_effort`: Taken, and without effect.
     * - `service_tier`: Taken, and without effect.
     * - `prediction`: Taken, and without effect.
     * - `truncation`: Taken, and without effect.
     * - `include`: Taken, and without effect.
     * - `context_management`: Taken, and without effect.
     * - `prompt_cache_key`: Taken, and without effect.
     * - `prompt_cache_options`: Taken, and without effect.
     * - `prompt_cache_retention`: Taken, and without effect.
     *
     * @throws {VestraError} `invalid_deployment`, `deployment_not_live`, `deployment_archived`, `user_required`, `user_disabled`, `conversation_not_found`, `conversation_user_mismatch`, `interaction_not_found`, `already_answered`, `interaction_expired`, `present_user_required`, `output_schema_invalid`, `output_schema_too_large`, `wallet_empty`, `org_cap_reached`, `user_cap_reached`, `model_unavailable`, `model_error`, `unsupported_media_type`, `file_not_found`
     */
    respond: Call<Api['openai']['respond']>;
    /**
     * Show a response as far as it has come, or follow it.
     *
     * `GET /v1/openai/responses/{response_id}`, scope runtime
     *
     * @throws {VestraError} `response_not_found`
     */
    response: Call<Api['openai']['response']>;
    /**
     * Stop a response, with the work it began.
     *
     * `POST /v1/openai/responses/{response_id}/cancel`, scope runtime
     *
     * @throws {VestraError} `response_not_found`
     */
    cancel: Call<Api['openai']['cancel']>;
    /**
     * Start a conversation that responses go on with; `metadata.model` and `metadata.user` say whose.
     *
     * `POST /v1/openai/conversations`, scope runtime
     *
     * @throws {VestraError} `invalid_deployment`, `deployment_required`, `user_required`, `user_disabled`
     */
    createConversation: Call<Api['openai']['createConversation']>;
    /**
     * Show a conversation as clients of OpenAI’s API read it.
     *
     * `GET /v1/openai/conversations/{conversation_id}`, scope runtime
     *
     * @throws {VestraError} `conversation_not_found`
     */
    conversation: Call<Api['openai']['conversation']>;
    /**
     * List the deployments that can be named as a model: those that are live, with a test key all.
     *
     * `GET /v1/openai/models`, scope runtime
     */
    models: Call<Api['openai']['models']>;
    /**
     * Show one deployment as a model.
     *
     * `GET /v1/openai/models/{model}`, scope runtime
     *
     * @throws {VestraError} `deployment_not_found`
     */
    model: Call<Api['openai']['model']>;
  };
  agUi: {
    /**
     * Run a deployment as clients of AG-UI do: a thread is a conversation, a run a turn or a part of one.
     *
     * `POST /v1/ag-ui/{deployment_id}`, scope runtime
     *
     * @throws {VestraError} `deployment_not_found`, `deployment_not_live`, `deployment_archived`, `invalid_deployment`, `user_required`, `user_disabled`, `conversation_not_found`, `conversation_user_mismatch`, `interaction_not_found`, `already_answered`, `interaction_expired`, `present_user_required`, `answer_mismatch`, `answers_mismatch`, `answers_required`, `connect_app_instead`, `not_ready`, `wallet_empty`, `org_cap_reached`, `user_cap_reached`, `model_unavailable`, `file_not_found`
     */
    run: Call<Api['agUi']['run']>;
  };
  me: {
    /**
     * Show the org, the mode and the key or member behind this call.
     *
     * `GET /v1/me`, scope any; `vestra me`
     */
    get: Call<Api['me']['get']>;
  };
  orgs: {
    /**
     * Show the org with its settings, wallet balance and caps.
     *
     * `GET /v1/org`, scope admin; `vestra org get`
     */
    get: Call<Api['orgs']['get']>;
    /**
     * Change settings of the org; a list sent replaces the list kept.
     *
     * `PATCH /v1/org`, scope admin; `vestra org update`
     *
     * @throws {VestraError} `invalid_origin`, `invalid_deployment`, `memory_endpoint_required`, `invalid_secret_name`
     */
    update: Call<Api['orgs']['update']>;
    /**
     * Get a new secret for the signatures of calls to the org’s memory endpoint; the old one signs for 24 hours more.
     *
     * `POST /v1/org/memory-endpoint/roll-secret`, scope admin; `vestra org roll-memory-secret`
     *
     * @throws {VestraError} `memory_endpoint_required`
     */
    rollMemorySecret: Call<Api['orgs']['rollMemorySecret']>;
  };
  keys: {
    /**
     * List the API keys; only the last four characters of each are shown.
     *
     * `GET /v1/keys`, scope admin; `vestra keys list`
     */
    list: Call<Api['keys']['list']>;
    /**
     * Create a test or live key; the full key is shown once.
     *
     * `POST /v1/keys`, scope admin; `vestra keys create`
     *
     * @throws {VestraError} `scope_missing`, `live_key_required`
     */
    create: Call<Api['keys']['create']>;
    /**
     * Give a key a new secret; the old one works on for `grace_seconds`.
     *
     * `POST /v1/keys/{key_id}/roll`, scope admin; `vestra keys roll`
     *
     * @throws {VestraError} `scope_missing`, `live_key_required`
     */
    roll: Call<Api['keys']['roll']>;
    /**
     * Revoke a key at once.
     *
     * `DELETE /v1/keys/{key_id}`, scope admin; `vestra keys revoke`
     */
    revoke: Call<Api['keys']['revoke']>;
  };
  limits: {
    /**
     * Show spending caps, alert thresholds and rate limits.
     *
     * `GET /v1/limits`, scope admin; `vestra limits get`
     */
    get: Call<Api['limits']['get']>;
    /**
     * Set spending caps and alert thresholds within what the service allows.
     *
     * `PATCH /v1/limits`, scope admin; `vestra limits update`
     *
     * @throws {VestraError} `cap_above_maximum`
     */
    update: Call<Api['limits']['update']>;
  };
  usage: {
    /**
     * Report exact billed spend and task counts, grouped by one dimension.
     *
     * `GET /v1/usage`, scope admin; `vestra usage`
     *
     * @throws {VestraError} `invalid_window`, `invalid_conversation_id`
     */
    report: Call<Api['usage']['report']>;
    /**
     * List the charges behind one task or conversation, newest first.
     *
     * `GET /v1/usage/line-items`, scope admin; `vestra usage line-items`
     *
     * @throws {VestraError} `invalid_request`, `invalid_task_id`, `invalid_conversation_id`, `task_not_found`, `conversation_not_found`
     */
    lineItems: Call<Api['usage']['lineItems']>;
  };
  auditLog: {
    /**
     * List key use, settings changes and approval answers, newest first.
     *
     * `GET /v1/audit-log`, scope admin; `vestra audit-log`
     *
     * @throws {VestraError} `invalid_window`
     */
    list: Call<Api['auditLog']['list']>;
  };
  models: {
    /**
     * List the models that a deployment may choose.
     *
     * `GET /v1/models`, scope any; `vestra models`
     */
    list: Call<Api['models']['list']>;
  };
  members: {
    /**
     * List the people who may use the console.
     *
     * `GET /v1/members`, scope admin; `vestra members list`
     */
    list: Call<Api['members']['list']>;
    /**
     * Invite a person; the answer carries the link to send them.
     *
     * `POST /v1/members`, scope admin; `vestra members invite`
     *
     * @throws {VestraError} `member_exists`, `role_missing`, `live_key_required`
     */
    invite: Call<Api['members']['invite']>;
    /**
     * Accept an invitation with a name and a password of at least 12 characters; who has a login gives its password.
     *
     * `POST /v1/members/accept`, open
     *
     * - `password`: The password to come, of at least 12 characters.
     *
     * @throws {VestraError} `invite_not_found`, `login_failed`, `rate_limited`
     */
    accept: Call<Api['members']['accept']>;
    /**
     * Change a member’s role or name; the last owner stays one.
     *
     * `PATCH /v1/members/{member_id}`, scope admin; `vestra members update`
     *
     * @throws {VestraError} `last_owner`, `role_missing`, `live_key_required`
     */
    update: Call<Api['members']['update']>;
    /**
     * Remove a member and end their console sessions; the last owner stays.
     *
     * `DELETE /v1/members/{member_id}`, scope admin; `vestra members remove`
     *
     * @throws {VestraError} `last_owner`, `role_missing`, `live_key_required`
     */
    remove: Call<Api['members']['remove']>;
    /**
     * Make a link with which a member who forgot their password chooses a new one; it works once, for a day.
     *
     * `POST /v1/members/{member_id}/password-reset`, scope admin; `vestra members reset-password`
     *
     * @throws {VestraError} `password_not_used`, `member_of_other_orgs`, `role_missing`, `live_key_required`
     */
    resetPassword: Call<Api['members']['resetPassword']>;
  };
  consoleAccess: {
    /**
     * Log in to the console; sets an HttpOnly cookie and answers the CSRF token.
     *
     * `POST /v1/console/login`, open
     *
     * @throws {VestraError} `login_failed`, `rate_limited`
     */
    login: Call<Api['consoleAccess']['login']>;
    /**
     * Choose a new password with the link that an owner, an admin or the operator made; every browser is logged out.
     *
     * `POST /v1/console/password-reset`, open
     *
     * - `token`: What stands behind `#token=` in the link.
     * - `password`: The password to come, of at least 12 characters.
     *
     * @throws {VestraError} `reset_not_found`, `rate_limited`
     */
    resetPassword: Call<Api['consoleAccess']['resetPassword']>;
    /**
     * Log out of the console.
     *
     * `POST /v1/console/logout`, console
     */
    logout: Call<Api['consoleAccess']['logout']>;
    /**
     * Show the member, org and mode of this console session.
     *
     * `GET /v1/console/session`, console
     */
    session: Call<Api['consoleAccess']['session']>;
  };
  consoleAccount: {
    /**
     * Show the person who is logged in, and how they sign in.
     *
     * `GET /v1/console/account`, console
     */
    show: Call<Api['consoleAccount']['show']>;
    /**
     * Change one’s own name in this org.
     *
     * `PATCH /v1/console/account`, console
     *
     * - `name`: What other members read.
     */
    update: Call<Api['consoleAccount']['update']>;
    /**
     * Choose a new password; every other browser is logged out.
     *
     * `POST /v1/console/account/password`, console
     *
     * - `password`: The password of now.
     * - `new_password`: The password to come, of at least 12 characters.
     *
     * @throws {VestraError} `password_wrong`, `password_not_used`, `rate_limited`
     */
    changePassword: Call<Api['consoleAccount']['changePassword']>;
    /**
     * List the browsers in which one is logged in, newest first.
     *
     * `GET /v1/console/sessions`, console
     */
    signIns: Call<Api['consoleAccount']['signIns']>;
    /**
     * Log one of one’s browsers out.
     *
     * `DELETE /v1/console/sessions/{console_session_id}`, console
     *
     * - `console_session_id`: The `id` of a sign-in, from the list.
     */
    endSignIn: Call<Api['consoleAccount']['endSignIn']>;
    /**
     * Log every browser out but this one.
     *
     * `DELETE /v1/console/sessions`, console
     */
    endOtherSignIns: Call<Api['consoleAccount']['endOtherSignIns']>;
  };
  health: {
    /**
     * Say whether the API is up; 503 while the database is away.
     *
     * `GET /v1/health`, open; `vestra health`
     */
    get: Call<Api['health']['get']>;
  };
};
