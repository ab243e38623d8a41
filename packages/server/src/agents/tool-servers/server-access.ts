import { createHash } from 'node:crypto';
import type { AwayReason } from '@vestra/contract/missing-tools';
import { readSecrets } from '../../account/index.ts';
import type { Tenant } from '../../platform/caller.ts';
import type { Database } from '../../platform/db/pool.ts';
import type { Vault } from '../../platform/secrets/vault.ts';
import type { McpTarget } from '../mcp-client/session.ts';
import { fillHeaders, hideSecrets, sameAddress, secretsOf } from './server-settings.ts';
import { findById } from './store.ts';
import type { ServerRow } from './tables.ts';

/** What of a server decides how its tools are called and whether they may be. */
export type ServerRules = Pick<ServerRow, 'slug' | 'deny' | 'require_approval' | 'sampling'>;

/** A server as it is called for one user now, or why it cannot be. */
export type ServerAccess =
  | {
      ok: true;
      server: ServerRules;
      target: McpTarget;
      hide: (text: string) => string;
      fingerprint: string;
      /** The server did not take the credentials: another way to it. Null where there is none. */
      refused: (() => Promise<ServerAccess>) | null;
      /** Whether the credentials are the user's own: where they are refused, nobody else is concerned. */
      isPersonal: boolean;
    }
  | ServerAway;

export type ReachableServer = Extract<ServerAccess, { ok: true }>;

export type ServerAway = {
  ok: false;
  server: ServerRules;
  reason: AwayReason;
  /** For the org, not for the model. It names hosts and secrets, and shows no value of any. */
  message: string;
  /** Whether it is away for this user alone. */
  isPersonal: boolean;
};

/** As they stand, and as they stand within JSON, an address or a text of base64. */
function hiding(values: readonly string[]): (text: string) => string {
  if (values.length === 0) return (text) => text;
  const forms = values
    .map((value) => value.trim())
    .flatMap((value) => [
      value,
      JSON.stringify(value).slice(1, -1),
      encodeURIComponent(value.toWellFormed()),
      ...(value.length >= 8 ? [Buffer.from(value).toString('base64').replace(/=+$/, '')] : []),
    ]);
  const distinct = [...new Set(forms)];
  return (text) => hideSecrets(text, distinct);
}

/** Another URL, another secret and another user make another server. */
const fingerprintOf = (parts: readonly unknown[]): string =>
  createHash('sha256').update(JSON.stringify(parts)).digest('base64');

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
    rows.map((row) => [row.id, accessToServer(row, fixed.get(row.id) ?? null, { tenant, userId, company, user })]),
  );
}

type KnownSecrets = {
  tenant: Tenant;
  userId: string | null;
  company: ReadonlyMap<string, string>;
  user: ReadonlyMap<string, string>;
};

function accessToServer(
  row: ServerRow,
  fixedUrl: string | null,
  { tenant, userId, company, user }: KnownSecrets,
): ServerAccess {
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

/** The servers that the user is signed in to, by their slugs. Like those of the company, but nobody has set rules for them. */
export async function reachApps(
  signIns: SignIns,
  tenant: Tenant,
  userId: string | null,
  wanted: 'all' | readonly string[],
): Promise<Map<string, ServerAccess>> {
  if (wanted !== 'all' && wanted.length === 0) return new Map();
  const found = await signIns.of(tenant, userId, wanted);
  return new Map(found.map((each) => [each.slug, accessToApp(each)]));
}

function accessToApp({ slug, connectionId, credential }: SignedIn): ServerAccess {
  const server = { slug, deny: [], require_approval: [], sampling: false };
  const away = (reason: AwayReason, message: string): ServerAccess => ({
    ok: false,
    server,
    reason,
    message,
    isPersonal: true,
  });
  if (credential.kind === 'over') return away('sign_in_over', 'The sign-in is over: the person must sign in anew.');
  if (credential.kind === 'unavailable') return away('unreachable', 'The sign-in could not be renewed just now.');
  const { token, target, refused } = credential;
  return {
    ok: true,
    server,
    target,
    hide: hiding([token]),
    fingerprint: fingerprintOf([connectionId, target.url, token]),
    refused: async () => accessToApp(await refused()),
    isPersonal: true,
  };
}

/** A server that a user is signed in to. */
export type SignedIn = {
  slug: string;
  connectionId: string;
  credential:
    | {
        kind: 'token';
        /** What no text that the server writes may show. */
        token: string;
        /** The server with the credential in its place. */
        target: McpTarget;
        /** The server did not take it: what there is after one more attempt to get a good one. */
        refused: () => Promise<SignedIn>;
      }
    /** The person must sign in anew. */
    | { kind: 'over' }
    /** Whether it still holds could not be found out. */
    | { kind: 'unavailable' };
};

/** Where servers are reached with the user's own sign-in instead of headers that the company set up. */
export type SignIns = {
  /** Those of the wanted servers that the user is or was signed in to, with tokens that are good now. */
  of: (tenant: Tenant, userId: string | null, wanted: 'all' | readonly string[]) => Promise<SignedIn[]>;
};
