import { expect, it } from 'vitest';
import type { CallRow } from './tables.ts';
import { callContent } from './trace-content.ts';

const shown = (name: string, given: unknown, output: string | null = null) =>
  JSON.stringify(callContent({ name, arguments: given, output } as CallRow));

it.each([
  ['a password by its name', 'sign_in', { user: 'ada', password: 'Hunter2' }],
  ['a key by its format', 'call', { note: `use sk-${'Hunter2'.repeat(3)}` }],
  ['a card number', 'pay', { note: 'card 4242 4242 4242 4242 please', nested: [{ digits: '4242424242424242' }] }],
  ['text typed into a page', 'browser_type', { ref: 3, text: 'Hunter2' }],
  ['text typed into the computer', 'computer', { action: 'type', text: 'Hunter2' }],
])('hides %s in a trace, and shows that it is hidden [CON-712]', (_what, name, given) => {
  const text = shown(name, given);
  expect(text).not.toMatch(/Hunter2|4242/);
  expect(text).toContain('•••');
});

it('hides credentials in results and cuts long ones without breaking a character [CON-712]', () => {
  expect(shown('find', {}, `Bearer ${'abcdefgh'.repeat(3)} 4242-4242-4242-4242`)).not.toMatch(/abcdefgh|4242/);
  const { output } = callContent({ name: 'find', arguments: {}, output: '😀'.repeat(15_000) } as CallRow);
  expect(output?.length).toBeLessThanOrEqual(20_001);
  expect(output?.isWellFormed()).toBe(true);
  expect(shown('find', { order: 'MT-1042' }, 'Sent on 2026-11-18, 49.50 USD')).toContain(
    'Sent on 2026-11-18, 49.50 USD',
  );
});
