/**
 * Builds `dist/package`, the npm package `vestra`: server, command line and SDK as plain JavaScript with their files.
 * It runs on every supported Node, installed without scripts and without a compiler. `node scripts/build.ts`
 */
import { spawnSync } from 'node:child_process';
import { copyFileSync, cpSync, globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename, dirname, join, relative } from 'node:path';
import { zstdCompressSync } from 'node:zlib';
import { type OutputAsset, type OutputChunk, rolldown } from 'rolldown';
import { templates } from '../packages/cli/src/template.ts';
import { fileSchema } from '../packages/contract/src/derive/file-schema.ts';
import { fileSchemaPath } from '../packages/contract/src/schema-line.ts';
import { StartFailure } from '../packages/server/src/platform/db/start-failure.ts';
import { buildCluster } from './build-cluster.ts';
import { filesOfModules, programsOfTheirOwn } from './bundle-places.ts';
import { licencesOf } from './licences.ts';
import { notBundled, packageManifest, startFile } from './package-manifest.ts';

const root = join(import.meta.dirname, '..');
const out = join(root, 'dist/package');
/** Separate packages, which `vestra` also contains. */
const sdk = join(root, 'dist/sdk');
const react = join(root, 'dist/react');

const startedAt = performance.now();
rmSync(out, { recursive: true, force: true });
mkdirSync(out, { recursive: true });
run('packages/web/build.ts');
run('scripts/build-sdk.ts', sdk);
run('scripts/build-react.ts', react);
run('scripts/build-cluster.ts');
const manifest = packageManifest(root, { sdk, react });
for (const folder of [sdk, react]) {
  const inside = join(out, basename(folder));
  cpSync(folder, inside, { recursive: true });
  for (const file of ['package.json', 'README.md', 'LICENSE']) rmSync(join(inside, file));
}
const bundled = await bundle();
copyFiles();
await copyCluster();
writeFileSync(join(out, 'code/start.cjs'), startFile);
writeFileSync(join(out, 'package.json'), `${JSON.stringify(manifest, null, 2)}\n`);
writeFileSync(join(out, 'third-party-licences.md'), licencesOf(bundled));
writeSchema();
copyTemplates();
console.log(`built ${relative(process.cwd(), out)} in ${((performance.now() - startedAt) / 1000).toFixed(1)} s`);

