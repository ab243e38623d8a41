/**
 * Who may import whom. The house stands on this: a file that reaches into a room it must not know
 * fails `npm run check` with the line that does it.
 */
import { globSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { faultOfEngineImport } from './engine-rooms.ts';

const root = resolve(import.meta.dirname, '..');

const packageImports: Record<string, string[]> = {
  contract: [],
  agent: [],
  models: ['agent'],
  sdk: ['contract'],
  cli: ['sdk', 'contract'],
  web: ['sdk', 'contract'],
  server: ['contract', 'agent', 'models', 'sdk'],
};

type Place = { package: string; room: string; domain: string | null; file: string };

function isTest(file: string): boolean {
  return /\.(test|fixture)\.tsx?$|\/testing\//.test(file);
}

function violationsOf(file: string): string[] {
  const from = placeOf(file);
  return importsOf(file).flatMap(({ specifier, line, isType }) => {
    const to = targetOf(file, specifier);
    if (to && isTest(to.file)) return [`${file}:${line} what is shipped may not import what tests alone use`];
    if (!to)
      return refusePackage(from, specifier) ? [`${file}:${line} ${from.package} may not import ${specifier}`] : [];
    const fault = faultOfEngineImport(file, to.file);
    if (fault !== null) return [`${file}:${line} ${fault}`];
    return isAllowed(from, to, isType) ? [] : [`${file}:${line} ${nameOf(from)} may not import ${nameOf(to)}`];
  });
}

function isAllowed(from: Place, to: Place, isType: boolean): boolean {
  if (from.package !== to.package) return (packageImports[from.package] ?? []).includes(to.package);
  if (from.package !== 'server') return true;
  if (isComposition(from)) return true;
  if (from.domain !== null && from.domain === to.domain) return true;
  // What everybody shares: who is calling, and how a start fails.
  if (to.file.endsWith('/caller.ts') || to.file.endsWith('/db/start-failure.ts')) return true;
  switch (from.room) {
    case 'main':
      return to.room === 'main' || to.room === 'db';
    case 'db':
      return to.room === 'db';
    case 'http':
      return to.room === 'http' || to.room === 'db';
    case 'jobs':
      return to.room === 'jobs' || to.room === 'db';
    case 'adapters':
      return to.room === 'adapters';
    case 'pages':
      return to.room === 'pages';
    case 'edges':
      return to.room === 'edges' || isDomainApi(to);
    case 'domains':
      return to.room === 'db' || isDomainApi(to) || isPortOf(from, to, isType);
    default:
      return false;
  }
}

/** What puts the parts together knows them all; the other files beside it do not. */
function isComposition({ room, file }: Place): boolean {
  return room === 'operator' || /\/src\/(main|run|start|admin|bootstrap|agreed-secret|assemble-[a-z]+)\.ts$/.test(file);
}

/** The contract runs in a browser: it takes nothing that ties it to a host. */
function refusePackage(from: Place, specifier: string): boolean {
  if (from.package === 'contract') return specifier !== 'zod';
  return false;
}

const isDomainApi = (to: Place) => to.room === 'domains' && to.file.endsWith('/api.ts');

/** A domain knows the shape of a handler, of a job and of an adapter; who fills it in is wired in `start.ts`. */
function isPortOf(from: Place, to: Place, isType: boolean): boolean {
  if (/\/jobs\/(catalog|fence)\.ts$/.test(to.file)) return true;
  if (to.room === 'adapters' || to.room === 'jobs') return isType;
  const isRoutes = from.file.endsWith('/routes.ts');
  return to.file.startsWith('packages/server/src/http/') && (isType || isRoutes);
}

function placeOf(file: string): Place {
  const [, packageName = '', , first = '', second = ''] = file.split('/');
  const isRoot = !file.replace(`packages/${packageName}/src/`, '').includes('/');
  const room = packageName !== 'server' ? 'src' : isRoot ? 'main' : first;
  return { package: packageName, room, domain: room === 'domains' ? second : null, file };
}

function targetOf(file: string, specifier: string): Place | null {
  if (specifier.endsWith('.json')) return null;
  if (specifier.startsWith('.')) return placeOf(relative(root, join(root, dirname(file), specifier)));
  const own = /^@vestra\/([a-z]+)\/(.+)$/.exec(specifier);
  return own ? placeOf(`packages/${own[1]}/src/${own[2]}.ts`) : null;
}

function importsOf(file: string): { specifier: string; line: number; isType: boolean }[] {
  const text = readFileSync(join(root, file), 'utf8');
  const pattern = /^(?:import|export)\s+(type\s)?(?:[^'"`;]*?\sfrom\s+)?'([^']+)'/gm;
  return [...text.matchAll(pattern)].map((match) => ({
    specifier: match[2] as string,
    line: text.slice(0, match.index).split('\n').length,
    isType: match[1] !== undefined || isAllTypes(match[0]),
  }));
}

/** `import { type A, type B } from …` brings nothing at run time. */
function isAllTypes(statement: string): boolean {
  const names = /\{([^}]*)\}/.exec(statement)?.[1];
  return names?.split(',').every((name) => name.trim() === '' || name.trim().startsWith('type ')) ?? false;
}

function circlesOfDomains(): string[] {
  const edges = new Map<string, Set<string>>();
  for (const file of globSync('packages/server/src/domains/**/*.ts', { cwd: root }).filter((each) => !isTest(each))) {
    const from = placeOf(file).domain as string;
    for (const { specifier } of importsOf(file)) {
      const to = targetOf(file, specifier)?.domain;
      if (to && to !== from) edges.set(from, (edges.get(from) ?? new Set()).add(to));
    }
  }
  const circles: string[] = [];
  const done = new Set<string>();
  const walk = (domain: string, path: string[]) => {
    if (path.includes(domain)) return void circles.push([...path.slice(path.indexOf(domain)), domain].join(' → '));
    if (done.has(domain)) return;
    for (const next of edges.get(domain) ?? []) walk(next, [...path, domain]);
    done.add(domain);
  };
  for (const domain of edges.keys()) walk(domain, []);
  return circles;
}

function nameOf(place: Place): string {
  return place.domain
    ? `domain ${place.domain} (${place.file.split('/').at(-1)})`
    : place.package === 'server'
      ? place.file
      : place.package;
}

const violations = globSync('packages/*/src/**/*.{ts,tsx}', { cwd: root })
  .filter((file) => !isTest(file))
  .flatMap(violationsOf);
const circles = circlesOfDomains();

for (const violation of violations) console.error(violation);
for (const circle of circles) console.error(`domains import each other in a circle: ${circle}`);
if (violations.length + circles.length > 0) process.exit(1);
console.log('import boundaries hold');
