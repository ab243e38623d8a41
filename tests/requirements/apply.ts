import { area } from '../requirement.ts';

export const apply = area('apply', 'done', [
  [
    'APPLY-001',
    'configuration.md · Deployments',
    '`PUT /v1/deployments/{name}` takes the whole file as JSON and answers 200.',
  ],
  ['APPLY-002', 'configuration.md · Deployments', '`promote` takes `after_tests` (when absent), `now` and `no`.'],
  ['APPLY-003', 'configuration.md · Deployments', 'The answer of PUT includes `changed` and `became_default`.'],
  ['APPLY-004', 'configuration.md · Deployments', 'The first PUT for a name creates the deployment.'],
  ['APPLY-005', 'configuration.md · Deployments', "A body `name` other than the path's answers 400 `name_mismatch`."],
  [
    'APPLY-006',
    'configuration.md · Deployments',
    'An MCP server named in `tools` for the first time is registered by its URL.',
  ],
  [
    'APPLY-007',
    'configuration.md · Deployments',
    'A later file that names a registered URL uses that server and makes no second.',
  ],
  [
    'APPLY-008',
    'configuration.md · Deployments',
    'The tool policy a file gives a server holds for that version only, from when the version runs.',
  ],
  ['APPLY-009', 'configuration.md · Deployments', '`tests` of the file become scenarios of the deployment.'],
  [
    'APPLY-010',
    'configuration.md · Deployments',
    'Routines of the file become routines, and leave with the file that drops them.',
  ],
  [
    'APPLY-011',
    'configuration.md · Deployments',
    'Webhook endpoints of the file show `managed_by: file` and its `deployment_id`.',
  ],
  [
    'APPLY-012',
    'configuration.md · Deployments',
    'A company secret that is referenced and not stored answers 400 `secret_missing` with all such names in `names`.',
  ],
  [
    'APPLY-013',
    'configuration.md · Deployments',
    'A file that would change the headers of a server other deployments run answers 409 `mcp_server_shared` with them in `deployments`.',
  ],
  [
    'APPLY-014',
    'configuration.md · Deployments',
    'A local path in a file sent over HTTP answers 400 `path_not_resolved`.',
  ],
  [
    'APPLY-015',
    'configuration.md · Deployments',
    'Every fault of a file answers 400 `invalid_manifest` with `param` where no closer code exists.',
  ],
  [
    'APPLY-016',
    'configuration.md · Deployments',
    'A refused file changes nothing: no version, server, scenario, routine or endpoint is left behind.',
  ],
  [
    'APPLY-017',
    'configuration.md · Deployments',
    'The CLI and the SDK upload the local folders and files a file names and send the rest.',
  ],
  [
    'APPLY-018',
    'configuration.md · Deployments',
    'The CLI and the SDK read `computer.setup` from a local file and send its text.',
  ],
  [
    'APPLY-019',
    'configuration.md · Deployments',
    'The CLI and the SDK do not upload a skill folder again that has not changed.',
  ],
  ['APPLY-020', 'decisions.md · 1', 'The command `vestra apply` reads `service.yaml` unless another file is named.'],
  [
    'APPLY-021',
    'decisions.md · 6',
    'The PUT answer is the deployment plus `version`, `changed`, `became_default`, `promoted`, `test_run` and `created`.',
  ],
  ['APPLY-022', 'decisions.md · 6', '`changed` of the PUT answer names file keys, not manifest keys.'],
  ['APPLY-023', 'decisions.md · 6', '`created` is true on the call that made the deployment and false afterwards.'],
  [
    'APPLY-024',
    'decisions.md · 6',
    'With `after_tests` and tests in the file, `test_run` is the started run and `promoted` is false until it passes.',
  ],
  ['APPLY-025', 'decisions.md · 6', 'With `after_tests` and no scenarios the version is promoted at once.'],
  [
    'APPLY-026',
    'decisions.md · 6',
    'File routines and endpoints come alive in a mode when a version becomes the one that mode runs.',
  ],
  [
    'APPLY-027',
    'decisions.md · 6',
    'File routines and endpoints of a version leave a mode when another version takes its place, by apply, promote or rollback alike.',
  ],
  [
    'APPLY-028',
    'decisions.md · 6',
    'The secrets of endpoints that a call made are in its answer as `webhook_secrets`.',
  ],
  ['APPLY-029', 'decisions.md · 6', 'A scenario from the file carries `managed_by: file`.'],
  [
    'APPLY-030',
    'decisions.md · 9',
    'Two functions, tests, routines or MCP servers of one file with the same name answer 400 `duplicate_name`.',
  ],
  [
    'APPLY-031',
    'decisions.md · 9',
    "`secret_missing` looks at tool auth, headers, `computer.env` and repo tokens, in the key's mode.",
  ],
  ['APPLY-032', 'decisions.md · 9', 'A `${user_secret:NAME}` is never reported as missing.'],
  ['APPLY-033', 'decisions.md · 9', "PUT by `dep_` id works where the body's `name` is the deployment's slug."],
  [
    'APPLY-121',
    'decisions.md · 11',
    'An unchanged file whose tests last failed answers `promoted: false` and that run.',
  ],
  [
    'APPLY-122',
    'decisions.md · 11',
    'With `after_tests` every scenario of the deployment gates, whoever made it and whether PUT or promote asks.',
  ],
  [
    'APPLY-123',
    'decisions.md · 11',
    'Two skills of one name answer 400 `duplicate_name`; a notebook, skill, approval, app or repository named again is saved once.',
  ],
  [
    'APPLY-124',
    'decisions.md · 11',
    'A file of which only a document or a skill has changed saves a version (`changed: [knowledge]`, `[skills]`), is tested with it and goes live with it.',
  ],
  ['APPLY-125', 'decisions.md · 11', 'An app that the server does not have is taken, and named in `warnings`.'],
  [
    'APPLY-261',
    'configuration.md · Notebooks',
    'A notebook that apply makes is described by the headings or names of its documents, in at most 300 characters.',
  ],
  [
    'APPLY-262',
    'configuration.md · CLI',
    '`vestra apply --dry-run` lists what would be removed apart from what would be uploaded.',
  ],
]);
