import { access } from 'node:fs/promises';
import { dirname, join, relative, sep } from 'node:path';
import { packedSchemaPath, servedSchema } from '@vestra/contract/schema-line';

/**
 * Where editors find the schema of a new deployment file. A path into the installed package works offline, on any
 * port, and for everybody who clones the folder. Without the package, only the server has the schema.
 */
export async function schemaAddress(file: string, serverUrl: string): Promise<string> {
  const folder = dirname(file);
  for (let above = folder; ; above = dirname(above)) {
    const found = join(above, packedSchemaPath);
    const isThere = await access(found).then(
      () => true,
      () => false,
    );
    if (isThere) return withDot(relative(folder, found).split(sep).join('/'));
    if (above === dirname(above)) return servedSchema(serverUrl);
  }
}

/** Editors read a path without a dot as the name of a schema. */
const withDot = (path: string) => (path.startsWith('.') ? path : `./${path}`);
