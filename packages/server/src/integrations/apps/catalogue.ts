import { readFileSync } from 'node:fs';
import { clientAuthMethods } from '@vestra/contract/apps';
import { fail } from '@vestra/contract/errors';
import { text } from '@vestra/contract/text';
import { z } from 'zod';
import type { Tenant } from '../../platform/caller.ts';
import type { Database } from '../../platform/db/pool.ts';
import { StartFailure } from '../../platform/db/start-failure.ts';
import type { SignInFacts, SignInFailure } from '../app-sign-in/sign-in-server.ts';
import type { App, AppSignInData } from './app.ts';
import { knownApps } from './known-apps.ts';
import { appsWithOwnClient } from './store.ts';

export type AppCatalogue = {
  /** Sorted by id. */
  all: readonly App[];
  find: (id: string) => App | undefined;
};

const httpsUrl = z.url({ protocol: /^https?$/, error: 'must be a URL' });
const environmentName = z.string().regex(/^[A-Za-z_]\w{0,127}$/, 'must be the name of an environment variable');

/** `SignInFacts` as the operator writes them. */
const signInFacts = z.strictObject({
  endpoints: z
    .strictObject({
      issuer: httpsUrl,
      authorization_endpoint: httpsUrl,
      token_endpoint: httpsUrl,
      revocation_endpoint: httpsUrl.optional(),
      userinfo_endpoint: httpsUrl.optional(),
    })
    .optional(),
  issuer: z.string().max(2048).optional(),
  scope: text(1, 2000).optional(),
  pkce_unannounced: z.boolean().optional(),
  authorize_with: z.record(z.string().max(64), z.string().max(500)).optional(),
  scope_parameter: text(1, 64).optional(),
  no_resource: z.boolean().optional(),
  auth_method: z.enum(clientAuthMethods).optional(),
  tokens_in: text(1, 64).optional(),
  any_token_type: z.boolean().optional(),
  needs_client: z.boolean().optional(),
  register_at: httpsUrl.optional(),
  note: text(1, 500).optional(),
});

const apiKeyPlace = z.union([
  z.strictObject({
    header: z.string().regex(/^[\w-]{1,64}$/, 'must be the name of a header'),
    prefix: z.string().max(32).default(''),
    note: text(1, 500).nullable().default(null),
  }),
  z.strictObject({
    query: z.string().regex(/^[\w-]{1,64}$/, 'must be the name of a parameter'),
    note: text(1, 500).nullable().default(null),
  }),
]);

const entry = z.strictObject({
  id: z
    .string()
    .regex(
      /^[a-z0-9][a-z0-9-]{0,39}$/,
      'must be lowercase letters, digits and dashes, a letter or digit first, at most 40',
    ),
  name: text(1, 120).optional(),
  description: text(0, 500).optional(),
  url: z.string().optional(),
  icon_url: z
    .url({ protocol: /^https$/, error: 'must be an https URL' })
    .nullable()
    .optional(),
  connectable: z.boolean().optional(),
  client_id: z
    .string()
    .regex(/^[\x21-\x7e]{1,512}$/, 'must be 1 to 512 visible ASCII characters')
    .optional(),
  client_secret_env: environmentName.optional(),
  sign_in: signInFacts.nullable().optional(),
  api_key: apiKeyPlace.nullable().optional(),
});

/** Returns undefined if the variable is not set. */
type Environment = (name: string) => string | undefined;

/** The built-in apps, and those of the operator's file, which take precedence. */
export function readCatalogue({
  file,
  refuseAddress,
  env = () => undefined,
}: {
  file: string | null;
  /** Why this address must not be called; null if it may. */
  refuseAddress: (url: string) => string | null;
  /** Source of the secrets of the operator's clients, which are not in the file. */
  env?: Environment;
}): AppCatalogue {
  const own = file === null ? [] : readApps(file, { refuseAddress, env });
  const byId = new Map([...knownApps, ...own].map((app) => [app.id, app]));
  const all = [...byId.values()].sort((one, other) => (one.id < other.id ? -1 : 1));
  return { all, find: (id) => byId.get(id) };
}

