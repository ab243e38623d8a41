import { findByAddress, type RegisteredServer, takenSlugs } from '../../agents/tool-servers/index.ts';
import type { Transaction } from '../../platform/db/pool.ts';
import type { FileParts, ServerEntry } from '../file/parts.ts';
import { addressOf, nameOfServer, serverSlug } from '../file/server-entry.ts';

/** An entry of the file with the server that it found, and the slug that the server has or would get. */
export type PlannedServer = {
  at: string;
  entry: Partial<ServerEntry> & Pick<ServerEntry, 'mcp'>;
  registered: RegisteredServer | null;
  slug: string;
};

/** Finds the servers of a file by their address. Nothing is registered here. */
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

/** `promised` holds the slugs that other entries of the same file have taken or will take. */
export async function freeServerSlug(
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
