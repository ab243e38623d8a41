/**
 * Who may import whom, and whose tables are whose. The house stands on this: a file that reaches into a room it must not
 * know fails `npm run check` with the line that does it.
 */
import { circlesIn } from './circles.ts';
import { faultOfEngineImport, faultsOfApi, isDoorTo } from './engine-rooms.ts';
import { foreignTables } from './foreign-tables.ts';
import { apiOfDomain, packageRooms, serverRooms } from './rooms.ts';
import { graphOf, isTest, readSources, type Source, subRoomOf } from './sources.ts';

/**
 * Statements that name another room's table, since two would be two round trips or see two moments: what a conversation has
 * cost, whether its user is being erased, the settings by which money is held. The list only ever shrinks.
 */
const knownForeignTables: Record<string, readonly string[]> = {
  'packages/server/src/domains/audit/store.ts': ['api_keys'],
  'packages/server/src/domains/batches/erase.ts': ['ledger_entries'],
  'packages/server/src/domains/batches/store.ts': ['ledger_entries', 'turns', 'tasks'],
  'packages/server/src/domains/batches/watch-items.ts': ['ledger_entries'],
  'packages/server/src/domains/computers/store.ts': ['users'],
  'packages/server/src/domains/deployments/store.ts': ['org_settings'],
  'packages/server/src/domains/engine/records/change.ts': ['conversation_events'],
  'packages/server/src/domains/engine/records/conversations.ts': ['ledger_entries'],
  'packages/server/src/domains/engine/records/erase.ts': ['conversation_events'],
  'packages/server/src/domains/engine/records/log.ts': ['conversation_events'],
  'packages/server/src/domains/engine/records/message-writes.ts': ['deployments'],
  'packages/server/src/domains/engine/records/prune-streams.ts': ['conversation_events'],
  'packages/server/src/domains/engine/tools/tool-categories.ts': ['deployment_versions'],
  'packages/server/src/domains/events/emit-all.ts': ['webhook_deliveries_pending', 'webhook_endpoints'],
  'packages/server/src/domains/events/emit.ts': ['webhook_deliveries_pending', 'webhook_endpoints'],
  'packages/server/src/domains/keys/store.ts': ['orgs'],
  'packages/server/src/domains/ledger/plenty-store.ts': ['org_settings'],
  'packages/server/src/domains/ledger/holds-store.ts': ['org_settings'],
  'packages/server/src/domains/ledger/store.ts': ['org_settings'],
  'packages/server/src/domains/members/store.ts': ['orgs'],
  'packages/server/src/domains/sessions/store.ts': ['orgs', 'users'],
  'packages/server/src/domains/webhooks/delivery-store.ts': ['events'],
};

/**
 * Against the way of the imports: deliveries are written with their event (decision 0006), and the last use of a key with its
 * line of the audit log.
 */
const writtenTogether = [
  'packages/server/src/domains/audit/store.ts',
  'packages/server/src/domains/events/emit-all.ts',
  'packages/server/src/domains/events/emit.ts',
];

type Place = { package: string; room: string; domain: string | null; file: string };

function violationsOf({ file, imports }: Source): string[] {
  const from = placeOf(file);
  const rooms = from.package === 'server' ? serverRooms : packageRooms;
  if (!((from.package === 'server' ? from.room : from.package) in rooms)) {
    return [`${file} is in no room: they are ${Object.keys(rooms).join(', ')} (scripts/rooms.ts)`];
  }
  return imports.flatMap(({ specifier, line, isType, target }) => {
    if (target === null) {
      return refusePackage(from, specifier) ? [`${file}:${line} ${from.package} may not import ${specifier}`] : [];
    }
    const to = placeOf(target);
    if (isTest(target)) return [`${file}:${line} what is shipped may not import what tests alone use`];
    const fault = faultOfEngineImport(file, to.file);
    if (fault !== null) return [`${file}:${line} ${fault}`];
    return isAllowed(from, to, isType) ? [] : [`${file}:${line} ${nameOf(from)} may not import ${nameOf(to)}`];
  });
}

