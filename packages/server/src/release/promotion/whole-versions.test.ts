import type { Mode } from '@vestra/contract/route';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { requireDeployment } from '../../agents/deployments/deployment-reference.ts';
import { pruneContent } from '../../agents/notebooks/revisions.ts';
import { searchNotebooks } from '../../agents/notebooks/search.ts';
import { getVersion } from '../../agents/versions/store.ts';
import { run } from '../../platform/db/query.ts';
import { sql } from '../../platform/db/sql.ts';
import { transaction } from '../../platform/db/transaction.ts';
import { type Org, rowsOf, startApply } from '../apply.fixture.ts';
import { withinBytes } from './content.ts';
import { promoteAfterTests } from './promote.ts';

let server: Awaited<ReturnType<typeof startApply>>;
let org: Org;
beforeAll(async () => {
  server = await startApply();
});
afterAll(() => server.stop());
beforeEach(async () => {
  org = await server.newOrg();
});

const test = { name: 'Returns', ask: 'How long?', expect: 'Thirty days.' };
const skillOf = (text: string) => [
  { path: 'SKILL.md', content: `---\nname: returns\ndescription: How returns go.\n---\n\n${text}\n` },
];

async function newNotebook(slug = 'faq'): Promise<string> {
  return (await org.call('POST', '/v1/notebooks', { body: { name: slug, slug } })).body.id;
}

async function add(notebook: string, title: string, text = `Known: ${title}.`, mode: Mode = 'test', query = '') {
  const path = `/v1/notebooks/${notebook}/documents${query}`;
  return (await org.call('POST', path, { mode, body: { title, text } })).body.id as string;
}

const remove = (notebook: string, id: string, mode: Mode = 'test', query = '') =>
  org.call('DELETE', `/v1/notebooks/${notebook}/documents/${id}${query}`, { mode });

async function pointersOf(name: string) {
  const { body } = await org.call('GET', `/v1/deployments/${name}`);
  return [body.draft_version, body.live_version];
}

/** The titles that a conversation with this version reads. */
async function titlesOf(name: string, version: number | 'newest'): Promise<string[]> {
  const deployment = await requireDeployment(server.db, org.id, name);
  const row = await getVersion(server.db, deployment, version === 'newest' ? deployment.newest_version : version);
  const revisions = version === 'newest' ? null : row.content.notebooks;
  const reader = { orgId: org.id, notebookIds: row.manifest.notebooks, userId: null, revisions };
  const { hits } = await searchNotebooks(server.db, { ...reader, query: 'known', limit: 50 });
  return hits.map(({ title }) => title).sort();
}

const liveTitles = async (name: string) => titlesOf(name, (await pointersOf(name))[1]);
const count = async (table: string, where: ReturnType<typeof sql>) =>
  Number(
    (await rowsOf<{ count: string }>(server.db, sql`SELECT count(*) FROM ${sql.raw(table)} WHERE ${where}`))[0]?.count,
  );

