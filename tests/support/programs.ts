import { dirname, isAbsolute, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { type Plugin, rolldown } from 'rolldown';
import { builtOnce } from './built-once.ts';

const root = join(import.meta.dirname, '../..');
const packages = join(root, 'packages');

const entries = {
  server: 'server/src/main/main.ts',
  operator: 'server/src/operator/main.ts',
  vestra: 'cli/src/main.ts',
};

/**
 * A program of the sources with our modules in a few files: tests start hundreds of processes, and each would look up and read
 * a thousand. What it reads and installs is where the sources have it.
 */
export async function programOf(name: keyof typeof entries): Promise<string> {
  built ??= build();
  return join(await built, `${name}.js`);
}

let built: Promise<string> | null = null;

const build = (): Promise<string> =>
  builtOnce({
    name: 'test-programs',
    sources:
      '{tests/support/programs.ts,packages/{agent,cli,contract,models,sdk,server}/{src/**/*.{ts,json},package.json}}',
    async build(folder) {
      const bundle = await rolldown({
        cwd: root,
        input: Object.fromEntries(Object.entries(entries).map(([name, file]) => [name, join(packages, file)])),
        platform: 'node',
        plugins: [installedPackages, placesOfSources],
      });
      await bundle.write({ dir: folder, keepNames: true });
      await bundle.close();
    },
  });

/** Packages of many small files, which every start would look up. */
const inlined = /^(zod|yaml|commander|eventsource-parser|hono|@hono\/node-server|croner|ipaddr\.js)(\/|$)/;

/** Each as the module that imports it finds it. */
const installedPackages: Plugin = {
  name: 'installed-packages',
  async resolveId(source, importer, options) {
    if (source.startsWith('.') || source.startsWith('@vestra/') || isAbsolute(source)) return null;
    if (inlined.test(source)) return null;
    const found = await this.resolve(source, importer, { ...options, skipSelf: true });
    return { id: found?.id ?? source, external: found && isAbsolute(found.id) ? 'absolute' : true };
  },
};

/** The CLI starts these two. */
const programOfServer = /import\.meta\.resolve\('@vestra\/server\/(main|operator)\/main'\)/g;

const placesOfSources: Plugin = {
  name: 'places-of-sources',
  transform: {
    filter: { id: { include: [`${packages}/**`], exclude: ['**/node_modules/**'] }, code: 'import.meta.' },
    handler: (code, id) =>
      code
        .replaceAll('import.meta.dirname', JSON.stringify(dirname(id)))
        .replaceAll('import.meta.url', JSON.stringify(pathToFileURL(id).href))
        .replaceAll(programOfServer, (_, module) => {
          const name = module === 'main' ? 'server' : 'operator';
          return `new URL('./${name}.js', import.meta.url).href`;
        }),
  },
};
