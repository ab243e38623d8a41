import { area } from '../requirement.ts';

export const apply = area('apply', 'done', [
  [
    'APPLY-001',
    'docs/api/deployments.md#put-v1deploymentsdeployment_id',
    '`PUT /v1/deployments/{name}` accepts the whole file as JSON and answers 200.',
  ],
  [
    'APPLY-002',
    'docs/api/deployments.md#post-v1deploymentsdeployment_idpromote',
    '`promote` accepts `after_tests` (when absent), `now` and `no`.',
  ],
  [
    'APPLY-003',
    'docs/api/deployments.md#put-v1deploymentsdeployment_id',
    'The answer of PUT includes `changed` and `became_default`.',
  ],
  [
    'APPLY-004',
    'docs/api/deployments.md#put-v1deploymentsdeployment_id',
    'The first PUT for a name creates the deployment.',
  ],
  [
    'APPLY-005',
    'docs/api/deployments.md#put-v1deploymentsdeployment_id',
    "A body `name` other than the path's answers 400 `name_mismatch`.",
  ],
  [
    'APPLY-006',
    'docs/deployment-file.md',
    'An MCP server named in `tools` for the first time is registered by its URL.',
  ],
  [
    'APPLY-007',
    'docs/deployment-file.md',
    'A later file that names a registered URL uses that server and creates no second.',
  ],
  [
    'APPLY-008',
    'docs/deployment-file-reference.md#tools',
    'The tool policy a file gives a server holds for that version only, from when the version runs.',
  ],
  [
    'APPLY-009',
    'docs/api/deployments.md#post-v1deploymentsdeployment_idpromote',
    '`tests` of the file become scenarios of the deployment.',
  ],
  [
    'APPLY-010',
    'docs/deployment-file.md',
    'Routines of the file become routines, and leave with the file that drops them.',
  ],
  [
    'APPLY-011',
    'docs/deployment-file.md',
    'Webhook endpoints of the file show `managed_by: file` and its `deployment_id`.',
  ],
  [
    'APPLY-012',
    'docs/deployment-file.md',
    'A company secret that is referenced and not stored answers 400 `secret_missing` with all such names in `names`.',
  ],
  [
    'APPLY-013',
    'docs/deployment-file.md',
    'A file that would change the headers of a server other deployments run answers 409 `mcp_server_shared` with them in `deployments`.',
  ],
  ['APPLY-014', 'docs/deployment-file.md', 'A local path in a file sent over HTTP answers 400 `path_not_resolved`.'],
  [
    'APPLY-015',
    'docs/deployment-file.md',
    'Every fault of a file without a closer code answers 400 `invalid_manifest` with `param`.',
  ],
  [
    'APPLY-016',
    'docs/deployment-file.md',
    'A refused file changes nothing: no version, server, scenario, routine or endpoint is left behind.',
  ],
  [
    'APPLY-017',
    'docs/deployment-file.md',
    'The CLI and the SDK upload the local folders and files a file names and send the rest.',
  ],
  [
    'APPLY-018',
    'docs/deployment-file.md',
    'The CLI and the SDK read `computer.setup` from a local file and send its text.',
  ],
  [
    'APPLY-019',
    'docs/deployment-file.md',
    'The CLI and the SDK do not upload a skill folder again that has not changed.',
  ],
  [
    'APPLY-020',
    'docs/cli-agents.md#apply-test-dev',
    'The command `vestra apply` reads `service.yaml` unless another file is named.',
  ],
  [
    'APPLY-021',
    'docs/api/deployments.md#put-v1deploymentsdeployment_id',
    'The PUT answer is the deployment plus `version`, `changed`, `became_default`, `promoted`, `test_run` and `created`.',
  ],
  [
    'APPLY-022',
    'docs/api/deployments.md#deploymentversion',
    '`changed` of the PUT answer names file keys, not manifest keys.',
  ],
  [
    'APPLY-023',
    'docs/api/deployments.md#put-v1deploymentsdeployment_id',
    '`created` is true on the call that made the deployment and false afterwards.',
  ],
  [
    'APPLY-024',
    'docs/api/deployments.md#put-v1deploymentsdeployment_id',
    'With `after_tests` and tests in the file, `test_run` is the started run and `promoted` is false until it passes.',
  ],
  [
    'APPLY-025',
    'docs/api/deployments.md#post-v1deploymentsdeployment_idpromote',
    'With `after_tests` and no scenarios the version is promoted at once.',
  ],
  [
    'APPLY-026',
    'docs/deployment-file.md',
    'File routines and endpoints come alive in a mode when a version becomes the one that mode runs.',
  ],
  [
    'APPLY-027',
    'docs/deployment-file.md',
    'File routines and endpoints of a version leave a mode when another version takes its place, by apply, promote or rollback alike.',
  ],
  [
    'APPLY-028',
    'docs/deployment-file-reference.md#webhooks',
    'The secrets of endpoints that a call made are in its answer as `webhook_secrets`.',
  ],
  ['APPLY-029', 'docs/deployment-file.md', 'A scenario from the file carries `managed_by: file`.'],
  [
    'APPLY-030',
    'docs/deployment-file.md',
    'Two functions, tests, routines or MCP servers of one file with the same name answer 400 `duplicate_name`.',
  ],
  [
    'APPLY-031',
    'docs/deployment-file.md',
    "`secret_missing` looks at tool auth, headers, `computer.env` and repo tokens, in the key's mode.",
  ],
  ['APPLY-032', 'docs/deployment-file.md', 'A `${user_secret:NAME}` is never reported as missing.'],
  [
    'APPLY-033',
    'docs/api/deployments.md#post-v1deploymentsdeployment_idarchive',
    "PUT by `dep_` id works if the body's `name` is the deployment's slug.",
  ],
  [
    'APPLY-121',
    'docs/deployment-file.md',
    'An unchanged file whose tests last failed answers `promoted: false` and that run.',
  ],
  [
    'APPLY-122',
    'docs/versions.md#saving-promoting-rolling-back',
    'With `after_tests` every scenario of the deployment gates, whether the file or the API created it and whether PUT or promote asks.',
  ],
  [
    'APPLY-123',
    'docs/deployment-file.md',
    'Two skills of one name answer 400 `duplicate_name`; a notebook, skill, approval, app or repository named again is saved once.',
  ],
  [
    'APPLY-124',
    'docs/versions.md#changing-content',
    'A file of which only a document or a skill has changed saves a version (`changed: [knowledge]`, `[skills]`), is tested with it and goes live with it.',
  ],
  [
    'APPLY-125',
    'docs/deployment-file-reference.md#apps',
    'An app that the server does not have is taken, and named in `warnings`.',
  ],
  [
    'APPLY-261',
    'docs/deployment-file-reference.md#knowledge',
    'A notebook that apply creates is described by the headings or names of its documents, in at most 300 characters.',
  ],
  [
    'APPLY-262',
    'docs/cli-agents.md#apply-test-dev',
    '`vestra apply --dry-run` lists what would be removed apart from what would be uploaded.',
  ],
]);
