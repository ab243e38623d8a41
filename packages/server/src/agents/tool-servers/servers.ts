import type { Api } from '@vestra/contract/api';
import { type ErrorCode, fail } from '@vestra/contract/errors';
import { newId } from '@vestra/contract/ids';
import type { ResponseOf } from '@vestra/contract/route';
import { readSecrets, recordAudit } from '../../account/index.ts';
import type { Caller, Origin, Tenant } from '../../platform/caller.ts';
import type { Database, Transaction } from '../../platform/db/pool.ts';
import type { Vault } from '../../platform/secrets/vault.ts';
import type { McpClient } from '../mcp-client/mcp-client.ts';
import { lockVersions, markMissing } from '../versions/store.ts';
import { assertNotInLiveUse, type RepublishLive } from '../versions/versions.ts';
import { cutText, notesOn, shownDescription, shownInstructions } from './model-tools.ts';
import { withResourceTools } from './offered-tools.ts';
import {
  authOf,
  createHider,
  differences,
  fillHeaders,
  mayChangeLiveTraffic,
  type ServerChanges,
  type ServerHeaders,
  secretsOf,
} from './server-settings.ts';
import { deleteServer, forgetOutages, insertServer, lockServer, updateRow } from './store.ts';
import type { ServerRow } from './tables.ts';

type NewServer = {
  slug: string;
  name: string;
  url: string;
  headers: ServerHeaders;
  deny?: readonly string[];
  require_approval?: readonly string[];
  sampling?: boolean;
};

export async function createServer(tx: Transaction, origin: Origin, wanted: NewServer): Promise<ServerRow> {
  const row = await registerServer(tx, origin, wanted);
  if (!row) throw fail('slug_taken', { param: 'slug', message: `Another server has the slug \`${wanted.slug}\`.` });
  return row;
}

/** Registers a server, with no tool rules by default. Returns undefined if the slug is taken. */
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

/** A change without effect needs no permission for live traffic and writes no audit entry. */
export async function changeServer(
  tx: Transaction,
  { caller, origin, republishLive }: { caller: Caller; origin: Origin; republishLive: RepublishLive },
  serverId: string,
  wanted: ServerChanges,
): Promise<ServerRow> {
  await lockVersions(tx, caller.orgId);
  const before = await lockServer(tx, caller.orgId, serverId, 'no key update');
  if (!before) throw fail('mcp_server_not_found');
  const changes = differences(before, wanted);
  if (Object.keys(changes).length === 0) return before;
  await assertMayChange(tx, caller, serverId);
  const server = await updateServer(tx, origin, serverId, changes);
  if (changes.url !== undefined || changes.headers !== undefined)
    await republishAccess(tx, origin, server, republishLive);
  return server;
}

/** A version only uses the URL and headers it fixed, so each live version gets a successor with the new ones. */
const republishAccess = (
  tx: Transaction,
  origin: Origin,
  { id, slug, url, headers }: ServerRow,
  republishLive: RepublishLive,
) =>
  republishLive(tx, { ...origin, mode: 'live' }, id, ({ manifest, content }) => ({
    manifest: {
      ...manifest,
      mcp_servers: manifest.mcp_servers.map((server) => (server.id === id ? { ...server, url } : server)),
    },
    content: { ...content, servers: { ...content.servers, [id]: { headers } } },
    changed: 'mcp_servers',
    note: `The URL or the headers of the tool server \`${slug}\` were changed.`,
  }));

/** Check the caller's permission first. */
export async function updateServer(
  tx: Transaction,
  origin: Origin,
  serverId: string,
  changes: ServerChanges,
): Promise<ServerRow> {
  const row = await updateRow(tx, origin.orgId, serverId, changes);
  if (!row) throw fail('mcp_server_not_found');
  await recordAudit(tx, origin, {
    action: 'mcp_server.updated',
    target: { type: 'mcp_server', id: serverId },
    details: { changed: Object.keys(changes) },
  });
  return row;
}

