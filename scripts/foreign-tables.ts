import { lineAt, type Source } from './sources.ts';

export type ForeignTable = { file: string; line: number; table: string; owner: string };

/**
 * Tables that no `tables.ts` declares: their rows are read in one place each. `runs` of jobs is missing here, since a
 * statement of any domain may join it to be fenced.
 */
const undeclared: Record<string, string> = {
  document_passages: 'domains/notebooks',
  idempotency_keys: 'http',
  rate_windows: 'http',
  server_settings: 'db',
  tool_categories: 'domains/engine',
  unfolded_entries: 'domains/ledger',
};

/**
 * Where a statement names a table of another room: a circle of domains that no import shows. Read off the words before a
 * table's name, in SQL as we write it; a name that the file gives to a part of a statement itself (`WITH events AS`) is none.
 */
export function foreignTables(sources: readonly Source[]): ForeignTable[] {
  const owners = ownersOf(sources);
  return sources.flatMap(({ file, text, imports }) => {
    const room = roomOf(file);
    const named = [...text.matchAll(/\b(?:FROM|JOIN|INTO|UPDATE|TABLE|USING)\s+(?:ONLY\s+)?(\$\{)?"?(\w+)\b/g)];
    return named.flatMap((match) => {
      const name = match[2] as string;
      const isGiven = match[1] !== undefined;
      const owner = isGiven ? importedFrom(name, text, imports) : owners.get(name);
      if (owner === undefined || owner === room || (!isGiven && isPart(name, text))) return [];
      return [{ file, line: lineAt(text, match.index), table: name, owner }];
    });
  });
}

function ownersOf(sources: readonly Source[]): Map<string, string> {
  const declared = sources
    .filter(({ file }) => file.endsWith('/tables.ts'))
    .flatMap(({ file, text }) =>
      [...text.matchAll(/\b(?:pgTable|table)\(\s*'(\w+)'/g)].map((match): [string, string] => [
        match[1] as string,
        roomOf(file),
      ]),
    );
  return new Map([...Object.entries(undeclared), ...declared]);
}

/** A table that another domain gives away as a value: `FROM ${users}`. */
function importedFrom(name: string, text: string, imports: Source['imports']): string | undefined {
  const found = imports.find(({ specifier, target, isType }) => {
    if (isType || !target?.includes('/domains/')) return false;
    const at = text.indexOf(`'${specifier}'`);
    const statement = text.slice(text.lastIndexOf('import', at), at);
    return new RegExp(`\\b${name}\\b`).test(statement);
  });
  return found?.target ? roomOf(found.target) : undefined;
}

const isPart = (name: string, text: string) => new RegExp(`\\b${name} AS (?:NOT )?(?:MATERIALIZED )?\\(`).test(text);

function roomOf(file: string): string {
  const [, packageName = '', , room = '', domain = ''] = file.split('/');
  if (packageName !== 'server') return packageName;
  return room === 'domains' ? `domains/${domain}` : room;
}
