import { area } from '../requirement.ts';

export const deploymentFile = area('deployment-file', 'done', [
  ['DFILE-001', 'docs/deployment-file.md', '`$schema` is accepted up to 500 characters and ignored.'],
  [
    'DFILE-002',
    'docs/deployment-file-reference.md#name',
    '`name` is required; it takes lowercase letters, digits and dashes, starts and ends with a letter or digit, at most 63.',
  ],
  [
    'DFILE-003',
    'docs/deployment-file.md',
    '`name` is the only required field: a file of a name alone applies with all defaults.',
  ],
  [
    'DFILE-004',
    'docs/deployment-file-reference.md#instructions',
    '`instructions` accepts at most 8000 characters and is empty by default.',
  ],
  [
    'DFILE-005',
    'docs/deployment-file-reference.md#language',
    '`language` accepts a tag of 1 to 35 characters such as `en`, `hi` or `pt-BR`, or `auto`, which is the default.',
  ],
  [
    'DFILE-006',
    'docs/deployment-file-reference.md#language',
    'A language that is not a well-formed tag answers 400 `invalid_language`.',
  ],
  [
    'DFILE-007',
    'docs/deployment-file-reference.md#model',
    '`model` accepts 1 to 100 characters: `default` (the default) or an id of `GET /v1/models`.',
  ],
  [
    'DFILE-008',
    'docs/api/deployments.md#post-v1deployments',
    '`apps` is `all` by default, or a list of at most 200 items of 1 to 64 characters.',
  ],
  [
    'DFILE-009',
    'docs/api/deployments.md#put-v1deploymentsdeployment_id',
    '`tools` accepts at most 50 entries, each an MCP entry or a function entry.',
  ],
  [
    'DFILE-010',
    'docs/api/deployments.md#put-v1deploymentsdeployment_id',
    '`skills` accepts one local folder string of 1 to 500 characters.',
  ],
  [
    'DFILE-011',
    'docs/deployment-file-reference.md#skills',
    '`skills` accepts at most 100 items of local folder, `{id}` of a `skl_` id, or `{name}` of a built-in skill.',
  ],
  [
    'DFILE-012',
    'docs/deployment-file-reference.md#tools',
    "A built-in skill's `{name}` is lowercase letters, digits and dashes, at most 64, starting with a letter or digit.",
  ],
  [
    'DFILE-013',
    'docs/api/deployments.md#put-v1deploymentsdeployment_id',
    '`knowledge` accepts one local folder or file string of 1 to 500 characters.',
  ],
  [
    'DFILE-014',
    'docs/deployment-file-reference.md#knowledge',
    '`knowledge` accepts at most 50 items of local path or `{notebook}` with an `nb_` id.',
  ],
  [
    'DFILE-015',
    'docs/deployment-file-reference.md#approvals',
    '`approvals` accepts at most 6 of `payment`, `booking`, `cancellation`, `send_email`, `publish`, `delete`.',
  ],
  [
    'DFILE-016',
    'docs/deployment-file-reference.md#approvals',
    '`approvals` is `payment`, `booking`, `cancellation` when absent.',
  ],
  [
    'DFILE-017',
    'docs/deployment-file-reference.md#memory',
    "`memory` accepts `vestra`, `customer` or `none`; absent it is the org's default.",
  ],
  [
    'DFILE-018',
    'docs/api/deployments.md#post-v1deployments',
    '`browser.allowed_domains` accepts 1 to 20 bare host names; a scheme, port or path is refused.',
  ],
  [
    'DFILE-019',
    'docs/deployment-file-reference.md#browser',
    'A host in `allowed_domains` also allows its `www.` form.',
  ],
  [
    'DFILE-020',
    'docs/api/deployments.md#post-v1deployments',
    '`browser.blocked_paths` accepts 1 to 20 entries, each a site and the start of a path.',
  ],
  [
    'DFILE-021',
    'docs/api/deployments.md#deploymentversion',
    'Without `browser` a browser fetch opens nothing and no page is closed.',
  ],
  ['DFILE-022', 'docs/api/deployments.md#put-v1deploymentsdeployment_id', '`routines` accepts at most 50 entries.'],
  [
    'DFILE-023',
    'docs/deployment-file-reference.md#tests',
    '`tests` entries take `name`, `ask`, `expect` (string or list), `never`, `persona`, `tool_results`.',
  ],
  [
    'DFILE-708',
    'docs/deployment-file-reference.md#tests',
    '`tests` entries take `approves`, and `never` as a line or a list of at most 12.',
  ],
  [
    'DFILE-024',
    'docs/deployment-file.md',
    'An unknown key in the file answers 400 `invalid_manifest` with the key in `param`.',
  ],
  ['DFILE-025', 'docs/deployment-file-reference.md#computer', '`computer.setup` accepts at most 20000 characters.'],
  ['DFILE-026', 'docs/deployment-file-reference.md#computer', '`computer.repos` accepts at most 10 entries.'],
  [
    'DFILE-027',
    'docs/deployment-file-reference.md#computer',
    "A repo string is `<host>/<owner>/<repo>` or its https URL, with branch main and the repo's name as folder.",
  ],
  [
    'DFILE-028',
    'docs/deployment-file-reference.md#computer',
    'A repo object accepts `url` (1 to 2048, required), `ref` (1 to 200), `path` (1 to 200) and `token`.',
  ],
  [
    'DFILE-029',
    'docs/deployment-file-reference.md#computer',
    "A repo object without `ref` means main, without `path` the repo's name.",
  ],
  ['DFILE-030', 'docs/deployment-file-reference.md#computer', 'A repo `token` is a company secret written `${NAME}`.'],
  ['DFILE-031', 'docs/deployment-file-reference.md#computer', 'An unreadable repo address answers 400 `invalid_repo`.'],
  [
    'DFILE-032',
    'docs/deployment-file-reference.md#computer',
    '`computer.env` maps strings to strings, with credentials written `${NAME}`.',
  ],
  [
    'DFILE-033',
    'docs/deployment-file-reference.md#computer',
    '`computer.files` accepts at most 50 of `{file_id, path}`, both required, `path` 1 to 200.',
  ],
  [
    'DFILE-034',
    'docs/api/deployments.md#put-v1deploymentsdeployment_id',
    "A routine entry's `name` accepts 1 to 200 characters and is the start of `ask` when absent.",
  ],
  [
    'DFILE-035',
    'docs/api/deployments.md#put-v1deploymentsdeployment_id',
    "A routine entry's `ask` is required and takes 1 to 8000 characters.",
  ],
  [
    'DFILE-036',
    'docs/api/deployments.md#put-v1deploymentsdeployment_id',
    'A routine entry accepts `every` in plain words and `for`, whom it runs for.',
  ],
  ['DFILE-037', 'docs/deployment-file.md', 'A routine of the same name on the next apply is changed, not made again.'],
  [
    'DFILE-038',
    'docs/api/deployments.md#post-v1deployments',
    '`limits.per_task_usd` and `limits.per_turn_usd` take 0.01 to 1000.',
  ],
  [
    'DFILE-039',
    'docs/api/deployments.md#post-v1deployments',
    '`limits.max_steps` accepts 1 to 500 and is 100 when absent.',
  ],
  [
    'DFILE-040',
    'docs/api/deployments.md#post-v1deployments',
    '`limits.max_minutes` accepts 1 to 240 and is 60 when absent.',
  ],
  [
    'DFILE-041',
    'docs/api/deployments.md#deploymentversion',
    '`limits.ask_above_usd` is the price above which a paid tool asks first.',
  ],
  [
    'DFILE-042',
    'docs/deployment-file-reference.md#webhooks',
    '`webhooks` accepts at most 10 of `{url, events, description?}`.',
  ],
  [
    'DFILE-043',
    'docs/api/deployments.md#put-v1deploymentsdeployment_id',
    'A file routine also takes `cron`, `timezone`, `on: call`, `filters` and `enabled`.',
  ],
  [
    'DFILE-044',
    'docs/api/deployments.md#put-v1deploymentsdeployment_id',
    "A file routine's `for` is a user id, a list of at most 100, or absent for the org's own agent.",
  ],
  [
    'DFILE-045',
    'docs/deployment-file-reference.md#model',
    'A `model` that is not listed answers 400 `invalid_manifest` on `model`.',
  ],
  [
    'DFILE-046',
    'docs/deployment-file-reference.md#tools',
    'A raw value as a repo `token` answers 400 `raw_secret_in_header` on its `param`.',
  ],
  [
    'DFILE-047',
    'docs/deployment-file.md',
    'An unknown skill, notebook or file id in a file answers 400 `invalid_manifest` on its `param`.',
  ],
  [
    'DFILE-048',
    'docs/test-reference.md#the-verdict',
    'In `tests` `name`, `ask` and `expect` are required and the limits of scenarios apply.',
  ],
  [
    'DFILE-049',
    'docs/api/deployments.md#put-v1deploymentsdeployment_id',
    '`memory: customer` in a file while the org has no endpoint answers 400 `memory_endpoint_required`.',
  ],
  [
    'DFILE-141',
    'docs/api/deployments.md#put-v1deploymentsdeployment_id',
    'A test without `expect` is refused: the field is required.',
  ],
  [
    'DFILE-300',
    'docs/reference.md#the-schema-of-serviceyaml',
    'The JSON Schema of the file takes every example and refuses a wrong file at its place; its id names its version.',
  ],
  [
    'DFILE-700',
    'docs/deployment-file.md',
    'Merge keys (`<<`) of a deployment file are followed, own keys win, and a fault names the line of the merged field.',
  ],
  [
    'DFILE-701',
    'docs/deployment-file.md',
    'A deployment file that is not UTF-8 is rejected with the line of its first bad byte.',
  ],
  [
    'DFILE-702',
    'docs/api/deployments.md#get-v1deploymentsdeployment_id',
    'A deployment is read by `slug@version`, with `format=yaml` as the file of that version; an unknown version is 404 `version_not_found`.',
  ],
  [
    'DFILE-703',
    'docs/deployment-file-reference.md#tools',
    'The fragment of an MCP server’s address is no part of it: two spellings name one server.',
  ],
  [
    'DFILE-704',
    'docs/reference.md#the-schema-of-serviceyaml',
    'The JSON Schema of service.yaml describes every field and accepts every service.yaml of the docs.',
  ],
  [
    'DFILE-705',
    'docs/reference.md#the-schema-of-serviceyaml',
    'YAML Language Server completes and checks a file by the schema, from the installed package and from a server.',
  ],
  [
    'DFILE-706',
    'docs/reference.md#the-schema-of-serviceyaml',
    '`vestra init` writes the path of the installed package’s schema as the first line, or else the address of the server’s.',
  ],
  [
    'DFILE-707',
    'docs/reference.md#the-schema-of-serviceyaml',
    'The npm package contains the schema of service.yaml, the same as a server of its version serves.',
  ],
]);