/** Live versions get a successor without the server. Every version that uses it lists it as missing. */
export async function removeServer(
  tx: Transaction,
  { caller, origin, republishLive }: { caller: Caller; origin: Origin; republishLive: RepublishLive },
  serverId: string,
): Promise<void> {
  await lockVersions(tx, caller.orgId);
  const server = await lockServer(tx, caller.orgId, serverId, 'update');
  if (!server) throw fail('mcp_server_not_found');
  await assertMayChange(tx, caller, serverId);
  await deleteServer(tx, caller.orgId, serverId);
  await republishLive(tx, { ...origin, mode: 'live' }, serverId, ({ manifest, content }) => {
    const { [server.slug]: _gone, ...policies } = manifest.mcp_tool_policy;
    const named = manifest.mcp_servers.filter(({ id }) => id !== serverId);
    return {
      manifest: { ...manifest, mcp_servers: named, mcp_tool_policy: policies },
      content,
      changed: 'mcp_servers',
      note: `The tool server \`${server.slug}\` was deleted.`,
    };
  });
  await markMissing(tx, caller.orgId, serverId);
  await forgetOutages(tx, caller.orgId, serverId);
  await recordAudit(tx, origin, {
    action: 'mcp_server.deleted',
    target: { type: 'mcp_server', id: serverId },
    details: { slug: server.slug },
  });
}

/**
 * Throws 409 `mcp_server_live` if the caller may not change live traffic, and a live version or one on the rollback
 * stack uses the server. Archived deployments count. Call it only after `lockVersions`: otherwise a promotion could
 * slip in between.
 */
export async function assertMayChange(
  tx: Transaction,
  caller: Caller,
  serverId: string,
  param?: string,
): Promise<void> {
  if (mayChangeLiveTraffic(caller)) return;
  await assertNotInLiveUse(tx, caller.orgId, serverId, {
    code: 'mcp_server_live',
    ...(param !== undefined && { param }),
  });
}

type CheckAnswer = ResponseOf<Api['mcpServers']['check']>;

const maxNameLength = 128;

/** Calls the server with the company's secrets of the mode, and returns the tools that it offers. */
export async function checkServer(
  { db, vault, client }: { db: Database; vault: Vault; client: McpClient },
  tenant: Tenant,
  server: ServerRow,
  signal: AbortSignal,
): Promise<CheckAnswer> {
  const { company, user } = secretsOf(server.headers);
  if (user.length > 0) {
    return failed('secret_missing', `The headers need each user’s own ${listed(user)}, and a check runs for no user.`);
  }
  const secrets = await readSecrets(db, vault, tenant, null, company);
  const missing = company.filter((name) => !secrets.has(name));
  if (missing.length > 0) {
    return failed('secret_missing', `Store ${listed(missing)} in ${tenant.mode} mode first: PUT /v1/secrets/{name}.`);
  }
  const { headers, unsendable } = fillHeaders(server.headers, { company: secrets, user: new Map() });
  if (unsendable.length > 0) {
    return failed(
      'invalid_request',
      `With its secrets filled in, the header ${listed(unsendable)} holds a line break or another character that HTTP does not carry.`,
    );
  }
  const startedAt = performance.now();
  const answer = await client.listTools({ url: server.url, headers }, { signal, mayAskModel: server.sampling });
  const duration_ms = Math.round(performance.now() - startedAt);
  if (!answer.ok) return { ...failed(answer.code, answer.message), duration_ms };
  const list = withResourceTools(answer);
  // A server may repeat its credentials, and a caller who may check it need not know them.
  const shown = createHider(secrets.values());
  return {
    ok: true,
    tools: list.tools.map(({ name, description, isReadOnly }) => ({
      name: cutText(shown(name), maxNameLength),
      description: shownDescription(shown(description)),
      read_only: isReadOnly,
    })),
    instructions: shownInstructions(list.instructions, shown),
    notes: notesOn(list, shown),
    duration_ms,
    error: null,
  };
}

const failed = (code: ErrorCode, message: string): CheckAnswer => ({
  ok: false,
  tools: [],
  instructions: null,
  notes: [],
  duration_ms: 0,
  error: { code, message },
});

const listed = (names: readonly string[]) => names.map((name) => `\`${name}\``).join(', ');

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
