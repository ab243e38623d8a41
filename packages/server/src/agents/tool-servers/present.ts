import { authOf, secretsOf } from './mcp-server.ts';
import type { ServerRow } from './tables.ts';

export function presentServer(row: ServerRow) {
  const { company, user } = secretsOf(row.headers);
  return {
    object: 'mcp_server' as const,
    id: row.id,
    slug: row.slug,
    name: row.name,
    url: row.url,
    auth: authOf(row.headers),
    tools: { deny: row.deny, require_approval: row.require_approval },
    sampling: row.sampling,
    secrets: company,
    user_secrets: user,
    created_at: row.created_at.toISOString(),
    updated_at: row.updated_at.toISOString(),
  };
}
