import { area } from '../requirement.ts';

export const manifest = area('manifest', 'done', [
  [
    'MAN-001',
    'configuration.md · Deployment file',
    '`manifest` takes the keys `instructions`, `language`, `model`, `mcp_servers`, `mcp_tool_policy`, `apps`, `approvals`, `memory`, `notebooks`, `skills`, `tools`, `environment`, `browser`, `limits` and no others.',
  ],
  ['MAN-002', 'configuration.md · Deployment file', 'A manifest key left out takes its default in the saved version.'],
  ['MAN-003', 'configuration.md · Deployment file', 'A rule of the file holds for the same setting in `manifest`.'],
  ['MAN-004', 'decisions.md · 6', 'Function entries of the file stand in the manifest as `tools`.'],
  [
    'MAN-005',
    'decisions.md · 6',
    'MCP entries of the file stand in the manifest as `mcp_servers`, `[{id, slug, url}]`.',
  ],
  [
    'MAN-006',
    'decisions.md · 6',
    'The tool lists of MCP entries stand in the manifest as `mcp_tool_policy`, `{<slug>: {deny, require_approval, run_without_asking}}`.',
  ],
  [
    'MAN-007',
    'decisions.md · 6',
    '`knowledge` of the file stands in the manifest as `notebooks`, a list of `nb_` ids.',
  ],
  ['MAN-008', 'decisions.md · 6', '`computer` of the file stands in the manifest as `environment`.'],
  ['MAN-009', 'decisions.md · 6', 'All other file keys keep their names in the manifest.'],
  [
    'MAN-010',
    'decisions.md · 6',
    '`tests`, `routines` and `webhooks` of a file are kept beside the manifest, not in it.',
  ],
  [
    'MAN-011',
    'decisions.md · 3',
    'An unknown key in a manifest answers 400 `invalid_manifest` with the key in `param`.',
  ],
  [
    'MAN-012',
    'decisions.md · 3',
    "A refused manifest or file carries `errors: [{code, param, message}]` with every fault found, `code` and `param` being the first's.",
  ],
  [
    'MAN-013',
    'decisions.md · 9',
    '`mcp_tool_policy` naming a server that `mcp_servers` does not list answers 400 `mcp_server_not_listed`.',
  ],
  [
    'MAN-014',
    'decisions.md · 9',
    '`param` of a fault inside a manifest starts with `manifest.`, inside a file it does not.',
  ],
  ['MAN-015', 'decisions.md · 9', 'Too many items name the list in `param`; a bad item names `list.N`.'],
]);
