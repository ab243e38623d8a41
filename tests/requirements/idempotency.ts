import { area } from '../requirement.ts';

export const idempotency = area('idempotency', 'done', [
  [
    'IDEM-001',
    'docs/requests.md#idempotency',
    'A create route accepts an optional header `Idempotency-Key` of 1 to 255 characters.',
  ],
  [
    'IDEM-002',
    'docs/requests.md#idempotency',
    'An empty `Idempotency-Key`, or one of 256 characters, answers 400 `invalid_idempotency_key`.',
  ],
  [
    'IDEM-003',
    'docs/requests.md#idempotency',
    'The same key with the same request within 24 hours creates one resource and returns it again.',
  ],
  ['IDEM-004', 'docs/requests.md#idempotency', 'After 24 hours a key is forgotten: the same request runs again.'],
  [
    'IDEM-005',
    'docs/requests.md#idempotency',
    "A key is bound to its org: another org's use of the same key runs on its own.",
  ],
  [
    'IDEM-006',
    'docs/requests.md#idempotency',
    "A key is bound to its mode: the other mode's use of the same key runs on its own.",
  ],
  [
    'IDEM-007',
    'docs/requests.md#idempotency',
    'A key is bound to its route: the same key on another route runs on its own.',
  ],
  ['IDEM-008', 'docs/requests.md#idempotency', 'The same key with another body answers 409 `idempotency_key_reused`.'],
  ['IDEM-009', 'docs/requests.md#idempotency', "A replay gives the first answer's status and body byte for byte."],
  [
    'IDEM-010',
    'docs/requests.md#idempotency',
    'A replay carries header `Idempotent-Replayed: true`; a first answer does not.',
  ],
  [
    'IDEM-011',
    'docs/requests.md#idempotency',
    'A response outside 2xx is not stored: the same key may then run the corrected request.',
  ],
  [
    'IDEM-012',
    'docs/requests.md#idempotency',
    'If several calls with one key arrive at once, exactly one runs, and the others get its response.',
  ],
  [
    'IDEM-013',
    'docs/requests.md#idempotency',
    'A call that waits 30 seconds for another with its key answers 409 `idempotency_in_progress`.',
  ],
  [
    'IDEM-014',
    'docs/architecture.md#durability',
    'A create, its event and its job are committed together or not at all.',
  ],
  [
    'IDEM-015',
    'docs/requests.md#idempotency',
    'A stored response that shows a secret once (key, webhook, session) is encrypted at rest and replays in clear.',
  ],
  [
    'IDEM-016',
    'docs/requests.md#idempotency',
    'A multipart request is compared by its content, so another boundary with the same parts is a replay.',
  ],
  [
    'IDEM-017',
    'docs/requests.md#idempotency',
    'A replayed message with `stream: true` streams the events of that same turn again.',
  ],
  [
    'IDEM-018',
    'docs/requests.md#idempotency',
    'The create routes that take the header are those the route tables mark with it: deployments, scenarios, generate, notebooks, documents, skills, MCP servers, conversations, batches, routines, users, memory, files.',
  ],
  [
    'IDEM-700',
    'docs/benchmarks.md#postgresql-writes-of-a-create',
    'A create with an Idempotency-Key sends its claim with its first statement, and its audit entry, event, jobs and response with the COMMIT.',
  ],
]);
