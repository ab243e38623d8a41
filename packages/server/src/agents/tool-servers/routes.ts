import { fail } from '@vestra/contract/errors';
import type { Database } from '../../platform/db/pool.ts';
import { transaction } from '../../platform/db/transaction.ts';
import type { Handlers } from '../../platform/http/handler.ts';
import type { Vault } from '../../platform/secrets/vault.ts';
import type { McpClient } from '../mcp-client/mcp-client.ts';
import type { RepublishLive } from '../versions/versions.ts';
import { type AssertCallable, assertAcceptable, headersOf, type ServerChanges } from './server-settings.ts';
import { changeServer, checkServer, createServer, presentServer, removeServer } from './servers.ts';
import { findServer, listServers } from './store.ts';

type McpServerDependencies = {
  db: Database;
  vault: Vault;
  client: McpClient;
  assertCallable: AssertCallable;
  republishLive: RepublishLive;
};

export function mcpServerRoutes({
  db,
  vault,
  client,
  assertCallable,
  republishLive,
}: McpServerDependencies): Handlers<'mcpServers'> {
  return {
    list: async ({ caller, page }) =>
      page.of(await listServers(db, caller.orgId, page), presentServer, (row) => [row.id]),
    create: async ({ origin, body, commit }) => {
      assertAcceptable(body, assertCallable);
      const { name, slug, url, auth, tools, sampling } = body;
      const wanted = { name, slug, url, headers: headersOf(auth), ...toolRulesOf(tools), sampling };
      return commit(async (tx) => presentServer(await createServer(tx, origin, wanted)));
    },
    get: async ({ caller, params }) => presentServer(await serverOf(caller.orgId, params.server_id)),
    update: async ({ caller, origin, params, body }) => {
      assertAcceptable(body, assertCallable);
      const wanted: ServerChanges = {
        ...(body.name !== undefined && { name: body.name }),
        ...(body.url !== undefined && { url: body.url }),
        ...(body.auth !== undefined && { headers: headersOf(body.auth) }),
        ...toolRulesOf(body.tools ?? {}),
        ...(body.sampling !== undefined && { sampling: body.sampling }),
      };
      const row = await transaction(db, (tx) =>
        changeServer(tx, { caller, origin, republishLive }, params.server_id, wanted),
      );
      return presentServer(row);
    },
    delete: async ({ caller, origin, params }) => {
      await transaction(db, (tx) => removeServer(tx, { caller, origin, republishLive }, params.server_id));
      return { object: 'mcp_server', id: params.server_id, deleted: true };
    },
    check: async ({ caller, params, signal }) => {
      const server = await serverOf(caller.orgId, params.server_id);
      return checkServer({ db, vault, client }, caller, server, signal);
    },
  };

  async function serverOf(orgId: string, serverId: string) {
    const row = await findServer(db, orgId, serverId);
    if (!row) throw fail('mcp_server_not_found');
    return row;
  }
}

/** Removes repeated names. */
const toolRulesOf = ({
  deny,
  require_approval,
}: {
  deny?: string[] | undefined;
  require_approval?: string[] | undefined;
}) => ({
  ...(deny && { deny: [...new Set(deny)] }),
  ...(require_approval && { require_approval: [...new Set(require_approval)] }),
});
