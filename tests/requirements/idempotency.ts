import { area } from '../requirement.ts';

export const idempotency = area('idempotency', 'done', [
  [
    'IDEM-001',
    'configuration.md · Conventions',
    'A create route takes an optional header `Idempotency-Key` of 1 to 255 characters.',
  ],
  [
    'IDEM-002',
    'configuration.md · Conventions',
    'An empty `Idempotency-Key`, or one of 256 characters, answers 400 `invalid_idempotency_key`.',
  ],
  [
    'IDEM-003',
    'configuration.md · Conventions',
    'The same key with the same request within 24 hours makes one resource and answers it again.',
  ],
  ['IDEM-004', 'configuration.md · Conventions', 'After 24 hours a key is forgotten: the same request runs anew.'],
  ['IDEM-005', 'decisions.md · 4', "A key is bound to its org: another org's use of the same key runs on its own."],
  ['IDEM-006', 'decisions.md · 4', "A key is bound to its mode: the other mode's use of the same key runs on its own."],
  ['IDEM-007', 'decisions.md · 4', 'A key is bound to its route: the same key on another route runs on its own.'],
  ['IDEM-008', 'decisions.md · 4', 'The same key with another body answers 409 `idempotency_key_reused`.'],
  ['IDEM-009', 'decisions.md · 4', "A replay gives the first answer's status and body byte for byte."],
  ['IDEM-010', 'decisions.md · 4', 'A replay carries header `Idempotent-Replayed: true`; a first answer does not.'],
  [
    'IDEM-011',
    'decisions.md · 4',
    'An answer outside 2xx is not kept: the same key may then run the corrected request.',
  ],
  [
    'IDEM-012',
    'decisions.md · 4',
    'Of concurrent calls with one key exactly one runs, and the others answer what it answered.',
  ],
  [
    'IDEM-013',
    'decisions.md · 4',
    'A call that waits 30 seconds for another with its key answers 409 `idempotency_in_progress`.',
  ],
  ['IDEM-014', 'decisions.md · 4', 'A create, its event and its job are committed together or not at all.'],
  [
    'IDEM-015',
    'decisions.md · 4',
    'A kept answer that shows a secret once (key, webhook, session) lies encrypted at rest and replays in clear.',
  ],
  [
    'IDEM-016',
    'decisions.md · 4',
    'A multipart request is compared by its content, so another boundary with the same parts is a replay.',
  ],
  [
    'IDEM-017',
    'decisions.md · 4',
    'A replayed message with `stream: true` streams the events of that same turn again.',
  ],
  [
    'IDEM-018',
    'decisions.md · 4',
    'The create routes that take the header are those the route tables mark with it: deployments, scenarios, generate, notebooks, documents, skills, MCP servers, conversations, batches, routines, users, memory, files.',
  ],
]);
