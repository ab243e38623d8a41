import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { NotebookAccess } from './notebook.ts';
import { newDocument, newNotebook, startNotebooks } from './notebooks.fixture.ts';
import { searchNotebooks } from './search.ts';
import { stemmed } from './search-words.ts';
import { readableNotebooks, readDocument } from './store.ts';

let server: Awaited<ReturnType<typeof startNotebooks>>;
let org: Awaited<ReturnType<typeof server.newOrg>>;
beforeAll(async () => {
  server = await startNotebooks();
  org = await server.newOrg();
});
afterAll(() => server.stop());

type Scope = { notebookIds: string[]; userId?: string | null; limit?: number; orgId?: string };

const search = async (query: string, { notebookIds, userId = null, limit = 5, orgId = org.id }: Scope) =>
  (await searchNotebooks(server.db, { orgId, notebookIds, revisions: null, userId, query, limit })).hits;
const titles = async (query: string, scope: Scope) => (await search(query, scope)).map(({ title }) => title);

const notebook = (documents: Record<string, string>, access?: NotebookAccess) =>
  newNotebook(server.db, org.id, documents, access);

const shop = {
  'returns.md': 'You may return what you bought within 14 days. The parcel must be insured.',
  'delivery.md': 'We deliver on working days. A delivery to an island takes a week longer.',
  'warranty.md': 'Broken lamps are replaced for two years. Please keep the bill and the box of the lamp.',
  'contact.md': 'Call us from nine to five, or write to help@example.com about your bill.',
};

describe('a search', () => {
  it('finds inflected words, the passage with all of them first', async () => {
    const notebookIds = [await notebook(shop)];
    expect(await titles('returning', { notebookIds })).toEqual(['returns.md']);
    expect((await titles('lamp bills', { notebookIds }))[0]).toBe('warranty.md');
    expect(await titles('deliveries', { notebookIds })).toEqual(['delivery.md']);
  });

  it('returns passage, snippet and citation', async () => {
    const id = await notebook(shop);
    const [hit] = await search('insured parcel', { notebookIds: [id] });
    expect(hit).toEqual({
      notebookId: id,
      documentId: expect.stringMatching(/^doc_/),
      title: 'returns.md',
      heading: '',
      page: null,
      position: 0,
      text: shop['returns.md'],
      snippet: shop['returns.md'],
    });
  });

  it('answers a question even if no passage has all its words', async () => {
    const notebookIds = [await notebook(shop)];
    const question = 'What can I do if my new lamp arrives and is broken already?';
    expect((await titles(question, { notebookIds }))[0]).toBe('warranty.md');
  });

  it('weighs a rare word more than many common ones', async () => {
    const filler = Object.fromEntries(
      Array.from({ length: 20 }, (_, at) => [
        `plan-${at}`,
        'The account has a price and a plan. Change the plan in your account.',
      ]),
    );
    const notebookIds = [await notebook({ ...filler, rare: 'A mandolin may be sent by freight.' })];
    expect((await titles('change account plan price mandolin', { notebookIds }))[0]).toBe('rare');
  });

  it('finds a passage deep in a long document with a fitting snippet', async () => {
    const paragraph = 'Nothing of interest is said in this long paragraph about the weather of last year.\n\n';
    const text = `${paragraph.repeat(2000)}${'Filler of other kind. '.repeat(30)}The secret ingredient is cardamom, as everybody knows. ${'More filler follows. '.repeat(30)}\n\n${paragraph.repeat(1000)}`;
    const notebookIds = [await notebook({ long: text })];
    const [hit, ...others] = await search('secret ingredient', { notebookIds });
    expect(others).toEqual([]);
    expect(hit?.position).toBeGreaterThan(100);
    expect(hit?.text.length).toBeLessThanOrEqual(1600);
    expect(hit?.snippet).toMatch(/^… .*secret ingredient is cardamom.* …$/);
    expect(hit?.snippet.length).toBeLessThan(340);
  });

  it('finds a passage by its title and headings', async () => {
    const long = Array.from(
      { length: 40 },
      (_, at) => `Paragraph ${at} speaks of something else entirely, and at length.`,
    );
    const text = `# Cancellation\n\n${long.join('\n\n')}\n\n# Other\n\nEnd.`;
    const notebookIds = [await notebook({ 'tariff-guide_2026.md': text })];
    expect((await search('tariff guide', { notebookIds })).length).toBeGreaterThan(1);
    const below = await search('cancellation', { notebookIds });
    expect(below.some(({ text: passage }) => !passage.includes('Cancellation'))).toBe(true);
  });

  it('keeps quoted words together and applies exclusions', async () => {
    const notebookIds = [
      await notebook({
        together: 'The red house stands here.',
        apart: 'The house of the red queen.',
        other: 'This is one of the blue houses.',
      }),
    ];
    expect((await titles('"red house"', { notebookIds }))[0]).toBe('together');
    expect(await titles('house -red', { notebookIds })).toEqual(['other']);
    expect((await titles('house queen painted -blue', { notebookIds })).sort()).toEqual(['apart', 'together']);
    expect(await titles('the -red', { notebookIds })).toEqual([]);
  });

  it('returns at most the limit, and nothing for an empty query', async () => {
    const notebookIds = [await notebook(shop)];
    expect(await search('we you bill days', { notebookIds, limit: 2 })).toHaveLength(2);
    for (const query of ['', '  ', '"', '-', '???', 'zebra', '🙂'])
      expect(await search(query, { notebookIds })).toEqual([]);
    expect(await search('bill', { notebookIds: [] })).toEqual([]);
    expect(await search('bill', { notebookIds: [await notebook({})] })).toEqual([]);
  });

  it.each([
    "'",
    '"unclosed',
    '\\',
    ':*',
    '& | !',
    "a'b\\c:*<->",
    '(',
    '-"',
    'or',
    'or or',
    '%s $1',
    'x'.repeat(5000),
    'w '.repeat(3000),
  ])('reads %j as words', async (query) => {
    const notebookIds = [await notebook({ odd: "It's a'b\\c, said x" })];
    expect(Array.isArray(await search(query, { notebookIds }))).toBe(true);
  });
});

