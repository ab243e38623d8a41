/**
 * Builds the package `@vestra/react` for publishing: JavaScript and declarations that need only React. `node
 * scripts/build-react.ts [folder]`
 */
import { spawnSync } from 'node:child_process';
import { copyFileSync, globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, relative, resolve } from 'node:path';
import { publishedFrom } from './package-repository.ts';

const root = join(import.meta.dirname, '..');
const source = join(root, 'packages/react');
const out = resolve(process.argv[2] ?? join(source, 'dist'));

rmSync(out, { recursive: true, force: true });
mkdirSync(out, { recursive: true });
compile();
for (const file of globSync('*.d.ts', { cwd: out })) nameWhatWasMade(file);
writeFileSync(join(out, 'package.json'), `${JSON.stringify(manifest(), null, 2)}\n`);
copyFileSync(join(root, 'LICENSE'), join(out, 'LICENSE'));
copyFileSync(join(root, 'docs/embedding.md'), join(out, 'README.md'));
console.log(`built ${relative(process.cwd(), out) || out}`);

function compile(): void {
  const words = ['-p', join(source, 'tsconfig.build.json'), '--outDir', out];
  const { status, stdout } = spawnSync(join(root, 'node_modules/.bin/tsc'), words, { encoding: 'utf8' });
  if (status === 0) return;
  console.error(stdout);
  process.exit(1);
}

/** Declarations also refer to the built files. */
function nameWhatWasMade(file: string): void {
  const text = readFileSync(join(out, file), 'utf8');
  writeFileSync(join(out, file), text.replace(/(from |import\()(['"])(\.{1,2}\/[^'"]+)\.ts\2/g, '$1$2$3.js$2'));
}

function manifest() {
  const { license, exports, peerDependencies } = JSON.parse(readFileSync(join(source, 'package.json'), 'utf8'));
  const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { version: string };
  const entries = Object.entries(exports as Record<string, string>).map(([name, file]) => {
    const made = file.replace('./src/', './').replace(/\.ts$/, '');
    return [name, { types: `${made}.d.ts`, default: `${made}.js` }];
  });
  return {
    name: '@vestra/react',
    version,
    description:
      'The chat of an agent on Vestra as a part of your page: a React component and the element <vestra-session>.',
    license,
    ...publishedFrom('packages/react'),
    type: 'module',
    sideEffects: false,
    exports: Object.fromEntries(entries),
    peerDependencies,
    peerDependenciesMeta: { react: { optional: true } },
  };
}
