import { area } from '../requirement.ts';

export const deploymentFile = area('deployment-file', 'done', [
  ['DFILE-001', 'configuration.md · Deployment file', '`$schema` is taken up to 500 characters and ignored.'],
  [
    'DFILE-002',
    'configuration.md · Deployment file',
    '`name` is required; it takes lowercase letters, digits and dashes, starts and ends with a letter or digit, at most 63.',
  ],
  [
    'DFILE-003',
    'configuration.md · Deployment file',
    '`name` is the only required field: a file of a name alone applies with all defaults.',
  ],
  [
    'DFILE-004',
    'configuration.md · Deployment file',
    '`instructions` takes at most 8000 characters and is empty by default.',
  ],
  [
    'DFILE-005',
    'configuration.md · Deployment file',
    '`language` takes a tag of 1 to 35 characters such as `en`, `hi` or `pt-BR`, or `auto`, which is the default.',
  ],
  [
    'DFILE-006',
    'configuration.md · Deployment file',
    'A language that is not a well-formed tag answers 400 `invalid_language`.',
  ],
  [
    'DFILE-007',
    'configuration.md · Deployment file',
    '`model` takes 1 to 100 characters: `default` (the default) or an id of `GET /v1/models`.',
  ],
  [
    'DFILE-008',
    'configuration.md · Deployment file',
    '`apps` is `all` by default, or a list of at most 200 items of 1 to 64 characters.',
  ],
  [
    'DFILE-009',
    'configuration.md · Deployment file',
    '`tools` takes at most 50 entries, each an MCP entry or a function entry.',
  ],
  ['DFILE-010', 'configuration.md · Deployment file', '`skills` takes one local folder string of 1 to 500 characters.'],
  [
    'DFILE-011',
    'configuration.md · Deployment file',
    '`skills` takes at most 100 items of local folder, `{id}` of a `skl_` id, or `{name}` of a built-in skill.',
  ],
  [
    'DFILE-012',
    'configuration.md · Deployment file',
    "A built-in skill's `{name}` is lowercase letters, digits and dashes, at most 64, starting with a letter or digit.",
  ],
  [
    'DFILE-013',
    'configuration.md · Deployment file',
    '`knowledge` takes one local folder or file string of 1 to 500 characters.',
  ],
  [
    'DFILE-014',
    'configuration.md · Deployment file',
    '`knowledge` takes at most 50 items of local path or `{notebook}` with an `nb_` id.',
  ],
  [
    'DFILE-015',
    'configuration.md · Deployment file',
    '`approvals` takes at most 6 of `payment`, `booking`, `cancellation`, `send_email`, `publish`, `delete`.',
  ],
  [
    'DFILE-016',
    'configuration.md · Deployment file',
    '`approvals` is `payment`, `booking`, `cancellation` when absent.',
  ],
  [
    'DFILE-017',
    'configuration.md · Deployment file',
    "`memory` takes `vestra`, `customer` or `none`; absent it is the org's default.",
  ],
  [
    'DFILE-018',
    'configuration.md · Deployment file',
    '`browser.allowed_domains` takes 1 to 20 bare host names; a scheme, port or path is refused.',
  ],
  ['DFILE-019', 'configuration.md · Deployment file', 'A host in `allowed_domains` also allows its `www.` form.'],
  [
    'DFILE-020',
    'configuration.md · Deployment file',
    '`browser.blocked_paths` takes 1 to 20 entries, each a site and the start of a path.',
  ],
  [
    'DFILE-021',
    'configuration.md · Deployment file',
    'Without `browser` a browser fetch opens nothing and no page is closed.',
  ],
  ['DFILE-022', 'configuration.md · Deployment file', '`routines` takes at most 50 entries.'],
  [
    'DFILE-023',
    'configuration.md · Deployment file',
    '`tests` entries take `name`, `ask`, `expect` (string or list), `never`, `persona`, `tool_results`.',
  ],
  [
    'DFILE-024',
    'configuration.md · Deployment file',
    'An unknown key in the file answers 400 `invalid_manifest` with the key in `param`.',
  ],
  ['DFILE-025', 'configuration.md · Deployment file · computer', '`computer.setup` takes at most 20000 characters.'],
  ['DFILE-026', 'configuration.md · Deployment file · computer', '`computer.repos` takes at most 10 entries.'],
  [
    'DFILE-027',
    'configuration.md · Deployment file · computer',
    "A repo string is `<host>/<owner>/<repo>` or its https URL, with branch main and the repo's name as folder.",
  ],
  [
    'DFILE-028',
    'configuration.md · Deployment file · computer',
    'A repo object takes `url` (1 to 2048, required), `ref` (1 to 200), `path` (1 to 200) and `token`.',
  ],
  [
    'DFILE-029',
    'configuration.md · Deployment file · computer',
    "A repo object without `ref` means main, without `path` the repo's name.",
  ],
  [
    'DFILE-030',
    'configuration.md · Deployment file · computer',
    'A repo `token` is a company secret written `${NAME}`.',
  ],
  [
    'DFILE-031',
    'configuration.md · Deployment file · computer',
    'An unreadable repo address answers 400 `invalid_repo`.',
  ],
  [
    'DFILE-032',
    'configuration.md · Deployment file · computer',
    '`computer.env` maps strings to strings, with credentials written `${NAME}`.',
  ],
  [
    'DFILE-033',
    'configuration.md · Deployment file · computer',
    '`computer.files` takes at most 50 of `{file_id, path}`, both required, `path` 1 to 200.',
  ],
  [
    'DFILE-034',
    'configuration.md · Deployment file · routines',
    "A routine entry's `name` takes 1 to 200 characters and is the start of `ask` when absent.",
  ],
  [
    'DFILE-035',
    'configuration.md · Deployment file · routines',
    "A routine entry's `ask` is required and takes 1 to 8000 characters.",
  ],
  [
    'DFILE-036',
    'configuration.md · Deployment file · routines',
    'A routine entry takes `every` in plain words and `for`, whom it runs for.',
  ],
  [
    'DFILE-037',
    'configuration.md · Deployment file · routines',
    'A routine of the same name on the next apply is changed, not made again.',
  ],
  ['DFILE-038', 'decisions.md · 6', '`limits.per_task_usd` and `limits.per_turn_usd` take 0.01 to 1000.'],
  ['DFILE-039', 'decisions.md · 6', '`limits.max_steps` takes 1 to 500 and is 100 when absent.'],
  ['DFILE-040', 'decisions.md · 6', '`limits.max_minutes` takes 1 to 240 and is 60 when absent.'],
  ['DFILE-041', 'decisions.md · 6', '`limits.ask_above_usd` is the price above which a paid tool asks first.'],
  ['DFILE-042', 'decisions.md · 6', '`webhooks` takes at most 10 of `{url, events, description?}`.'],
  [
    'DFILE-043',
    'decisions.md · 6',
    'A file routine also takes `cron`, `timezone`, `on: call`, `filters` and `enabled`.',
  ],
  [
    'DFILE-044',
    'decisions.md · 6',
    "A file routine's `for` is a user id, a list of at most 100, or absent for the org's own agent.",
  ],
  ['DFILE-045', 'decisions.md · 9', 'A `model` that is not listed answers 400 `invalid_manifest` on `model`.'],
  ['DFILE-046', 'decisions.md · 9', 'A raw value as a repo `token` answers 400 `raw_secret_in_header` on its `param`.'],
  [
    'DFILE-047',
    'decisions.md · 9',
    'An unknown skill, notebook or file id in a file answers 400 `invalid_manifest` on its `param`.',
  ],
  [
    'DFILE-048',
    'decisions.md · 9',
    'In `tests` `name`, `ask` and `expect` are required and the limits of scenarios apply.',
  ],
  [
    'DFILE-049',
    'decisions.md · 9',
    '`memory: customer` in a file while the org has no endpoint answers 400 `memory_endpoint_required`.',
  ],
  ['DFILE-141', 'decisions.md · 9', 'A test without `expect` is told that the field is required.'],
  [
    'DFILE-300',
    'docs/reference.md · The schema of service.yaml',
    'The JSON Schema of the file takes every example and refuses a wrong file at its place; its id names its version.',
  ],
]);
