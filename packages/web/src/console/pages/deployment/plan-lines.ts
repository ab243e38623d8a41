export type PlanLine = { sign: '+' | '-' | ' '; text: string };

const longestLine = 160;

/** The entries of a changed list, or the fields of an added or removed object. Null for a single value. */
export function planLines(before: unknown, after: unknown): PlanLine[] | null {
  if (isList(before) && isList(after)) return entryLines((before ?? []).map(written), (after ?? []).map(written));
  const only = before ?? after;
  if ((before !== null && after !== null) || typeof only !== 'object' || only === null) return null;
  const sign = before === null ? '+' : '-';
  return Object.entries(only).map(([key, value]) => ({ sign, text: cut(`${key}: ${written(value)}`) }));
}

const isList = (value: unknown): value is unknown[] | null => value === null || Array.isArray(value);

function entryLines(before: readonly string[], after: readonly string[]): PlanLine[] {
  const removed = without(before, after);
  const added = without(after, before);
  const same = after.length - added.length;
  const line = (sign: PlanLine['sign']) => (text: string) => ({ sign, text: cut(text) });
  if (removed.length + added.length === 0) return [{ sign: ' ', text: 'The order changes.' }];
  return [
    ...removed.map(line('-')),
    ...added.map(line('+')),
    ...(same === 0 ? [] : [{ sign: ' ' as const, text: `${same} unchanged` }]),
  ];
}

/** The entries of `from` that `others` does not have. Each entry of `others` stands for one. */
function without(from: readonly string[], others: readonly string[]): string[] {
  const left = [...others];
  return from.filter((entry) => {
    const at = left.indexOf(entry);
    if (at !== -1) left.splice(at, 1);
    return at === -1;
  });
}

/** As people write it in one line: `name: Greets, expect: [It greets]`. */
function written(value: unknown): string {
  if (typeof value === 'string') return value;
  if (typeof value !== 'object' || value === null) return String(value);
  return Array.isArray(value) ? `[${value.map(nested).join(', ')}]` : fieldsOf(value);
}

const nested = (value: unknown): string =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? `{${fieldsOf(value)}}` : written(value);

const fieldsOf = (value: object): string =>
  Object.entries(value)
    .map(([key, each]) => `${key}: ${nested(each)}`)
    .join(', ');

const cut = (text: string) => (text.length > longestLine ? `${text.slice(0, longestLine)}…` : text);