function readApps(
  file: string,
  { refuseAddress, env }: { refuseAddress: (url: string) => string | null; env: Environment },
): App[] {
  const result = z.array(entry).max(1000).safeParse(parsed(file));
  if (!result.success) {
    const [first] = result.error.issues;
    const where = first?.path.length ? `\`${first.path.join('.')}\` of ` : '';
    throw new StartFailure(
      `${where}VESTRA_APPS_FILE (${file}) is not valid: ${first?.message}. It is a JSON list of {id, name, url} with description, icon_url, connectable, client_id, client_secret_env, sign_in and api_key where wanted.`,
    );
  }
  const ids = new Set<string>();
  return result.data.map((given, at) => {
    const wrong = (what: string) => new StartFailure(`\`${at}.${what}`);
    const { id } = given;
    if (ids.has(id)) throw new StartFailure(`VESTRA_APPS_FILE (${file}) has the app \`${id}\` twice.`);
    ids.add(id);
    const app = appOf(given, (field, problem) => wrong(`${field}\` of VESTRA_APPS_FILE (${file}) ${problem}`), env);
    for (const [field, address] of addressesOf(app)) {
      const refusal = refuseAddress(address);
      if (refusal !== null) throw wrong(`${field}\` of VESTRA_APPS_FILE (${file}) is refused: ${refusal}`);
    }
    return app;
  });
}

type GivenEntry = z.output<typeof entry>;

/** An entry without a `url` extends the built-in app; one with a `url` replaces it. */
function appOf(given: GivenEntry, wrong: (field: string, problem: string) => StartFailure, env: Environment): App {
  const known = given.url === undefined ? knownApps.find(({ id }) => id === given.id) : undefined;
  const name = given.name ?? known?.name;
  const url = given.url ?? known?.url;
  if (url === undefined) throw wrong('url', 'is missing, and no app of that id comes with the service.');
  if (name === undefined) throw wrong('name', 'is missing.');
  const signIn = signInOf(given, known, wrong, env);
  const apiKey = given.api_key === undefined ? (known?.api_key ?? null) : given.api_key;
  if (signIn === null && apiKey === null) throw wrong('sign_in', 'is null, and there is no `api_key` either.');
  return {
    id: given.id,
    name,
    description: given.description ?? known?.description ?? '',
    url,
    icon_url: given.icon_url ?? known?.icon_url ?? null,
    connectable: given.connectable ?? known?.connectable ?? true,
    sign_in: signIn,
    api_key: apiKey,
  };
}

function signInOf(
  { sign_in, client_id, client_secret_env }: GivenEntry,
  known: App | undefined,
  wrong: (field: string, problem: string) => StartFailure,
  env: Environment,
): AppSignInData | null {
  if (sign_in === null || (sign_in === undefined && known?.sign_in === null)) {
    if (client_id !== undefined) throw wrong('client_id', 'belongs to an app without a sign-in.');
    return null;
  }
  const { needs_client, register_at, note, ...facts } = sign_in ?? {};
  const before = known?.sign_in;
  if (client_secret_env !== undefined && client_id === undefined) {
    throw wrong('client_secret_env', 'needs a `client_id`.');
  }
  const secret = client_secret_env === undefined ? null : env(client_secret_env)?.trim();
  if (secret === undefined || secret === '') {
    throw wrong('client_secret_env', `names ${client_secret_env}, which is not set in the environment.`);
  }
  const merged = { ...before?.facts, ...facts };
  if (merged.pkce_unannounced && client_id !== undefined && secret === null) {
    throw wrong('sign_in.pkce_unannounced', 'needs a client with a secret: give `client_secret_env`.');
  }
  if (secret !== null && !merged.endpoints && merged.issuer === undefined) {
    throw wrong(
      'sign_in.issuer',
      'is missing: the one authorization server that may be sent the secret, by its `issuer`.',
    );
  }
  return {
    facts: merged,
    needs_client: needs_client ?? before?.needs_client ?? merged.pkce_unannounced ?? false,
    register_at: register_at ?? before?.register_at ?? null,
    note: note ?? before?.note ?? null,
    client:
      client_id === undefined ? null : { client_id, client_secret: secret, auth_method: merged.auth_method ?? null },
  };
}

