/** One rule that a test proves. `source` is the page of `docs/` that states it, with a heading after `#`. */
type Requirement = { id: string; source: string; text: string };

/** A family of requirements. If it is `done`, a test must cite each of its rows. */
export type Area = { name: string; status: 'open' | 'done'; requirements: readonly Requirement[] };

export type Row = readonly [id: string, source: string, text: string];

export function area(name: string, status: Area['status'], rows: readonly Row[]): Area {
  return { name, status, requirements: rows.map(([id, source, text]) => ({ id, source, text })) };
}
