/** Checks which module imports which, and which tables its SQL names. `npm run check` runs it. */
import { circlesIn } from './circles.ts';
import { foreignTables } from './foreign-tables.ts';
import { engineFolders, packages, serverModules } from './modules.ts';
import { graphOf, isTest, moduleOf, readSources, type Source } from './sources.ts';

const server = 'packages/server/src/';

/** A wider interface hides no decision. */
const maxNames = 30;

/**
 * Statements that name a table of another module: two statements would be two round trips or see two moments. The check
 * prints their number, and refuses a row that is no longer true.
 */
const knownForeignTables: Record<string, readonly string[]> = {
  'account/events/emit.ts': ['webhook_deliveries_pending', 'webhook_endpoints'],
  'agents/deployments/store.ts': ['org_settings'],
  'automation/batches/store.ts': ['ledger_entries', 'turns', 'tasks'],
  'automation/webhooks/deliveries.ts': ['events'],
  'billing/alerts.ts': ['org_settings'],
  'billing/holds.ts': ['org_settings'],
  'billing/optimistic-holds.ts': ['org_settings'],
  'computers/store.ts': ['users'],
  'engine/records/conversation-log.ts': ['conversation_events'],
  'engine/records/conversations.ts': ['deployments', 'ledger_entries'],
  'engine/tools/tool-categories.ts': ['deployment_versions'],
  'integrations/sessions/store.ts': ['api_keys', 'mcp_grants', 'members', 'orgs', 'users'],
};

/** Moves every table of an org by one register. A test compares the register with the schema (decision 0075). */
const movesEveryTable = 'operator/org-move/';

/** Against the direction of the imports: a delivery is written in the transaction of its event (decision 0006). */
const writtenTogether = ['account/events/emit.ts'];

type Location = { package: string; module: string; file: string };

function violationsOf({ file, imports }: Source): string[] {
  const from = locate(file);
  const known = from.package === 'server' ? serverModules : packages;
  if (!((from.package === 'server' ? from.module : from.package) in known)) {
    return [`${file} is in no module: add it to scripts/modules.ts (${Object.keys(known).join(', ')})`];
  }
  return imports.flatMap(({ specifier, line, isType, target }) => {
    if (target === null) {
      return isRefusedPackage(from, specifier) ? [`${file}:${line} ${from.package} may not import ${specifier}`] : [];
    }
    if (isTest(target)) return [`${file}:${line} a shipped file may not import a test file`];
    const fault = faultOfImport(from, locate(target), isType);
    return fault === null ? [] : [`${file}:${line} ${fault}`];
  });
}

function faultOfImport(from: Location, to: Location, isType: boolean): string | null {
  const refused = `${nameOf(from)} may not import ${nameOf(to)}`;
  // The offline model follows our prompts. No prompt may follow the offline model.
  if (to.file.startsWith('packages/models/src/offline/') && from.package !== 'models') return refused;
  // Only the edges call routes of this server.
  if (from.package === 'server' && to.package === 'sdk') return from.module === 'edges' ? null : refused;
  if (from.package !== to.package) return packages[from.package]?.imports.includes(to.package) ? null : refused;
  if (from.package !== 'server') return null;
  if (from.module === to.module) return from.module === 'engine' ? faultOfEngineImport(from.file, to.file) : null;
  const allowed = serverModules[from.module]?.imports ?? [];
  if (allowed.includes('*')) return to.module === 'operator' ? refused : null;
  if (!allowed.includes(to.module)) return refused;
  if (to.module === 'platform') return faultOfHttpImport(from, to, isType);
  return isInterface(to.file) ? null : `${refused}: import its index.ts`;
}

/** Decisions know nothing about HTTP: outside of routes, only types of the pipeline may be imported. */
function faultOfHttpImport(from: Location, to: Location, isType: boolean): string | null {
  if (!to.file.startsWith(`${server}platform/http/`) || isType || from.module === 'edges') return null;
  if (/(^|[/-])(routes|register)\.ts$/.test(from.file)) return null;
  return `${nameOf(from)} may not import ${nameOf(to)}: only routes know HTTP`;
}

/** The index of a module, or of one of its folders. */
const isInterface = (file: string): boolean => /^packages\/server\/src\/[a-z]+\/(?:[a-z-]+\/)?index\.ts$/.test(file);

