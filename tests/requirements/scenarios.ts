import { area } from '../requirement.ts';

export const scenarios = area('scenarios', 'done', [
  [
    'SCN-001',
    'docs/api/scenarios.md#scenario',
    'A scenario shows `id`, `object: scenario`, `deployment_id`, all create fields, `created_at` and `updated_at`.',
  ],
  [
    'SCN-002',
    'docs/api/scenarios.md#post-v1deploymentsdeployment_idscenarios',
    '`name` accepts 1 to 120 characters and is required.',
  ],
  [
    'SCN-003',
    'docs/api/scenarios.md#patch-v1deploymentsdeployment_idscenariosscenario_id',
    '`persona` accepts 1 to 2000 characters and is required.',
  ],
  [
    'SCN-004',
    'docs/api/scenarios.md#post-v1deploymentsdeployment_idscenarios',
    '`goal` accepts 1 to 2000 characters and is required.',
  ],
  [
    'SCN-005',
    'docs/api/scenarios.md#patch-v1deploymentsdeployment_idscenariosscenario_id',
    '`success_criteria` is required: 1 to 12 lines of at most 500 characters.',
  ],
  [
    'SCN-006',
    'docs/api/scenarios.md#patch-v1deploymentsdeployment_idscenariosscenario_id',
    '`must_never` is [] when absent: at most 12 lines of at most 500 characters.',
  ],
  [
    'SCN-007',
    'docs/api/scenarios.md#post-v1deploymentsdeployment_idscenarios',
    '`tool_results` accepts at most 20 entries of any JSON.',
  ],
  ['SCN-008', 'docs/api/scenarios.md#list', '`approves` is optional and boolean.'],
  [
    'SCN-009',
    'docs/api/scenarios.md#get-v1deploymentsdeployment_idscenarios',
    "`GET …/scenarios` lists the deployment's scenarios by pages.",
  ],
  [
    'SCN-010',
    'docs/api/scenarios.md#post-v1deploymentsdeployment_idscenarios',
    '`POST …/scenarios` answers 201 with the scenario.',
  ],
  [
    'SCN-011',
    'docs/api/scenarios.md#post-v1deploymentsdeployment_idscenariosgenerate',
    '`POST …/scenarios/generate` answers 200 `{object: list, data}` of drafted scenarios with the create fields.',
  ],
  ['SCN-012', 'docs/tests-from-conversations.md#generate-tests', '`generate` saves nothing.'],
  [
    'SCN-013',
    'docs/api/scenarios.md#post-v1deploymentsdeployment_idscenariosgenerate',
    '`count` of generate takes 1 to 10 and is 5 when absent; that many drafts come back.',
  ],
  [
    'SCN-014',
    'docs/api/scenarios.md#post-v1deploymentsdeployment_idscenariosgenerate',
    '`version` of generate is an integer of at least 1; absent it is the newest.',
  ],
  [
    'SCN-015',
    'docs/tests-from-conversations.md#generate-tests',
    'A drafted scenario is accepted as it is by the create route.',
  ],
  [
    'SCN-016',
    'docs/api/scenarios.md#patch-v1deploymentsdeployment_idscenariosscenario_id',
    '`PATCH …/scenarios/{scenario_id}` changes one scenario and answers it.',
  ],
  [
    'SCN-017',
    'docs/api/scenarios.md#patch-v1deploymentsdeployment_idscenariosscenario_id',
    'PATCH takes any create field and leaves the others.',
  ],
  [
    'SCN-018',
    'docs/api/scenarios.md#get-v1deploymentsdeployment_idscenariosscenario_id',
    '`GET …/scenarios/{scenario_id}` answers one scenario.',
  ],
  [
    'SCN-019',
    'docs/api/scenarios.md#delete-v1deploymentsdeployment_idscenariosscenario_id',
    '`DELETE …/scenarios/{scenario_id}` removes a scenario.',
  ],
  [
    'SCN-020',
    'docs/test-reference.md#the-verdict',
    "A file test's `ask` becomes `goal` and its `expect`, string or list, becomes `success_criteria`.",
  ],
  ['SCN-021', 'docs/test-reference.md#the-verdict', "A file test's `never`, a line or a list, becomes `must_never`."],
  [
    'SCN-022',
    'docs/test-reference.md#the-verdict',
    'A file test\'s absent `persona` becomes "A person who uses this agent for the first time."',
  ],
  [
    'SCN-023',
    'docs/test-reference.md#the-verdict',
    "A file test's `name` and `tool_results` are taken over as they are.",
  ],
  [
    'SCN-024',
    'docs/deployment-file.md',
    'Changing or deleting a scenario from the file over the API answers 409 `managed_by_file`.',
  ],
  ['SCN-025', 'docs/test-reference.md#the-verdict', 'A test that the next file drops takes its scenario with it.'],
  [
    'SCN-026',
    'docs/api/scenarios.md#post-v1deploymentsdeployment_idscenarios',
    'A `tool_results` key that names neither a declared tool nor `<slug>.<tool>` of a listed server answers 400 `invalid_request`.',
  ],
  [
    'SCN-027',
    'docs/api/scenarios.md#post-v1deploymentsdeployment_idscenariosgenerate',
    'An unknown version in generate answers 404 `version_not_found`.',
  ],
  [
    'SCN-028',
    'docs/api/scenarios.md#get-v1deploymentsdeployment_idscenariosscenario_id',
    'An unknown scenario answers 404 `scenario_not_found`.',
  ],
  [
    'SCN-141',
    'docs/tests-from-conversations.md#generate-tests',
    'Generate keeps the usable drafts, asks the model again for the rest only, and is 502 only if none is usable.',
  ],
  [
    'SCN-142',
    'docs/tests-from-conversations.md#generate-tests',
    "Generate gives the model the version's notebooks with the titles of their documents, and its skills.",
  ],
  [
    'SCN-420',
    'docs/tests-from-conversations.md#turn-a-conversation-into-a-test',
    '`POST /v1/conversations/{conversation_id}/scenario-draft` answers a scenario with the person’s words and the results of the deployment’s own tools, and saves nothing.',
  ],
  [
    'SCN-421',
    'docs/tests-from-conversations.md#turn-a-conversation-into-a-test',
    'A draft from a conversation contains no credential, and `personal` lists what identifies the person, with the fields that contain it.',
  ],
  [
    'SCN-422',
    'docs/tests-from-conversations.md#turn-a-conversation-into-a-test',
    'If no model can word the criteria of a conversation, they are the tools that were called and the values that were passed on.',
  ],
  [
    'SCN-423',
    'docs/tests-from-conversations.md#turn-a-conversation-into-a-test',
    'The create route accepts a draft from a conversation as it is; `recorded_calls` names only tools of the newest version.',
  ],
]);
