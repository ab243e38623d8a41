import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { countWhere, rowsWhere } from '../../../../../tests/support/rows.ts';
import { createLog } from '../../main/log.ts';
import { untilAborted } from '../../platform/async/waiters.ts';
import { run } from '../../platform/db/query.ts';
import { sql } from '../../platform/db/sql.ts';
import type { Embeddings } from '../embeddings/embeddings.ts';
import { createOfflineEmbeddings } from '../embeddings/offline.ts';
import { indexDocument } from './document-index.ts';
import { newDocument, newNotebook, startNotebooks } from './notebooks.fixture.ts';
import { createPassageMeaning, type PassageMeaning } from './passage-meaning.ts';
import { windowsOf } from './passages.ts';
import { searchNotebooks } from './search.ts';
import { documents, documentVectors } from './tables.ts';

const embeddings = createOfflineEmbeddings();
const log = createLog('silent');
let server: Awaited<ReturnType<typeof startNotebooks>>;
let orgId: string;
beforeAll(async () => {
  server = await startNotebooks();
  orgId = (await server.newOrg()).id;
});
afterAll(async () => {
  await server.stop();
  await embeddings.close();
});

const newMeaning = (from: Embeddings = embeddings) =>
  createPassageMeaning({ db: server.db, embeddings: from, comparesVectors: false, log });

type Asked = { query: string; notebookIds: string[]; userId?: string | null; limit?: number };

const titles = async (meaning: PassageMeaning | null, { query, notebookIds, userId = null, limit = 5 }: Asked) =>
  (await searchNotebooks(server.db, { orgId, notebookIds, revisions: null, userId, query, limit }, meaning)).hits.map(
    ({ title }) => title,
  );

const signal = new AbortController().signal;
const index = (documentId: string, from: Embeddings = embeddings) =>
  indexDocument({ db: server.db, embeddings: from, comparesVectors: false }, documentId, signal);

/** Runs the indexing that their jobs would run. */
async function indexAll(notebookIds: string[]): Promise<void> {
  for (const { id } of await rowsWhere(server.db, documents, sql`notebook_id = ANY(${notebookIds})`)) await index(id);
}

const shop = {
  'returns.md': 'You may return what you bought within 14 days. The parcel must be insured.',
  'delivery.md': 'We deliver on working days. A delivery to an island takes a week longer.',
  'warranty.md': 'Broken lamps are replaced for two years. Please keep the bill and the box of the lamp.',
  'contact.md': 'Call us from nine to five, or write to help@example.com about your order.',
  'jobs.md': 'We are looking for a carpenter who would like to work with us in the spring.',
};

const questions: [string, keyof typeof shop][] = [
  ['Can I send the purchase back?', 'returns.md'],
  ['How fast is shipping to remote places?', 'delivery.md'],
  ['My light is defective', 'warranty.md'],
  ['telephone hours', 'contact.md'],
  ['Do you hire craftsmen?', 'jobs.md'],
];

