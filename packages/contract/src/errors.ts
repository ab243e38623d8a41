/**
 * The catalogue of error codes. Transports (`http/error-response.ts`, `edges/`) convert it. Callers branch on `code`;
 * `message` may change.
 */

export const errorTypes = [
  'invalid_request',
  'authentication',
  'cap_reached',
  'permission',
  'not_found',
  'conflict',
  'rate_limited',
  'upstream',
  'internal',
] as const;

export type ErrorType = (typeof errorTypes)[number];

type Status = 400 | 401 | 402 | 403 | 404 | 405 | 409 | 413 | 415 | 429 | 500 | 501 | 502 | 503 | 504;

const row = <S extends Status>(status: S, message: string) => ({ status, message });

export const errorCatalogue = {
  // 400: the request is invalid
  answer_mismatch: row(400, 'Send the fields that this type of interaction accepts.'),
  answers_mismatch: row(400, 'Send exactly one answer per question, in order.'),
  answers_not_expected: row(400, 'This interaction does not accept answers.'),
  answers_required: row(400, 'Answer a question with `answers`, or with `approve: false` to decline.'),
  api_key_refused: row(400, 'The app rejected this key.'),
  app_not_connectable: row(400, 'This app cannot be connected.'),
  auth_twice: row(400, 'Send either `auth` or an Authorization header, not both.'),
  binary_file: row(400, 'A skill can contain text files only.'),
  body_too_large: row(400, 'The request body is larger than this route accepts.'),
  budget_too_small: row(400, 'The budget is too small for the first model call.'),
  bundle_too_large: row(400, 'A skill can have at most 5 MB.'),
  cap_above_maximum: row(400, 'The cap is above the allowed maximum.'),
  connect_app_instead: row(
    400,
    'Connect the app with POST /v1/connections. This interaction then settles automatically.',
  ),
  conversation_required: row(400, 'Voice needs a session with a conversation.'),
  conversation_user_mismatch: row(400, 'The conversation belongs to another user.'),
  decision_not_expected: row(400, 'This interaction does not accept a decision.'),
  deployment_required: row(400, 'Name a deployment: neither the user nor the org has a default.'),
  describe_or_answer: row(
    400,
    'Send `deployment` with `describe` to start, or `conversation` with `answer` to continue.',
  ),
  document_too_large: row(400, 'A document can have at most 512 KB of text.'),
  duplicate_name: row(400, 'The same name is used twice.'),
  duplicate_path: row(400, 'The same path is used twice.'),
  file_required: row(400, 'Send one multipart part named `file`.'),
  file_too_large: row(413, 'The file is larger than this route accepts.'),
  install_ability_instead: row(400, 'A request to install an ability can only be declined here.'),
  invalid_client: row(400, 'No such client. Register it, or send the address of its metadata document.'),
  invalid_client_metadata: row(400, 'The metadata document of the client cannot be used.'),
  invalid_conversation_id: row(400, 'A conversation id looks like conv_ followed by 24 characters.'),
  invalid_cursor: row(400, 'Send the `next_cursor` of the previous page, unchanged.'),
  invalid_deployment: row(400, 'No such deployment or version.'),
  invalid_deployment_id: row(400, 'A deployment is named by its dep_ id, its slug or its name.'),
  invalid_filename: row(
    400,
    'A file name has at most 255 bytes, and no slashes, control characters or characters that change the text direction.',
  ),
  invalid_frontmatter: row(400, 'SKILL.md must start with YAML frontmatter that has `name` and `description`.'),
  invalid_grant: row(400, 'The code or refresh token is invalid, was used already, or has expired.'),
  invalid_idempotency_key: row(400, 'An Idempotency-Key has 1 to 255 characters.'),
  invalid_json: row(400, 'The body is not valid JSON.'),
  invalid_language: row(400, 'A language is a tag such as `en` or `pt-BR`, or `auto`.'),
  invalid_last_event_id: row(400, 'Last-Event-ID is a whole number, or 0.'),
  invalid_limit: row(400, '`limit` must be a whole number from 1 to 100.'),
  invalid_manifest: row(400, 'The deployment file is not valid.'),
  invalid_memory: row(400, 'The memory is not valid.'),
  invalid_mode: row(400, 'Service-Mode must be `live` or `test` and equal the mode of the key.'),
  invalid_org_header: row(400, 'Service-Org must be an org id.'),
  invalid_origin: row(
    400,
    'An embed origin is an https origin without a path; in test mode also http://localhost and http://127.0.0.1.',
  ),
  invalid_query: row(400, 'This route does not accept this query.'),
  invalid_redirect_uri: row(400, 'The redirect address is not registered for this client.'),
  invalid_repo: row(400, 'A repository is written host/owner/repo or as its https URL.'),
  invalid_request: row(400, 'The request is not valid.'),
  invalid_schedule: row(400, 'Give exactly one of `every`, `schedule` or `on: call`.'),
  invalid_secret_name: row(
    400,
    'A secret name is a capital letter, then capitals, digits and underscores, at most 64.',
  ),
  invalid_skill: row(400, 'The skill is not valid.'),
  invalid_target: row(400, '`resource` must be /v1/mcp of this server.'),
  invalid_task_id: row(400, 'A task id looks like task_ followed by 24 characters.'),
  invalid_tool_input: row(400, 'The tool input is neither the shorthand nor a JSON Schema of type object.'),
  invalid_trigger: row(400, '`filters` need `on: call`.'),
  invalid_user_timezone: row(400, 'A time zone is an IANA name such as Europe/Berlin.'),
  invalid_window: row(400, '`from` and `to` are dates, `from` not after `to`, at most 366 days apart.'),
  invalid_zip: row(400, 'The zip cannot be read.'),
  mcp_server_not_listed: row(400, '`mcp_tool_policy` names a server that `mcp_servers` does not list.'),
  memory_endpoint_required: row(400, 'To store memory on your side, set `memory_endpoint` of the org first.'),
  message_required: row(400, 'Send a message, an attachment or a tool result.'),
  multipart_required: row(400, 'Send multipart/form-data with one part named `file`.'),
  name_mismatch: row(400, 'The name in the file must equal the name in the path.'),
  no_output_schema: row(400, 'This task has no structured output.'),
  nonce_mismatch: row(400, 'Send the nonce of this approval.'),
  not_a_schedule_routine: row(400, 'A routine that runs on a call has no schedule.'),
  not_a_trigger_routine: row(400, 'A scheduled routine accepts no payload. Use run instead.'),
  notebook_full: row(400, 'A notebook can have at most 1,000 documents and 5 MB of text.'),
  oauth_not_available: row(400, 'This app does not offer sign-in.'),
  output_schema_invalid: row(400, '`output_schema` is not a valid JSON Schema.'),
  output_schema_too_large: row(400, '`output_schema` can have at most 32 KB.'),
  passkey_refused: row(400, 'The passkey was not registered. Start again in this browser.'),
  path_not_resolved: row(400, 'The server cannot read a local path. Apply the file with the CLI or an SDK.'),
  payload_too_large: row(400, 'A trigger payload can have at most 4 KB.'),
  present_user_required: row(400, 'A person who is present must approve this. Send `present_user: true`.'),
  query_required: row(400, 'Send the search text as `q`.'),
  raw_secret_in_header: row(400, 'Store the credential as a secret and write ${NAME} instead.'),
  return_url_not_allowed: row(400, 'The return URL is not in the org’s `allowed_return_urls`.'),
  schedule_too_frequent: row(400, 'A routine runs at most once every 15 minutes.'),
  schedule_unreadable: row(400, 'The schedule cannot be read.'),
  sdp_required: row(400, 'A voice call needs the browser’s WebRTC offer as `sdp`.'),
  secret_in_url: row(400, 'The URL contains a credential. Store it as a secret and send it as a header.'),
  secret_missing: row(400, 'Store these secrets first.'),
  tool_name_reserved: row(400, 'This name belongs to one of the agent’s own tools.'),
  unsupported_grant_type: row(400, '`grant_type` is `authorization_code` or `refresh_token`.'),
  user_required: row(400, 'This org requires a `user_id`.'),

  // 401: the caller is unknown
  console_login_required: row(401, 'Sign in to the console first.'),
  key_expired: row(401, 'This key has expired.'),
  key_invalid: row(401, 'No such API key.'),
  key_missing: row(401, 'Send an API key as `Authorization: Bearer <API_KEY>`.'),
  key_revoked: row(401, 'This key has been revoked.'),
  login_failed: row(401, 'Email or password is wrong.'),
  session_expired: row(401, 'This session has expired.'),
  session_revoked: row(401, 'This session has been revoked.'),

  // 402: not enough money
  budget_reached: row(402, 'The budget of the improvement is used up.'),
  org_cap_reached: row(402, 'The org’s spending cap is reached.'),
  user_cap_reached: row(402, 'The user’s spending cap is reached.'),
  wallet_empty: row(402, 'The wallet is empty.'),

  // 403: known, but not allowed
  csrf_required: row(403, 'Send the CSRF token of the console session as header `X-CSRF-Token`.'),
  domain_not_allowed: row(403, 'The site is not in the deployment’s `browser.allowed_domains`.'),
  live_key_required: row(403, 'This needs a live key.'),
  org_disabled: row(403, 'This org is switched off.'),
  org_mismatch: row(403, 'The key belongs to another org.'),
  org_moved: row(403, 'This org was moved to another installation.'),
  origin_not_allowed: row(403, 'Requests from this origin are not allowed.'),
  password_wrong: row(403, 'The password is wrong.'),
  page_blocked: row(403, 'The page is under one of the deployment’s `browser.blocked_paths`.'),
  role_missing: row(403, 'Your role does not allow this.'),
  scope_missing: row(403, 'The key lacks the scope for this.'),
  session_scope: row(403, 'A session token does not allow this.'),
  token_audience: row(403, 'The access token of an MCP client is valid for /v1/mcp only.'),
  user_disabled: row(403, 'This user is disabled.'),

  // 404: does not exist, or belongs to another org
  app_client_not_found: row(404, 'The org has no client for this app in this mode.'),
  app_not_found: row(404, 'No such app.'),
  batch_not_found: row(404, 'No such batch.'),
  connection_not_found: row(404, 'No such connection.'),
  console_session_not_found: row(404, 'You have no such sign-in.'),
  conversation_not_found: row(404, 'No such conversation.'),
  delivery_not_found: row(404, 'No such delivery.'),
  deployment_not_found: row(404, 'No such deployment.'),
  document_not_found: row(404, 'No such document.'),
  event_not_found: row(404, 'No such event.'),
  file_not_found: row(404, 'No such file.'),
  function_endpoint_not_found: row(404, 'This deployment has no function endpoint in this mode.'),
  identity_provider_not_found: row(404, 'This org has no identity provider.'),
  interaction_not_found: row(404, 'No such interaction.'),
  invite_not_found: row(404, 'This invitation is unknown, used or expired.'),
  key_not_found: row(404, 'No such key.'),
  mcp_grant_not_found: row(404, 'No such MCP grant.'),
  mcp_server_not_found: row(404, 'No such MCP server.'),
  member_not_found: row(404, 'No such member.'),
  memory_not_found: row(404, 'No such memory.'),
  message_not_found: row(404, 'No such reply of the agent.'),
  model_not_found: row(404, 'No such model. The model is the name of a deployment.'),
  notebook_not_found: row(404, 'No such notebook.'),
  passkey_not_found: row(404, 'You have no such passkey.'),
  reset_not_found: row(404, 'This link is unknown, used or expired. Ask for a new one.'),
  response_not_found: row(404, 'No such response.'),
  route_not_found: row(404, 'No such route.'),
  routine_not_found: row(404, 'No such routine.'),
  scenario_not_found: row(404, 'No such scenario.'),
  secret_not_found: row(404, 'No such secret.'),
  session_not_found: row(404, 'No such session.'),
  skill_not_found: row(404, 'No such skill.'),
  task_not_found: row(404, 'No such task.'),
  test_run_not_found: row(404, 'No such test run.'),
  replay_not_found: row(404, 'No such replay.'),
  improvement_not_found: row(404, 'No such improvement.'),
  insight_not_found: row(404, 'No such insight.'),
  turn_not_found: row(404, 'No such turn in this conversation.'),
  user_not_found: row(404, 'No such user.'),
  version_not_found: row(404, 'No such version.'),
  webhook_not_found: row(404, 'No such webhook endpoint.'),

  // 405, 415
  method_not_allowed: row(405, 'This route does not accept this method.'),
  unsupported_media_type: row(415, 'This route does not accept this content type.'),

  // 409: not possible in this state
  already_answered: row(409, 'This interaction is settled already.'),
  batch_finished: row(409, 'This batch has finished.'),
  browser_busy: row(409, 'Four fetches are already running in this browser.'),
  browser_not_open: row(409, 'The computer is starting, and the browser is not open yet.'),
  browser_in_use: row(409, 'A person is using this browser.'),
  deployment_archived: row(409, 'This deployment is archived.'),
  deployment_changed: row(409, 'Somebody else has applied a newer version than the one you named.'),
  deployment_deleted: row(409, 'The deployment was deleted.'),
  deployment_live: row(409, 'A version of this deployment is live.'),
  deployment_not_live: row(409, 'No version of this deployment is live.'),
  idempotency_in_progress: row(409, 'A request with this Idempotency-Key is still running.'),
  idempotency_key_reused: row(409, 'This Idempotency-Key was used with another request.'),
  identity_not_linked: row(409, 'No account at the identity provider is linked.'),
  interaction_expired: row(409, 'This interaction has expired.'),
  last_owner: row(409, 'An org needs at least one owner.'),
  conversations_not_allowed: row(409, 'The org’s settings do not allow to use these conversations.'),
  no_failing_conversations: row(409, 'No conversation of this deployment shows such a failure.'),
  managed_by_file: row(409, 'The deployment file manages this. Change it there.'),
  still_running: row(409, 'This has not ended yet.'),
  mcp_server_live: row(
    409,
    'A version that is live, or can be rolled back to, uses this server. Change it with a live key, or as an owner or admin.',
  ),
  mcp_server_shared: row(409, 'Other deployments use this server with other headers.'),
  member_exists: row(409, 'A member with this email already exists.'),
  member_of_other_orgs: row(
    409,
    'This person is a member of other orgs too. Only the operator can create a reset link (`vestra admin member reset-password`).',
  ),
  no_open_tab: row(409, 'No tab is open. Send a `url`.'),
  notebook_live: row(409, 'A version that is live, or can be rolled back to, uses this. Change it with a live key.'),
  nothing_to_roll_back: row(409, 'No version was live before this one.'),
  passkeys_unavailable: row(409, 'Passkeys need a VESTRA_PUBLIC_URL with https and a host name, or http://localhost.'),
  password_not_used: row(
    409,
    'This login has no password. It uses the org’s identity provider, or the invitation is still open.',
  ),
  payment_in_progress: row(409, 'The person is paying in their browser.'),
  skill_live: row(409, 'A version that is live, or can be rolled back to, uses this skill. Delete it with a live key.'),
  slug_taken: row(409, 'This slug is taken.'),
  title_taken: row(409, 'Another document of this notebook has this title.'),
  too_many_mcp_grants: row(409, 'A member can allow at most 100 MCP clients. End one first.'),
  too_many_passkeys: row(409, 'A login can have at most 20 passkeys. Remove one first.'),
  tool_call_taken: row(409, 'The lease of this call has expired, and another process has taken it.'),
  version_incomplete: row(
    409,
    'A notebook, skill or tool server that this version uses was deleted, or the server’s URL was changed.',
  ),

  // 429
  rate_limited: row(429, 'Too many requests.'),
  warm_limit: row(429, 'Ten computers of this org are already starting.'),

  // 5xx
  internal_error: row(500, 'The server failed to handle the request.'),
  not_implemented: row(501, 'This route has no handler yet.'),
  identity_provider_error: row(502, 'The identity provider could not be used.'),
  mcp_server_error: row(502, 'The MCP server answered with an error.'),
  memory_endpoint_error: row(502, 'The memory endpoint answered with an error.'),
  model_error: row(502, 'The model answered with an error.'),
  computer_unavailable: row(503, 'The computer cannot be reached.'),
  model_unavailable: row(503, 'No model is configured for this mode.'),
  not_ready: row(503, 'The server is not ready.'),
  org_moving: row(503, 'This org is being moved to another installation.'),
  timeout: row(504, 'The request timed out.'),
} as const;

