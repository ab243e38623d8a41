import { describe, expect, it } from 'vitest';
import { keptTerminal } from '../terminal.fixture.ts';
import { painter } from '../terminal.ts';
import { printAnswer } from './print-answer.ts';
import { showRecord } from './show-record.ts';
import { showTable } from './show-table.ts';
import { cut, plain, showTime, showValue, widthOf } from './show-value.ts';

const { terminal } = keptTerminal();

describe('values', () => {
  it.each<[string, unknown, string]>([
    ['cost_usd', 0.00014, '$0.00014'],
    ['balance_usd', 1234.5, '$1,234.50'],
    ['balance_usd', -2, '-$2.00'],
    ['bytes', 512, '512 B'],
    ['size_bytes', 3 * 1024 * 1024, '3.0 MB'],
    ['duration_ms', 1500, '1.5 s'],
    ['active', true, 'yes'],
    ['active', false, 'no'],
    ['live_version', null, '–'],
    ['scopes', ['setup', 'runtime'], 'setup, runtime'],
    ['scopes', [], '–'],
  ])('%s %j shows as %s', (name, value, shown) => {
    expect(showValue(name, value)).toBe(shown);
  });

  it('shows a time in the local time zone', () => {
    const at = new Date(2026, 2, 9, 7, 5, 3);
    expect(showTime(at.toISOString())).toBe('2026-03-09 07:05:03');
  });

  it('removes terminal control characters', () => {
    expect(plain('\u001b[31mred\u001b[0m \u001b]0;title\u0007a\rb\u0008\u009b2J\u202ec\nd\te')).toBe('red abc\nd\te');
  });

  it('measures and cuts by columns', () => {
    expect([widthOf('naïve'), widthOf('日本'), widthOf('👩‍👩‍👧')]).toEqual([5, 4, 2]);
    expect(cut('日本語の文', 6)).toBe('日本…');
    expect(cut('short', 5)).toBe('short');
  });
});

describe('tables and records', () => {
  const rows = [
    {
      object: 'deployment',
      slug: 'desk',
      name: 'Desk',
      status: 'active',
      draft_version: 3,
      live_version: null,
      updated_at: 'x',
    },
    {
      object: 'deployment',
      slug: 'longer-one',
      name: 'L',
      status: 'archived',
      draft_version: 12,
      live_version: 1,
      updated_at: 'y',
    },
  ];

  it('align under their headings', () => {
    expect(showTable(terminal, rows)).toBe(
      [
        'SLUG        NAME  STATUS    DRAFT VERSION  LIVE VERSION  UPDATED',
        'desk        Desk  active    3              –             x',
        'longer-one  L     archived  12             1             y',
        '',
      ].join('\n'),
    );
  });

  it('never wrap in a terminal', () => {
    const shown = showTable({ ...terminal, columns: 20 }, rows)
      .trimEnd()
      .split('\n');
    expect(shown.map(widthOf)).toEqual([20, 20, 20]);
  });

  it('show nested objects below their name', () => {
    const record = {
      object: 'x',
      id: 'a',
      caps: { org_daily_usd: 1 },
      lines: [{ text: 'one' }],
      script: 'a\nb',
      none: {},
    };
    expect(showRecord(terminal, record)).toBe(
      [
        'id      a',
        'caps',
        '  org daily usd  $1.00',
        'lines',
        '  - text  one',
        'script',
        '  a',
        '  b',
        'none    –',
        '',
      ].join('\n'),
    );
  });
});

describe('colours', () => {
  it.each<[boolean, Record<string, string>, boolean]>([
    [true, {}, true],
    [false, {}, false],
    [true, { NO_COLOR: '1' }, false],
    [true, { TERM: 'dumb' }, false],
  ])('a terminal: %j, with %j: %j', (isTerminal, env, isColoured) => {
    expect(painter(isTerminal, env)('red', 'x') !== 'x').toBe(isColoured);
  });
});

it('a model list ends with notes about models that retire soon, if there are any [MOD-206]', () => {
  const price = { input_per_mtok: 1, output_per_mtok: 2 };
  const model = {
    object: 'model',
    id: 'gpt-5',
    provider: 'openai',
    default: true,
    available: true,
    price,
    priced: true,
  };
  const data = [{ ...model, retires_on: '2026-12-11', replacement: 'gpt-5.6-sol' }];
  const shownWith = (notes: string[]) => {
    const kept = keptTerminal();
    printAnswer(kept.terminal, { data, next_cursor: null, notes }, { isJson: false });
    return kept.said.out;
  };
  const note = 'The model `gpt-5` retires on 2026-12-11. Use `gpt-5.6-sol`.';
  expect(shownWith([note])).toMatch(/2026-12-11 +gpt-5\.6-sol\n\nThe model `gpt-5` retires/);
  expect(shownWith([note]).endsWith(`\n\n${note}\n`)).toBe(true);
  expect(shownWith([])).not.toContain('notes');
});
