import { expect, it } from 'vitest';
import { parse } from 'yaml';
import { editServiceFile } from './edit-service-file.ts';

const source = `# The shop
name: shop # its name
instructions: |
  We answer customers.
  Returns are possible within 14 days.

# Functions
tools:
  - function: find_order # read only
    description: "Finds an order."
    read_only: true
  - function: refund
    description: Refunds.
`;

const before = 'We answer customers.\nReturns are possible within 14 days.';
const after = 'We answer customers.\nReturns are possible within 30 days.\n"Quotes": stay.';

it('replaces only the text, with comments and layout kept [IMPR-716]', () => {
  const edited = editServiceFile(source, [
    { path: 'instructions', before, after },
    { path: 'tools.find_order', before: 'Finds an order.', after: 'Finds an order: by its number.' },
  ]);
  expect(edited.written).toHaveLength(2);
  expect(edited.text).toBe(
    source
      .replace('  Returns are possible within 14 days.', '  Returns are possible within 30 days.\n  "Quotes": stay.')
      .replace('"Finds an order."', '"Finds an order: by its number."'),
  );
  expect(parse(edited.text).instructions.trim()).toBe(after);
});

it('writes nothing that is there already, and nothing over a text that somebody changed [IMPR-716]', () => {
  const first = editServiceFile(source, [{ path: 'instructions', before, after }]);
  const second = editServiceFile(first.text, [{ path: 'instructions', before, after }]);
  expect([second.text === first.text, second.there.length, second.written]).toEqual([true, 1, []]);
  const other = editServiceFile(source, [{ path: 'instructions', before: 'Something else.', after }]);
  expect([other.text === source, other.changed.length]).toEqual([true, 1]);
  expect(editServiceFile(source, [{ path: 'tools.none', before: 'a', after: 'b' }]).changed).toHaveLength(1);
});

it.each([
  'instructions: Short.\nname: shop\n',
  'name: shop\ninstructions: >-\n  Short.',
  "instructions: 'Short.' # c\n",
  'instructions: | # c\n  Short.\nname: shop\n',
])('keeps the rest of %j [IMPR-716]', (given) => {
  const { text } = editServiceFile(given, [{ path: 'instructions', before: 'Short.', after: 'Two\nlines.' }]);
  expect(parse(text).instructions.trim()).toBe('Two\nlines.');
  expect(text.includes('# c')).toBe(given.includes('# c'));
  if (given.includes('name')) expect(parse(text).name).toBe('shop');
});