describe('languages', () => {
  const texts = {
    english: 'The customers are returning their orders because the parcels were not delivered to them in time.',
    german: 'Die Kunden schicken ihre Bestellungen zurück, weil die Pakete nicht rechtzeitig bei ihnen ankamen.',
    french: 'Les clients renvoient leurs commandes parce que les colis ne sont pas arrivés à temps chez eux.',
    russian: 'Клиенты возвращают свои заказы, потому что посылки не были доставлены им вовремя.',
    polish: 'Klienci zwracają swoje zamówienia, ponieważ paczki nie zostały dostarczone do nich na czas.',
    japanese: 'お客様は返品手続きを三十日以内に行うことができます。',
    thai: 'ลูกค้าสามารถคืนสินค้าได้ภายในสามสิบวัน',
    korean: '고객은 삼십일 이내에 환불을 받을 수 있습니다.',
  };

  it.each([
    ['english', 'return parcel'],
    ['german', 'Bestellung Paket'],
    ['german', 'BESTELLUNG „Paket“'],
    ['french', 'commande'],
    ['russian', 'ЗАКАЗ'],
    ['polish', 'paczki'],
    ['japanese', '返品'],
    ['thai', 'คืนสินค้า'],
    ['korean', '환불'],
  ])('%s documents are found by %s', async (language, query) => {
    const notebookIds = [await notebook(texts)];
    expect((await titles(query, { notebookIds }))[0]).toBe(language);
  });
});

it.each(Object.keys(stemmed))('PostgreSQL has a stemmer for %s', async (language) => {
  await expect(
    server.db.$client.query('SELECT to_tsvector($1::regconfig, $2)', [language, 'x']),
  ).resolves.toBeDefined();
});

describe('access', () => {
  const secret = { plans: 'The zeppelin lands at noon.' };
  const find = async (notebookIds: string[], userId: string | null, orgId = org.id) =>
    (await search('zeppelin', { notebookIds, userId, orgId })).length;

  it('is for all users or only for the named ones [NB-006, NB-022]', async () => {
    const open = await notebook(secret);
    const closed = await notebook(secret, { mode: 'users', user_ids: ['u1', 'u2'] });
    const foundBy = async (userId: string | null) => [await find([open], userId), await find([closed], userId)];
    expect(await foundBy('u1')).toEqual([1, 1]);
    expect(await foundBy('u2')).toEqual([1, 1]);
    expect(await foundBy('u3')).toEqual([1, 0]);
    expect(await foundBy(null)).toEqual([1, 0]);
    expect(await find([open, closed], 'u3')).toBe(1);
    expect(await find([open, closed], 'u1')).toBe(2);
  });

  it('changes with the next search [NB-014]', async () => {
    const id = await notebook(secret);
    const change = (access: NotebookAccess) =>
      server.call('PATCH', `/v1/notebooks/${id}`, { key: org.key, body: { access } });
    expect(await find([id], 'u1')).toBe(1);
    await change({ mode: 'users', user_ids: ['u2'] });
    expect([await find([id], 'u1'), await find([id], 'u2')]).toEqual([0, 1]);
    await change({ mode: 'all' });
    expect(await find([id], 'u1')).toBe(1);
  });

  it('covers only the named notebooks of the org [NB-031]', async () => {
    const [mine, unnamed] = [await notebook(secret), await notebook(secret)];
    const other = await server.newOrg();
    const theirs = await newNotebook(server.db, other.id, secret);
    expect((await search('zeppelin', { notebookIds: [mine, theirs] })).map(({ notebookId }) => notebookId)).toEqual([
      mine,
    ]);
    expect(await find([unnamed], null, other.id)).toBe(0);
    expect(await find([theirs], null, other.id)).toBe(1);
  });

  it('also covers descriptions and whole documents', async () => {
    const open = await notebook(secret);
    const closed = await notebook({}, { mode: 'users', user_ids: ['u1'] });
    const { id } = await newDocument(server.db, org.id, closed, { title: 'Plans', text: 'x'.repeat(5000) });
    const reader = (userId: string | null, notebookIds = [open, closed]) => ({
      ...{ orgId: org.id, notebookIds, userId },
      revisions: null,
    });
    const shown = async (userId: string | null) =>
      (await readableNotebooks(server.db, reader(userId))).map((row) => row.description).sort();
    expect(await shown('u1')).toHaveLength(2);
    expect(await shown('u2')).toEqual([expect.stringMatching(/^About n/)]);
    expect(await readDocument(server.db, reader('u1'), id)).toMatchObject({ title: 'Plans', text: 'x'.repeat(5000) });
    expect(await readDocument(server.db, reader('u2'), id)).toBeUndefined();
    expect(await readDocument(server.db, reader(null), id)).toBeUndefined();
    expect(await readDocument(server.db, reader('u1', [open]), id)).toBeUndefined();
    expect(await readDocument(server.db, { ...reader('u1'), orgId: (await server.newOrg()).id }, id)).toBeUndefined();
  });

  it('ends when the document is deleted', async () => {
    const id = await notebook({});
    const { id: documentId } = await newDocument(server.db, org.id, id, { title: 't', text: 'A zeppelin.' });
    expect(await find([id], null)).toBe(1);
    await server.call('DELETE', `/v1/notebooks/${id}/documents/${documentId}`, { key: org.key });
    expect(await find([id], null)).toBe(0);
  });
});
