/**
 * Builds the package for publishing: JavaScript and declarations, because Node runs no TypeScript below `node_modules`.
 * It includes the needed parts of the contract, so that it has no other dependency on this repository. `node
 * scripts/build-sdk.ts [folder]`
 */
import { spawnSync } from 'node:child_process';
import { copyFileSync, globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { publishedFrom } from './package-repository.ts';

const root = join(import.meta.dirname, '..');
const out = resolve(process.argv[2] ?? join(root, 'packages/sdk/dist'));

/**
 * The exported modules and their files. All except `apply`, which reads folders, also run in a browser and are exported
 * by the root.
 */
const entries: Record<string, string> = {
  '.': 'index',
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

const published = publishedFrom('packages/sdk');
rmSync(out, { recursive: true, force: true });
mkdirSync(out, { recursive: true });
compile();
for (const file of globSync('**/*.{js,d.ts}', { cwd: out })) makeRelative(file);
dropUnreached();
for (const file of globSync('**/*.d.ts', { cwd: out })) shorten(file);
assertRunsAnywhere();
writeFileSync(join(out, 'package.json'), `${JSON.stringify(manifest(), null, 2)}\n`);
copyFileSync(join(root, 'LICENSE'), join(out, 'LICENSE'));
writeFileSync(join(out, 'README.md'), readme());
console.log(`built ${relative(process.cwd(), out) || out}`);

function compile(): void {
  const words = ['-p', join(root, 'packages/sdk/tsconfig.build.json'), '--outDir', out];
  const { status, stdout } = spawnSync(join(root, 'node_modules/.bin/tsc'), words, { encoding: 'utf8' });
  if (status !== 0) stop(stdout);
}

/** Imports of the contract become relative paths, and declarations refer to the built files. */
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

/** Indentation, and an import in each type that mentions zod, would double the declarations. */
function shorten(file: string): void {
  let text = readFileSync(join(out, file), 'utf8')
    .replace(/^[ \t]+(?=[^*\s])/gm, '')
    .replace(/^[ \t]+\*/gm, ' *');
  for (const [specifier, name] of [
    ['zod', 'zod'],
    ['zod/v4/core', 'zodCore'],
  ] as const) {
    const inType = `import("${specifier}").`;
    if (!text.includes(inType)) continue;
    text = `import type * as ${name}Types from '${specifier}';\n${text.replaceAll(inType, `${name}Types.`)}`;
  }
  writeFileSync(join(out, file), text);
}

/**
 * The contract's code validates with zod, but nothing here runs it. Only the declarations that others refer to are
 * kept.
 */
function dropUnreached(): void {
  const reached = reachedFrom(Object.values(entries).map(fileOf));
  const declared = reachedFrom(Object.values(entries).map((path) => declarationOf(fileOf(path))));
  for (const file of globSync('**/*.{js,json,d.ts}', { cwd: out })) {
    if (!reached.has(file) && !declared.has(file)) rmSync(join(out, file));
  }
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
    for (const specifier of importsOf(file)) {
      if (!specifier.startsWith('.')) continue;
      const path = join(dirname(file), specifier);
      visit(file.endsWith('.d.ts') ? declarationOf(path) : path);
    }
  };
  files.forEach(visit);
  return reached;
}

function importsOf(file: string): string[] {
  const text = readFileSync(join(out, file), 'utf8');
  const found = text.matchAll(/(?:^(?:import|export)\s(?:[^'"`;]*?\sfrom\s)?|\bimport\()['"]([^'"]+)['"]/gm);
  return [...found].map(([, specifier]) => specifier as string);
}

function manifest() {
  const { license, dependencies } = packageOf('sdk');
  const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { version: string };
  const { '@vestra/contract': _, ...own } = dependencies;
  const ranges = Object.entries(own).map(([name, pinned]) => [name, `^${pinned}`]);
  const types = Object.entries(entries).map(([name, path]) => [name.replace('./', ''), [typesOf(path)]]);
  return {
    name: '@vestra/sdk',
    version,
    description: 'The client of Vestra: typed calls, streams, tools, webhooks and applying a folder.',
    keywords: ['vestra', 'ai', 'agents', 'llm', 'client', 'sdk'],
    license,
    ...published,
    type: 'module',
    sideEffects: false,
    // The first releases in which `require` accepts an ES module.
    engines: { node: '^20.19.0 || >=22.12.0' },
    // For tools that ignore `exports`: TypeScript with `moduleResolution: node10`.
    main: `./${fileOf('index')}`,
    types: typesOf('index'),
    typesVersions: { '*': Object.fromEntries(types.filter(([name]) => name !== '.')) },
    exports: Object.fromEntries(
      Object.entries(entries).map(([name, path]) => [name, { types: typesOf(path), default: `./${fileOf(path)}` }]),
    ),
    // The declarations use types of zod that older versions lack. No code here loads it.
    dependencies: { ...Object.fromEntries(ranges), zod: `^${packageOf('contract').dependencies.zod}` },
  };
}

/** The npm page has no other pages, so links must be absolute. */
function readme(): string {
  const text = readFileSync(join(root, 'docs/sdk.md'), 'utf8');
  const pages = published.homepage?.replace('#readme', '/blob/main/docs/');
  return text.replace(/\[([^\]]+)\]\(([\w-]+\.md[^)]*)\)/g, (_, words, page) =>
    pages ? `[${words}](${pages}${page})` : words,
  );
}

function packageOf(name: string): { license: string; dependencies: Record<string, string> } {
  return JSON.parse(readFileSync(join(root, `packages/${name}/package.json`), 'utf8'));
}

function fileOf(path: string): string {
  return `sdk/src/${path}.js`;
}

function declarationOf(file: string): string {
  return file.replace(/\.js$/, '.d.ts');
}

function typesOf(path: string): string {
  return `./${declarationOf(fileOf(path))}`;
}

function stop(message: string): never {
  console.error(message);
  process.exit(1);
}
