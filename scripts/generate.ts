/** Writes the documents that are read off the contract. With `--check` it only says whether they are up to date. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { routes } from '@vestra/contract/api';
import { errorCatalogue } from '@vestra/contract/errors';

const root = join(import.meta.dirname, '..');

const documents: Record<string, string> = {
  'docs/routes.md': routesDocument(),
  'docs/errors.md': errorsDocument(),
};

const stale = Object.entries(documents).filter(([file, text]) => read(file) !== text);
if (process.argv.includes('--check')) {
  for (const [file] of stale) console.error(`${file} is not what the contract says: run npm run fix`);
  process.exit(stale.length === 0 ? 0 : 1);
}
for (const [file, text] of stale) writeFileSync(join(root, file), text);
console.log(
  stale.length === 0 ? 'generated files are up to date' : `written: ${stale.map(([file]) => file).join(', ')}`,
);

function routesDocument(): string {
  const families = new Map<string, string[]>();
  for (const { family, route } of routes) {
    const scope = route.auth === 'key' ? [route.scopes, route.session ? 'session' : []].flat().join(', ') : route.auth;
    const command = route.command ? `\`${route.command}\`` : '';
    const row = `| \`${route.method} ${route.path}\` | ${scope} | ${route.summary} | ${command} |`;
    families.set(family, [...(families.get(family) ?? []), row]);
  }
  const sections = [...families].map(([family, rows]) =>
    [`## ${family}`, '', '| route | opens to | what it does | command |', '|---|---|---|---|', ...rows].join('\n'),
  );
  return `${['# Routes', 'Read off the contract. Scope `all` opens every route that a scope opens.', ...sections].join('\n\n')}\n`;
}

function errorsDocument(): string {
  const rows = Object.entries(errorCatalogue).map(
    ([code, { status, message }]) => `| ${status} | \`${code}\` | ${message} |`,
  );
  return `${['# Errors', 'Read off the contract. Branch on `code`; the sentence may change.', ['| status | code | meaning |', '|---|---|---|', ...rows].join('\n')].join('\n\n')}\n`;
}

function read(file: string): string | null {
  try {
    return readFileSync(join(root, file), 'utf8');
  } catch {
    return null;
  }
}
