import { area } from '../requirement.ts';

export const deployments = area('deployments', 'done', [
  [
    'DEP-001',
    'configuration.md · Deployment',
    'A deployment shows `id` (`dep_`), `object: deployment`, `name`, `slug`, `description`, `base`, `status`, `draft_version`, `live_version`, `created_at`, `updated_at`.',
  ],
  [
    'DEP-002',
    'configuration.md · Deployment',
    '`name` takes 1 to 120 characters and is required on create; none, an empty one and 121 are refused.',
  ],
  [
    'DEP-003',
    'configuration.md · Deployment',
    '`slug` takes lowercase letters, digits and dashes, at most 63; anything else is refused with `param: slug`.',
  ],
  ['DEP-004', 'configuration.md · Deployment', 'Without `slug` one is made from `name`.'],
  ['DEP-005', 'configuration.md · Deployment', 'The slug is accepted wherever `{deployment_id}` stands in a path.'],
  [
    'DEP-006',
    'configuration.md · Deployment',
    '`description` takes at most 2000 characters and is empty when none was given.',
  ],
  ['DEP-007', 'configuration.md · Deployment', '`base` is always `agent`.'],
  ['DEP-008', 'configuration.md · Deployment', '`status` is `active` or `archived`.'],
  ['DEP-009', 'configuration.md · Deployment', '`live_version` is null until a version has been promoted.'],
  [
    'DEP-010',
    'configuration.md · Conventions',
    'A deployment is found in a path by its `dep_` id, by its slug or by its name.',
  ],
  [
    'DEP-011',
    'configuration.md · Conventions',
    'A deployment is found in a body by id, slug or name, each with an optional `@version`.',
  ],
  ['DEP-012', 'configuration.md · Deployments', "`GET /v1/deployments` lists the org's deployments by pages."],
  ['DEP-013', 'configuration.md · Deployments', '`POST /v1/deployments` answers 201 with the deployment.'],
  [
    'DEP-014',
    'configuration.md · Deployments',
    'A created deployment has a draft version, `draft_version` points at it and `live_version` is null.',
  ],
  [
    'DEP-015',
    'configuration.md · Deployments',
    '`POST /v1/deployments` takes `manifest` and saves it as the settings of the first version.',
  ],
  [
    'DEP-016',
    'configuration.md · Deployments',
    '`POST /v1/deployments` takes `note` of at most 500 characters for the first version; 501 are refused.',
  ],
  [
    'DEP-017',
    'configuration.md · Deployments',
    '`GET /v1/deployments/{deployment_id}` answers the deployment as JSON when `format` is absent or `json`.',
  ],
  [
    'DEP-018',
    'configuration.md · Deployments',
    '`GET ?format=yaml` answers the newest version as the deployment file in YAML text.',
  ],
  [
    'DEP-019',
    'configuration.md · Deployments',
    'Deployment, scenario, notebook, skill and MCP server routes answer 403 `scope_missing` without `setup` or `all`.',
  ],
  ['DEP-020', 'configuration.md · Deployments', 'An unknown deployment in a path answers 404 `deployment_not_found`.'],
  ['DEP-021', 'decisions.md · 6', '`POST /v1/deployments/{id}/archive` sets `status: archived`.'],
  [
    'DEP-022',
    'decisions.md · 6',
    '`POST /v1/deployments/{id}/unarchive` sets `status: active` again and the deployment takes conversations again.',
  ],
  ['DEP-023', 'decisions.md · 6', '`DELETE /v1/deployments/{id}` removes a deployment that has no live version.'],
  ['DEP-024', 'decisions.md · 6', '`DELETE` while a version is live answers 409 `deployment_live`.'],
  ['DEP-025', 'decisions.md · 6', 'The YAML of a deployment, applied again, reports `changed: []`.'],
  ['DEP-026', 'decisions.md · 9', 'A taken explicit slug answers 409 `slug_taken`.'],
  ['DEP-027', 'decisions.md · 9', 'A slug made from a taken name gets `-2`, then `-3`.'],
  ['DEP-028', 'decisions.md · 9', 'Archiving changes neither `draft_version` nor `live_version`.'],
  ['DEP-029', 'decisions.md · 9', 'An archived deployment answers 409 `deployment_archived` to promote and to apply.'],
  ['DEP-261', 'decisions.md · 11', '`PATCH /v1/deployments/{deployment_id}` changes `name` and `description` alone.'],
  [
    'DEP-262',
    'decisions.md · 11',
    'The name and description of a deployment with a live version are changed with a live key alone.',
  ],
]);