function isAllowed(from: Place, to: Place, isType: boolean): boolean {
  // The stand-in follows the prompts of the house; no prompt follows it.
  if (to.file.startsWith('packages/models/src/offline/') && from.package !== 'models') return false;
  // Behind its edges the server calls no route of its own.
  if (from.package === 'server' && to.package === 'sdk') return from.room === 'edges';
  if (from.package !== to.package) return packageRooms[from.package]?.imports.includes(to.package) ?? false;
  if (from.package !== 'server') return true;
  if (from.room === to.room && from.domain === to.domain) return true;
  // What everybody shares: who is calling, how to wait, and how a start fails.
  if (to.room === 'caller.ts' || to.room === 'async' || to.file.endsWith('/db/start-failure.ts')) return true;
  const allowed = serverRooms[from.room]?.imports ?? [];
  if (allowed.includes(to.room) || (allowed.includes(apiOfDomain) && isDomainApi(to))) return true;
  return from.room === 'domains' && (isDoorTo(from.domain, to.file) || isPortOf(from, to, isType));
}

/** The contract runs in a browser: it takes nothing that ties it to a host. */
function refusePackage(from: Place, specifier: string): boolean {
  return from.package === 'contract' && specifier !== 'zod' && !specifier.startsWith('.');
}

const isDomainApi = ({ room, domain, file }: Place) =>
  room === 'domains' && file === `packages/server/src/domains/${domain}/api.ts`;

/** A domain knows the shape of a handler, of a job and of an adapter; who fills it in is wired in `main/`. */
function isPortOf(from: Place, to: Place, isType: boolean): boolean {
  if (/\/jobs\/(catalog|run-owner)\.ts$/.test(to.file)) return true;
  // What an adapter throws belongs to its port: whoever catches it has to tell it apart.
  if (/\/adapters\/[a-z-]+\/[a-z]+-failure\.ts$/.test(to.file)) return true;
  if (to.room === 'adapters' || to.room === 'jobs') return isType;
  const isRoutes = from.file.endsWith('/routes.ts');
  return to.room === 'http' && (isType || isRoutes);
}

function placeOf(file: string): Place {
  const [, packageName = '', , first = '', second = ''] = file.split('/');
  const room = packageName === 'server' ? first : 'src';
  return { package: packageName, room, domain: room === 'domains' ? second : null, file };
}

function nameOf(place: Place): string {
  if (place.domain !== null) return `domain ${place.domain} (${place.file.split('/').at(-1)})`;
  return place.package === 'server' ? place.file : place.package;
}

function faultsOfCircles(sources: readonly Source[]): string[] {
  return [
    ...circlesIn(graphOfDomains(sources)).map(
      (circle) => `domains know each other in a circle, by imports or by tables: ${circle.join(', ')}`,
    ),
    ...circlesIn(graphOf(sources, subRoomOf)).map(
      (circle) => `rooms of a domain import each other in a circle: ${circle.join(', ')}`,
    ),
    ...circlesIn(graphOf(sources, (file) => file)).map(
      (circle) => `files import each other in a circle, types included: ${circle.join(' ')}`,
    ),
  ];
}

function graphOfDomains(sources: readonly Source[]): Map<string, Set<string>> {
  const graph = graphOf(sources, (file) => placeOf(file).domain);
  for (const { file, owner } of foreignTables(sources)) {
    const [room, known] = owner.split('/');
    if (room !== 'domains' || known === undefined || writtenTogether.includes(file)) continue;
    const from = placeOf(file).domain;
    if (from !== null) graph.set(from, new Set([...(graph.get(from) ?? []), known]));
  }
  return graph;
}

function faultsOfTables(sources: readonly Source[]): string[] {
  const found = foreignTables(sources);
  const isKnown = (file: string, table: string) => knownForeignTables[file]?.includes(table) ?? false;
  const gone = Object.entries(knownForeignTables).flatMap(([file, tables]) =>
    tables
      .filter((table) => !found.some((each) => each.file === file && each.table === table))
      .map((table) => `${file} no longer names ${table}: take it off the list of scripts/boundaries.ts`),
  );
  return [
    ...found
      .filter(({ file, table }) => !isKnown(file, table))
      .map(({ file, line, table, owner }) => `${file}:${line} names ${table}, a table of ${owner}`),
    ...gone,
  ];
}

export const faultsIn = (sources: readonly Source[]): string[] => [
  ...sources.flatMap(violationsOf),
  ...sources.flatMap(({ file, text }) => faultsOfApi(file, text)),
  ...faultsOfCircles(sources),
  ...faultsOfTables(sources),
];

if (import.meta.main) {
  const faults = faultsIn(readSources());
  for (const fault of faults) console.error(fault);
  if (faults.length > 0) process.exit(1);
  const files = Object.keys(knownForeignTables).length;
  console.log(`boundaries hold; ${files} files name a table of another domain`);
}