describe('content is stored once', () => {
  it('however many versions use it, and changing one document stores one document [NB-121]', async () => {
    const notebook = await newNotebook();
    for (let at = 0; at < 4; at++) await add(notebook, `d${at}`, `Known ${at}. `.repeat(4000));
    const file = (at: number) => ({ name: 'many', instructions: `${at}`, knowledge: [{ notebook }] });
    const cost = async () =>
      (
        await rowsOf<Record<string, string>>(
          server.db,
          sql`SELECT count(DISTINCT document_id) AS documents, count(*) AS passages, sum(length(text)) AS characters
              FROM document_passages WHERE notebook_id = ${notebook}`,
        )
      )[0];
    const before = await cost();
    for (let at = 0; at < 20; at++) await org.put(file(at), { promote: 'now' });
    expect(await cost()).toEqual(before);
    const text = 'Known: short.';
    await add(notebook, 'short', text);
    await org.put(file(19), { promote: 'now' });
    expect(await cost()).toEqual({
      documents: '5',
      passages: String(Number(before?.passages) + 1),
      characters: String(Number(before?.characters) + text.length),
    });
    // A version stores a number for a notebook, whatever its size.
    const [row] = await rowsOf<{ bytes: number }>(
      server.db,
      sql`SELECT max(length(content::text)) AS bytes FROM deployment_versions WHERE org_id = ${org.id}`,
    );
    expect(row?.bytes).toBeLessThan(100);
  });

  it('and a document that returns unchanged is the same one, with its vectors [NB-121]', async () => {
    const notebook = await newNotebook();
    const id = await add(notebook, 'a');
    await org.put({ name: 'back', knowledge: [{ notebook }] }, { promote: 'now' });
    await run(server.db, sql`INSERT INTO document_indexes (document_id, model, total) VALUES (${id}, 'm', 1)`);
    await run(
      server.db,
      sql`INSERT INTO document_vectors (document_id, model, first_window, positions, vectors)
          VALUES (${id}, 'm', 0, '{0}', '\\x00')`,
    );
    expect((await remove(notebook, id)).status).toBe(200);
    expect((await org.put({ name: 'back', knowledge: [{ notebook }] })).body.version.version).toBe(2);
    expect(await add(notebook, 'a')).toBe(id);
    expect((await org.put({ name: 'back', knowledge: [{ notebook }] })).body).toMatchObject({
      changed: ['knowledge'],
      version: { version: 3 },
    });
    expect([await titlesOf('back', 1), await titlesOf('back', 2), await titlesOf('back', 3)]).toEqual([
      ['a'],
      [],
      ['a'],
    ]);
    expect(await count('document_vectors', sql`document_id = ${id}`)).toBe(1);
  });

  it('until neither the newest content nor a version uses it [NB-122]', async () => {
    const notebook = await newNotebook();
    const isThere = (id: string) => count('documents', sql`id = ${id}`);
    const passing = await add(notebook, 'passing');
    await remove(notebook, passing);
    expect(await isThere(passing)).toBe(0);
    const fixed = await add(notebook, 'fixed');
    await org.put({ name: 'holder', knowledge: [{ notebook }] }, { promote: 'now' });
    await remove(notebook, fixed);
    await pruneContent(server.db);
    expect(await isThere(fixed)).toBe(1);
    expect((await org.call('GET', `/v1/notebooks/${notebook}/documents/${fixed}`)).status).toBe(404);
    expect((await org.call('GET', `/v1/notebooks/${notebook}/documents`)).body.data).toEqual([]);
    expect((await org.call('GET', `/v1/notebooks/${notebook}`)).body).toMatchObject({ document_count: 0, bytes: 0 });
    await org.call('DELETE', '/v1/deployments/holder');
    await pruneContent(server.db);
    expect(await isThere(fixed)).toBe(0);
  });
});

describe('content that a test key changes', () => {
  it('reaches live users only by promotion, and a rollback restores the old text [VER-121, VER-124]', async () => {
    const notebook = await newNotebook();
    const thirty = await add(notebook, 'thirty');
    await org.put({ name: 'shop', knowledge: [{ notebook }] }, { mode: 'live', promote: 'now' });
    await add(notebook, 'ninety');
    expect(await remove(notebook, thirty, 'test', '?promote=no')).toMatchObject({ status: 200 });
    expect([await liveTitles('shop'), await titlesOf('shop', 'newest')]).toEqual([['thirty'], ['ninety']]);
    const { body } = await org.call('POST', '/v1/deployments/shop/promote', { mode: 'live' });
    expect(body).toMatchObject({ promoted: true, live_version: 2, version: { changed: ['knowledge'] } });
    expect(await liveTitles('shop')).toEqual(['ninety']);
    await org.call('POST', '/v1/deployments/shop/rollback', { mode: 'live' });
    expect(await liveTitles('shop')).toEqual(['thirty']);
    // A named version is promoted as it was saved.
    await add(notebook, 'later');
    await org.call('POST', '/v1/deployments/shop/promote', { mode: 'live', body: { version: 2 } });
    expect([await liveTitles('shop'), await pointersOf('shop')]).toEqual([['ninety'], [2, 2]]);
  });

  it('is refused if it would be visible at once: 409 with the deployments that use it [NB-123, SKL-121]', async () => {
    const notebook = await newNotebook();
    const document = await add(notebook, 'a');
    const skill = (await org.call('POST', '/v1/skills', { body: { files: skillOf('One.') } })).body.id;
    const file = { name: 'used', knowledge: [{ notebook }], skills: [{ id: skill }] };
    await org.put(file, { mode: 'live', promote: 'now' });
    const refused = [
      ['DELETE', `/v1/notebooks/${notebook}`, 'notebook_live'],
      ['DELETE', `/v1/notebooks/${notebook}/documents/${document}`, 'notebook_live'],
      ['PATCH', `/v1/notebooks/${notebook}`, 'notebook_live'],
      ['DELETE', `/v1/skills/${skill}`, 'skill_live'],
    ] as const;
    for (const [method, path, code] of refused) {
      const { status, body } = await org.call(method, path, { ...(method === 'PATCH' && { body: { name: 'B' } }) });
      expect([path, status, body.error.code, body.error.deployments]).toEqual([path, 409, code, ['used']]);
    }
    // Nor the content that a rollback would restore.
    await org.put({ name: 'used' }, { mode: 'live', promote: 'now' });
    expect((await org.call('DELETE', `/v1/notebooks/${notebook}`)).body.error.code).toBe('notebook_live');
    // A test key may delete a document that is not live.
    expect((await remove(notebook, document)).status).toBe(200);
  });
});

