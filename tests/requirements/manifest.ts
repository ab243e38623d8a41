import { area } from '../requirement.ts';

export const manifest = area('manifest', 'done', [
  [
    'MAN-001',
    'docs/api/deployments.md#deploymentversion',
    '`manifest` accepts the keys `instructions`, `language`, `model`, `reasoning`, `opening`, `mcp_servers`, `mcp_tool_policy`, `apps`, `approvals`, `memory`, `notebooks`, `skills`, `tools`, `environment`, `browser`, `limits` and no others.',
  ],
  [
    'MAN-002',
    'docs/api/deployments.md#deploymentversion',
    'A manifest key left out takes its default in the saved version.',
  ],
  [
    'MAN-003',
    'docs/deployment-file-reference.md#the-manifest',
    'A rule of the file holds for the same setting in `manifest`.',
  ],
  [
    'MAN-004',
    'docs/deployment-file-reference.md#the-manifest',
    'Function entries of the file stand in the manifest as `tools`.',
  ],
  [
    'MAN-005',
    'docs/deployment-file-reference.md#the-manifest',
    'MCP entries of the file stand in the manifest as `mcp_servers`, `[{id, slug, url}]`.',
  ],
  [
    'MAN-006',
    'docs/deployment-file-reference.md#the-manifest',
    'The tool lists of MCP entries stand in the manifest as `mcp_tool_policy`, `{<slug>: {deny, require_approval, run_without_asking}}`.',
  ],
  [
    'MAN-007',
    'docs/deployment-file-reference.md#the-manifest',
    '`knowledge` of the file stands in the manifest as `notebooks`, a list of `nb_` ids.',
  ],
  [
    'MAN-008',
    'docs/deployment-file-reference.md#the-manifest',
    '`computer` of the file stands in the manifest as `environment`.',
  ],
  [
    'MAN-009',
    'docs/deployment-file-reference.md#the-manifest',
    'All other file keys keep their names in the manifest.',
  ],
  [
    'MAN-010',
    'docs/deployment-file-reference.md#the-manifest',
    '`tests`, `routines` and `webhooks` of a file are stored beside the manifest, not in it.',
  ],
  [
    'MAN-011',
    'docs/deployment-file-reference.md#the-manifest',
    'An unknown key in a manifest answers 400 `invalid_manifest` with the key in `param`.',
  ],
  [
    'MAN-012',
    'docs/deployment-file.md',
    "A refused manifest or file carries `errors: [{code, param, message}]` with every fault found, `code` and `param` being the first's.",
  ],
  [
    'MAN-013',
    'docs/deployment-file-reference.md#the-manifest',
    '`mcp_tool_policy` naming a server that `mcp_servers` does not list answers 400 `mcp_server_not_listed`.',
  ],
  [
    'MAN-014',
    'docs/deployment-file.md',
    '`param` of a fault inside a manifest starts with `manifest.`, inside a file it does not.',
  ],
  ['MAN-015', 'docs/deployment-file.md', 'Too many items name the list in `param`; a bad item names `list.N`.'],
]);
