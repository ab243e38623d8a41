import { createHash } from 'node:crypto';
import type { AwayReason } from '@vestra/contract/missing-tools';
import { secretsIn } from '@vestra/contract/secrets-in-text';
import { readSecrets } from '../../account/index.ts';
import type { Tenant } from '../../platform/caller.ts';
import type { Database } from '../../platform/db/pool.ts';
import type { Vault } from '../../platform/secrets/vault.ts';
import type { McpTarget } from '../mcp-client/session.ts';
import { createHider, fillHeaders, type ServerHeaders, sameAddress, secretsOf } from './server-settings.ts';
import { findById } from './store.ts';
import type { ServerRow } from './tables.ts';

/** The columns that decide how and whether its tools are called. */
export type ServerRules = Pick<ServerRow, 'slug' | 'deny' | 'require_approval' | 'sampling'>;

/** Access to a server for one user, or the reason why there is none. */
export type ServerAccess =
  | {
      ok: true;
      server: ServerRules;
      target: McpTarget;
      hide: (text: string) => string;
      fingerprint: string;
      /** Called if the server refused the credentials: another access, or null if there is none. */
      refused: (() => Promise<ServerAccess>) | null;
      /** True if the credentials belong to the user: a refusal then concerns nobody else. */
      isPersonal: boolean;
    }
  | UnreachableServer;

export type ReachableServer = Extract<ServerAccess, { ok: true }>;

export type UnreachableServer = {
  ok: false;
  server: ServerRules;
  reason: AwayReason;
  /** For the org, not for the model. It names hosts and secrets, but no values. */
  message: string;
  /** True if it is unavailable for this user only. */
  isPersonal: boolean;
};

/** Changes with the URL, the secrets and the user. */
const fingerprintOf = (parts: readonly unknown[]): string =>
  createHash('sha256').update(JSON.stringify(parts)).digest('base64');

/** A server in a version, with the only address and headers that its calls use. Null uses the registered ones. */
export type NamedServer = { id: string; fixed: { url: string; headers: ServerHeaders | null } | null };

type Destination = { url: string; headers: ServerHeaders };

/** The address and headers for a call, or null if the headers belong to an address that the version did not fix. */
function destinationOf(row: ServerRow, { fixed }: NamedServer): Destination | null {
  if (fixed === null) return row;
  if (fixed.headers !== null) return { url: fixed.url, headers: fixed.headers };
  return sameAddress(row.url, fixed.url) ? row : null;
}

/**
 * Whose secrets fill the headers. In a test `standIns` are references to secrets of the company, by the names of the
 * user's secrets that they replace. A user's stored secret is never used in a test.
 */
export type SecretOwner = { userId: string | null; standIns?: Readonly<Record<string, string>> | undefined };

/** Reads the rows and the secrets again, so a change applies from the next call on. Deleted servers are not in the result. */
export async function reachServers(
  { db, vault }: { db: Database; vault: Vault },
  tenant: Tenant,
  { userId, standIns }: SecretOwner,
  named: readonly NamedServer[],
): Promise<Map<string, ServerAccess>> {
  const byId = new Map(named.map((server) => [server.id, server]));
  const rows = await findById(db, tenant.orgId, [...byId.keys()], { hold: false });
  const found = rows.map((row) => ({ row, to: destinationOf(row, byId.get(row.id) as NamedServer) }));
  const needs = found.flatMap(({ to }) => (to ? [secretsOf(to.headers)] : []));
  const all = (kind: 'company' | 'user') => [...new Set(needs.flatMap((need) => need[kind]))];
  const none = new Map<string, string>();
  const company = all('company').length > 0 ? await readSecrets(db, vault, tenant, null, all('company')) : none;
  const isUserNeeded = userId !== null && all('user').length > 0;
  const user = standIns
    ? await standInSecrets({ db, vault }, tenant, standIns, all('user'))
    : isUserNeeded
      ? await readSecrets(db, vault, tenant, userId, all('user'))
      : none;
  return new Map(found.map(({ row, to }) => [row.id, accessToServer(row, to, { tenant, userId, company, user })]));
}

