/**
 * SQL is written as SQL. A value in the template is a parameter, a table is its quoted name, and a fragment is text with
 * parameters of its own: `sql\`SELECT … FROM ${users} WHERE ${owned(tenant)} AND id = ${userId}\``. There is no way to
 * put a string into the text but `sql.raw`, which is for constants.
 */
export function sql(strings: TemplateStringsArray, ...parts: readonly Part[]): Sql {
  const known = sites.get(strings);
  if (known && parts.every((part, at) => part !== undefined && known.constants[at] === constantIn(part))) {
    return new Sql(known.texts, known.constants.every(isAbsent) ? (parts as Value[]) : parts.filter(isValue), known);
  }
  const writer = sqlWriter();
  for (let at = 0; at < parts.length; at++) {
    writer.add(strings[at] as string);
    const part = parts[at] as Part;
    if (part === undefined) throw new TypeError('A value in SQL is undefined: pass null, or leave the condition out.');
    if (part instanceof Sql || isValue(part)) writer.addPart(part);
    else writer.add(quoted(part.name));
  }
  const made = writer.add(strings[parts.length] as string).end();
  if (parts.every((part) => isValue(part) || isConstant(part))) {
    sites.set(strings, { texts: made.texts, text: undefined, constants: parts.map(constantIn) });
  }
  return made;
}

export type Value = string | number | bigint | boolean | Date | Buffer | null | readonly Value[];

type Named = { readonly name: string; readonly columns: object };

type Part = Value | Sql | Named;

/** A piece of SQL or a whole statement: `values[n]` stands between `texts[n]` and `texts[n + 1]`. */
export class Sql {
  readonly texts: readonly string[];
  readonly values: readonly Value[];

  readonly #site: { text: string | undefined };

  constructor(
    texts: readonly string[],
    values: readonly Value[],
    site: { text: string | undefined } = { text: undefined },
  ) {
    this.texts = texts;
    this.values = values;
    this.#site = site;
  }

  /** As PostgreSQL takes it, with `$1` where a value stood. */
  get text(): string {
    this.#site.text ??= this.texts.reduce((before, after, at) => `${before}$${at}${after}`);
    return this.#site.text;
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
  const writer = sqlWriter();
  for (let at = 0; at < fragments.length; at++) {
    if (at > 0) writer.add(separator);
    writer.addPart(fragments[at] as Sql);
  }
  return writer.end();
};

type Optional = Sql | undefined | null | false | '';

function inBrackets(conditions: readonly Optional[], separator: string, none: string): Sql {
  const writer = sqlWriter();
  let isFirst = true;
  for (const condition of conditions) {
    if (!condition) continue;
    writer
      .add(isFirst ? '(' : `${separator}(`)
      .addPart(condition)
      .add(')');
    isFirst = false;
  }
  return isFirst ? sql.raw(none) : writer.end();
}

/** SQL put together piece by piece, where a template has no fixed number of places. `add` is for constants alone. */
export function sqlWriter() {
  const texts: string[] = [];
  const values: Value[] = [];
  let last = '';
  const writer = {
    add(text: string) {
      last += text;
      return writer;
    },
    addPart(part: Sql | Value) {
      if (part instanceof Sql) {
        for (let at = 0; at < part.values.length; at++)
          writer.add(part.texts[at] as string).addPart(part.values[at] as Value);
        return writer.add(part.texts.at(-1) as string);
      }
      texts.push(last);
      values.push(part);
      last = '';
      return writer;
    },
    end: () => new Sql([...texts, last], values),
  };
  return writer;
}

/** What a place in the code came to the last time: without fragments that carry values its text is made once. */
const sites = new WeakMap<
  TemplateStringsArray,
  { texts: readonly string[]; text: string | undefined; constants: readonly (Sql | Named | undefined)[] }
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

/** PostgreSQL takes a year above 9999 without the sign that ISO puts before it. */
export const momentText = (moment: Date): string => moment.toISOString().replace(/^\+0?/, '');
