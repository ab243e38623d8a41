/**
 * Builds the package that is published: JavaScript and declarations, since Node runs no TypeScript below `node_modules`.
 * What the SDK needs of the contract comes along, so that it stands alone. `node scripts/build-sdk.ts [folder]`
 */
import { spawnSync } from 'node:child_process';
import { copyFileSync, globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';

const root = join(import.meta.dirname, '..');
const out = resolve(process.argv[2] ?? join(root, 'packages/sdk/dist'));

/** What may be imported, and the file behind it; all but `apply`, which reads folders, run in a browser too. */
const entries: Record<string, string> = {
  './client': 'client',
  './commands/answer': 'commands/answer',
  './commands/ask': 'commands/ask',
  './commands/embed': 'commands/embed',
  './commands/events': 'commands/events',
  './commands/test': 'commands/test',
  './errors': 'errors',
  './function-endpoint': 'function-endpoint',
  './functions': 'functions',
  './pages': 'pages',
  './resources': 'resources',
  './stream': 'stream',
  './tools': 'tools',
  './webhook': 'webhook',
  './apply': 'apply/apply',
};

rmSync(out, { recursive: true, force: true });
mkdirSync(out, { recursive: true });
compile();
for (const file of globSync('**/*.{js,d.ts}', { cwd: out })) makeRelative(file);
dropUnreached();
assertRunsAnywhere();
writeFileSync(join(out, 'package.json'), `${JSON.stringify(manifest(), null, 2)}\n`);
copyFileSync(join(root, 'LICENSE'), join(out, 'LICENSE'));
copyFileSync(join(root, 'docs/sdk.md'), join(out, 'README.md'));
console.log(`built ${relative(process.cwd(), out) || out}`);

function compile(): void {
  const words = ['-p', join(root, 'packages/sdk/tsconfig.build.json'), '--outDir', out];
  const { status, stdout } = spawnSync(join(root, 'node_modules/.bin/tsc'), words, { encoding: 'utf8' });
  if (status !== 0) stop(stdout);
}

/** Imports of the contract become paths, and in declarations too a file is named by what was made of it. */
function makeRelative(file: string): void {
  const text = readFileSync(join(out, file), 'utf8');
  const toContract = (name: string) => {
    const path = relative(dirname(file), `contract/src/${name}.js`);
    return path.startsWith('.') ? path : `./${path}`;
  };
  const mended = text
    .replace(/(['"])@vestra\/contract\/([\w/-]+)\1/g, (_, quote, name) => `${quote}${toContract(name)}${quote}`)
    .replace(/(from |import\()(['"])(\.{1,2}\/[^'"]+)\.ts\2/g, '$1$2$3.js$2');
  if (mended !== text) writeFileSync(join(out, file), mended);
}

/** The contract's own code validates with zod; nothing here runs it. */
function dropUnreached(): void {
  const reached = reachedFrom(Object.values(entries).map(fileOf));
  for (const file of globSync('**/*.js', { cwd: out })) if (!reached.has(file)) rmSync(join(out, file));
}

function assertRunsAnywhere(): void {
  const web = reachedFrom(
    Object.entries(entries).flatMap(([name, path]) => (name === './apply' ? [] : [fileOf(path)])),
  );
  const all = reachedFrom(Object.values(entries).map(fileOf));
  const dependencies = Object.keys(packageOf('sdk').dependencies);
  for (const [file, specifier] of [...all].flatMap((file) => importsOf(file).map((each) => [file, each] as const))) {
    if (specifier.startsWith('.')) continue;
    if (specifier.startsWith('node:')) {
      if (web.has(file)) stop(`${file} imports ${specifier}, and is to run in a browser.`);
    } else if (!dependencies.includes(specifier)) stop(`${file} imports ${specifier} when it runs.`);
  }
}

function reachedFrom(files: readonly string[]): Set<string> {
  const reached = new Set<string>();
  const visit = (file: string) => {
    if (reached.has(file)) return;
    reached.add(file);
    for (const specifier of importsOf(file)) if (specifier.startsWith('.')) visit(join(dirname(file), specifier));
  };
  files.forEach(visit);
  return reached;
}

function importsOf(file: string): string[] {
  const text = readFileSync(join(out, file), 'utf8');
  const found = text.matchAll(/^(?:import|export)\s(?:[^'"`;]*?\sfrom\s)?['"]([^'"]+)['"]/gm);
  return [...found].map(([, specifier]) => specifier as string);
}

function manifest() {
  const { license, dependencies } = packageOf('sdk');
  const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { version: string };
  const { '@vestra/contract': _, ...own } = dependencies;
  return {
    name: '@vestra/sdk',
    version,
    description: 'The client of Vestra: typed calls, streams, tools, webhooks and applying a folder.',
    license,
    type: 'module',
    sideEffects: false,
    engines: { node: '>=20' },
    exports: Object.fromEntries(
      Object.entries(entries).map(([name, path]) => [
        name,
        { types: `./sdk/src/${path}.d.ts`, default: `./${fileOf(path)}` },
      ]),
    ),
    // The declarations speak in its types; no code here loads it.
    dependencies: { ...own, zod: packageOf('contract').dependencies.zod },
  };
}

function packageOf(name: string): { license: string; dependencies: Record<string, string> } {
  return JSON.parse(readFileSync(join(root, `packages/${name}/package.json`), 'utf8'));
}

function fileOf(path: string): string {
  return `sdk/src/${path}.js`;
}

function stop(message: string): never {
  console.error(message);
  process.exit(1);
}
