/**
 * The paths of files in the bundle. A source file refers to its neighbours in one of three ways, and each works in the
 * bundle:
 *
 * - `import.meta.dirname`, to read files: the module's folder below `files`, which mirrors `packages`.
 * - `new URL('./name.ts', import.meta.url)` or `import.meta.resolve('@vestra/…')`, to start a program: its file in the
 * bundle.
 * - `createRequire(import.meta.url)` or `import.meta.resolve('a-package')`, to find an installed package: unchanged.
 */
import { dirname, join, relative } from 'node:path';
import type { Plugin } from 'rolldown';

const packages = join(import.meta.dirname, '../packages');
const ours = { include: [`${packages}/**`], exclude: ['**/node_modules/**'] };

export const filesOfModules: Plugin = {
  name: 'files-of-modules',
  transform: {
    filter: { id: ours, code: 'import.meta.dirname' },
    handler(code, id) {
      const place = JSON.stringify(`/../files/${relative(packages, dirname(id))}`);
      return code.replaceAll('import.meta.dirname', `(import.meta.dirname + ${place})`);
    },
  },
};

const program = /new URL\('(\.[^']+\.ts)', import\.meta\.url\)|import\.meta\.resolve\('(@vestra\/[^']+)'\)/g;

export const programsOfTheirOwn: Plugin = {
  name: 'programs-of-their-own',
  transform: {
    filter: { id: ours, code: program },
    async handler(code, id) {
      let changed = code;
      for (const [words, path, module] of code.matchAll(program)) {
        const found = await this.resolve((path ?? module) as string, id);
        if (!found) throw new Error(`${relative(packages, id)} starts ${path ?? module}, which is not there.`);
        const fileName = fileNameOf(found.id);
        this.emitFile({ type: 'chunk', id: found.id, fileName });
        const url = `new URL('./${fileName}', import.meta.url)`;
        changed = changed.replace(words, path ? url : `${url}.href`);
      }
      return changed;
    },
  },
};

/** `server/src/main/main.ts` becomes `server.js`, `server/src/operator/main.ts` becomes `operator.js`. */
function fileNameOf(id: string): string {
  const words = id.slice(0, -'.ts'.length).split('/');
  return `${words.findLast((word) => word !== 'main' && word !== 'src')}.js`;
}
