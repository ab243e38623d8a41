import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { StartFailure } from '../../platform/db/start-failure.ts';
import { refuseAddress } from '../../platform/outbound/address.ts';
import { readCatalogue } from './catalogue.ts';
import { knownApps } from './known-apps.ts';

const folder = mkdtempSync(join(tmpdir(), 'vestra-catalogue-'));
afterAll(() => rmSync(folder, { recursive: true }));

const refuse = (url: string) => refuseAddress(url, { allowPrivate: false });

function read(content: unknown) {
  const file = join(folder, 'apps.json');
  writeFileSync(file, typeof content === 'string' ? content : JSON.stringify(content));
  const env = (name: string) => ({ WIKI_SECRET: 'secret-of-the-wiki', EMPTY: ' ' })[name];
  return readCatalogue({ file, refuseAddress: refuse, env });
}

it('has built-in apps with valid addresses, each once', () => {
  const { all } = readCatalogue({ file: null, refuseAddress: refuse });
  expect(all).toHaveLength(knownApps.length);
  expect(all.filter(({ url }) => refuse(url) !== null)).toEqual([]);
  expect(all.map(({ id }) => id)).toEqual(knownApps.map(({ id }) => id));
  const addresses = all.flatMap(({ sign_in }) => Object.values(sign_in?.facts.endpoints ?? {}));
  expect(addresses.filter((address) => refuse(address) !== null)).toEqual([]);
  for (const { sign_in, api_key } of all) {
    expect(sign_in ?? api_key).not.toBeNull();
    // If a client must be registered, the entry says where and how.
    if (sign_in?.needs_client) expect([sign_in.register_at, sign_in.note]).not.toContain(null);
  }
  // The rules for apps of an operator apply to built-in ones too.
  const asOperator = all.map(({ sign_in, ...app }) => {
    if (!sign_in) return { ...app, sign_in };
    const { facts, client: _client, register_at, note, needs_client } = sign_in;
    return { ...app, sign_in: { ...facts, needs_client, ...(register_at && { register_at }), ...(note && { note }) } };
  });
  expect(read(asOperator).all).toEqual(all);
});

it('adds the operator’s apps and replaces built-in ones with the same id', () => {
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
    sign_in: { facts: {}, needs_client: false, register_at: null, note: null, client: null },
    api_key: null,
  });
  expect(find('notion')).toMatchObject({ name: 'Our Notion', connectable: false });
  expect(find('nothing')).toBeUndefined();
});

it('adds the operator’s client to an app that comes with it, and takes its secret from the environment [APP-361]', () => {
  const { find } = read([
    { id: 'github', client_id: 'Iv1', client_secret_env: 'WIKI_SECRET' },
    {
      id: 'wiki',
      name: 'Wiki',
      url: 'https://wiki.shop.example/mcp',
      client_id: 'public',
      sign_in: { scope: 'pages' },
    },
  ]);
  const github = knownApps.find(({ id }) => id === 'github');
  expect(find('github')).toEqual({
    ...github,
    sign_in: {
      ...github?.sign_in,
      client: { client_id: 'Iv1', client_secret: 'secret-of-the-wiki', auth_method: 'client_secret_post' },
    },
  });
  expect(find('wiki')?.sign_in).toMatchObject({
    facts: { scope: 'pages' },
    client: { client_id: 'public', client_secret: null },
  });
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
  ['has no address of an app that is not known', [{ id: 'wiki', name: 'Wiki' }], '`0.url`'],
  ['holds a secret itself', [{ ...entry, client_id: 'a', client_secret: 'x' }], 'client_secret'],
  ['names a secret that is not there', [{ ...entry, client_id: 'a', client_secret_env: 'EMPTY' }], 'EMPTY, which is'],
  [
    'has a secret for any server',
    [{ ...entry, client_id: 'a', client_secret_env: 'WIKI_SECRET' }],
    '`0.sign_in.issuer`',
  ],
  ['has a secret of no client', [{ ...entry, client_secret_env: 'WIKI_SECRET' }], '`client_id`'],
  [
    'trusts an app without PKCE and without a secret',
    [{ ...entry, client_id: 'a', sign_in: { pkce_unannounced: true } }],
    'pkce_unannounced',
  ],
  ['has no way in', [{ ...entry, sign_in: null }], '`api_key`'],
  [
    'has a private place to sign in',
    [
      {
        ...entry,
        sign_in: {
          endpoints: {
            issuer: 'https://a.example',
            authorization_endpoint: 'https://a.example/a',
            token_endpoint: 'http://10.0.0.1/t',
          },
        },
      },
    ],
    '`0.sign_in.endpoints.token_endpoint`',
  ],
])('refuses to start if the file %s', (_what, content, said) => {
  expect(() => read(content)).toThrow(StartFailure);
  expect(() => read(content)).toThrow(said);
});

it('refuses to start without the file', () => {
  const file = join(folder, 'nowhere.json');
  expect(() => readCatalogue({ file, refuseAddress: refuse })).toThrow(/nowhere.json\) cannot be read: ENOENT/);
});
