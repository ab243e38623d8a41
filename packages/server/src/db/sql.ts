/**
 * SQL is written as SQL. A value in the template is a parameter, a table is its quoted name, and a fragment is text with
 * parameters of its own: `sql\`SELECT … FROM ${users} WHERE ${owned(tenant)} AND id = ${userId}\``. There is no way to
 * put a string into the text but `sql.raw`, which is for constants.
 */
export function sql(strings: TemplateStringsArray, ...parts: readonly Part[]): Sql {
  const known = sites.get(strings);
  if (known && parts.every((part, at) => part !== undefined && known.constants[at] === constantIn(part))) {
    return new Sql(known.texts, known.constants.every(isAbsent) ? (parts as Value[]) : parts.filter(isValue));
  }
  const [first = '', ...rest] = strings;
  const texts = [first];
  const values: Value[] = [];
  for (const [at, part] of parts.entries()) {
    if (isValue(part)) {
      if (part === undefined)
        throw new TypeError('A value in SQL is undefined: pass null, or leave the condition out.');
      values.push(part);
      texts.push('');
    } else {
      const [head = '', ...tail] = part instanceof Sql ? part.texts : [quoted(part.name)];
      texts[texts.length - 1] += head;
      texts.push(...tail);
      if (part instanceof Sql) values.push(...part.values);
    }
    texts[texts.length - 1] += rest[at] ?? '';
  }
  if (parts.every((part) => isValue(part) || isConstant(part))) {
    sites.set(strings, { texts, constants: parts.map(constantIn) });
  }
  return new Sql(texts, values);
}

export type Value = string | number | bigint | boolean | Date | Buffer | null | readonly Value[];

type Named = { readonly name: string; readonly columns: object };

type Part = Value | Sql | Named;

/** A piece of SQL or a whole statement: `values[n]` stands between `texts[n]` and `texts[n + 1]`. */
export class Sql {
  readonly texts: readonly string[];
  readonly values: readonly Value[];

  constructor(texts: readonly string[], values: readonly Value[]) {
    this.texts = texts;
    this.values = values;
  }
}

sql.empty = new Sql([''], []);

/** For constants of the code alone, never for anything that came in. */
sql.raw = (text: string): Sql => new Sql([text], []);

sql.identifier = (name: string): Sql => new Sql([quoted(name)], []);

/** What a json or jsonb column takes. An array by itself would become an array of PostgreSQL. */
sql.json = (value: unknown): string => JSON.stringify(value);

/** Those that are there, each in brackets. None: true, so that it may follow a WHERE. */
sql.and = (...conditions: Optional[]): Sql => inBrackets(conditions, ' AND ', 'TRUE');

/** Those that are there, each in brackets. None: false. */
sql.or = (...conditions: Optional[]): Sql => inBrackets(conditions, ' OR ', 'FALSE');

/** Each length is a statement of its own: for lists that are written in the code, not for rows or ids (`= ANY`). */
sql.join = (fragments: readonly Sql[], separator = ', '): Sql => {
  const texts = [''];
  const values: Value[] = [];
  for (const [at, fragment] of fragments.entries()) {
    const [head = '', ...tail] = fragment.texts;
    texts[texts.length - 1] += (at === 0 ? '' : separator) + head;
    texts.push(...tail);
    values.push(...fragment.values);
  }
  return new Sql(texts, values);
};

type Optional = Sql | undefined | null | false | '';

function inBrackets(conditions: readonly Optional[], separator: string, none: string): Sql {
  const given = conditions.filter((each): each is Sql => each instanceof Sql);
  if (given.length === 0) return sql.raw(none);
  return sql.join(
    given.map((each) => sql`(${each})`),
    separator,
  );
}

/**
 * What a place in the code came to the last time. The text of a statement without fragments that carry values is made
 * once, and found again by the identity of `texts`.
 */
const sites = new WeakMap<
  TemplateStringsArray,
  { texts: readonly string[]; constants: readonly (Sql | Named | undefined)[] }
>();

/** Tables and lists of columns are the same objects each time. */
const isConstant = (part: Part): part is Sql | Named =>
  !isValue(part) && !(part instanceof Sql && part.values.length > 0);

const constantIn = (part: Part) => (isConstant(part) ? part : undefined);

const isAbsent = (constant: unknown) => constant === undefined;

function isValue(part: Part): part is Value {
  if (typeof part !== 'object' || part === null) return true;
  return !(part instanceof Sql) && !('columns' in part);
}

const quoted = (name: string) => `"${name.replaceAll('"', '""')}"`;

const textOfTexts = new WeakMap<readonly string[], string>();

/** The text as PostgreSQL takes it, with `$1` where a value stood. */
export function textOf({ texts }: Sql): string {
  const known = textOfTexts.get(texts);
  if (known !== undefined) return known;
  const text = texts.reduce((before, after, at) => `${before}$${at}${after}`);
  textOfTexts.set(texts, text);
  return text;
}

/** PostgreSQL takes a year above 9999 without the sign that ISO puts before it. */
export const momentText = (moment: Date): string => moment.toISOString().replace(/^\+0?/, '');
