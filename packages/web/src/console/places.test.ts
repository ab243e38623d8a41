import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { routes } from '@vestra/contract/api';
import { idPrefixes } from '@vestra/contract/ids';
import { expect, it } from 'vitest';
import { pages } from './pages.ts';
import { places } from './places.ts';
import { pageOfId } from './shell/page-of-id.ts';

/** Pages that are not in `pages.ts`: the shell and the sign-in pages. */
const outside: Readonly<Record<string, string>> = {
  frame: 'shell/shell.tsx',
  'sign-in': 'access/sign-in-page.tsx',
  accept: 'access/accept-page.tsx',
  reset: 'access/reset-page.tsx',
  authorize: 'access/authorize-page.tsx',
};

it('every route has a console page or a documented reason why not [CON-001]', () => {
  const known = new Set([...Object.keys(outside), ...pages.map(({ path }) => path)]);
  const wrong = routes.flatMap(({ name }) => {
    const place = Object.hasOwn(places, name) ? places[name as keyof typeof places] : undefined;
    if (!place) return [`${name}: neither a place nor a reason in places.ts`];
    if ('reason' in place) return place.reason.length > 20 ? [] : [`${name}: no reason is given`];
    return known.has(place.page) ? [] : [`${name}: there is no page ${place.page}`];
  });
  expect(wrong).toEqual([]);
  expect(Object.keys(places).filter((name) => !routes.some((row) => row.name === name))).toEqual([]);
});

it('every id prefix with a page leads to a page of pages.ts [CON-001]', () => {
  const paths = pages.map(({ path }) => path);
  const found = idPrefixes.flatMap((prefix) => pageOfId(`${prefix}_01kb5hq8e7`)?.page ?? []);
  expect(found.length).toBeGreaterThan(5);
  expect(found.filter((page) => !paths.includes(page))).toEqual([]);
});

/** Source text of calls that do not use the route's name. */
const otherNames: Readonly<Record<string, string>> = {
  'testRuns.events': 'followTestRun(',
  'conversations.events': 'followConversation(',
  'consoleSignIn.begin': '/v1/console/sign-in/',
};

it('every page calls the routes that places.ts assigns to it [CON-534]', () => {
  const wrong = Object.entries(places).flatMap(([name, place]) => {
    if (!('page' in place)) return [];
    const said = otherNames[name];
    const isCalled = (text: string) =>
      said ? text.includes(said) : new RegExp(`(?<!may\\()['"]${name}['"]|\\.${name}\\b`).test(text);
    return sourcesOf(place.page).some(isCalled) ? [] : [`${name}: nothing on ${place.page} calls it`];
  });
  expect(wrong).toEqual([]);
});

/** The sources of a page and its imports, except `pages.ts`. */
function sourcesOf(page: string): string[] {
  const table = readFileSync(join(import.meta.dirname, 'pages.ts'), 'utf8');
  const start = outside[page] ?? table.split(`path: '${page}',`)[1]?.match(/import\('\.\/(.+?)'\)/)?.[1];
  const found = new Map<string, string>();
  const read = (file: string): void => {
    if (found.has(file) || !existsSync(file) || file.endsWith('console/pages.ts')) return;
    const text = readFileSync(file, 'utf8');
    found.set(file, text);
    for (const [, path = ''] of text.matchAll(/(?:from |import\()'(\.[^']+)'/g)) read(join(dirname(file), path));
  };
  read(join(import.meta.dirname, start ?? ''));
  return [...found.values()];
}
