import { createHash, randomBytes } from 'node:crypto';
import { globSync, statSync } from 'node:fs';
import { mkdir, readdir, rename, rm, stat } from 'node:fs/promises';
import { dirname, isAbsolute, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { type Plugin, rolldown } from 'rolldown';

const root = join(import.meta.dirname, '../..');
const packages = join(root, 'packages');
const kept = join(root, 'node_modules/.cache/test-programs');

const entries = {
  server: 'server/src/main/main.ts',
  operator: 'server/src/operator/main.ts',
  vestra: 'cli/src/main.ts',
};

/**
 * A program of the sources with our modules in a few files: tests start hundreds of processes, and each would look up and read
 * a thousand. What it reads, starts and installs is where the sources have it.
 */
export async function programOf(name: keyof typeof entries): Promise<string> {
  built ??= build();
  return join(await built, `${name}.js`);
}

let built: Promise<string> | null = null;

async function build(): Promise<string> {
  const folder = join(kept, stateOfSources());
  if (await stat(folder).catch(() => null)) return folder;
  const made = `${folder}.${randomBytes(4).toString('hex')}`;
  const bundle = await rolldown({
    cwd: root,
    input: Object.fromEntries(Object.entries(entries).map(([name, file]) => [name, join(packages, file)])),
    platform: 'node',
    plugins: [installedPackages, placesOfSources],
  });
  await bundle.write({ dir: made, keepNames: true });
  await bundle.close();
  await removeOld();
  // Another process of the same run may have been first.
  await rename(made, folder).catch(() => rm(made, { recursive: true, force: true }));
  return folder;
}

/** By names, sizes and times of change. */
function stateOfSources(): string {
  const hash = createHash('sha256').update(statSync(import.meta.filename).mtime.toISOString());
  const sources = globSync('{agent,cli,contract,models,sdk,server}/{src/**/*.{ts,json},package.json}', {
    cwd: packages,
  });
  for (const source of sources.sort()) {
    const { size, mtimeMs } = statSync(join(packages, source));
    hash.update(`${source} ${size} ${mtimeMs}\n`);
  }
  return hash.digest('hex').slice(0, 16);
}

/** Not at once: a run that began before a change may still start processes. */
async function removeOld(): Promise<void> {
  await mkdir(kept, { recursive: true });
  for (const name of await readdir(kept)) {
    const { mtimeMs } = await stat(join(kept, name)).catch(() => ({ mtimeMs: Number.POSITIVE_INFINITY }));
    if (mtimeMs < Date.now() - 86_400_000) await rm(join(kept, name), { recursive: true, force: true });
  }
}

/** Each as the module that imports it finds it. */
const installedPackages: Plugin = {
  name: 'installed-packages',
  async resolveId(source, importer, options) {
    if (source.startsWith('.') || source.startsWith('@vestra/') || isAbsolute(source)) return null;
    const found = await this.resolve(source, importer, { ...options, skipSelf: true });
    return { id: found?.id ?? source, external: found && isAbsolute(found.id) ? 'absolute' : true };
  },
};

const placesOfSources: Plugin = {
  name: 'places-of-sources',
  transform: {
    filter: { id: { include: [`${packages}/**`], exclude: ['**/node_modules/**'] }, code: 'import.meta.' },
    handler: (code, id) =>
      code
        .replaceAll('import.meta.dirname', JSON.stringify(dirname(id)))
        .replaceAll('import.meta.url', JSON.stringify(pathToFileURL(id).href)),
  },
};
