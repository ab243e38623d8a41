import { lineAt, moduleOf, type Source } from './sources.ts';

export type ForeignTable = { file: string; line: number; table: string; owner: string };

/**
 * Tables that no `tables.ts` declares, since one place reads their rows. `runs` is missing on purpose: a statement of any
 * module may join it to check its lease.
 */
const undeclared: Record<string, string> = {
  document_passages: 'agents',
  idempotency_keys: 'platform',
  org_moves: 'platform',
  rate_windows: 'platform',
  server_settings: 'platform',
  tool_categories: 'engine',
  unfolded_entries: 'billing',
};

/**
 * Statements that name a table of another module: a dependency that no import shows. The table is found by the keyword before
 * its name. A name that the file itself gives to a part of a statement (`WITH events AS`) does not count.
 */
export function foreignTables(sources: readonly Source[]): ForeignTable[] {
  const owners = ownersOf(sources);
  return sources.flatMap(({ file, text, imports }) => {
    const module = moduleOf(file);
    const named = [...text.matchAll(/\b(?:FROM|JOIN|INTO|UPDATE|TABLE|USING)\s+(?:ONLY\s+)?(\$\{)?"?(\w+)\b/g)];
    return named.flatMap((match) => {
      const name = match[2] as string;
      const isGiven = match[1] !== undefined;
      const owner = isGiven ? importedFrom(name, text, imports) : owners.get(name);
      if (owner === undefined || owner === module || (!isGiven && isPart(name, text))) return [];
      return [{ file, line: lineAt(text, match.index), table: name, owner }];
    });
  });
}

function ownersOf(sources: readonly Source[]): Map<string, string> {
  const declared = sources
    .filter(({ file }) => file.endsWith('/tables.ts'))
    .flatMap(({ file, text }) =>
      [...text.matchAll(/\btable\(\s*'(\w+)'/g)].map((match): [string, string] => [
        match[1] as string,
        moduleOf(file) ?? file,
      ]),
    );
  return new Map([...Object.entries(undeclared), ...declared]);
}

/** A table that another module exports as a value: `FROM ${users}`. */
function importedFrom(name: string, text: string, imports: Source['imports']): string | undefined {
  const found = imports.find(({ specifier, target, isType }) => {
    if (isType || target === null || moduleOf(target) === 'platform') return false;
    const at = text.indexOf(`'${specifier}'`);
    const statement = text.slice(text.lastIndexOf('import', at), at);
    return new RegExp(`\\b${name}\\b`).test(statement);
  });
  return found?.target ? (moduleOf(found.target) ?? undefined) : undefined;
}

const isPart = (name: string, text: string) => new RegExp(`\\b${name} AS (?:NOT )?(?:MATERIALIZED )?\\(`).test(text);
