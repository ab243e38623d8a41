import { area } from '../requirement.ts';

export const errors = area('errors', 'done', [
  [
    'ERR-001',
    'runtime.md · Errors',
    'Every error answers one body `{error: {type, code, message, request_id}}`, with the optional fields only where they apply.',
  ],
  ['ERR-002', 'runtime.md · Errors', '`param` is absent when no single field is at fault.'],
  ['ERR-003', 'runtime.md · Errors', '`names` appears with `secret_missing` and lists the company secrets to store.'],
  [
    'ERR-004',
    'runtime.md · Errors',
    '`deployments` appears with `mcp_server_shared` and lists the other deployments that run the server.',
  ],
  [
    'ERR-005',
    'runtime.md · Errors',
    '`partial` appears with `timeout` on a browser fetch and holds what the page had sent.',
  ],
  ['ERR-006', 'runtime.md · Errors', '`retry_after_ms` appears with `browser_busy`.'],
  ['ERR-007', 'runtime.md · Errors', '`request_id` is present in every error body.'],
  ['ERR-008', 'runtime.md · Errors', 'Each error type stands for its own statuses, one type per status.'],
  ['ERR-009', 'decisions.md · 3', '400, 405, 413 and 415 answer type `invalid_request`.'],
  ['ERR-010', 'decisions.md · 3', '401 answers type `authentication`.'],
  ['ERR-011', 'decisions.md · 3', '402 answers type `cap_reached`.'],
  ['ERR-012', 'decisions.md · 3', '403 answers type `permission`.'],
  ['ERR-013', 'decisions.md · 3', '404 answers type `not_found`.'],
  ['ERR-014', 'decisions.md · 3', '409 answers type `conflict`.'],
  ['ERR-015', 'decisions.md · 3', '429 answers type `rate_limited`.'],
  ['ERR-016', 'decisions.md · 3', '502, 503 and 504 answer type `upstream`.'],
  ['ERR-017', 'decisions.md · 3', '500 answers type `internal`.'],
  [
    'ERR-018',
    'decisions.md · 3',
    '501 `not_implemented` (type `internal`) is answered only by a route without a handler, so no route of the finished table answers it.',
  ],
  ['ERR-019', 'decisions.md · 3', '503 `not_ready` is answered while the server cannot serve yet or is going down.'],
  [
    'ERR-020',
    'decisions.md · 3',
    "502 `model_error` is answered, or recorded on the turn or task, when the model's provider fails.",
  ],
  [
    'ERR-021',
    'decisions.md · 3',
    'Every code that the server answers stands in the one catalogue, with one status (`file_too_large` alone has two).',
  ],
  ['ERR-022', 'decisions.md · 3', '`message` is a sentence for people and is never empty.'],
  ['ERR-600', 'decisions.md · 12', 'An error quotes at most the beginning of a long name that the caller sent.'],
]);
