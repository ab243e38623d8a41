import { fail } from '@vestra/contract/errors';
import { reservedServerSlugs } from '@vestra/contract/reserved-names';
import { withFullReferences, withShortReferences } from '@vestra/contract/secrets-in-text';
import { type DeploymentRow, deploymentsRelyingOn, deploymentsUsing } from '../../agents/deployments/index.ts';
import {
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
import type { FileParts, ServerEntry } from './parts.ts';

type Headers = Readonly<Record<string, string>>;

const maxName = 80;
const maxSlug = 40;

/** Normalised, since servers are found by their address. */
export const addressOf = (url: string): string => new URL(url).href;

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

/** The changes that an entry asks for, of the registered server or of the headers in the newest version. */
export function wantedChanges(
  entry: ServerEntry,
  server: Pick<RegisteredServer, 'name' | 'headers'>,
): Partial<Pick<RegisteredServer, 'name' | 'headers'>> {
  const headers = wantedHeaders(entry);
  return {
    ...(entry.name !== undefined && entry.name !== server.name && { name: entry.name }),
    ...(headers && !sameHeaders(headers, server.headers) && { headers }),
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
};

/** Finds the servers of a file by their address. It registers nothing. */
export async function planServers(
  tx: Transaction,
  { orgId, parts, hold }: { orgId: string; parts: Pick<FileParts, 'servers'> } & { hold: boolean },
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
    planned.push({ at, entry, registered, slug });
  }
  return planned;
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

type Place = {
  caller: Caller;
  origin: Origin;
  deployment: DeploymentRow | null;
  /** Headers that only the newest version has. */
  own: FixedServers;
};

type PlacedServers = {
  servers: RegisteredServer[];
  /** Headers of the file that are registered when the version goes live. */
  own: FixedServers;
  changed: boolean;
};

/** Registers or changes the servers of a file. Returns them in order, and whether any changed. */
export async function placeServers(
  tx: Transaction,
  { planned, ...place }: Place & { planned: readonly PlannedServer[] },
): Promise<PlacedServers> {
  const servers: RegisteredServer[] = [];
  const own: Record<string, FixedServers[string]> = {};
  for (const { registered, ...plan } of planned) {
    const server = registered
      ? await changeServer(tx, place, { ...plan, registered })
      : await register(tx, place, { ...plan, registered });
    servers.push(server);
    const headers = wantedHeaders(plan.entry);
    if (headers && !sameHeaders(headers, server.headers)) own[server.id] = { headers, isOwn: true };
  }
  return { servers, own, changed: servers.some((server, at) => server !== planned[at]?.registered) };
}

/** Another request may have taken the free slug. Each failed round has seen one taken, so the loop ends. */
async function register(
  tx: Transaction,
  { origin }: Place,
  { entry, slug: planned }: PlannedServer,
): Promise<RegisteredServer> {
  const name = nameOfServer(entry);
  for (let slug = planned; ; ) {
    const server = { slug, name, url: entry.mcp, headers: wantedHeaders(entry) ?? {} };
    const registered = await registerServer(tx, origin, server);
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
  { at, entry, registered }: PlannedServer & { registered: RegisteredServer },
): Promise<RegisteredServer> {
  const { name, headers: other } = wantedChanges(entry as ServerEntry, registered);
  const isSaved = other !== undefined && sameHeaders(other, own[registered.id]?.headers ?? registered.headers);
  const headers = isSaved ? undefined : other;
  if (name === undefined && headers === undefined) return registered;
  const users = await deploymentsUsing(tx, origin.orgId, registered.id);
  const others = users.filter(
    ({ id, status, isLive, isDraft }) => id !== deployment?.id && status === 'active' && (isLive || isDraft),
  );
  const param = headers ? (entry.auth === undefined ? `${at}.headers` : `${at}.auth`) : `${at}.name`;
  if (headers && others.length > 0) {
    throw fail('mcp_server_shared', {
      param,
      deployments: others.map(({ slug }) => slug),
      message: `Other deployments run \`${registered.slug}\` with other headers: ${others.map(({ slug }) => slug).join(', ')}. Change the server itself, or leave \`auth\` and \`headers\` out to use it as it is.`,
    });
  }
  // A server that other deployments use keeps its name.
  if (!headers && others.length > 0) return registered;
  await assertMayChange(tx, caller, registered.id, param);
  const isRelied = headers && (await deploymentsRelyingOn(tx, origin.orgId, registered.id)).length > 0;
  const changes = {
    ...(name !== undefined && others.length === 0 && { name }),
    ...(headers && !isRelied && { headers }),
  };
  return Object.keys(changes).length === 0 ? registered : updateServer(tx, origin, registered.id, changes);
}
