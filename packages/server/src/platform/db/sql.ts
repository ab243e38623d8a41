/**
 * Builds a statement. A value in the template becomes a parameter, a table its quoted name, and a fragment is inserted with
 * its own parameters: `sql\`SELECT … FROM ${users} WHERE ${owned(tenant)} AND id = ${userId}\``. Only
 * `sql.raw` inserts a string into the text, and it is for constants.
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

/** A fragment or a whole statement: `values[n]` is between `texts[n]` and `texts[n + 1]`. */
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

  /** The text for PostgreSQL, with `$1` for the first value. */
  get text(): string {
    this.#site.text ??= this.texts.reduce((before, after, at) => `${before}$${at}${after}`);
    return this.#site.text;
  }
}

sql.empty = new Sql([''], []);

/** For constants in the code only, never for input. */
sql.raw = (text: string): Sql => new Sql([text], []);

sql.identifier = (name: string): Sql => new Sql([quoted(name)], []);

/** For json and jsonb columns. A plain array would become a PostgreSQL array. */
sql.json = (value: unknown): string => JSON.stringify(value);

/** Joins the conditions that are not empty. `TRUE` if there are none. */
sql.and = (...conditions: Optional[]): Sql => inBrackets(conditions, ' AND ', 'TRUE');

/** Joins the conditions that are not empty. `FALSE` if there are none. */
sql.or = (...conditions: Optional[]): Sql => inBrackets(conditions, ' OR ', 'FALSE');

/** For lists in the code only, because each length is another prepared statement. For rows and ids use `= ANY`. */
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

/** Builds SQL with a variable number of values. `add` is for constants only. */
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

/** Caches the text per template. Only templates without fragments that contain values are cached. */
const sites = new WeakMap<
  TemplateStringsArray,
  { texts: readonly string[]; text: string | undefined; constants: readonly (Sql | Named | undefined)[] }
>();

/** Tables and column lists are the same objects on every call. */
const isConstant = (part: Part): part is Sql | Named =>
  !isValue(part) && !(part instanceof Sql && part.values.length > 0);

const constantIn = (part: Part) => (isConstant(part) ? part : undefined);

const isAbsent = (constant: unknown) => constant === undefined;

function isValue(part: Part): part is Value {
  if (typeof part !== 'object' || part === null) return true;
  return !(part instanceof Sql) && !('columns' in part);
}

const quoted = (name: string) => `"${name.replaceAll('"', '""')}"`;

/** PostgreSQL does not accept the plus sign that ISO puts before years above 9999. */
export const momentText = (moment: Date): string => moment.toISOString().replace(/^\+0?/, '');

/** The SQLSTATE of a failed statement, also if the error is the cause of another. */
export function sqlState(error: unknown): string | undefined {
  for (let each = error; each instanceof Error; each = each.cause) {
    const code = (each as { code?: unknown }).code;
    if (typeof code === 'string' && /^(?=.*\d)[0-9A-Z]{5}$/.test(code)) return code;
  }
  return undefined;
}

/** Removes NUL and replaces lone surrogates, which PostgreSQL cannot store. */
export const storableText = (text: string): string => text.replaceAll('\0', '').toWellFormed();

/** The same for every string and key of a JSON value. */
export function storableJson(value: unknown): unknown {
  if (typeof value === 'string') return storableText(value);
  if (Array.isArray(value)) return value.map(storableJson);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [storableText(key), storableJson(each)]));
}
