import { routes } from '@vestra/contract/api';
import { expect, it } from 'vitest';
import { pages } from './pages.ts';
import { places } from './places.ts';

/** What is no page of the table: the frame around all of them, and what is shown before somebody is signed in. */
const outside = ['frame', 'sign-in', 'accept', 'reset', 'authorize'];

it('every route has its place in the console, or a written reason why it has none [CON-001]', () => {
  const known = new Set([...outside, ...pages.map(({ path }) => path)]);
  const wrong = routes.flatMap(({ name }) => {
    const place = Object.hasOwn(places, name) ? places[name as keyof typeof places] : undefined;
    if (!place) return [`${name}: neither a place nor a reason in places.ts`];
    if ('reason' in place) return place.reason.length > 20 ? [] : [`${name}: no reason is given`];
    if ('notYet' in place) return known.has(place.notYet) ? [`${name}: ${place.notYet} is there, so is it on it?`] : [];
    return known.has(place.page) ? [] : [`${name}: there is no page ${place.page}`];
  });
  expect(wrong).toEqual([]);
  expect(Object.keys(places).filter((name) => !routes.some((row) => row.name === name))).toEqual([]);
});
