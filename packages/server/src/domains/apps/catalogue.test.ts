import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { refuseAddress } from '../../adapters/outbound/address.ts';
import { StartFailure } from '../../db/start-failure.ts';
import { readCatalogue } from './catalogue.ts';
import { knownApps } from './known-apps.ts';

const folder = mkdtempSync(join(tmpdir(), 'vestra-catalogue-'));
afterAll(() => rmSync(folder, { recursive: true }));

const refuse = (url: string) => refuseAddress(url, { allowPrivate: false });

function read(content: unknown) {
  const file = join(folder, 'apps.json');
  writeFileSync(file, typeof content === 'string' ? content : JSON.stringify(content));
  return readCatalogue({ file, refuseAddress: refuse });
}

it('has apps of its own that can be called, each once', () => {
  const { all } = readCatalogue({ file: null, refuseAddress: refuse });
  expect(all).toHaveLength(knownApps.length);
  expect(all.filter(({ url }) => refuse(url) !== null)).toEqual([]);
  expect(all.map(({ id }) => id)).toEqual(knownApps.map(({ id }) => id));
  // What is true of an operator's apps is true of these.
  expect(read(knownApps).all).toEqual(all);
});

it('takes an operator’s apps, new ones and others in the place of its own', () => {
  const { all, find } = read([
    { id: 'notion', name: 'Our Notion', url: 'https://notion.shop.example/mcp', connectable: false },
    { id: '1-wiki', name: 'Wiki', url: 'https://wiki.shop.example/mcp', icon_url: 'https://wiki.shop.example/a.png' },
  ]);
  expect(all).toHaveLength(knownApps.length + 1);
  expect(all[0]).toEqual({
    id: '1-wiki',
    name: 'Wiki',
    description: '',
    url: 'https://wiki.shop.example/mcp',
    icon_url: 'https://wiki.shop.example/a.png',
    connectable: true,
  });
  expect(find('notion')).toMatchObject({ name: 'Our Notion', connectable: false });
  expect(find('nothing')).toBeUndefined();
});

const entry = { id: 'wiki', name: 'Wiki', url: 'https://wiki.shop.example/mcp' };

it.each<[string, unknown, string]>([
  ['is not JSON', '[', 'it is not JSON'],
  ['is no list', {}, 'a JSON list'],
  ['has an app without a name', [{ ...entry, name: undefined }], '`0.name`'],
  ['has an id that no tool could carry', [entry, { ...entry, id: 'My Wiki' }], '`1.id`'],
  ['has an unknown field', [{ ...entry, secret: 'x' }], 'secret'],
  ['has an icon that is no address', [{ ...entry, icon_url: 'a.png' }], '`0.icon_url`'],
  ['has an app at a private address', [{ ...entry, url: 'http://127.0.0.1/mcp' }], '`0.url`'],
  ['has an app twice', [entry, entry], '`wiki` twice'],
])('does not start where the file %s', (_what, content, said) => {
  expect(() => read(content)).toThrow(StartFailure);
  expect(() => read(content)).toThrow(said);
});

it('does not start where there is no file', () => {
  const file = join(folder, 'nowhere.json');
  expect(() => readCatalogue({ file, refuseAddress: refuse })).toThrow(/nowhere.json\) cannot be read: ENOENT/);
});