/** The contract runs in a browser, so it imports nothing that needs a host. */
function isRefusedPackage(from: Location, specifier: string): boolean {
  return from.package === 'contract' && specifier !== 'zod' && !specifier.startsWith('.');
}

/** Null if the import stays in its folder or points to a lower folder of the engine. */
function faultOfEngineImport(from: string, to: string): string | null {
  const [importing, imported] = [engineFolderOf(from), engineFolderOf(to)];
  for (const folder of [importing, imported]) {
    if (folder !== null && !engineFolders.includes(folder)) {
      return `engine/${folder} is not a folder of the engine: ${engineFolders.join(', ')}`;
    }
  }
  if (levelOf(imported) <= levelOf(importing)) return null;
  return `engine/${importing} may not import ${to.slice(server.length)}: the order is ${engineFolders.join(' < ')}`;
}

/** Null for a file directly in `engine/`. */
function engineFolderOf(file: string): string | null {
  const [folder = '', ...inside] = file.slice(`${server}engine/`.length).split('/');
  return inside.length === 0 ? null : folder;
}

const levelOf = (folder: string | null) => (folder === null ? engineFolders.length : engineFolders.indexOf(folder));

function faultsOfInterface({ file, text }: Source): string[] {
  if (!isInterface(file)) return [];
  const lists = [...text.matchAll(/export (?:type )?\{([^}]*)\}/g)].map((match) => match[1] as string);
  const declared = [...text.matchAll(/^export (?:async )?(?:function|const|type|class) \w+/gm)];
  const names = lists.flatMap((list) => list.split(',').filter((name) => name.trim() !== '')).length + declared.length;
  return [
    ...(names > maxNames ? [`${file} exports ${names} names: at most ${maxNames}`] : []),
    ...(/export \*/.test(text) ? [`${file} must list its names one by one`] : []),
  ];
}

function locate(file: string): Location {
  const [, packageName = ''] = file.split('/');
  return { package: packageName, module: moduleOf(file) ?? 'src', file };
}

const nameOf = ({ package: packageName, file }: Location): string =>
  packageName === 'server' ? file.slice(server.length) : packageName;

function faultsOfCircles(sources: readonly Source[]): string[] {
  return [
    ...circlesIn(graphOfModules(sources)).map(
      (circle) => `modules import each other or name each other's tables in a circle: ${circle.join(', ')}`,
    ),
    ...circlesIn(graphOf(sources, (file) => file)).map(
      (circle) => `files import each other in a circle, types included: ${circle.join(' ')}`,
    ),
  ];
}

function graphOfModules(sources: readonly Source[]): Map<string, Set<string>> {
  const graph = graphOf(sources, moduleOf);
  for (const { file, owner } of foreignTables(sources)) {
    const from = moduleOf(file);
    if (from === null || writtenTogether.includes(file.slice(server.length))) continue;
    graph.set(from, new Set([...(graph.get(from) ?? []), owner]));
  }
  return graph;
}

function faultsOfTables(sources: readonly Source[]): string[] {
  const found = foreignTables(sources);
  const known = Object.entries(knownForeignTables).flatMap(([name, tables]) =>
    tables.map((table) => ({ file: server + name, table })),
  );
  const isIn = (list: readonly { file: string; table: string }[], { file, table }: { file: string; table: string }) =>
    list.some((each) => each.file === file && each.table === table);
  return [
    ...found
      .filter((each) => !isIn(known, each) && !each.file.startsWith(server + movesEveryTable))
      .map(({ file, line, table, owner }) => `${file}:${line} names ${table}, a table of ${owner}`),
    ...known
      .filter((each) => !isIn(found, each))
      .map(({ file, table }) => `${file} no longer names ${table}: remove it from the list in scripts/boundaries.ts`),
  ];
}

export const faultsIn = (sources: readonly Source[]): string[] => [
  ...sources.flatMap(violationsOf),
  ...sources.flatMap(faultsOfInterface),
  ...faultsOfCircles(sources),
  ...faultsOfTables(sources),
];

if (import.meta.main) {
  const faults = faultsIn(readSources());
  for (const fault of faults) console.error(fault);
  if (faults.length > 0) process.exit(1);
  const files = Object.keys(knownForeignTables).length;
  console.log(`boundaries hold; ${files} files name a table of another module`);
}
