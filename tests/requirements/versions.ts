import { area } from '../requirement.ts';

export const versions = area('versions', 'done', [
  [
    'VER-001',
    'docs/api/deployments.md#deploymentversion',
    'A version is `{object: deployment_version, deployment_id, version, note, manifest, changed, tests, is_draft, is_live, created_by, created_at}`.',
  ],
  ['VER-002', 'docs/api/deployments.md#deploymentversion', '`note` of a version is null if none was given.'],
  [
    'VER-003',
    'docs/api/deployments.md#deploymentversion',
    '`changed` of a version lists the keys that differ from the version before.',
  ],
  [
    'VER-004',
    'docs/api/deployments.md#deploymentversion',
    '`tests` of a version is `{run_id, status}` of its test run, or null.',
  ],
  [
    'VER-005',
    'docs/versions.md#saving-promoting-rolling-back',
    "`is_draft` and `is_live` agree with the deployment's pointers.",
  ],
  [
    'VER-006',
    'docs/api/deployments.md#deploymentversion',
    '`created_by` is `{type, id, name}` of who saved the version.',
  ],
  [
    'VER-007',
    'docs/api/deployments.md#get-v1deploymentsdeployment_idversions',
    '`GET …/versions` lists versions newest first, by pages.',
  ],
  [
    'VER-008',
    'docs/api/deployments.md#get-v1deploymentsdeployment_idversionsversion',
    '`GET …/versions/{n}` answers one version.',
  ],
  [
    'VER-009',
    'docs/api/deployments.md#post-v1deploymentsdeployment_idpromote',
    '`POST …/promote` accepts `{version?, when?}` with `when` `now` or `after_tests`.',
  ],
  [
    'VER-010',
    'docs/versions.md#saving-promoting-rolling-back',
    'Promote without `version` promotes the newest version.',
  ],
  [
    'VER-011',
    'docs/api/deployments.md#post-v1deploymentsdeployment_idpromote',
    "`promote` with `when: now` makes the version live in the key's mode at once.",
  ],
  [
    'VER-012',
    'docs/versions.md#saving-promoting-rolling-back',
    '`promote` with `when: after_tests` plays the tests and promotes when they pass.',
  ],
  [
    'VER-013',
    'docs/api/deployments.md#post-v1deploymentsdeployment_idrollback',
    '`POST …/rollback` answers the deployment.',
  ],
  [
    'VER-014',
    'docs/versions.md#saving-promoting-rolling-back',
    'Versions of a deployment are numbered by integers from 1, each saved change one higher.',
  ],
  [
    'VER-015',
    'docs/versions.md#saving-promoting-rolling-back',
    'A file that differs from the latest version saves a new version and `draft_version` moves to it.',
  ],
  [
    'VER-016',
    'docs/versions.md#saving-promoting-rolling-back',
    'A file that changes nothing saves no version and answers `changed: []`.',
  ],
  [
    'VER-017',
    'docs/versions.md#saving-promoting-rolling-back',
    "`promote=after_tests` makes the version live once the file's tests pass.",
  ],
  [
    'VER-018',
    'docs/versions.md#saving-promoting-rolling-back',
    '`promote=after_tests` leaves the pointers of the mode as they were when a test fails.',
  ],
  [
    'VER-019',
    'docs/versions.md#saving-promoting-rolling-back',
    '`promote=now` makes the version live without waiting for tests.',
  ],
  ['VER-020', 'docs/versions.md#saving-promoting-rolling-back', '`promote=no` only saves the version.'],
  [
    'VER-021',
    'docs/versions.md#saving-promoting-rolling-back',
    'With a live key a promotion sets `live_version`, and `draft_version` is not moved by it.',
  ],
  [
    'VER-022',
    'docs/versions.md#saving-promoting-rolling-back',
    'With a test key a promotion of a named version, older ones included, moves `draft_version` to it.',
  ],
  [
    'VER-023',
    'docs/modes.md#the-default-deployment',
    "The first promotion in an org makes the deployment the org's default and answers `became_default: true`.",
  ],
  [
    'VER-024',
    'docs/versions.md#saving-promoting-rolling-back',
    'Rollback returns `live_version` at once to the version that was live before.',
  ],
  [
    'VER-025',
    'docs/versions.md#saving-promoting-rolling-back',
    '`draft_version` moves to every newly saved version, also with `promote=no`.',
  ],
  [
    'VER-026',
    'docs/versions.md#saving-promoting-rolling-back',
    'With a test key `after_tests` on a new version only reports whether the tests passed.',
  ],
  [
    'VER-027',
    'docs/versions.md#saving-promoting-rolling-back',
    'A changed file is compared with the newest version, not with the live one.',
  ],
  ['VER-028', 'docs/deployment-file.md', 'Writing out a default, reordering keys or changing `$schema` is no change.'],
  [
    'VER-029',
    'docs/versions.md#saving-promoting-rolling-back',
    'An unchanged file with `promote=now` still promotes the newest version.',
  ],
  [
    'VER-030',
    'docs/versions.md#saving-promoting-rolling-back',
    'Rollback with a test key answers 403 `live_key_required`.',
  ],
  ['VER-031', 'docs/versions.md#saving-promoting-rolling-back', 'Rolling back twice goes two promotions back.'],
  [
    'VER-032',
    'docs/versions.md#saving-promoting-rolling-back',
    'Rollback with no earlier live version answers 409 `nothing_to_roll_back`.',
  ],
  ['VER-033', 'docs/modes.md#the-default-deployment', '`became_default` is false when the org already had a default.'],
  [
    'VER-034',
    'docs/api/deployments.md#post-v1deploymentsdeployment_idpromote',
    'An unknown version in promote answers 404 `version_not_found`.',
  ],
  [
    'VER-035',
    'docs/versions.md#saving-promoting-rolling-back',
    'A saved version on an archived deployment is refused with 409 `deployment_archived`.',
  ],
  [
    'VER-036',
    'docs/versions.md#saving-promoting-rolling-back',
    'Functions of versions saved before there were waiting flags wait for approval.',
  ],
  [
    'VER-037',
    'docs/versions.md#saving-promoting-rolling-back',
    'Reserved names are checked on new versions, servers and messages; versions saved earlier keep running.',
  ],
  [
    'VER-038',
    'docs/versions.md#saving-promoting-rolling-back',
    'A test conversation keeps the version it started on after the draft moves.',
  ],
  [
    'VER-039',
    'docs/versions.md#saving-promoting-rolling-back',
    'A live conversation runs the version live at each message, so a promotion reaches it with its next message.',
  ],
  [
    'VER-040',
    'docs/versions.md#saving-promoting-rolling-back',
    'A promotion emits `deployment.promoted`, a rollback `deployment.rolled_back`.',
  ],
  [
    'VER-041',
    'docs/versions.md#saving-promoting-rolling-back',
    'Going live checks company secrets again in live mode and answers 400 `secret_missing` if one is missing.',
  ],
  [
    'VER-121',
    'docs/versions.md',
    'A version fixes the documents of its notebooks and the hashes of its skills; a live conversation reads what the live version fixes.',
  ],
  [
    'VER-122',
    'docs/versions.md',
    'Test keys run the newest content of the draft; a version that is pinned, in either mode, and a test run read what the version fixes.',
  ],
  [
    'VER-123',
    'docs/versions.md#changing-content',
    'Content changed with a live key is live at once as a new version that a rollback leaves, and carries nothing of a test key along.',
  ],
  [
    'VER-124',
    'docs/versions.md#changing-content',
    'Content changed with a test key reaches live users by promotion alone; promoting without a number promotes what is there now.',
  ],
  [
    'VER-125',
    'docs/versions.md#saving-promoting-rolling-back',
    'A version fixes one consistent state of a notebook that others change meanwhile.',
  ],
  [
    'VER-700',
    'docs/versions.md#changing-content',
    'A version sends a tool server the headers that it fixed: `promote=no` and a failed run change no live request, and a rollback brings the old headers back.',
  ],
  [
    'VER-701',
    'docs/versions.md',
    'Whatever a test key changes, a live conversation sends the same requests to the model, its tool servers and its computer.',
  ],
  [
    'VER-703',
    'docs/deployment-file-reference.md#computer',
    'A version copies the content of `computer.files`: both modes have them, deleting the upload changes no version, and a test key copies no file of live mode.',
  ],
  [
    'VER-704',
    'docs/deployment-file-reference.md#computer',
    '`from` of a file in `computer.files` is a local file that `vestra apply` uploads if it has changed; over HTTP it is 400 `path_not_resolved`.',
  ],
  [
    'VER-710',
    'docs/versions.md#saving-promoting-rolling-back',
    'The tests of the file that a version was saved from gate it, with the scenarios of the API; tests of another file do not.',
  ],
  ['VER-711', 'docs/versions.md#saving-promoting-rolling-back', '`POST …/promote` waits for the tests by default.'],
  [
    'VER-712',
    'docs/versions.md#saving-promoting-rolling-back',
    '`promoted` of a run says whether it promoted, and `note` why a passed one did not.',
  ],
  [
    'VER-720',
    'docs/webhooks.md#endpoints-of-a-deployment-file',
    'A live key that saves a version gets the secrets of its live endpoints at once; they are inactive until the version is live.',
  ],
  [
    'VER-721',
    'docs/webhooks.md#endpoints-of-a-deployment-file',
    'A rollback brings an endpoint back with its id and its secret.',
  ],
  [
    'VER-722',
    'docs/webhooks.md#endpoints-of-a-deployment-file',
    '`secret: ${NAME}` of a webhook in the file signs deliveries with that secret of the mode.',
  ],
  [
    'VER-730',
    'docs/modes.md',
    'In live mode `name@n` works for versions that are or were live; any other is 409 `deployment_not_live`.',
  ],
  [
    'VER-740',
    'docs/versions.md',
    'The folders of a shop, a research desk and an IT desk go from an empty server to live with the command line alone.',
  ],
  [
    'VER-741',
    'docs/versions.md',
    'After a rollback the live file, documents, tool servers, webhooks and routines are those of the earlier version.',
  ],
  ['VER-742', 'docs/cli.md', 'A test plays every configuration command of the command line.'],
  [
    'VER-743',
    'docs/tests.md#simulated-tools',
    'A test whose tool server goes down while its list of tools is cached ends in `error` with `mcp_server_error`.',
  ],
  [
    'VER-744',
    'docs/console.md',
    'The interview page of the console shows the parts that the file leaves out, with the reason.',
  ],
  [
    'VER-745',
    'docs/versions.md',
    'The file of an older version has the address and headers of its tool servers as the version fixed them.',
  ],
]);
