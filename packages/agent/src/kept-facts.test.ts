import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { facts, withKeptFacts } from './kept-facts.ts';
import type { Message } from './message.ts';

const user = (text: string): Message => ({ role: 'user', parts: [{ kind: 'text', text }] });
const kept = (text: string, summary = 'They talked.') => withKeptFacts(summary, [user(text)], null);

describe('withKeptFacts [MSG-407]', () => {
  it.each([
    ['the number of an order', 'My order is ORD-88231, please.', 'ORD-88231'],
    ['an amount before its sign', 'It was 1,299.00 EUR in all.', '1,299.00 EUR'],
    ['an amount behind its sign', 'I paid $42.50 for it.', '$42.50'],
    ['a date', 'On 2026-11-15 at noon.', '2026-11-15'],
    ['a date of another country', 'Am 15.11.2026 bitte.', '15.11.2026'],
    ['an address of mail', 'Write to ana.b@shop.example now.', 'ana.b@shop.example'],
    ['an address of a page', 'See https://shop.example/a?b=1 for it.', 'https://shop.example/a?b=1'],
  ])('keeps %s with the surrounding words', (_what, text, fact) => {
    expect(kept(text)).toContain(`\n- ${text}`);
    expect(kept(text, `They talked about ${fact} there.`)).toBe(`They talked about ${fact} there.`);
  });

  it('keeps the facts of the previous summary, and facts from calls and results as well as from text', () => {
    const told: Message[] = [
      { role: 'agent', text: '', calls: [{ id: 'c', name: 'n', arguments: { refund: 'RF-991', usd: 49.5 } }] },
      { role: 'tool', results: [{ callId: 'c', name: 'n', output: 'TRK-777', isError: false }] },
    ];
    const text = withKeptFacts('Short.', told, 'Order ORD-88231 was sent.');
    expect(text).toContain('TRK-777');
    expect(text).toContain('RF-991');
    expect(text).toContain('Order ORD-88231 was sent.');
  });

  it('adds nothing if there is nothing to keep', () => {
    expect(kept('Hello, I would like 2 of them.')).toBe('They talked.');
  });

  it('searches in linear time', () => {
    const withoutClasses = facts.source.replace(/\\./g, 'x').replace(/\[[^\]]*\]/g, 'x');
    expect(withoutClasses).not.toMatch(/[*+]|,\}/);
    expect(kept('1,2.3'.repeat(4_000))).toBe('They talked.');
  });

  it('stays short and lists each fact once', () => {
    fc.assert(
      fc.property(fc.array(fc.string({ maxLength: 400 }), { maxLength: 40 }), (texts) => {
        const text = withKeptFacts('S', texts.map(user), null);
        expect(text.startsWith('S')).toBe(true);
        expect(text.length).toBeLessThan(12_000);
        expect(text.isWellFormed()).toBe(true);
      }),
    );
    const many = withKeptFacts('S', [user(Array.from({ length: 5_000 }, (_, at) => `ID-${at}000`).join('\n'))], null);
    expect(many.length).toBeLessThan(12_000);
    expect(kept('ORD-88231\nORD-88231').match(/ORD-88231/g)).toHaveLength(1);
  });
});
