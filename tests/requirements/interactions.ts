import { area } from '../requirement.ts';

export const interactions = area('interactions', 'done', [
  [
    'INT-001',
    'docs/api/interactions.md#interaction',
    'An interaction shows `object: interaction`, `id`, `user_id`, `task_id`, `conversation_id`, `kind`, `type`, `status`, `summary`, `moves_money`, `requires_present_user`, `details`, `outcome`, `created_at`, `expires_at`, `resolved_at`.',
  ],
  [
    'INT-002',
    'docs/api/interactions.md#post-v1interactionsinteraction_idanswer',
    "`id` is `int_…`, or `call_…` for a call to the caller's own tool.",
  ],
  [
    'INT-003',
    'docs/interaction-reference.md#sources-of-interactions',
    '`kind` is one of `ask_question`, `connector_auth`, `tool_permission`, `credit_approval`, `exit_plan`, `hands_approval`, `plan_limit`, `custom`.',
  ],
  [
    'INT-004',
    'docs/interactions.md#kinds',
    '`type` is one of `approval`, `question`, `connect`, `handoff`, `tool_call`.',
  ],
  [
    'INT-005',
    'docs/api/interactions.md#get-v1interactions',
    '`status` is one of `pending`, `resolved`, `cancelled`, `expired`.',
  ],
  ['INT-006', 'docs/api/interactions.md#interaction', "`moves_money` is null for the caller's own tools."],
  [
    'INT-007',
    'docs/api/interactions.md#interaction',
    '`requires_present_user` is true for each approval whose `needs` list `present_user`.',
  ],
  ['INT-008', 'docs/interaction-reference.md#wrong-answers', '`nonce` appears on a `hands_approval` only.'],
  [
    'INT-009',
    'docs/api/interactions.md#interaction',
    '`questions` of a question or hand-off are `{question, header, options, multi_select}`.',
  ],
  [
    'INT-010',
    'docs/api/interactions.md#interaction',
    '`frame_url` of a hand-off appears on the single read only, as a JPEG data URI of the page when it asked.',
  ],
  [
    'INT-011',
    'docs/api/interactions.md#interaction',
    '`browser` of a browser hand-off is `{suggested_mode: control, url}`.',
  ],
  [
    'INT-012',
    'docs/interaction-reference.md#approval-contents',
    '`details` carries only safe facts: no secret and no raw credential.',
  ],
  [
    'INT-013',
    'docs/api/interactions.md#interaction',
    '`outcome` is null while pending, else `{decision, answers?, reason?, message?}`.',
  ],
  [
    'INT-014',
    'docs/api/interactions.md#interaction',
    '`decision` is one of `approved`, `denied`, `answered`, `cancelled`, `expired`.',
  ],
  ['INT-015', 'docs/events.md#key', '`expires_at` is null if it never expires.'],
  [
    'INT-016',
    'docs/api/interactions.md#interaction',
    'An answer moves `pending` to `resolved` and sets `resolved_at`.',
  ],
  [
    'INT-017',
    'docs/interaction-reference.md#sources-of-interactions',
    'A cancel moves `pending` to `cancelled` and the task continues without that action.',
  ],
  ['INT-018', 'docs/api/interactions.md#interaction', 'No answer in time moves `pending` to `expired`.'],
  ['INT-019', 'docs/interactions.md#kinds', 'A connect interaction settles itself once the app is connected.'],
  [
    'INT-020',
    'docs/interaction-reference.md#sources-of-interactions',
    'A settled interaction leaves its state no more.',
  ],
  [
    'INT-021',
    'docs/api/interactions.md#get-v1interactions',
    "`GET /v1/interactions` lists pending interactions by pages, calls to the caller's tools included.",
  ],
  ['INT-022', 'docs/api/interactions.md#get-v1interactions', '`status` filters and is `pending` when absent.'],
  [
    'INT-023',
    'docs/api/interactions.md#get-v1interactions',
    '`user_id`, `conversation_id`, `task_id`, `type` and `kind` filter the list.',
  ],
  [
    'INT-024',
    'docs/api/interactions.md#get-v1interactions',
    "`type=tool_call` lists calls to the caller's tools alone.",
  ],
  [
    'INT-025',
    'docs/api/interactions.md#get-v1interactionsinteraction_id',
    '`GET /v1/interactions/{interaction_id}` accepts `int_` and `call_` ids.',
  ],
  [
    'INT-026',
    'docs/api/interactions.md#post-v1interactionsinteraction_idcancel',
    '`POST …/cancel` withdraws the interaction and answers it.',
  ],
  [
    'INT-027',
    'docs/interaction-reference.md#sources-of-interactions',
    '`interaction.created` is emitted with type, summary and details when the agent starts to wait.',
  ],
  ['INT-028', 'docs/interactions.md#kinds', 'An approval expires after 24 hours.'],
  ['INT-029', 'docs/interactions.md#kinds', 'A question expires after 7 days.'],
  [
    'INT-030',
    'docs/interactions.md#kinds',
    "A tool call expires after the tool's `timeout_s` and is then an error to the agent.",
  ],
  [
    'INT-031',
    'docs/interaction-reference.md#sources-of-interactions',
    "`ask_question` comes from the agent's own tools `ask_question` and `request_handoff`.",
  ],
  ['INT-032', 'docs/interaction-reference.md#sources-of-interactions', '`tool_permission` comes from a waiting tool.'],
  [
    'INT-033',
    'docs/interaction-reference.md#sources-of-interactions',
    '`connector_auth` comes from a missing app connection.',
  ],
  [
    'INT-034',
    'docs/interaction-reference.md#sources-of-interactions',
    '`credit_approval` comes from a paid tool costlier than `limits.ask_above_usd`.',
  ],
  [
    'INT-035',
    'docs/interaction-reference.md#sources-of-interactions',
    '`exit_plan` comes from a plan when the message has `plan: true`.',
  ],
  [
    'INT-036',
    'docs/interaction-reference.md#sources-of-interactions',
    '`hands_approval` comes from `ask_question` with `in_person: true` before an action on the computer.',
  ],
  [
    'INT-037',
    'docs/interaction-reference.md#sources-of-interactions',
    '`plan_limit` comes from a cap that ended work and can only be read.',
  ],
  [
    'INT-038',
    'docs/interaction-reference.md#sources-of-interactions',
    "`custom` comes from a caller's tool call or an ability install, and `details.renderer` names it.",
  ],
  [
    'INT-039',
    'docs/interaction-reference.md#sources-of-interactions',
    '`interaction.resolved` and `interaction.expired` are emitted when it settles so.',
  ],
  [
    'INT-040',
    'docs/api/interactions.md#interaction',
    "A caller's tool call has kind `custom` and `details {tool_name, rows, renderer: tool_call}`.",
  ],
  ['INT-041', 'docs/interaction-reference.md#approval-contents', '`rows` are `[{label, value}]`.'],
  [
    'INT-042',
    'docs/api/interactions.md#get-v1interactionsinteraction_id',
    'An unknown interaction answers 404 `interaction_not_found`.',
  ],
  [
    'INT-141',
    'docs/interaction-reference.md#sources-of-interactions',
    'A tool call that is answered by `tool_results` writes the same audit row as one answered by the interactions route.',
  ],
  [
    'INT-142',
    'docs/interactions.md#results-for-the-agent',
    'A function call that is not answered in time is reported to the agent as one with an unknown outcome.',
  ],
  [
    'INT-240',
    'docs/interactions.md#who-approves',
    '`approver` of an approval is `user` or `org`; no other interaction has it.',
  ],
  [
    'INT-241',
    'docs/api/interactions.md#interaction',
    '`needs` names what an approval must bring (`present_user`, `nonce`) or what is done instead (`connection`, `installation`); an approval that brings it is accepted, and any other is refused.',
  ],
]);
