import { Failure, fail } from '@vestra/contract/errors';
import { reservedServerSlugs } from '@vestra/contract/reserved-names';
import { withFullReferences, withShortReferences } from '@vestra/contract/secrets-in-text';
import {
  type DeploymentRow,
  deploymentsRelyingOn,
  deploymentsUsing,
  type VersionRow,
} from '../../agents/deployments/index.ts';
import {
  addressOf,
  assertMayChange,
  findByAddress,
  type RegisteredServer,
  registerServer,
  sameHeaders,
  takenSlugs,
  updateServer,
} from '../../agents/tool-servers/index.ts';
import type { FixedServers } from '../../agents/versions/index.ts';
import type { Caller, Origin } from '../../platform/caller.ts';
import type { Transaction } from '../../platform/db/pool.ts';
import type { FileParts, FileWarning, ServerEntry } from './parts.ts';

type Headers = Readonly<Record<string, string>>;

const maxName = 80;
const maxSlug = 40;

/** The name of a server without a name in the file. */
export const nameFromUrl = (url: string): string => new URL(url).host.slice(0, maxName);

export const nameOfServer = ({ mcp, name }: { mcp: string; name?: string | undefined }): string =>
  name ?? nameFromUrl(mcp);

/**
 * The headers that an entry asks for, in the form of a registered server. Undefined if it has neither `auth` nor
 * `headers` and thus uses the server as it is registered.
 */
export function wantedHeaders({ auth, headers }: Pick<ServerEntry, 'auth' | 'headers'>): Headers | undefined {
  if (auth === undefined && headers === undefined) return undefined;
  const given = Object.entries(headers ?? {}).map(([name, value]) => [name, withFullReferences(value)]);
  return {
    ...Object.fromEntries(given),
    ...(auth !== undefined && { Authorization: `Bearer ${withFullReferences(auth)}` }),
  };
}

/** The inverse: a bearer token that is a single reference is written as `auth`. */
export function writtenHeaders(headers: Headers): Pick<ServerEntry, 'auth' | 'headers'> {
  const written = Object.entries(headers).map(([name, value]): [string, string] => [name, withShortReferences(value)]);
  const bearer = written.find(([name]) => name.toLowerCase() === 'authorization');
  const auth = /^Bearer (\$\{[^{}]+\})$/.exec(bearer?.[1] ?? '')?.[1];
  const rest = written.filter((header) => auth === undefined || header !== bearer);
  return {
    ...(auth !== undefined && { auth }),
    ...(rest.length > 0 && { headers: Object.fromEntries(rest) }),
  };
}

/** The n-th slug for a server of this name: `crm`, `crm-2`. Never a reserved one. */
function serverSlug(name: string, number: number): string {
  const words = name
    .normalize('NFKD')
    .toLowerCase()
    .replace(/\p{M}/gu, '')
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^[^a-z]+/, '');
  const suffix = number === 1 ? '' : `-${number}`;
  const slug = trimDashes(words.slice(0, maxSlug - suffix.length)) || 'server';
  return number === 1 && reservedServerSlugs.has(slug) ? `${slug}-server` : slug + suffix;
}

const trimDashes = (text: string) => text.replace(/^-+|-+$/g, '');

/** An entry of the file with its registered server, and the slug that the server has or would get. */
export type PlannedServer = {
  at: string;
  entry: Partial<ServerEntry> & Pick<ServerEntry, 'mcp'>;
  registered: RegisteredServer | null;
  slug: string;
  /** The name and headers that the server is to have; undefined: those that are registered. */
  wanted: { name?: string | undefined; headers?: Headers | undefined };
  warnings: FileWarning[];
};

/** The deployment that a file is applied to, with its newest version. */
export type AppliedVersion = { deployment: DeploymentRow; version: VersionRow };

