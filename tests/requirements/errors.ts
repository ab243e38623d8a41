import { area } from '../requirement.ts';

export const errors = area('errors', 'done', [
  [
    'ERR-001',
    'docs/requests.md#errors',
    'Every error has one body `{error: {type, code, message, request_id}}`, with the optional fields only if they apply.',
  ],
  ['ERR-002', 'docs/requests.md#errors', '`param` is absent when no single field is at fault.'],
  [
    'ERR-003',
    'docs/requests.md#errors',
    '`names` appears with `secret_missing` and lists the company secrets to store.',
  ],
  [
    'ERR-004',
    'docs/requests.md#errors',
    '`deployments` appears with `mcp_server_shared` and lists the other deployments that run the server.',
  ],
  [
    'ERR-005',
    'docs/requests.md#errors',
    '`partial` appears with `timeout` on a browser fetch and holds what the page had sent.',
  ],
  ['ERR-006', 'docs/requests.md#errors', '`retry_after_ms` appears with `browser_busy`.'],
  ['ERR-007', 'docs/requests.md#errors', '`request_id` is present in every error body.'],
  ['ERR-008', 'docs/requests.md#errors', 'Each error type stands for its own statuses, one type per status.'],
  ['ERR-009', 'docs/requests.md#errors', '400, 405, 413 and 415 answer type `invalid_request`.'],
  ['ERR-010', 'docs/requests.md#errors', '401 answers type `authentication`.'],
  ['ERR-011', 'docs/requests.md#errors', '402 answers type `cap_reached`.'],
  ['ERR-012', 'docs/requests.md#errors', '403 answers type `permission`.'],
  ['ERR-013', 'docs/requests.md#errors', '404 answers type `not_found`.'],
  ['ERR-014', 'docs/requests.md#errors', '409 answers type `conflict`.'],
  ['ERR-015', 'docs/requests.md#errors', '429 answers type `rate_limited`.'],
  ['ERR-016', 'docs/requests.md#errors', '502, 503 and 504 answer type `upstream`.'],
  ['ERR-017', 'docs/requests.md#errors', '500 answers type `internal`.'],
  [
    'ERR-018',
    'docs/requests.md#errors',
    '501 `not_implemented` (type `internal`) is answered only by a route without a handler, so no route of the finished table answers it.',
  ],
  [
    'ERR-019',
    'docs/requests.md#errors',
    '503 `not_ready` is answered while the server cannot serve yet or is going down.',
  ],
  [
    'ERR-020',
    'docs/requests.md#errors',
    "502 `model_error` is answered, or recorded on the turn or task, when the model's provider fails.",
  ],
  [
    'ERR-021',
    'docs/requests.md#errors',
    'Every code that the server answers stands in the one catalogue, with one status (`file_too_large` alone has two).',
  ],
  ['ERR-022', 'docs/requests.md#errors', '`message` is a sentence for people and is never empty.'],
  ['ERR-600', 'docs/requests.md#errors', 'An error quotes at most the beginning of a long name that the caller sent.'],
]);
