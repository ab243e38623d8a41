import type { Mode } from '@vestra/contract/route';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { run } from '../../platform/db/query.ts';
import { sql } from '../../platform/db/sql.ts';
import { type Org, startApply } from '../apply.fixture.ts';

let server: Awaited<ReturnType<typeof startApply>>;
let org: Org;
let notebook: string;
beforeAll(async () => {
  server = await startApply();
});
afterAll(() => server.stop());
beforeEach(async () => {
  org = await server.newOrg();
  notebook = (await org.call('POST', '/v1/notebooks', { body: { name: 'FAQ', slug: 'faq' } })).body.id;
});

const fileOf = (name: string) => ({ name, knowledge: [{ notebook }] });
const send = (text: string, more: { title?: string; replace?: boolean } = {}, mode: Mode = 'test') =>
  org.call('POST', `/v1/notebooks/${notebook}/documents`, { mode, body: { title: 'returns', text, ...more } });
const search = (mode: Mode, more = '') =>
  org.call('GET', `/v1/notebooks/${notebook}/search?q=returns${more}`, { mode });
async function found(mode: Mode, more = ''): Promise<string[]> {
  const { body } = await search(mode, more);
  expect(body.object).toBe('notebook_search');
  return body.passages.map(({ text }: { text: string }) => text).sort();
}

describe('a search of a notebook', () => {
  it('finds what the agent of the mode and the version finds [NB-700]', async () => {
    await send('Thirty days.');
    expect([await found('test'), await found('live')]).toEqual([['Thirty days.'], []]);
    await org.put(fileOf('shop'), { mode: 'live', promote: 'now' });
    await send('Ninety days.', { replace: true });
    expect([await found('test'), await found('live')]).toEqual([['Ninety days.'], ['Thirty days.']]);
    expect([await found('test', '&deployment=shop'), await found('live', '&deployment=shop')]).toEqual([
      ['Ninety days.'],
      ['Thirty days.'],
    ]);
    expect(await found('test', '&deployment=shop&version=1')).toEqual(['Thirty days.']);
    await org.put(fileOf('shop'), { promote: 'no' });
    for (const asked of ['&deployment=shop&version=2', '&deployment=shop%402']) {
      expect(await found('live', asked)).toEqual(['Ninety days.']);
    }
    // A live key searches all that live agents read, of deployments at different versions too.
    await org.put(fileOf('desk'), { mode: 'live', promote: 'now' });
    expect(await found('live')).toEqual(['Ninety days.', 'Thirty days.']);
    expect(await found('live', '&deployment=desk')).toEqual(['Ninety days.']);
    await org.call('POST', '/v1/deployments/shop/archive', { mode: 'live' });
    expect(await found('live')).toEqual(['Ninety days.']);
  });

  it('says what cannot be searched, and why [NB-701]', async () => {
    await org.put({ name: 'other' });
    await org.put(fileOf('draft'), { promote: 'now' });
    const faults = [
      ['test', '&deployment=nobody', 400, 'invalid_deployment', 'deployment'],
      ['test', '&deployment=other', 400, 'invalid_deployment', 'deployment'],
      ['test', '&deployment=draft&version=7', 404, 'version_not_found', 'version'],
      ['test', '&deployment=draft&version=x', 400, 'invalid_query', 'version'],
      ['test', '&version=1', 400, 'invalid_query', 'version'],
      ['live', '&deployment=draft', 409, 'deployment_not_live', undefined],
    ] as const;
    for (const [mode, asked, status, code, param] of faults) {
      const { body, ...answer } = await search(mode, asked);
      expect([asked, answer.status, body.error.code, body.error.param]).toEqual([asked, status, code, param]);
    }
    const theirs = await server.newOrg();
    await theirs.put({ name: 'theirs' });
    expect((await search('test', '&deployment=theirs')).body.error.code).toBe('invalid_deployment');
  });
});

describe('a document of a title that the notebook has', () => {
  it('is refused with the way out, and replaces it on request: at once, and for live users by promotion [NB-702]', async () => {
    const first = await send('Thirty days.');
    const again = await send('Ninety days.');
    expect([again.status, again.body.error.code, again.body.error.param]).toEqual([409, 'title_taken', 'title']);
    expect(again.body.error.message).toContain('`replace: true`');
    await org.put(fileOf('shop'), { mode: 'live', promote: 'now' });
    const replaced = await send('Ninety days.', { replace: true });
    expect([replaced.status, replaced.body.id === first.body.id]).toEqual([201, false]);
    expect([await found('test'), await found('live')]).toEqual([['Ninety days.'], ['Thirty days.']]);
    expect((await org.call('GET', `/v1/notebooks/${notebook}`)).body).toMatchObject({ document_count: 1, bytes: 12 });
    // The same text changes nothing and makes no version.
    expect((await send('Ninety days.', { replace: true })).body.id).toBe(replaced.body.id);
    await send('Sixty days.', { replace: true }, 'live');
    await send('Sixty days.', { replace: true }, 'live');
    expect([await found('test'), await found('live')]).toEqual([['Sixty days.'], ['Sixty days.']]);
    expect((await org.call('GET', '/v1/deployments/shop')).body.live_version).toBe(2);
    // The text returns with a rollback.
    await org.call('POST', '/v1/deployments/shop/rollback', { mode: 'live' });
    expect(await found('live')).toEqual(['Thirty days.']);
  });

  it('replaces all of them, and one of several requests at once wins [NB-703]', async () => {
    await send('One.');
    const second = await send('Two returns.', { title: 'second' });
    await run(server.db, sql`UPDATE documents SET title = 'returns' WHERE id = ${second.body.id}`);
    expect(await found('test')).toEqual(['One.', 'Two returns.']);
    const answers = await Promise.all(['A.', 'B.', 'C.'].map((text) => send(text, { replace: true })));
    expect(answers.map(({ status }) => status)).toEqual([201, 201, 201]);
    const { data } = (await org.call('GET', `/v1/notebooks/${notebook}/documents`)).body;
    expect(data).toHaveLength(1);
    expect((await org.call('GET', `/v1/notebooks/${notebook}`)).body).toMatchObject({ document_count: 1, bytes: 2 });
    const fresh = await Promise.all(['A.', 'B.'].map((text) => send(text, { title: 'fresh' })));
    expect(fresh.map(({ status }) => status).sort()).toEqual([201, 409]);
  });
});