/** Finds the servers of a file by their address, and the changes that it asks for. It registers nothing. */
export async function planServers(
  tx: Transaction,
  {
    orgId,
    parts,
    newest,
    hold,
  }: { orgId: string; parts: Pick<FileParts, 'servers'>; newest: AppliedVersion | null } & { hold: boolean },
): Promise<PlannedServer[]> {
  const entries = parts.servers.flatMap(({ at, value }) =>
    value.mcp === undefined ? [] : [{ at, entry: { ...value, mcp: value.mcp } }],
  );
  if (entries.length === 0) return [];
  const addresses = entries.map(({ entry }) => addressOf(entry.mcp));
  const found = await findByAddress(tx, orgId, addresses, { hold });
  const byAddress = new Map(found.toReversed().map((server) => [addressOf(server.url), server]));
  const planned: PlannedServer[] = [];
  const promised = new Set<string>();
  for (const { at, entry } of entries) {
    const registered = byAddress.get(addressOf(entry.mcp)) ?? null;
    const slug = registered?.slug ?? (await freeServerSlug(tx, { orgId, name: nameOfServer(entry), promised }));
    promised.add(slug);
    const asked = registered
      ? await askedOfServer(tx, orgId, { at, entry, registered, newest })
      : { wanted: { name: nameOfServer(entry), headers: wantedHeaders(entry) ?? {} }, warnings: [] };
    planned.push({ at, entry, registered, slug, ...asked });
  }
  return planned;
}

/**
 * The settings that an entry asks for. A line that the last file had and this one has not is removed from the server,
 * unless other deployments use it.
 */
async function askedOfServer(
  tx: Transaction,
  orgId: string,
  {
    at,
    entry,
    registered,
    newest,
  }: Pick<PlannedServer, 'at' | 'entry'> & { registered: RegisteredServer; newest: AppliedVersion | null },
): Promise<Pick<PlannedServer, 'wanted' | 'warnings'>> {
  const { id, slug, name: nameNow } = registered;
  const fixed = newest?.version.content.servers?.[id];
  const headersNow = fixed?.isOwn ? fixed.headers : registered.headers;
  const isGone = (line: 'name' | 'headers') => fixed?.declared?.includes(line) ?? false;
  const headers = wantedHeaders(entry);
  const name = entry.name ?? (isGone('name') ? nameFromUrl(entry.mcp) : undefined);
  const sentStill = headers === undefined ? Object.keys(headersNow) : [];
  const isRenamed = name !== undefined && name !== nameNow;
  if (sentStill.length === 0 && !isRenamed) return { wanted: { headers }, warnings: [] };
  const others = await otherUsers(tx, orgId, id, newest?.deployment);
  const used = `because other deployments use it: ${others.join(', ')}`;
  const isRemoved = sentStill.length > 0 && isGone('headers') && others.length === 0;
  const warnings = [
    ...(isRenamed && others.length > 0
      ? [{ param: entry.name === undefined ? at : `${at}.name`, message: `\`${slug}\` is not renamed, ${used}.` }]
      : []),
    ...(sentStill.length > 0 && !isRemoved
      ? [
          {
            param: at,
            message: isGone('headers')
              ? `\`${slug}\` is still called with ${listed(sentStill)}, ${used}.`
              : `\`${slug}\` is called with ${listed(sentStill)}, as it is registered. Write \`headers: {}\` to send none.`,
          },
        ]
      : []),
  ];
  return {
    wanted: { ...(others.length === 0 && isRenamed && { name }), headers: isRemoved ? {} : headers },
    warnings,
  };
}

const listed = (names: readonly string[]) => names.map((name) => `\`${name}\``).join(', ');

/** Slugs of the other active deployments that run the server. */
async function otherUsers(
  tx: Transaction,
  orgId: string,
  serverId: string,
  own: DeploymentRow | null | undefined,
): Promise<string[]> {
  const users = await deploymentsUsing(tx, orgId, serverId);
  return users
    .filter(({ id, status, isLive, isDraft }) => id !== own?.id && status === 'active' && (isLive || isDraft))
    .map(({ slug }) => slug);
}

/** Whether a file leaves the server as it is registered, or as the newest version has it. */
export function isSettled({ wanted: { name, headers }, registered }: PlannedServer, own: OwnHeaders): boolean {
  if (!registered || (name !== undefined && name !== registered.name)) return false;
  return headers === undefined || sameHeaders(headers, own[registered.id] ?? registered.headers);
}

/** `promised` holds the slugs of other entries of the same file. */
async function freeServerSlug(
  tx: Transaction,
  { orgId, name, promised }: { orgId: string; name: string; promised: ReadonlySet<string> },
): Promise<string> {
  for (let first = 1, size = 8; ; first += size, size = Math.min(size * 4, 1000)) {
    const candidates = Array.from({ length: size }, (_, at) => serverSlug(name, first + at));
    const taken = await takenSlugs(tx, orgId, candidates);
    const free = candidates.find((candidate) => !taken.has(candidate) && !promised.has(candidate));
    if (free !== undefined) return free;
  }
}

