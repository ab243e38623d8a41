/** One statement of the documents that a test can hold against the product. */
type Requirement = { id: string; source: string; text: string };

/** A family of requirements; once it is `done`, every row of it must be cited by a test. */
export type Area = { name: string; status: 'open' | 'done'; requirements: readonly Requirement[] };

type Row = readonly [id: string, source: string, text: string];

export function area(name: string, status: Area['status'], rows: readonly Row[]): Area {
  return { name, status, requirements: rows.map(([id, source, text]) => ({ id, source, text })) };
}
