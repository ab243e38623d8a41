import { fail } from '@vestra/contract/errors';
import { newId } from '@vestra/contract/ids';
import { recordAudit } from '../../account/index.ts';
import type { Origin } from '../../platform/caller.ts';
import type { Transaction } from '../../platform/db/pool.ts';
import type { Headers } from './mcp-server.ts';
import { insertServer } from './store.ts';
import type { ServerRow } from './tables.ts';

type NewServer = {
  slug: string;
  name: string;
  url: string;
  headers: Headers;
  deny?: readonly string[];
  require_approval?: readonly string[];
  sampling?: boolean;
};

export async function createServer(tx: Transaction, origin: Origin, wanted: NewServer): Promise<ServerRow> {
  const row = await registerServer(tx, origin, wanted);
  if (!row) throw fail('slug_taken', { param: 'slug', message: `Another server has the slug \`${wanted.slug}\`.` });
  return row;
}

/** With an empty floor unless one is given; nothing, where the slug is taken. */
export async function registerServer(
  tx: Transaction,
  origin: Origin,
  { slug, name, url, headers, deny = [], require_approval = [], sampling = false }: NewServer,
): Promise<ServerRow | undefined> {
  const row = await insertServer(tx, {
    id: newId('mcp'),
    org_id: origin.orgId,
    slug,
    name,
    url,
    headers,
    deny: [...deny],
    require_approval: [...require_approval],
    sampling,
  });
  if (!row) return undefined;
  await recordAudit(tx, origin, {
    action: 'mcp_server.created',
    target: { type: 'mcp_server', id: row.id },
    details: { slug },
  });
  return row;
}
