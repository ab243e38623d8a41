import { expect, it } from 'vitest';
import { defaultOf } from './default-of.ts';

const of = (id: string, live_version: number | null = null, status: 'active' | 'archived' = 'active') => ({
  id,
  live_version,
  status,
});
const talks = (...ids: (string | null)[]) => ids.map((deployment_id) => ({ deployment_id }));

it.each([
  ['the last used', [of('a'), of('b', 1), of('c')], talks(null, 'c', 'b'), 'c'],
  ['a live one if none was used', [of('a'), of('b', 1)], talks(), 'b'],
  ['the newest if none is live', [of('a'), of('b')], talks('gone'), 'a'],
  ['no archived one', [of('a', 1, 'archived'), of('b')], talks('a'), 'b'],
  ['an archived one if there is no other', [of('a', null, 'archived')], talks(), 'a'],
  ['none if there is none', [], talks('a'), undefined],
])('chooses %s [CON-767]', (_, deployments, conversations, id) => {
  expect(defaultOf(deployments, conversations)?.id).toBe(id);
});
