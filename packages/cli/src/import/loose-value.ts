/** Readers for values of a foreign export, in which any field may be missing or of another type. */

export type LooseMap = Readonly<Record<string, unknown>>;

export const mapIn = (value: unknown): LooseMap =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as LooseMap) : {};

export const isMap = (value: unknown): value is LooseMap => mapIn(value) === value;

export const listIn = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

export const mapsIn = (value: unknown): readonly LooseMap[] => listIn(value).filter(isMap);

/** Numbers and booleans count as text, as an unquoted scalar of YAML. */
export const textIn = (value: unknown): string =>
  typeof value === 'string' ? value : typeof value === 'number' || typeof value === 'boolean' ? String(value) : '';

export const textsIn = (value: unknown): string[] => listIn(value).map(textIn).filter(Boolean);

/** A row of a table by a foreign key. A bare lookup would find `__proto__` and `constructor`. */
export const rowOf = <Row>(table: Readonly<Record<string, Row>>, key: string): Row | undefined =>
  Object.hasOwn(table, key) ? table[key] : undefined;

/** Cuts at a number of characters, never inside one. */
export const cutText = (text: string, most: number): string =>
  [...text].length <= most ? text : `${[...text].slice(0, most - 1).join('')}…`;

/** A text as one line, for lists and tables of a report. */
export const oneLine = (text: string, most = 200): string => cutText(text.replace(/\s+/g, ' ').trim(), most);

/** Any name as words of lowercase letters and digits, joined by the sign. */
export function joinedWords(name: string, sign: '-' | '_'): string {
  return name
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .replace(/([a-z0-9])([A-Z])/g, '$1 $2')
    .toLowerCase()
    .split(/[^a-z0-9]+/)
    .filter(Boolean)
    .join(sign);
}
