import fc from 'fast-check';
import { expect, it } from 'vitest';
import { dayOf, monthBeside, weeksOf } from './month.ts';

it('weeks start on Monday and contain every day of the month once, in order [CON-265]', () => {
  expect(weeksOf('2026-11')[0]).toEqual(
    Array.from(
      { length: 7 },
      (_, at) => `2026-${at < 6 ? '10' : '11'}-${['26', '27', '28', '29', '30', '31', '01'][at]}`,
    ),
  );
  fc.assert(
    fc.property(fc.integer({ min: 2000, max: 2099 }), fc.integer({ min: 1, max: 12 }), (year, number) => {
      const month = `${year}-${String(number).padStart(2, '0')}`;
      const days = weeksOf(month).flat();
      const own = days.filter((day) => day.startsWith(month));
      expect(own).toHaveLength(new Date(Date.UTC(year, number, 0)).getUTCDate());
      expect([...new Set(days)].sort()).toEqual(days);
      expect(new Date(days[0] as string).getUTCDay()).toBe(1);
      expect(monthBeside(monthBeside(month, 1), -1)).toBe(month);
    }),
  );
});

it('finds the calendar day of a moment in a time zone [CON-265]', () => {
  const at = new Date('2026-11-15T23:30:00Z');
  expect([dayOf(at, 'UTC'), dayOf(at, 'Asia/Tokyo'), dayOf(at, 'America/New_York')]).toEqual([
    '2026-11-15',
    '2026-11-16',
    '2026-11-15',
  ]);
});
