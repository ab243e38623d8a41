import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/**
 * A piece of a prompt, from the Markdown file of that name, with `{{name}}` filled in. Values are put in as they are,
 * in one pass: a value that looks like a place to fill stays what it is.
 */
export function piece(name: string, values: Readonly<Record<string, string>>): string {
  return textOf(name).replace(/\{\{(\w+)\}\}/g, (place, key: string) => {
    const value = values[key];
    if (value === undefined) throw new Error(`The prompt ${name}.md asks for ${place}, which nobody gave.`);
    return value;
  });
}

const texts = new Map<string, string>();

function textOf(name: string): string {
  const known = texts.get(name);
  if (known !== undefined) return known;
  const text = readFileSync(join(import.meta.dirname, `${name}.md`), 'utf8').trim();
  texts.set(name, text);
  return text;
}