async function standInSecrets(
  { db, vault }: { db: Database; vault: Vault },
  tenant: Tenant,
  standIns: Readonly<Record<string, string>>,
  wanted: readonly string[],
): Promise<Map<string, string>> {
  const replaced = wanted.flatMap((name) =>
    Object.hasOwn(standIns, name)
      ? secretsIn(standIns[name] as string).company.map((company) => ({ name, company }))
      : [],
  );
  if (replaced.length === 0) return new Map();
  const names = [...new Set(replaced.map(({ company }) => company))];
  const values = await readSecrets(db, vault, tenant, null, names);
  return new Map(
    replaced.flatMap(({ name, company }) => {
      const value = values.get(company);
      return value === undefined ? [] : [[name, value] as const];
    }),
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
  to: Destination | null,
  { tenant, userId, company, user }: KnownSecrets,
): ServerAccess {
  if (to === null) {
    const message =
      'Its URL was changed after this version was saved. Promote a version with the new URL, or change the URL back.';
    return unavailable(row, { reason: 'removed', message, isPersonal: false });
  }
  const needs = secretsOf(to.headers);
  const missing = needs.company.filter((name) => !company.has(name));
  if (missing.length > 0) {
    const message = `The company has not stored ${listed(missing)} in ${tenant.mode} mode.`;
    return unavailable(row, { reason: 'secret_missing', message, isPersonal: false });
  }
  const missingOwn = needs.user.filter((name) => !user.has(name));
  if (missingOwn.length > 0) {
    const whose = userId === null ? 'It needs a user’s own' : 'The user has not stored their own';
    const message = `${whose} ${listed(missingOwn)}${userId === null ? ', and runs for none' : ''}.`;
    return unavailable(row, { reason: 'user_secret_missing', message, isPersonal: true });
  }
  const isPersonal = needs.user.length > 0;
  const { headers, unsendable } = fillHeaders(to.headers, { company, user });
  if (unsendable.length > 0) {
    const message = `With its secrets filled in, the header ${listed(unsendable)} holds a character that HTTP does not carry.`;
    return unavailable(row, { reason: 'secret_unusable', message, isPersonal });
  }
  const values = [...needs.company.map((name) => company.get(name)), ...needs.user.map((name) => user.get(name))];
  return {
    ok: true,
    server: row,
    target: { url: to.url, headers },
    hide: createHider(values.filter((value) => value !== undefined)),
    fingerprint: fingerprintOf([row.id, row.updated_at.toISOString(), to.url, headers]),
    refused: null,
    isPersonal,
  };
}

const unavailable = (
  server: ServerRow,
  why: { reason: AwayReason; message: string; isPersonal: boolean },
): ServerAccess => ({
  ok: false,
  server,
  ...why,
});

const listed = (names: readonly string[]) => names.map((name) => `\`${name}\``).join(', ');

/** Returns access to the user's apps by slug. Apps have no company rules. */
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

function accessToApp({ slug, connectionId, credential }: AppCredential): ServerAccess {
  const server = { slug, deny: [], require_approval: [], sampling: false };
  const unavailable = (reason: AwayReason, message: string): ServerAccess => ({
    ok: false,
    server,
    reason,
    message,
    isPersonal: true,
  });
  if (credential.kind === 'over')
    return unavailable('sign_in_over', 'The sign-in has expired: the person must sign in again.');
  if (credential.kind === 'unavailable')
    return unavailable('unreachable', 'The sign-in could not be renewed just now.');
  const { token, target, refused } = credential;
  return {
    ok: true,
    server,
    target,
    hide: createHider([token]),
    fingerprint: fingerprintOf([connectionId, target.url, token]),
    refused: async () => accessToApp(await refused()),
    isPersonal: true,
  };
}

/** The sign-in of a user to an app. */
export type AppCredential = {
  slug: string;
  connectionId: string;
  credential:
    | {
        kind: 'token';
        /** Must never appear in text of the server. */
        token: string;
        /** The server, with the credential in its headers. */
        target: McpTarget;
        /** The server refused the credential: tries to renew it once. */
        refused: () => Promise<AppCredential>;
      }
    /** The person must sign in again. */
    | { kind: 'over' }
    /** The validity could not be determined. */
    | { kind: 'unavailable' };
};

/** Access to apps with the user's sign-in instead of company headers. */
export type SignIns = {
  /** Returns the current and former sign-ins of the user, with valid tokens. */
  of: (tenant: Tenant, userId: string | null, wanted: 'all' | readonly string[]) => Promise<AppCredential[]>;
};