type OwnHeaders = Readonly<Record<string, Headers>>;

type Place = {
  caller: Caller;
  origin: Origin;
  deployment: DeploymentRow | null;
  /** Headers that only the newest version has. */
  own: OwnHeaders;
};

type PlacedServers = {
  servers: RegisteredServer[];
  /** Headers of the file that are registered when the version goes live, and what the file declares. */
  known: FixedServers;
  changed: boolean;
};

/** Registers or changes the servers of a file. Returns them in order, and whether any changed. */
export async function placeServers(
  tx: Transaction,
  { planned, ...place }: Place & { planned: readonly PlannedServer[] },
): Promise<PlacedServers> {
  const servers: RegisteredServer[] = [];
  const known: Record<string, FixedServers[string]> = {};
  const refused: Failure[] = [];
  for (const { registered, ...plan } of planned) {
    try {
      const server = registered
        ? await changeServer(tx, place, { ...plan, registered })
        : await register(tx, place, { ...plan, registered });
      servers.push(server);
      known[server.id] = knownOf(plan, server);
    } catch (error) {
      if (!(error instanceof Failure)) throw error;
      refused.push(error);
    }
  }
  if (refused.length > 0) throw refusalOfAll(refused);
  return { servers, known, changed: servers.some((server, at) => server !== planned[at]?.registered) };
}

function knownOf(
  { entry, wanted: { headers } }: Omit<PlannedServer, 'registered'>,
  server: RegisteredServer,
): FixedServers[string] {
  const declared = [
    ...(entry.name === undefined ? [] : (['name'] as const)),
    ...(wantedHeaders(entry) === undefined ? [] : (['headers'] as const)),
  ];
  const isOwn = headers !== undefined && !sameHeaders(headers, server.headers);
  return {
    headers: isOwn ? headers : server.headers,
    ...(isOwn && { isOwn }),
    ...(declared.length > 0 && { declared }),
  };
}

/** One failure for all servers: the first, with the faults of each. */
function refusalOfAll(refused: readonly Failure[]): Failure {
  const [first] = refused as [Failure];
  if (refused.length === 1) return first;
  const errors = refused.map(({ code, message, details }) => ({ code, message, param: details.param ?? '' }));
  return fail(first.code, { ...first.details, message: first.message, errors });
}

/** Another request may have taken the free slug. Each failed round has seen one taken, so the loop ends. */
async function register(
  tx: Transaction,
  { origin }: Place,
  { entry, slug: planned, wanted: { headers = {} } }: PlannedServer,
): Promise<RegisteredServer> {
  const name = nameOfServer(entry);
  for (let slug = planned; ; ) {
    const registered = await registerServer(tx, origin, { slug, name, url: entry.mcp, headers });
    if (registered) return registered;
    slug = await freeServerSlug(tx, { orgId: origin.orgId, name, promised: new Set() });
  }
}

/**
 * Changes the registered server, but not the headers of one that live versions rely on: those are registered when the
 * new version goes live.
 */
async function changeServer(
  tx: Transaction,
  { caller, origin, deployment, own }: Place,
  { at, entry, wanted, registered }: PlannedServer & { registered: RegisteredServer },
): Promise<RegisteredServer> {
  const name = wanted.name === registered.name ? undefined : wanted.name;
  const isSaved = wanted.headers === undefined || sameHeaders(wanted.headers, own[registered.id] ?? registered.headers);
  const headers = isSaved ? undefined : wanted.headers;
  if (name === undefined && headers === undefined) return registered;
  const param = headers ? (entry.auth === undefined ? `${at}.headers` : `${at}.auth`) : `${at}.name`;
  const others = headers ? await otherUsers(tx, origin.orgId, registered.id, deployment) : [];
  if (others.length > 0) {
    throw fail('mcp_server_shared', {
      param,
      deployments: others,
      message: `Other deployments run \`${registered.slug}\` with other headers: ${others.join(', ')}. Change the server itself, or leave \`auth\` and \`headers\` out to use it as it is.`,
    });
  }
  await assertMayChange(tx, caller, registered.id, param);
  const isRelied = headers && (await deploymentsRelyingOn(tx, origin.orgId, registered.id)).length > 0;
  const changes = { ...(name !== undefined && { name }), ...(headers && !isRelied && { headers }) };
  return Object.keys(changes).length === 0 ? registered : updateServer(tx, origin, registered.id, changes);
}