/** Returns the bundled source files. */
async function bundle(): Promise<string[]> {
  const building = await rolldown({
    cwd: root,
    input: { vestra: 'packages/cli/src/main.ts' },
    platform: 'node',
    external: [...notBundled, ...Object.keys(manifest.optionalDependencies)],
    plugins: [programsOfTheirOwn, filesOfModules],
    // The same library as one file; its other build has one file for each of a hundred commands.
    resolve: { alias: { 'just-bash': join(root, 'node_modules/just-bash/dist/bundle/index.cjs') } },
    // Optional dependencies that a library can do without.
    onLog: (level, log, show) => log.code === 'UNRESOLVED_IMPORT' || show(level, log),
  });
  const options = {
    dir: join(out, 'code'),
    // Programs and chunks are in one folder: see bundle-places.ts.
    entryFileNames: '[name].js',
    chunkFileNames: '[name]-[hash].js',
    // Names identify errors and appear in stack traces.
    keepNames: true,
    // A server keeps its source text in memory while it runs.
    comments: false,
    // A quarter smaller, which every start reads and keeps in memory. Names stay.
    minify: { compress: false, mangle: { keepNames: true }, codegen: { removeWhitespace: true } },
  } as const;
  const { output: unjoined } = await building.generate(options);
  const small = smallModulesOf(unjoined);
  const ofServer = serverModulesOf(unjoined);
  const { output } = await building.write({
    ...options,
    codeSplitting: {
      groups: [
        { name: 'zod', test: /node_modules\/zod\//, priority: 1 },
        { name: 'serve', test: (id) => ofServer.has(id) },
        { name: 'contract', test: (id) => small.contract.has(id) },
        { name: 'small', test: (id) => small.others.has(id) },
      ],
    },
  });
  await building.close();
  for (const part of output)
    if (part.type === 'chunk') writeFileSync(join(out, 'code', part.fileName), inAscii(part.code));
  return output.flatMap((part) => (part.type === 'chunk' ? part.moduleIds : []));
}

/**
 * Modules that every start of the server reads and no other program ever does. They become one file, because code that is
 * loaded later shares them, and each set of sharers would get a separate file.
 */
function serverModulesOf(output: (OutputChunk | OutputAsset)[]): Set<string> {
  const chunks = new Map(output.flatMap((part) => (part.type === 'chunk' ? [[part.fileName, part]] : [])));
  const all = [...chunks.values()];
  const start = all.find(({ facadeModuleId }) => facadeModuleId?.endsWith('/server/src/main/start.ts'))?.fileName;
  const reached = (from: readonly string[], next: (chunk: OutputChunk) => readonly string[]): Set<string> => {
    const found = new Set<string>();
    const left = [...from];
    for (let name = left.pop(); name !== undefined; name = left.pop()) {
      const chunk = chunks.get(name);
      if (!chunk || found.has(name)) continue;
      found.add(name);
      left.push(...next(chunk));
    }
    return found;
  };
  const byOthers = reached(
    all.filter(({ isEntry, fileName }) => isEntry && fileName !== start).map(({ fileName }) => fileName),
    ({ imports, dynamicImports }) => [...imports, ...dynamicImports].filter((name) => name !== start),
  );
  const atStart = reached(start === undefined ? [] : [start], ({ imports }) => imports);
  const own = [...atStart].filter((name) => name !== start && !byOthers.has(name));
  return new Set(own.flatMap((name) => chunks.get(name)?.moduleIds ?? []));
}

/**
 * Modules that many programs share become files of a few hundred bytes, and a start reads each of them. Those of a start
 * go into two files: small modules of the contract, and others that import nothing larger, because a group takes the
 * imports of its modules along.
 */
function smallModulesOf(output: (OutputChunk | OutputAsset)[]): { contract: Set<string>; others: Set<string> } {
  const chunks = new Map(output.flatMap((part) => (part.type === 'chunk' ? [[part.fileName, part]] : [])));
  const atStart = new Set<string>();
  const read = (name: string): void => {
    if (atStart.has(name)) return;
    atStart.add(name);
    for (const imported of chunks.get(name)?.imports ?? []) read(imported);
  };
  for (const { fileName, facadeModuleId } of chunks.values()) {
    if (facadeModuleId?.endsWith('/server/src/main/start.ts')) read(fileName);
  }
  const isShared = (name: string): boolean => {
    const chunk = chunks.get(name);
    return chunk !== undefined && atStart.has(name) && !chunk.isEntry && !chunk.isDynamicEntry;
  };
  const isOf = (name: string, folder: string): boolean =>
    chunks.get(name)?.moduleIds.every((id) => id.includes(folder)) ?? true;
  const isSmall = (name: string): boolean =>
    isShared(name) &&
    (chunks.get(name)?.code.length ?? 0) < 8000 &&
    (chunks.get(name)?.imports ?? []).every((imported) => isSmall(imported) || isOf(imported, '/node_modules/zod/'));
  const shared = [...chunks.values()].filter(({ fileName }) => isShared(fileName));
  const modulesOf = (found: OutputChunk[]) => new Set(found.flatMap(({ moduleIds }) => moduleIds));
  return {
    contract: modulesOf(
      shared.filter(({ fileName, code }) => code.length < 12_000 && isOf(fileName, '/packages/contract/src/')),
    ),
    others: modulesOf(shared.filter(({ fileName }) => isSmall(fileName))),
  };
}

/**
 * One character beyond Latin-1 makes V8 store its whole file with two bytes per character. An escape means the same in
 * a string, template, pattern and name.
 */
function inAscii(code: string): string {
  return code.replace(/[^\0-\x7f]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

/** Files that the code reads at run time have the same path below `files` as below `packages`. */
function copyFiles(): void {
  const read = globSync(
    [
      '{agent,server}/src/**/*.{md,sql}',
      'models/src/catalogue/models.json',
      'server/skills/*/**/*',
      'server/dist/*.zst',
      'web/dist/**/*',
    ],
    {
      cwd: join(root, 'packages'),
      exclude: ['**/__pycache__/**'],
      withFileTypes: true,
    },
  ).filter((entry) => entry.isFile());
  for (const entry of read) {
    const file = join(entry.parentPath, entry.name);
    if (/web\/dist\/(.*assets\/.+\.(js|css)|llms-full\.txt)$/.test(file)) packToSamePlace(file);
    else copyToSamePlace(file);
  }
  copyFileSync(join(root, 'LICENSE'), join(out, 'LICENSE'));
  copyFileSync(join(root, 'README.md'), join(out, 'README.md'));
}

/** Editors read the schema of service.yaml from the installed package. */
function writeSchema(): void {
  const file = join(out, fileSchemaPath);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, `${JSON.stringify(fileSchema(manifest.version), null, 1)}\n`);
}

/** `vestra init --template` copies these folders. */
function copyTemplates(): void {
  for (const { name } of templates)
    cpSync(join(root, 'examples', name), join(out, 'examples', name), { recursive: true });
}

/** The prebuilt cluster for this platform. Elsewhere the first start creates one. */
async function copyCluster(): Promise<void> {
  try {
    copyToSamePlace(await buildCluster());
  } catch (error) {
    if (!(error instanceof StartFailure)) throw error;
    console.log(`The package has no ready-made database: ${error.message}`);
  }
}

function copyToSamePlace(file: string): void {
  copyFileSync(file, placeOf(file));
}

/** Compresses files that browsers request rarely but every installation contains: see static-content.ts. */
function packToSamePlace(file: string): void {
  writeFileSync(`${placeOf(file)}.zst`, zstdCompressSync(readFileSync(file)));
}

function placeOf(file: string): string {
  const to = join(out, 'files', relative(join(root, 'packages'), file));
  mkdirSync(dirname(to), { recursive: true });
  return to;
}

function run(script: string, ...words: string[]): void {
  const { status } = spawnSync(process.execPath, [join(root, script), ...words], { cwd: root, stdio: 'inherit' });
  if (status !== 0) process.exit(1);
}
