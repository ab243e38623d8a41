import { describe, expect, it } from 'vitest';
import { personalValues } from './personal-values.ts';

const found = (text: string, known: Parameters<typeof personalValues>[1] = []) =>
  personalValues({ goal: text }, known).map(({ kind, value }) => [kind, value]);

describe('what says who somebody is', () => {
  it.each([
    ['an address of email', 'Write to ada.byron+x@mail.example.co.uk.', [['email', 'ada.byron+x@mail.example.co.uk']]],
    [
      'a telephone number',
      'Call +49 (0)30 123-4567 or 030/1234567.',
      [
        ['phone', '+49 (0)30 123-4567'],
        ['phone', '030/1234567'],
      ],
    ],
    ['a card', 'Pay with 4111 1111 1111 1111', [['card', '4111 1111 1111 1111']]],
    ['a bank account', 'To DE89 3704 0044 0532 0130 00, please', [['iban', 'DE89 3704 0044 0532 0130 00']]],
    [
      'no order, date, price, version or code',
      'Order 4711 of 2026-11-16 for 49.50, 10.0.2, AB12 3456, 4111 1111 1111 1112',
      [],
    ],
  ])('is found in %s [SCN-421]', (_what, text, values) => {
    expect(found(text)).toEqual(values);
  });

  it('includes known values of the user as whole words, once, with all their fields [SCN-421]', () => {
    const known = [
      { kind: 'user' as const, value: 'Ada' },
      { kind: 'other' as const, value: 'Rose Lane 5' },
      { kind: 'user' as const, value: 'A' },
    ];
    expect(found('Canada and Adams. A b.', known)).toEqual([]);
    expect(personalValues({ goal: 'Ada, Rose Lane 5', persona: 'Ada (Ada)' }, known)).toEqual([
      { kind: 'user', value: 'Ada', fields: ['goal', 'persona'] },
      { kind: 'other', value: 'Rose Lane 5', fields: ['goal'] },
    ]);
  });

  it('is found in linear time', () => {
    for (const text of ['0 '.repeat(100_000), 'a@'.repeat(100_000), 'AA00 '.repeat(50_000), '1-'.repeat(100_000)]) {
      expect(found(text).length).toBeLessThan(51);
    }
  });
});
