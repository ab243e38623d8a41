import { expect, it } from 'vitest';
import { routes } from './api.ts';
import { paths } from './paths.ts';

/** All input names of a row in one list. */
const namesOf = (route: (typeof routes)[number]['route'], body: 'fields' | 'value' | undefined) => [
  ...Object.keys(route.params?.shape ?? {}),
  ...Object.keys(route.query?.shape ?? {}),
  ...(body === 'fields' ? Object.keys((route.body as unknown as { shape: object }).shape) : []),
  ...(body === 'value' ? ['body'] : []),
  ...(route.accepts?.includes('multipart/form-data') ? ['file'] : []),
  ...(route.accepts?.includes('application/zip') ? ['zip'] : []),
];

it.each(routes)('$name has its row, and no name in two places', ({ family, operation, route }) => {
  const row = paths[family]?.[operation];
  expect(row).toMatchObject({ method: route.method, path: route.path });
  expect([...route.path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name)).toEqual(row?.params ?? []);
  const names = namesOf(route, row?.body);
  expect(names).toEqual([...new Set(names)]);
});

it('has no rows beyond the contract, and no family named like a client method', () => {
  expect(Object.values(paths).flatMap((rows) => Object.keys(rows))).toHaveLength(routes.length);
  expect(Object.keys(paths).filter((family) => ['request', 'open', 'backOff'].includes(family))).toEqual([]);
});