describe('content that a live key changes', () => {
  it('is live at once as a separate version, and a newer draft stays [VER-123]', async () => {
    const notebook = await newNotebook();
    const old = await add(notebook, 'old');
    const skill = (await org.call('POST', '/v1/skills', { body: { files: skillOf('One.') } })).body.id;
    const file = (at: number) => ({
      name: 'desk',
      instructions: `${at}`,
      knowledge: [{ notebook }],
      skills: [{ id: skill }],
    });
    await org.put(file(1), { mode: 'live', promote: 'now' });
    await add(notebook, 'untested');
    await org.put(file(2));
    await add(notebook, 'urgent', undefined, 'live');
    expect([await liveTitles('desk'), await pointersOf('desk')]).toEqual([
      ['old', 'urgent'],
      [2, 3],
    ]);
    expect(await titlesOf('desk', 'newest')).toEqual(['old', 'untested', 'urgent']);
    await remove(notebook, old, 'live');
    expect([await liveTitles('desk'), await pointersOf('desk')]).toEqual([['urgent'], [2, 4]]);
    const versions = (await org.call('GET', '/v1/deployments/desk/versions')).body.data;
    expect(versions.map(({ changed }: { changed: string[] }) => changed)).toEqual([
      ['knowledge'],
      ['knowledge'],
      ['instructions', 'knowledge'],
      ['instructions', 'skills', 'notebooks'],
    ]);
    await org.call('PUT', `/v1/skills/${skill}`, { mode: 'live', body: { files: skillOf('Two.') } });
    expect((await org.call('GET', '/v1/deployments/desk/versions/5')).body).toMatchObject({
      changed: ['skills'],
      is_live: true,
      manifest: { instructions: '1' },
    });
    for (const wanted of [['urgent'], ['old', 'urgent'], ['old']]) {
      await org.call('POST', '/v1/deployments/desk/rollback', { mode: 'live' });
      expect(await liveTitles('desk')).toEqual(wanted);
    }
    // Without a number the draft is promoted, with the current content.
    const { body } = await org.call('POST', '/v1/deployments/desk/promote', { mode: 'live' });
    expect(body.version.manifest.instructions).toBe('2');
    expect(await liveTitles('desk')).toEqual(['untested', 'urgent']);
    const told = (await org.events()).filter(({ type, mode }) => type === 'deployment.promoted' && mode === 'live');
    expect(told.map(({ data }) => (data as { version: number }).version)).toEqual([1, 3, 4, 5, 6]);
  });

  it('does not wait behind a run that was to promote an older version [VER-123]', async () => {
    const notebook = await newNotebook();
    await org.put({ name: 'raced', knowledge: [{ notebook }] }, { mode: 'live', promote: 'now' });
    const file = { name: 'raced', knowledge: [{ notebook }], tests: [test] };
    const run = (await org.put(file, { mode: 'live' })).body.test_run;
    await add(notebook, 'urgent', undefined, 'live');
    const outcome = await transaction(server.db, (tx) =>
      promoteAfterTests(tx, server.dependencies, { orgId: org.id, run }),
    );
    expect([outcome, await liveTitles('raced')]).toEqual([{ promoted: false, reason: 'superseded' }, ['urgent']]);
  });

  it('is removed when deleted, and versions that used it show this and cannot run again [NB-124, SKL-122]', async () => {
    const notebook = await newNotebook();
    await add(notebook, 'a');
    const skill = (await org.call('POST', '/v1/skills', { body: { files: skillOf('One.') } })).body.id;
    await org.put(
      { name: 'gone', knowledge: [{ notebook }], skills: [{ id: skill }] },
      { mode: 'live', promote: 'now' },
    );
    expect((await org.call('DELETE', `/v1/notebooks/${notebook}`, { mode: 'live' })).status).toBe(200);
    expect((await org.call('DELETE', `/v1/skills/${skill}`, { mode: 'live' })).status).toBe(200);
    const versions = (await org.call('GET', '/v1/deployments/gone/versions')).body.data;
    expect(versions).toMatchObject([
      { version: 3, is_live: true, missing: [], changed: ['skills'], note: 'The skill `returns` was deleted.' },
      { version: 2, missing: [skill], changed: ['notebooks'], note: 'The notebook `faq` was deleted.' },
      { version: 1, missing: [notebook, skill] },
    ]);
    expect(versions[0].manifest).toMatchObject({ notebooks: [], skills: [] });
    const back = await org.call('POST', '/v1/deployments/gone/rollback', { mode: 'live' });
    expect([back.status, back.body.error.code, back.body.error.names]).toEqual([409, 'version_incomplete', [skill]]);
    const named = await org.call('POST', '/v1/deployments/gone/promote', { body: { version: 1 } });
    expect(named.body.error.names).toEqual([notebook, skill]);
    expect(await pointersOf('gone')).toEqual([3, 3]);
    expect(await count('documents', sql`notebook_id = ${notebook}`)).toBe(0);
  });
});

