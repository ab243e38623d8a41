import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/**
 * Reads a part of a prompt from the Markdown file of that name and fills in `{{name}}`. Values are inserted in one
 * pass, so a placeholder inside a value is not filled.
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
