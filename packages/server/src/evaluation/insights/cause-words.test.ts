import { describe, expect, it } from 'vitest';
import { comparedText, sharedWords, withoutValues } from './cause-words.ts';

const shared = (one: string, other: string) => sharedWords(comparedText(one), comparedText(other));

describe('texts with one cause', () => {
  it.each([
    ['Order A-4711 was not found.', 'order B-99 was not found'],
    ['User ann@example.com has no account', 'User bob@example.org has no account'],
    ['GET https://shop.example.com/a/1 timed out', 'GET https://shop.example.com/b timed out'],
    ['I talked to Mary about a refund', 'I talked to Peter about a refund'],
    ['Where are my refunds?', 'where is my refund'],
    ['No customer "Jane Roe" exists', 'No customer "Max" exists'],
    ['Wo ist mein Paket 17?', 'Wo ist mein Paket?'],
    ['注文はどこですか', '注文はどこですか？'],
  ])('%j and %j have the same words [INS-705]', (one, other) => expect(shared(one, other)).toBe(1));

  it.each([
    ['Where is my order?', 'How do I return shoes?'],
    ['Die Lieferung der Schuhe ist zu spät', 'Die Rechnung der Bücher ist falsch'],
    ['Connection timed out', 'Order was not found'],
    ['', 'Where is my order?'],
  ])('%j and %j share few words', (one, other) => expect(shared(one, other)).toBeLessThan(0.5));
});

describe('a title', () => {
  it.each([
    ['Order A-4711 of 12.50 EUR was not found', 'Order … of … EUR was not found'],
    ['Mail ann@example.com or call +49 30 1234567', 'Mail … or call +…'],
    ['  two\n\nlines ', 'two lines'],
    ['', ''],
  ])('of %j has no values of a person [INS-711]', (text, title) => expect(withoutValues(text)).toBe(title));

  it('of a hostile text is short work', () => {
    for (const text of ['a'.repeat(100_000), '1'.repeat(100_000), '"'.repeat(100_000), '@'.repeat(100_000)]) {
      expect(comparedText(text).stems.size).toBeLessThan(25);
      expect(withoutValues(text).length).toBeLessThanOrEqual(400);
    }
  });
});
