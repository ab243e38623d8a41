import type { AwayReason } from '@vestra/contract/missing-tools';
import type { Mode } from '@vestra/contract/route';
import { boolean, json, moment, type RowOf, table, text, textArray } from '../../platform/db/table.ts';

export const mcpServers = table('mcp_servers', {
  id: text(),
  org_id: text(),
  slug: text(),
  name: text(),
  url: text(),
  address_sha256: text(),
  /** Credentials are references `${secret:NAME}` and `${user_secret:NAME}`. Empty if the server needs none. */
  headers: json<Readonly<Record<string, string>>>(),
  deny: textArray(),
  require_approval: textArray(),
  /** The server may ask the agent's model. */
  sampling: boolean().withDefault(),
  created_at: moment().withDefault(),
  updated_at: moment().withDefault(),
});

export const toolOutages = table('tool_outages', {
  org_id: text(),
  mode: text<Mode>(),
  /** The id of a server, or of an app. */
  server_id: text(),
  is_personal: boolean(),
  /** Empty if the outage concerns everybody, or the agent that runs for no user. */
  user_key: text(),
  reason: text<AwayReason>(),
  since: moment().withDefault(),
});

export type ServerRow = RowOf<typeof mcpServers>;

/** The public part of a server. Its headers refer to secrets and never contain one. */
export type RegisteredServer = Pick<ServerRow, 'id' | 'slug' | 'name' | 'url' | 'headers'>;
