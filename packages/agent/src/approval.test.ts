import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { functionCallFor, permissionFor } from './approval.ts';
import type { Tool } from './tool.ts';

const noLists = { deny: [], require_approval: [], run_without_asking: [] };

function tool(name: string, description: string, from: 'function' | 'server' = 'function'): Tool {
  return {
    definition: { name: from === 'server' ? `mcp__shop__${name}` : name, description, inputSchema: { type: 'object' } },
    origin:
      from === 'server'
        ? { from, name, floor: noLists, policy: null, isReadOnly: false }
        : { from, read_only: false, run_without_asking: false },
    server: from === 'server' ? 'shop' : null,
    effect: { kind: 'run' },
  };
}

const permission = (of: Tool, given: unknown, approvals: Parameters<typeof permissionFor>[2] = []) =>
  permissionFor(of, { id: 'call_1', name: of.definition.name, arguments: given }, approvals);
const summary = (description: string, given: unknown, name = 'pay_invoice') =>
  permission(tool(name, description), given).summary;

describe('the summary of an approval', () => {
  it.each([
    [
      'a sentence, the name and arguments',
      'Pays it. Now or later.',
      { to: 'Ana', amount: 5 },
      'Pays it. pay_invoice, to: Ana, amount: 5',
    ],
    ['no arguments', 'Pays it.', {}, 'Pays it. pay_invoice'],
    ['a description without a full stop', 'Pays an invoice', {}, 'Pays an invoice. pay_invoice'],
    ['an empty description', ' ', { a: true }, 'pay_invoice, a: true'],
    ['a shortening in the sentence', 'Pays bills, e.g. rent. Always.', {}, 'Pays bills, e.g. rent. pay_invoice'],
    ['several lines', 'Pays it\nat once.', {}, 'Pays it. pay_invoice'],
    [
      'values that are no text',
      'Pays.',
      { to: { n: 1 }, list: [1, null] },
      'Pays. pay_invoice, to: {"n":1}, list: [1,null]',
    ],
    [
      'a value that looks like an argument',
      'Pays.',
      { to: 'Ana, amount: 1' },
      'Pays. pay_invoice, to: "Ana, amount: 1"',
    ],
    ['a value that turns the text around', 'Pays.', { to: 'A\u202enA\nB' }, 'Pays. pay_invoice, to: A nA B'],
  ])('reads %s [WAIT-014]', (_what, description, given, expected) => {
    expect(summary(description, given)).toBe(expected);
  });

  it('drops the description first if the summary is too long [WAIT-015]', () => {
    const given = { to: 'x'.repeat(60), amount: 5 };
    expect(summary(`Pays ${'every single '.repeat(4)}invoice.`, given)).toBe(
      `pay_invoice, to: ${'x'.repeat(60)}, amount: 5`,
    );
  });

  it('drops arguments that still do not fit and ends with their number [WAIT-016]', () => {
    const given = { to: 'Ana', note: 'x'.repeat(200), amount: 5, more: 'y'.repeat(100) };
    expect(summary('Pays it.', given)).toBe('pay_invoice, to: Ana, amount: 5, and 2 more');
  });

  it.each([
    [120, 'Pays it.'.length + 1 + 'pay_invoice, a: '.length, 'Pays it. pay_invoice, a: '],
    [120, 'pay_invoice, a: '.length, 'pay_invoice, a: '],
  ])('accepts exactly %i characters', (length, before, start) => {
    const fits = summary('Pays it.', { a: 'x'.repeat(length - before) });
    expect(fits).toBe(start + 'x'.repeat(length - before));
    expect(summary('Pays it.', { a: 'x'.repeat(length - before + 1) })).not.toContain(start);
  });

  it('has at most 120 characters for any call [WAIT-013]', () => {
    const anyText = fc.oneof(fc.string({ unit: 'grapheme', maxLength: 300 }), fc.string({ unit: 'binary' }));
    fc.assert(
      fc.property(
        anyText,
        anyText,
        fc.dictionary(anyText, fc.oneof(anyText, fc.jsonValue())),
        (name, description, given) => {
          const { summary: text } = permission(tool(name, description), given);
          expect(text.length).toBeLessThanOrEqual(120);
          expect(text).not.toMatch(/[\n\r\u202e]/);
        },
      ),
    );
  });
});