it('a version saves one consistent state of a notebook during concurrent changes [VER-125]', async () => {
  const notebook = await newNotebook();
  let last = await add(notebook, 'r0');
  await org.put({ name: 'busy', knowledge: [{ notebook }] }, { mode: 'live', promote: 'now' });
  const replacing = (async () => {
    for (let at = 1; at <= 12; at++) {
      const next = await add(notebook, `r${at}`);
      await remove(notebook, last, 'test', '?promote=no');
      last = next;
    }
  })();
  const promoting = (async () => {
    for (let at = 0; at < 12; at++) await org.call('POST', '/v1/deployments/busy/promote', { mode: 'live' });
  })();
  const applying = (async () => {
    for (let at = 0; at < 12; at++) await org.put({ name: 'busy', knowledge: [{ notebook }] }, { promote: 'now' });
  })();
  const editing = (async () => {
    for (let at = 0; at < 4; at++) await add(notebook, `live${at}`, undefined, 'live');
  })();
  await Promise.all([replacing, promoting, applying, editing]);
  const { newest_version: newest } = await requireDeployment(server.db, org.id, 'busy');
  for (let version = 1; version <= newest; version++) {
    const replaced = (await titlesOf('busy', version)).filter((title) => title.startsWith('r'));
    const numbers = replaced.map((title) => Number(title.slice(1))).sort((a, b) => a - b);
    // One version, or for a moment also the next.
    expect([1, 2], `version ${version}: ${replaced}`).toContain(numbers.length);
    if (numbers.length === 2) expect((numbers[1] as number) - (numbers[0] as number)).toBe(1);
  }
  expect(await titlesOf('busy', 'newest')).toEqual(['live0', 'live1', 'live2', 'live3', 'r12']);
});

