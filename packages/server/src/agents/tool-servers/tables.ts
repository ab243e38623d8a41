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
  /** Credentials as `${secret:NAME}` and `${user_secret:NAME}`; empty where the server needs none. */
  headers: json<Readonly<Record<string, string>>>(),
  deny: textArray(),
  require_approval: textArray(),
  /** Whether it may ask the agent's model. */
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
  /** Empty where it is away for everybody, and for the org's own agent. */
  user_key: text(),
  reason: text<AwayReason>(),
  since: moment().withDefault(),
});

export type ServerRow = RowOf<typeof mcpServers>;

/** A server as those who call or list it know it; its headers refer to secrets, and never hold one. */
export type RegisteredServer = Pick<ServerRow, 'id' | 'slug' | 'name' | 'url' | 'headers'>;