function addressesOf({ url, sign_in }: App): [field: string, address: string][] {
  const endpoints = Object.entries(sign_in?.facts.endpoints ?? {}).filter(([name]) => name !== 'issuer');
  return [
    ['url', url],
    ...endpoints.map(([name, address]): [string, string] => [`sign_in.endpoints.${name}`, address]),
  ];
}

function parsed(file: string): unknown {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as unknown;
  } catch (error) {
    const reason = error instanceof SyntaxError ? 'it is not JSON' : (error as NodeJS.ErrnoException).code;
    throw new StartFailure(`VESTRA_APPS_FILE (${file}) cannot be read: ${reason}.`);
  }
}

export function appToConnect(catalogue: AppCatalogue, appId: string): App {
  const app = catalogue.find(appId);
  if (!app) throw fail('app_not_found', { param: 'app' });
  if (!app.connectable) throw fail('app_not_connectable', { param: 'app' });
  return app;
}

export function appToSignInTo(catalogue: AppCatalogue, appId: string): { app: App; facts: SignInFacts } {
  const app = appToConnect(catalogue, appId);
  if (!app.sign_in) {
    const message = `${app.name} has no sign-in: it accepts a key of the user as \`api_key\`.`;
    throw fail('oauth_not_available', { param: 'app', message });
  }
  return { app, facts: app.sign_in.facts };
}

export const missingClient = ({ id, name, sign_in }: App, redirectUri: string) =>
  fail('app_not_connectable', {
    param: 'app',
    message: `${name} takes only clients that were registered by hand. Register one${sign_in?.register_at ? ` at ${sign_in.register_at}` : ''} with the redirect address ${redirectUri}, and give it with PUT /v1/apps/${id}/client.`,
  });

export const signInRefusal = ({ reason, message }: SignInFailure) =>
  reason === 'unavailable'
    ? fail('mcp_server_error', { message: `${message} Try again later.` })
    : fail('oauth_not_available', { param: 'app', message });

type Dependencies = { db: Database; catalogue: AppCatalogue; now?: () => number };

const keptMs = 5_000;
const maxCached = 10_000;

/**
 * The apps that users of an org can connect now. Every turn asks, so the clients of the org are cached for some
 * seconds. They are not read if no wanted app depends on them.
 */
export function createConnectableApps({ db, catalogue, now = Date.now }: Dependencies) {
  const kept = new Map<string, { until: number; apps: Promise<readonly string[]> }>();
  const open = catalogue.all.filter(({ connectable }) => connectable);

  function clientsOf(tenant: Tenant): Promise<readonly string[]> {
    const name = `${tenant.orgId} ${tenant.mode}`;
    const known = kept.get(name);
    if (known && known.until > now()) return known.apps;
    const apps = appsWithOwnClient(db, tenant);
    if (kept.size >= maxCached) kept.clear();
    kept.set(name, { until: now() + keptMs, apps });
    apps.catch(() => kept.delete(name));
    return apps;
  }

  return async (tenant: Tenant, isWanted: (app: App) => boolean): Promise<readonly App[]> => {
    const wanted = open.filter(isWanted);
    if (!wanted.some(dependsOnClient)) return wanted;
    const given = await clientsOf(tenant);
    return wanted.filter((app) => !dependsOnClient(app) || given.includes(app.id));
  };
}

const dependsOnClient = ({ sign_in, api_key }: App) =>
  api_key === null && sign_in?.needs_client === true && sign_in.client === null;
