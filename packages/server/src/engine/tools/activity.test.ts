import { describe, expect, it } from 'vitest';
import { fillActivity } from './activity.ts';

describe('the activity of a function', () => {
  it.each<[activity: string, given: unknown, shown: string]>([
    ['Looking up order {number}', { number: '4711' }, 'Looking up order 4711'],
    ['Looking up order { number }', { number: 4711 }, 'Looking up order 4711'],
    ['Ordering {count} of {what}', { count: 2, what: 'A4\n paper' }, 'Ordering 2 of A4 paper'],
    ['Looking up {number} now', {}, 'Looking up now'],
    ['Looking up {a}', { a: { secret: 1 } }, 'Looking up'],
    ['Looking up {constructor}', {}, 'Looking up'],
    ['Looking up {a}', { a: '{b}', b: 'no' }, 'Looking up {b}'],
    ['Looking up {a}', { a: 'x'.repeat(100) }, `Looking up ${'x'.repeat(59)}…`],
    ['Looking up orders', null, 'Looking up orders'],
  ])('%s with %j is %s [CON-743]', (activity, given, shown) => {
    expect(fillActivity(activity, given)).toBe(shown);
  });
});
