import type { AwayReason } from '@vestra/contract/missing-tools';
import { readSecrets } from '../../account/index.ts';
import type { Tenant } from '../../platform/caller.ts';
import type { Database } from '../../platform/db/pool.ts';
import type { Vault } from '../../platform/secrets/vault.ts';
import { fillHeaders } from './fill-headers.ts';
import { sameAddress, secretsOf } from './mcp-server.ts';
import { fingerprintOf, hiding, type ServerAccess } from './server-access.ts';
import { findById } from './store.ts';
import type { ServerRow } from './tables.ts';

/** A server as a version names it. `url`: the only address that may be called; null if it may have moved since. */
export type NamedServer = { id: string; url: string | null };

/** Reads the rows and the secrets again, so a change applies from the next call on. Deleted servers are not in the result. */
export async function reachServers(
  { db, vault }: { db: Database; vault: Vault },
  tenant: Tenant,
  userId: string | null,
  named: readonly NamedServer[],
): Promise<Map<string, ServerAccess>> {
  const fixed = new Map(named.map(({ id, url }) => [id, url]));
  const rows = await findById(db, tenant.orgId, [...fixed.keys()], { hold: false });
  const needs = rows.map(({ headers }) => secretsOf(headers));
  const all = (kind: 'company' | 'user') => [...new Set(needs.flatMap((need) => need[kind]))];
  const none = new Map<string, string>();
  const company = all('company').length > 0 ? await readSecrets(db, vault, tenant, null, all('company')) : none;
  const isUserNeeded = userId !== null && all('user').length > 0;
  const user = isUserNeeded ? await readSecrets(db, vault, tenant, userId, all('user')) : none;
  return new Map(
    rows.map((row) => [row.id, accessOf(row, fixed.get(row.id) ?? null, { tenant, userId, company, user })]),
  );
}

type Known = {
  tenant: Tenant;
  userId: string | null;
  company: ReadonlyMap<string, string>;
  user: ReadonlyMap<string, string>;
};

function accessOf(row: ServerRow, fixedUrl: string | null, { tenant, userId, company, user }: Known): ServerAccess {
  // Its headers are meant for the address it has now, so the address that the version fixed is not called with them.
  if (fixedUrl !== null && !sameAddress(row.url, fixedUrl)) {
    const message =
      'Its URL was changed after this version was saved. Promote a version with the new URL, or change the URL back.';
    return away(row, { reason: 'removed', message, isPersonal: false });
  }
  const needs = secretsOf(row.headers);
  const missing = needs.company.filter((name) => !company.has(name));
  if (missing.length > 0) {
    const message = `The company has not stored ${listed(missing)} in ${tenant.mode} mode.`;
    return away(row, { reason: 'secret_missing', message, isPersonal: false });
  }
  const missingOwn = needs.user.filter((name) => !user.has(name));
  if (missingOwn.length > 0) {
    const whose = userId === null ? 'It needs a user’s own' : 'The user has not stored their own';
    const message = `${whose} ${listed(missingOwn)}${userId === null ? ', and runs for none' : ''}.`;
    return away(row, { reason: 'user_secret_missing', message, isPersonal: true });
  }
  const isPersonal = needs.user.length > 0;
  const { headers, unsendable } = fillHeaders(row.headers, { company, user });
  if (unsendable.length > 0) {
    const message = `With its secrets filled in, the header ${listed(unsendable)} holds a character that HTTP does not carry.`;
    return away(row, { reason: 'secret_unusable', message, isPersonal });
  }
  const values = [...needs.company.map((name) => company.get(name)), ...needs.user.map((name) => user.get(name))];
  return {
    ok: true,
    server: row,
    target: { url: row.url, headers },
    hide: hiding(values.filter((value) => value !== undefined)),
    fingerprint: fingerprintOf([row.id, row.updated_at.toISOString(), row.url, headers]),
    refused: null,
    isPersonal,
  };
}

const away = (server: ServerRow, why: { reason: AwayReason; message: string; isPersonal: boolean }): ServerAccess => ({
  ok: false,
  server,
  ...why,
});

const listed = (names: readonly string[]) => names.map((name) => `\`${name}\``).join(', ');