describe('a search by meaning', () => {
  it('finds a paraphrase that search by words misses', async () => {
    const notebookIds = [await newNotebook(server.db, orgId, shop)];
    const meaning = newMeaning();
    await indexAll(notebookIds);
    const byMeaning = await Promise.all(questions.map(([query]) => titles(meaning, { query, notebookIds })));
    const byWords = await Promise.all(questions.map(([query]) => titles(null, { query, notebookIds })));
    const hits = (found: string[][]) => found.filter((list, at) => list[0] === questions[at]?.[1]).length;
    expect(hits(byMeaning)).toBeGreaterThanOrEqual(4);
    expect(hits(byWords)).toBeLessThanOrEqual(1);
  });

  it('finds a new document, and no deleted one', async () => {
    const id = await newNotebook(server.db, orgId, shop);
    const meaning = newMeaning();
    await indexAll([id]);
    const added = await newDocument(server.db, orgId, id, {
      title: 'gifts.md',
      text: 'We wrap presents in paper free of charge.',
    });
    const query = 'Is gift packaging possible for a birthday surprise?';
    await titles(meaning, { query, notebookIds: [id] });
    await index(added.id);
    expect(await titles(meaning, { query, notebookIds: [id] })).toContain('gifts.md');
    await run(server.db, sql`DELETE FROM ${documents} WHERE id = ${added.id}`);
    expect(await titles(meaning, { query, notebookIds: [id] })).not.toContain('gifts.md');
    expect(await countWhere(server.db, documentVectors, sql`document_id = ${added.id}`)).toBe(0);
  });

  it('respects access, notebooks and exclusions', async () => {
    const closed = await newNotebook(server.db, orgId, shop, { mode: 'users', user_ids: ['ana'] });
    const other = await newNotebook(server.db, orgId, { 'jazz.md': 'A saxophone solo needs a lot of breath.' });
    const meaning = newMeaning();
    await indexAll([other, closed]);
    const query = 'Can I send the purchase back?';
    expect((await titles(meaning, { query, notebookIds: [closed, other], userId: 'ana' }))[0]).toBe('returns.md');
    expect(await titles(meaning, { query, notebookIds: [closed, other], userId: 'bob' })).toEqual([]);
    expect(await titles(meaning, { query, notebookIds: [other], userId: 'ana' })).toEqual([]);
    const without = await titles(meaning, { query: `${query} -parcel`, notebookIds: [closed], userId: 'ana' });
    expect(without).not.toContain('returns.md');
  });

  it('finds nothing for a query without meaning, and no more than the limit', async () => {
    const notebookIds = [await newNotebook(server.db, orgId, shop)];
    const meaning = newMeaning();
    await indexAll(notebookIds);
    for (const query of ['', '???', 'the', 'the -red', '🙂', 'quantum chromodynamics'])
      expect(await titles(meaning, { query, notebookIds })).toEqual([]);
    expect(await titles(meaning, { query: 'return delivery lamp order', notebookIds, limit: 2 })).toHaveLength(2);
  });

  it('falls back to words if the embeddings hang [EMB-531]', async () => {
    const notebookId = await newNotebook(server.db, orgId, shop);
    await indexAll([notebookId]);
    const never = (signal?: AbortSignal) => untilAborted(new Promise<never>(() => {}), signal as AbortSignal);
    const hanging: Embeddings = {
      ...embeddings,
      embed: (_texts, options) => never(options?.signal),
      leastSimilarity: (options) => never(options?.signal),
    };
    const meaning = createPassageMeaning({
      db: server.db,
      embeddings: hanging,
      comparesVectors: false,
      log,
      embedWithinMs: 20,
    });
    expect(await titles(meaning, { query: 'insured parcel', notebookIds: [notebookId] })).toEqual(['returns.md']);
  });

  it('falls back to words if the embeddings fail or do not read the language', async () => {
    const notebookIds = [
      await newNotebook(server.db, orgId, {
        ...shop,
        japanese: 'お客様は返品手続きを三十日以内に行うことができます。',
      }),
    ];
    await indexAll(notebookIds);
    const broken = newMeaning({ ...embeddings, embed: () => Promise.reject(new Error('no thread')) });
    expect(await titles(broken, { query: 'insured parcel', notebookIds })).toEqual(['returns.md']);
    expect(await titles(newMeaning(), { query: '返品', notebookIds })).toEqual(['japanese']);
    expect(await titles(newMeaning(), { query: 'Can I send it back?', notebookIds })).not.toContain('japanese');
  });
});

describe('windows of passages', () => {
  it('contain every word once, in a few sentences each', () => {
    const passages = [
      `# Returns\n\n${'You may send it back. '.repeat(12)}`,
      'word '.repeat(200),
      '字'.repeat(700),
      '---\n\n| |',
      '',
    ];
    const windows = windowsOf(passages);
    const letters = (text: string) => text.replace(/[^\p{L}]/gu, '');
    for (const [position, passage] of passages.entries()) {
      const own = windows.filter((window) => window.position === position);
      expect(letters(own.map(({ text }) => text).join(''))).toBe(letters(passage));
    }
    expect(windows.every(({ text }) => text.length <= 240)).toBe(true);
    expect(windows.filter(({ position }) => position === 0).length).toBeLessThan(5);
  });

  it('contain the text of a page without its link targets [NB-500]', () => {
    const windowOf = (text: string) => windowsOf([text]).map((window) => window.text);
    const said = 'Broken lamps are replaced for two years and the bill is not needed for that.';
    for (const page of [
      `## ${said}`,
      '[Broken lamps](https://shop.example/a_(b)?id=4e1f "Lamps") are **replaced** for [two years][warranty] and the `bill` is not needed for that.',
      `<p class="lead">${said}</p><!-- reviewed\nin May -->`,
      `${said} https://shop.example/warranty?utm_source=mail`,
      `${said}\n|---|:---:|\n===\nsha512-gKqd93G8uLkpnO6Zp1FcE0P3xR+q/9aVQbY2mTtWc0hJs7w==`,
    ])
      expect(windowOf(page).map((text) => text.replace(/\s+/g, ' ').trim())).toEqual([said]);
    // Text that only resembles a link stays.
    for (const text of [
      'Use it where a < b and c > d, as in map<string, number>, at 4.',
      'Call <name> at the desk (room 4).',
    ])
      expect(windowOf(text)).toEqual([text]);
    expect(windowOf('[](https://shop.example) <img src="a.png"/> --- `` ###')).toEqual([]);
  });
});
