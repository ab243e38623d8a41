import { area } from '../requirement.ts';

export const audit = area('audit', 'done', [
  [
    'AUD-001',
    'docs/api/audit-log.md#get-v1audit-log',
    '`GET /v1/audit-log` lists key uses, settings changes and approval answers, newest first.',
  ],
  [
    'AUD-002',
    'docs/security.md#the-audit-log',
    'A change of org, limits, keys, secrets, deployments, MCP servers, webhooks or members writes an audit row.',
  ],
  [
    'AUD-003',
    'docs/security.md#the-audit-log',
    'An answer to an approval writes an audit row that names who answered.',
  ],
  [
    'AUD-004',
    'docs/api/audit-log.md#auditentry',
    'An audit row is `{object: audit_entry, id, action, actor: {type, id, name}, target, ip, request_id, details, created_at}`, `target` `{type, id}` or null, `ip` or null.',
  ],
  [
    'AUD-005',
    'docs/api/audit-log.md#auditentry',
    '`actor.type` is `key`, `member`, `session` or `system` after who acted.',
  ],
  [
    'AUD-006',
    'docs/api/audit-log.md#get-v1audit-log',
    'The audit log filters by `action`, `actor_id`, `from` and `to`.',
  ],
  [
    'AUD-007',
    'docs/security.md#the-audit-log',
    'The use of a key is one row per key and minute, with a count of its requests.',
  ],
  [
    'AUD-008',
    'docs/security.md#the-audit-log',
    'The count of key use equals the number of requests that the key made in that minute.',
  ],
  ['AUD-009', 'docs/api/audit-log.md#get-v1audit-log', 'The audit log needs scope `admin` or `all`.'],
  [
    'AUD-010',
    'docs/browser.md#rules-of-a-fetch',
    'A blocked page writes an audit row `browser.page_blocked` with host and path and without the query.',
  ],
  ['AUD-240', 'docs/security.md#the-audit-log', 'The times of the entries follow their order: newest first.'],
]);