describe('the details of an approval', () => {
  it('contain the name and at most 8 arguments as rows [WAIT-017]', () => {
    const given = Object.fromEntries(Array.from({ length: 12 }, (_, index) => [`a${index}`, index]));
    const { details, type, kind, expires_in_s } = permission(tool('pay', 'Pays.'), given);
    expect(details).toStrictEqual({
      tool_name: 'pay',
      description: 'Pays.',
      rows: Array.from({ length: 8 }, (_, index) => ({ label: `a${index}`, value: `${index}` })),
      more_rows: 4,
    });
    expect({ type, kind, expires_in_s }).toEqual({ type: 'approval', kind: 'tool_permission', expires_in_s: 86_400 });
  });

  it('contain the titles from the schema and no right-to-left control characters [WAIT-245]', () => {
    const plain = tool('pay', 'Pays it. Twice.');
    const properties = {
      amount_usd: { type: 'number', title: `A${'m'.repeat(80)}` },
      to: { title: 'Paid\u202e to' },
      empty: { title: ' ' },
      number: { title: 5 },
    };
    const titled = { ...plain, definition: { ...plain.definition, inputSchema: { type: 'object', properties } } };
    const { details } = permission(titled, { amount_usd: 5, to: 'Ana', empty: 1, number: 1, toString: 1 });
    expect(details).toStrictEqual({
      tool_name: 'pay',
      description: 'Pays it.',
      rows: [
        { label: 'amount_usd', title: `A${'m'.repeat(62)}…`, value: '5' },
        { label: 'to', title: 'Paid to', value: 'Ana' },
        { label: 'empty', value: '1' },
        { label: 'number', value: '1' },
        { label: 'toString', value: '1' },
      ],
    });
  });

  it('name the approver; an approval by the org needs no present user [INT-240]', () => {
    const pays = tool('pay_invoice', 'Pays an invoice.');
    const mine = permission(pays, {}, ['payment']);
    expect([mine.approver, mine.requires_present_user]).toEqual(['user', true]);
    for (const of of [pays, { ...pays, asksCreditUsd: 3 }]) {
      const its = permission({ ...of, approver: 'org' }, {}, ['payment']);
      expect([its.approver, its.requires_present_user]).toEqual(['org', false]);
    }
  });

  it('limit values to 200 characters and split no surrogate pair [WAIT-018]', () => {
    const { details } = permission(tool('pay', 'Pays.'), {
      a: 'x'.repeat(200),
      b: 'x'.repeat(201),
      c: `${'x'.repeat(198)}😀😀`,
    });
    expect(details.rows).toEqual([
      { label: 'a', value: 'x'.repeat(200) },
      { label: 'b', value: `${'x'.repeat(199)}…` },
      { label: 'c', value: `${'x'.repeat(198)}…` },
    ]);
  });

  it('name the server and the tool as the server does', () => {
    expect(permission(tool('pay', 'Pays.', 'server'), {}).details).toMatchObject({ tool_name: 'pay', server: 'shop' });
  });
});

describe('the marks of an approval [WAIT-023]', () => {
  it.each([
    ['server', 'pay', ['payment'], true, true, 'payment'],
    ['server', 'pay', [], false, false, undefined],
    ['server', 'pay', ['delete'], false, false, undefined],
    ['server', 'book_table', ['payment', 'booking'], false, false, 'booking'],
    ['function', 'pay', ['payment'], null, true, 'payment'],
    ['function', 'look', ['payment'], null, false, undefined],
  ] as const)('%s tool: %s if %j is listed', (from, name, approvals, movesMoney, requiresPresentUser, category) => {
    const wait = permission(tool(name, 'Does it.', from), {}, approvals);
    expect(wait.moves_money).toBe(movesMoney);
    expect(wait.requires_present_user).toBe(requiresPresentUser);
    expect(wait.details.category).toBe(category);
  });
});

describe('a tool that needs credit approval', () => {
  it.each([
    ['server', true],
    ['function', null],
  ] as const)('%s: asks a present user, shows the price and ignores the category', (from, movesMoney) => {
    const wait = permission({ ...tool('look', 'Looks.', from), asksCreditUsd: 0.5 }, {}, ['payment']);
    expect(wait).toMatchObject({ kind: 'credit_approval', moves_money: movesMoney, requires_present_user: true });
    expect(wait.details).toMatchObject({ tool_name: 'look', price_usd: 0.5 });
    expect(wait.details).not.toHaveProperty('category');
  });
});

it("uses a category that was determined before instead of the tool's words [WAIT-023]", () => {
  const judged = (category: Tool['category']) =>
    permission({ ...tool('pay', 'Pays.', 'server'), category }, {}, ['payment', 'delete']).details;
  expect(judged('delete')).toMatchObject({ category: 'delete' });
  expect(judged(null)).not.toHaveProperty('category');
});

it.each([[null], ['text'], [5], [undefined]])('shows no rows for arguments that are %j', (given) => {
  expect(permission(tool('pay', 'Pays.'), given)).toMatchObject({ summary: 'Pays. pay', details: { rows: [] } });
});

it('cuts long names and labels without splitting a character', () => {
  const { details, summary: text } = permission(tool('n'.repeat(121), ''), { [`${'l'.repeat(62)}😀!`]: 'v' });
  expect(details.rows).toEqual([{ label: `${'l'.repeat(62)}…`, value: 'v' }]);
  expect(text).toBe(`${'n'.repeat(107)}…, and 1 more`);
  expect(summary('', {}, 'n'.repeat(121))).toBe(`${'n'.repeat(119)}…`);
  expect(summary('', {}, 'n'.repeat(120))).toBe('n'.repeat(120));
});

it('keeps an argument that just fits next to the count of the others [WAIT-016]', () => {
  const room = 120 - ', and 2 more'.length - 'pay_invoice, a: '.length;
  const given = (length: number) => ({ a: 'x'.repeat(length), b: 'y'.repeat(120) });
  expect(summary('', given(room))).toBe(`pay_invoice, a: ${'x'.repeat(room)}, and 1 more`);
  expect(summary('', given(room + 1))).toBe('pay_invoice, and 2 more');
});

it('sends a function call to the caller as a tool_call with name, rows and timeout [WAIT-001]', () => {
  const of = tool('find_stock', 'Finds stock.');
  expect(functionCallFor(of, { id: 'call_1', name: 'find_stock', arguments: { sku: 'a' } }, 30)).toEqual({
    kind: 'custom',
    type: 'tool_call',
    summary: 'Finds stock. find_stock, sku: a',
    moves_money: null,
    requires_present_user: false,
    details: { tool_name: 'find_stock', rows: [{ label: 'sku', value: 'a' }], renderer: 'tool_call' },
    expires_in_s: 30,
  });
});
