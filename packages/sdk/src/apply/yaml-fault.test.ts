import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { excerptAt, yamlFault, yamlFaults } from '@vestra/contract/yaml-fault';
import { expect, it, onTestFinished } from 'vitest';
import { parseDocument } from 'yaml';
import { readServiceFile } from './service-file.ts';
import faults from './yaml-faults.json' with { type: 'json' };

/** The parser's first fault would be reported at another line. */
const elsewhere = (text: string) => ({ line: text.split('\n').length - 1, column: 1, message: 'A fault.' });

it.each([
  ['a missing colon before a list', 'name: a\ntools\n  - function: f\n', '2:6 A colon is missing after `tools`.'],
  ['a list at the same depth', 'name: a\ntools\n- function: f\n', '2:6 A colon is missing after `tools`.'],
  ['a value without its colon', 'name a\ntools: []\n', '1:5 A colon is missing after `name`.'],
  ['a nested key', 'limits:\n  caps\n    usd: 5\n', '2:7 A colon is missing after `caps`.'],
  ['no space after the colon', 'name:a\ntools: []\n', '1:5 Write a space after the colon of `name`.'],
  [
    'text in a block',
    'instructions: |\n  Hello\n  - do this\n  x:y\ntools\n  - a\n',
    '5:6 A colon is missing after `tools`.',
  ],
  ['an open quote', 'name: "a\ntools: []\n', '1:7 The text that begins here has no closing " quote.'],
])('finds %s [FIRST-703]', (_name, text, expected) => {
  const message = text.includes('"') ? 'Missing closing "quote.' : 'A fault.';
  const fault = yamlFault(text, { ...elsewhere(text), message });
  expect(`${fault.line}:${fault.column} ${fault.message}`).toBe(expected);
});

it.each([
  ['name: a\nurl: http://example.com\nsteps:\n  - first step\n  - second\ntext: one\n  two\nbad: [\n'],
  ['a: { b: 1\nc: 2\n'],
])('keeps the fault of the parser where no slip is found [FIRST-703]', (text) => {
  expect(parseDocument(text).errors.length).toBeGreaterThan(0);
  expect(yamlFault(text, elsewhere(text))).toEqual(elsewhere(text));
});

/** The Python SDK reads the same table: packages/python/tests/test_apply.py. */
it.each(faults as [string, string][])(
  'says of %j where it is wrong and what to do [FIRST-703]',
  async (text, expected) => {
    const folder = await mkdtemp(join(tmpdir(), 'vestra-yaml-'));
    onTestFinished(() => rm(folder, { recursive: true }));
    await writeFile(join(folder, 'service.yaml'), text);
    const { message } = (await readServiceFile({ folder, file: 'service.yaml' }).catch(
      (error: unknown) => error,
    )) as Error;
    const [line, shown, mark] = message.split('\n');
    expect(line).toContain(`service.yaml:${expected}`);
    const [, at, column] = /^(\d+):(\d+)/.exec(expected) ?? [];
    expect(shown).toBe(`  ${at} | ${text.split('\n')[Number(at) - 1]}`);
    expect(mark).toBe(`    | ${' '.repeat(Number(column) - 1)}^`);
  },
);

it('marks the column, also after tabs and in a long line [FIRST-703]', () => {
  expect(excerptAt('a: 1\n\tb: 2\n', { line: 2, column: 2 })).toBe('  2 | \tb: 2\n    | \t^');
  expect(excerptAt('x'.repeat(1000), { line: 1, column: 3 }).split('\n')[0]).toHaveLength(6 + 200);
});

it('names the first ten of many unknown tags, each at its place [FIRST-703]', () => {
  const text = '- !a x\n'.repeat(500);
  const places = yamlFaults(text, parseDocument(text)).map(({ line, column }) => `${line}:${column}`);
  expect(places).toEqual(Array.from({ length: 10 }, (_, at) => `${at + 1}:3`));
});