export type ErrorCode = keyof typeof errorCatalogue;

const typeOfStatus: Record<Status, ErrorType> = {
  400: 'invalid_request',
  401: 'authentication',
  402: 'cap_reached',
  403: 'permission',
  404: 'not_found',
  405: 'invalid_request',
  409: 'conflict',
  413: 'invalid_request',
  415: 'invalid_request',
  429: 'rate_limited',
  500: 'internal',
  501: 'internal',
  502: 'upstream',
  503: 'upstream',
  504: 'upstream',
};

export type Fault = { code: ErrorCode; param: string; message: string };

/** Details of a failure beyond its code; the names are those of the API. */
export type FailureDetails = {
  message?: string;
  param?: string;
  names?: string[];
  deployments?: string[];
  errors?: Fault[];
  partial?: unknown;
  retry_after_ms?: number;
  /** The text for a user in a session, if the code's sentence says too little and `message` too much. */
  told?: string;
  /** `file_too_large` is 413 for an upload and 400 for a file inside a skill. */
  status?: Status;
};

/** A response quotes names from the request, which may be as long as a body. */
const longest = { message: 4_000, param: 256 };

const cut = (text: string, most: number) => (text.length > most ? `${text.slice(0, most)}…`.toWellFormed() : text);

export class Failure extends Error {
  readonly code: ErrorCode;
  readonly status: Status;
  readonly type: ErrorType;
  readonly details: FailureDetails;

  constructor(code: ErrorCode, details: FailureDetails = {}) {
    super(cut(details.message ?? errorCatalogue[code].message, longest.message));
    this.name = 'Failure';
    this.code = code;
    this.status = details.status ?? errorCatalogue[code].status;
    this.type = typeOfStatus[this.status];
    this.details = details.param === undefined ? details : { ...details, param: cut(details.param, longest.param) };
  }
}

/** `throw fail('slug_taken', { param: 'slug' })` */
export const fail = (code: ErrorCode, details?: FailureDetails): Failure => new Failure(code, details);
