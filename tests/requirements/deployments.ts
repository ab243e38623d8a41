import { area } from '../requirement.ts';

export const deployments = area('deployments', 'done', [
  [
    'DEP-001',
    'docs/api/deployments.md#deployment',
    'A deployment shows `id` (`dep_`), `object: deployment`, `name`, `slug`, `description`, `base`, `status`, `draft_version`, `live_version`, `created_at`, `updated_at`.',
  ],
  [
    'DEP-002',
    'docs/api/deployments.md#post-v1deployments',
    '`name` accepts 1 to 120 characters and is required on create; none, an empty one and 121 are refused.',
  ],
  [
    'DEP-003',
    'docs/versions.md#saving-promoting-rolling-back',
    '`slug` accepts lowercase letters, digits and dashes, at most 63; anything else is refused with `param: slug`.',
  ],
  ['DEP-004', 'docs/api/deployments.md#deploymentversion', 'Without `slug` one is derived from `name`.'],
  [
    'DEP-005',
    'docs/api/deployments.md#deployment',
    'The slug is accepted wherever `{deployment_id}` stands in a path.',
  ],
  [
    'DEP-006',
    'docs/api/deployments.md#patch-v1deploymentsdeployment_id',
    '`description` accepts at most 2000 characters and is empty when none was given.',
  ],
  ['DEP-007', 'docs/api/deployments.md#deployment', '`base` is always `agent`.'],
  ['DEP-008', 'docs/api/deployments.md#deployment', '`status` is `active` or `archived`.'],
  ['DEP-009', 'docs/api/deployments.md#deployment', '`live_version` is null until a version has been promoted.'],
  [
    'DEP-010',
    'docs/api/deployments.md#get-v1deploymentsdeployment_idversionsversion',
    'A deployment is found in a path by its `dep_` id, by its slug or by its name.',
  ],
  [
    'DEP-011',
    'docs/api/deployments.md#patch-v1deploymentsdeployment_id',
    'A deployment is found in a body by id, slug or name, each with an optional `@version`.',
  ],
  [
    'DEP-012',
    'docs/api/deployments.md#get-v1deployments',
    "`GET /v1/deployments` lists the org's deployments by pages.",
  ],
  ['DEP-013', 'docs/api/deployments.md#post-v1deployments', '`POST /v1/deployments` answers 201 with the deployment.'],
  [
    'DEP-014',
    'docs/api/deployments.md#deployment',
    'A created deployment has a draft version, `draft_version` points at it and `live_version` is null.',
  ],
  [
    'DEP-015',
    'docs/api/deployments.md#post-v1deployments',
    '`POST /v1/deployments` accepts `manifest` and saves it as the settings of the first version.',
  ],
  [
    'DEP-016',
    'docs/api/deployments.md#post-v1deployments',
    '`POST /v1/deployments` accepts `note` of at most 500 characters for the first version; 501 are refused.',
  ],
  [
    'DEP-017',
    'docs/api/deployments.md#get-v1deploymentsdeployment_id',
    '`GET /v1/deployments/{deployment_id}` answers the deployment as JSON when `format` is absent or `json`.',
  ],
  [
    'DEP-018',
    'docs/api/deployments.md#get-v1deploymentsdeployment_id',
    '`GET ?format=yaml` answers the newest version as the deployment file in YAML text.',
  ],
  [
    'DEP-019',
    'docs/requests.md#authentication',
    'Deployment, scenario, notebook, skill and MCP server routes answer 403 `scope_missing` without `setup` or `all`.',
  ],
  [
    'DEP-020',
    'docs/api/deployments.md#get-v1deploymentsdeployment_idversionsversion',
    'An unknown deployment in a path answers 404 `deployment_not_found`.',
  ],
  [
    'DEP-021',
    'docs/api/deployments.md#post-v1deploymentsdeployment_idarchive',
    '`POST /v1/deployments/{id}/archive` sets `status: archived`.',
  ],
  [
    'DEP-022',
    'docs/api/deployments.md#post-v1deploymentsdeployment_idunarchive',
    '`POST /v1/deployments/{id}/unarchive` sets `status: active` again and the deployment takes conversations again.',
  ],
  [
    'DEP-023',
    'docs/api/deployments.md#delete-v1deploymentsdeployment_id',
    '`DELETE /v1/deployments/{id}` removes a deployment that has no live version.',
  ],
  [
    'DEP-024',
    'docs/api/deployments.md#delete-v1deploymentsdeployment_id',
    '`DELETE` while a version is live answers 409 `deployment_live`, until a live key has archived the deployment and deletes it.',
  ],
  ['DEP-025', 'docs/api/deployments.md#deployment', 'The YAML of a deployment, applied again, reports `changed: []`.'],
  ['DEP-026', 'docs/versions.md#saving-promoting-rolling-back', 'A taken explicit slug answers 409 `slug_taken`.'],
  ['DEP-027', 'docs/versions.md#saving-promoting-rolling-back', 'A slug made from a taken name gets `-2`, then `-3`.'],
  [
    'DEP-028',
    'docs/versions.md#saving-promoting-rolling-back',
    'Archiving changes neither `draft_version` nor `live_version`.',
  ],
  [
    'DEP-029',
    'docs/versions.md#saving-promoting-rolling-back',
    'An archived deployment answers 409 `deployment_archived` to promote and to apply.',
  ],
  [
    'DEP-261',
    'docs/api/deployments.md#patch-v1deploymentsdeployment_id',
    '`PATCH /v1/deployments/{deployment_id}` changes `name` and `description` alone.',
  ],
  [
    'DEP-262',
    'docs/versions.md#changing-content',
    'The name and description of a deployment with a live version are changed with a live key alone.',
  ],
]);