describe('tests', () => {
  const endRun = (id: string, status: string) =>
    run(server.db, sql`UPDATE test_runs SET status = ${status}, finished_at = now() WHERE id = ${id}`);

  it('that failed block an unchanged file in both modes until something changes [APPLY-121]', async () => {
    const notebook = await newNotebook();
    const file = { name: 'red', knowledge: [{ notebook }], tests: [test] };
    const first = (await org.put(file)).body;
    await endRun(first.test_run.id, 'failed');
    const again = (await org.put(file)).body;
    expect(again).toMatchObject({
      changed: [],
      promoted: false,
      test_run: { id: first.test_run.id, status: 'failed' },
    });
    await org.put(file, { mode: 'live', promote: 'now' });
    expect((await org.put(file, { mode: 'live' })).body).toMatchObject({
      promoted: false,
      test_run: { id: first.test_run.id },
    });
    // A run without a verdict is played again.
    await endRun(first.test_run.id, 'error');
    const played = (await org.put(file)).body.test_run;
    expect(played).toMatchObject({ status: 'queued', version: 1 });
    expect(played.id).not.toBe(first.test_run.id);
    await endRun(played.id, 'failed');
    // A change of content alone gives a new version with its own run.
    await add(notebook, 'mended');
    expect((await org.put(file)).body).toMatchObject({
      changed: ['knowledge'],
      test_run: { status: 'queued', version: 2 },
    });
  });

  it('block promotion on every route, from the file and from the API alike [APPLY-122]', async () => {
    await org.put({ name: 'gated' });
    const scenario = { name: 'S', persona: 'P', goal: 'G', success_criteria: ['C'] };
    await org.call('POST', '/v1/deployments/gated/scenarios', { body: scenario });
    const put = (await org.put({ name: 'gated', instructions: 'New.' }, { mode: 'live' })).body;
    expect(put).toMatchObject({ promoted: false, live_version: null, test_run: { status: 'queued', version: 2 } });
    const body = { when: 'after_tests' };
    const promoted = (await org.call('POST', '/v1/deployments/gated/promote', { mode: 'live', body })).body;
    expect(promoted).toMatchObject({ promoted: false, test_run: { id: put.test_run.id } });
  });
});

describe('the content of two versions', () => {
  it('is compared text by text, and only by its own org [CON-267]', async () => {
    const notebook = await newNotebook();
    const skill = (await org.call('POST', '/v1/skills', { body: { files: skillOf('Be quick.') } })).body.id;
    const file = { name: 'compared', knowledge: [{ notebook }], skills: [{ id: skill }] };
    const first = await add(notebook, 'returns', 'Thirty days.');
    const twice = await add(notebook, 'twice', 'One.');
    await add(notebook, 'stays');
    // Notebooks of earlier releases have several documents of one title.
    const second = await add(notebook, 'second', 'Two.');
    await run(server.db, sql`UPDATE documents SET title = 'twice' WHERE id = ${second}`);
    await org.put(file, { promote: 'no' });
    await remove(notebook, first);
    await remove(notebook, twice);
    await add(notebook, 'returns', 'Fourteen days.');
    await org.call('PUT', `/v1/skills/${skill}`, {
      body: { files: [...skillOf('Be kind.'), { path: 'extra.md', content: 'More.' }] },
    });
    await org.put(file, { promote: 'no' });

    const path = '/v1/deployments/compared/versions/2/content-changes';
    const { body } = await org.call('GET', path);
    const shown = (answer: typeof body) =>
      answer.changes.map((each: Record<string, string>) => [
        each.of_name,
        each.name,
        each.change,
        each.before,
        each.after,
      ]);
    const before = skillOf('Be quick.')[0]?.content ?? '';
    expect(shown(body)).toEqual([
      ['faq', 'returns', 'changed', 'Thirty days.', 'Fourteen days.'],
      ['faq', 'twice', 'removed', 'One.', null],
      ['returns', 'SKILL.md', 'changed', before, before.replace('quick', 'kind')],
      ['returns', 'extra.md', 'added', null, 'More.'],
    ]);
    expect([body.from, body.version, body.left_out]).toEqual([1, 2, 0]);
    // A version does not differ from itself, and everything in the first is new.
    expect((await org.call('GET', `${path}?from=2`)).body.changes).toEqual([]);
    const all = await org.call('GET', path.replace('/2/', '/1/'));
    expect([all.body.from, all.body.changes.length]).toEqual([null, 5]);
    expect((await org.call('GET', `${path}?from=9`)).body.error.code).toBe('version_not_found');
    const id = body.deployment_id;
    const other = await server.newOrg();
    const theirs = await other.call('GET', `/v1/deployments/${id}/versions/2/content-changes`);
    expect(theirs.body.error.code).toBe('deployment_not_found');
  });

  it('is shown as far as it fits, also short texts after a long one [CON-267]', () => {
    const items = [{ bytes: 50 }, { bytes: 60 }, { bytes: 40 }, { bytes: 20 }, { bytes: 10 }];
    expect(withinBytes(items, 100)).toEqual([items[0], items[2], items[4]]);
    expect(withinBytes([{ bytes: 500 }, { bytes: 1 }], 100)).toEqual([{ bytes: 500 }]);
    expect(withinBytes([], 100)).toEqual([]);
  });
});
