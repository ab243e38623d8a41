import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { routes } from '@vestra/contract/api';
import { expect, it } from 'vitest';
import { fieldsOf } from '../../contract-modules.ts';

const sources = globSync('**/*.tsx', { cwd: import.meta.dirname }).map((file) => ({
  file,
  text: readFileSync(join(import.meta.dirname, file), 'utf8'),
}));

it('every form field has help from the contract or a hint [CON-261]', () => {
  const without = sources.flatMap(({ file, text }) => {
    // `row="keys.create"`, or both names of a form that creates and updates.
    const rows = [...text.matchAll(/row=(?:"[^"]+"|\{[^}]+\})/g)].flatMap(([row]) => row.match(/\w+\.\w+/g) ?? []);
    const helps = rows.map(helpOf);
    return fieldsIn(text)
      .filter(({ name, hasHint }) => !hasHint && !helps.some((help) => help(name)))
      .map(({ name }) => `${file}: ${name}`);
  });
  expect(without).toEqual([]);
});

/** Only fields with a literal `name` are checked. */
const fieldsIn = (text: string) =>
  [...text.matchAll(/<\w*Field\b([\s\S]*?)\/>/g)].flatMap(([, written = '']) => {
    const name = /\bname="([^"]+)"/.exec(written)?.[1];
    return name === undefined ? [] : [{ name, hasHint: /\bhint=(\{|"[^"]{10,})/.test(written) }];
  });

type Help = ReturnType<typeof fieldsOf>;

function helpOf(row: string): (name: string) => string | undefined {
  const route = routes.find(({ name }) => name === row)?.route;
  const fields = route ? fieldsOf(route) : {};
  const within = (help: Help | undefined, [first = '', ...rest]: string[]): string | undefined =>
    rest.length === 0 ? help?.[first]?.description : within(help?.[first]?.fields, rest);
  return (name) => within(fields, name.split('.'));
}
