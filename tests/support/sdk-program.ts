import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/**
 * The code blocks of docs/sdk.md as one program: what they import at its top, the first block as it stands, and each other
 * one in a separate scope, since they build on the first.
 */
export function programOfSdkPage(): string {
  const page = readFileSync(join(import.meta.dirname, '../../docs/sdk.md'), 'utf8');
  const blocks = [...page.matchAll(/^```ts\n([\s\S]*?)^```$/gm)].map(([, code]) => code as string);
  const isImport = (line: string) => line.startsWith('import ');
  const imports = blocks.flatMap((code) => code.split('\n').filter(isImport));
  const [first = '', ...others] = blocks.map((code) =>
    code
      .split('\n')
      .filter((line) => !isImport(line))
      .join('\n'),
  );
  // Only a module's own level exports.
  const scopes = others.map((code) => `{\n${code.replace(/^export /gm, '')}}`);
  return [...new Set(imports), first, ...scopes, "console.log('the end of the page');", ''].join('\n');
}
