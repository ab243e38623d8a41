import { describe, expect, it } from 'vitest';
import { en } from '../session/words/en.ts';
import type { Language } from '../session/words/words.ts';
import { asWords, type Row, shownRow } from './shown-row.ts';

const languageOf = (locale: string): Language => ({ tag: 'en', locale, direction: 'ltr', words: en });
/** Treats non-breaking spaces as spaces. */
const shown = (row: Row, locale = 'en-US', all: readonly Row[] = [row]) => {
  const { label, value } = shownRow(row, all, languageOf(locale));
  return [label, value.replace(/[\u00a0\u202f]/g, ' ')];
};

describe('approval rows', () => {
  it.each([
    ['amount_usd', '49.5', ['Amount', '$49.50']],
    ['amount_usd', '1234567.125', ['Amount', '$1,234,567.125']],
    ['refundEur', '5', ['Refund eur', '5']],
    ['price-jpy', '1200', ['Price', '¥1,200']],
    ['amount_usd', '-3', ['Amount', '-$3.00']],
    ['amount_usd', '49.5 or more', ['Amount', '49.5 or more']],
    ['amount_usd', '1e9', ['Amount', '1e9']],
    ['amount_usd', '1234567890123', ['Amount', '1234567890123']],
    ['select_all', '5', ['Select all', '5']],
    ['number', '1234', ['Number', '1234']],
    ['order_id', '20261120', ['Order id', '20261120']],
    ['day', '2026-11-20', ['Day', 'November 20, 2026']],
    ['day', '2026-02-31', ['Day', '2026-02-31']],
    ['day', '9999-99-99', ['Day', '9999-99-99']],
    ['starts_at', '2026-11-20T09:30', ['Starts at', 'November 20, 2026 at 9:30 AM']],
    ['starts_at', '2026-11-20T09:30:07', ['Starts at', 'November 20, 2026 at 9:30:07 AM']],
    ['starts_at', '2026-11-20T09:30:07.5', ['Starts at', '2026-11-20T09:30:07.5']],
    ['starts_at', '2026-11-20 soon', ['Starts at', '2026-11-20 soon']],
    ['items', '["Cap","Scarf"]', ['Items', 'Cap, Scarf']],
    ['items', '["Cap, red","Scarf"]', ['Items', '["Cap, red","Scarf"]']],
    ['items', '["Cap","Sca…', ['Items', '["Cap","Sca…']],
    ['items', '[{"a":1}]', ['Items', '[{"a":1}]']],
    ['gift', 'true', ['Gift', 'Yes']],
    ['gift', 'false', ['Gift', 'No']],
    ['__', 'x', ['__', 'x']],
    ['<b>A_b', 'x', ['<b>A_b', 'x']],
  ])('%s: %s [PAGE-241]', (label, value, expected) => expect(shown({ label, value })).toEqual(expected));

  it.each([
    ['de', ['Amount', '49,50 €'], 'amount_eur', '49.5'],
    ['fr', ['Jour', '20 novembre 2026'], 'Jour', '2026-11-20'],
    ['hi', ['Amount', '₹12,34,567.00'], 'amount_inr', '1234567'],
    ['ja', ['Day', '2026年11月20日'], 'day', '2026-11-20'],
    ['ar-EG', ['Amount', '\u200f٤٩٫٥٠ \u2066US$\u2069'], 'amount_usd', '49.5'],
    ['ar-SA-u-nu-latn', ['Day', '20 نوفمبر 2026'], 'day', '2026-11-20'],
  ])('formats values for the locale %s [PAGE-241]', (locale, expected, label, value) => {
    expect(shown({ label, value }, locale)).toEqual(expected);
  });

  it('uses the currency of a neighbouring row and the title of the schema [PAGE-241]', () => {
    const amount = { label: 'total', title: 'Summe', value: '7' };
    expect(shown(amount, 'de', [amount, { label: 'currency', value: 'CHF' }])).toEqual(['Summe', '7,00 CHF']);
    expect(shown(amount, 'de', [amount, { label: 'currency', value: 'points' }])).toEqual(['Summe', '7']);
    expect(shown({ ...amount, label: 'count' }, 'de', [amount, { label: 'currency', value: 'CHF' }])).toEqual([
      'Summe',
      '7',
    ]);
  });
});

it.each([
  ['refund_order', 'Refund order'],
  ['refundOrder', 'Refund order'],
  ['search.web-pages', 'Search web pages'],
  ['数量', '数量'],
])('shows the name %s as %s', (name, words) => expect(asWords(name)).toBe(words));
