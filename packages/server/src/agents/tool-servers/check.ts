import type { Api } from '@vestra/contract/api';
import type { ErrorCode } from '@vestra/contract/errors';
import type { ResponseOf } from '@vestra/contract/route';
import { readSecrets } from '../../account/index.ts';
import type { Tenant } from '../../platform/caller.ts';
import type { Database } from '../../platform/db/pool.ts';
import type { Vault } from '../../platform/secrets/vault.ts';
import type { McpClient } from '../mcp-client/mcp-client.ts';
import { cutText } from './cut-text.ts';
import { fillHeaders } from './fill-headers.ts';
import { hideSecrets } from './hide-secrets.ts';
import { secretsOf } from './mcp-server.ts';
import { notesOn, shownDescription } from './shown-tool.ts';
import type { ServerRow } from './tables.ts';

type CheckAnswer = ResponseOf<Api['mcpServers']['check']>;

const longestName = 128;

/** Calls the server as a task would, with the company's secrets of the mode, and shows the tools that it offers. */
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
  const answer = await client.listTools({ url: server.url, headers }, { signal });
  if (!answer.ok) return failed(answer.code, answer.message);
  // A server may repeat what it was sent, and whoever may check it need not be the one who knows the secret.
  const shown = (text: string) => hideSecrets(text, secrets.values());
  return {
    ok: true,
    tools: answer.tools.map(({ name, description, isReadOnly }) => ({
      name: cutText(shown(name), longestName),
      description: shownDescription(shown(description)),
      read_only: isReadOnly,
    })),
    notes: notesOn(answer.tools, answer.isCut, shown),
    error: null,
  };
}

const failed = (code: ErrorCode, message: string): CheckAnswer => ({
  ok: false,
  tools: [],
  notes: [],
  error: { code, message },
});

const listed = (names: readonly string[]) => names.map((name) => `\`${name}\``).join(', ');
