import { area } from '../requirement.ts';

export const start = area('start', 'done', [
  [
    'START-001',
    'docs/server-reference.md#settings-of-the-start',
    '`npm start` listens on 127.0.0.1:4600 unless `HOST` or `PORT` say otherwise.',
  ],
  [
    'START-002',
    'docs/server-reference.md#settings-of-the-start',
    '`VESTRA_DATA_DIR` holds the embedded Postgres, files, browsers, computers and the master key; absent: `.vestra/`.',
  ],
  [
    'START-003',
    'docs/server-reference.md#settings-of-the-start',
    'Without `DATABASE_URL` an embedded PostgreSQL is started in the data folder.',
  ],
  [
    'START-004',
    'docs/server-reference.md#settings-of-the-start',
    'With `DATABASE_URL` that database is used and no Postgres is started.',
  ],
  [
    'START-005',
    'docs/model-settings.md#providers',
    "Each of `ANTHROPIC_API_KEY`, `OPENAI_API_KEY`, `GOOGLE_GENERATIVE_AI_API_KEY` that is set adds its provider's models.",
  ],
  [
    'START-006',
    'docs/model-settings.md#providers',
    "`ANTHROPIC_BASE_URL` and `OPENAI_BASE_URL` send that provider's calls there.",
  ],
  [
    'START-007',
    'docs/model-settings.md#providers',
    '`OPENAI_COMPATIBLE_BASE_URL`, `OPENAI_COMPATIBLE_API_KEY` and `OPENAI_COMPATIBLE_MODELS` add the models `compatible/<name>` of any chat-completions endpoint.',
  ],
  ['START-008', 'docs/model-settings.md#providers', '`VESTRA_DEFAULT_MODEL` sets the meaning of `default`.'],
  [
    'START-009',
    'docs/model-settings.md#providers',
    "Without `VESTRA_DEFAULT_MODEL`, `default` is the first available provider's model, and `offline` if there is no provider.",
  ],
  [
    'START-010',
    'docs/server-reference.md#settings-of-the-start',
    '`VESTRA_ROLE` accepts `all`, `api` and `worker` and is `all` when absent.',
  ],
  [
    'START-011',
    'docs/server-reference.md#settings-of-the-start',
    'A process with role `api` runs no jobs and one with role `worker` serves no API.',
  ],
  [
    'START-012',
    'docs/server-reference.md#settings-of-the-start',
    'Several processes on one Postgres share the work, and nothing runs twice.',
  ],
  [
    'START-013',
    'docs/server-reference.md#settings-of-the-start',
    'Without `VESTRA_ALLOW_PRIVATE_ADDRESSES` webhooks, MCP servers and browsers reach no private or loopback address.',
  ],
  [
    'START-014',
    'docs/server-reference.md#settings-of-the-start',
    'With `VESTRA_ALLOW_PRIVATE_ADDRESSES=1` webhooks, MCP servers and browsers reach private and loopback http addresses.',
  ],
  [
    'START-015',
    'docs/server-reference.md#settings-of-the-start',
    'The first start creates an org, a test key, a live key and an owner and shows them on a terminal.',
  ],
  [
    'START-016',
    'docs/server-reference.md#settings-of-the-start',
    'The first start writes `credentials.json` into the data folder with mode 0600: `{org_id, test_key, live_key, owner: {email, password}, url}`.',
  ],
  [
    'START-017',
    'docs/server-reference.md#settings-of-the-start',
    'A second start creates no further org, key or owner, and the data of the first is there.',
  ],
  [
    'START-018',
    'docs/server-reference.md#settings-of-the-start',
    '`VESTRA_ALLOW_PRIVATE_ADDRESSES` opens private and loopback http only; public http stays refused.',
  ],
  [
    'START-019',
    'docs/server-reference.md#settings-of-the-start',
    '`VESTRA_ALLOW_PRIVATE_ADDRESSES` also covers the memory endpoint, OTLP and repositories.',
  ],
  [
    'START-020',
    'docs/operating.md#starting-and-stopping',
    'SIGTERM or ctrl-C to `npm start` ends the server and its database, also when the signal comes twice or during the start.',
  ],
  [
    'START-021',
    'docs/operating.md#starting-and-stopping',
    'A root-owned data folder that is closed by its mode keeps its database inside and is made passable.',
  ],
  [
    'START-101',
    'docs/operating.md#starting-and-stopping',
    'If standard output is no terminal, the first start shows no key and no password and names the file that has them.',
  ],
  [
    'START-103',
    'docs/operating.md#the-data-folder',
    'A database unpacked from the ready-made one has a separate password, and the settings of one that was created on the spot.',
  ],
  [
    'START-102',
    'docs/cli.md#choose-a-server-and-key',
    'Each start writes its address into `credentials.json`, and a command in that folder calls the server there.',
  ],
  [
    'START-630',
    'docs/models.md#your-own-model-server',
    '`OPENAI_COMPATIBLE_BASE_URL` alone makes the first listed model the default in both modes, also if the endpoint starts later; `VESTRA_DEFAULT_MODEL` and keys of other providers come first.',
  ],
  [
    'START-631',
    'docs/models.md#your-own-model-server',
    'The start names the default model of a compatible endpoint, or reports in one sentence why it offers none, with an example; it neither fails nor waits long for it.',
  ],
  [
    'START-632',
    'docs/model-reference.md#provider-requests',
    'An address of a provider without http or https stops the start, with an example.',
  ],
  [
    'START-680',
    'docs/operating.md#starting-and-stopping',
    'A rejected promise that nobody handles is logged; the process keeps serving.',
  ],
]);
