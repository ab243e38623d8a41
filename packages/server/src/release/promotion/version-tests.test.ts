import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Mode } from '@vestra/contract/route';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { migrationsFolder } from '../../main/postgres.ts';
import { type Org, startApply } from '../apply.fixture.ts';

let server: Awaited<ReturnType<typeof startApply>>;
let org: Org;
beforeAll(async () => {
  server = await startApply();
});
afterAll(() => server.stop());
beforeEach(async () => {
  org = await server.newOrg();
});

const test = (name: string, ask = 'Hello?') => ({ name, ask, expect: 'It greets.' });
const put = (number: number, tests: object[], promote = 'no', mode: Mode = 'live') =>
  org.put({ name: 'gated', instructions: `${number}.`, tests }, { mode, promote });
const promote = (body: object = {}, mode: Mode = 'live') =>
  org.call('POST', '/v1/deployments/gated/promote', { mode, body });
const played = ({ body }: { body: { test_run: { version: number; results: { name: string }[] } | null } }) =>
  body.test_run && [body.test_run.version, body.test_run.results.map(({ name }) => name).sort()];

describe('the tests of a version', () => {
  it('gate it, whatever tests the newest file has [VER-710]', async () => {
    await put(1, [test('First'), test('Both', 'One?')]);
    await put(2, [test('Second'), test('Both', 'Two?')]);
    await put(3, []);
    const byHand = { name: 'By hand', persona: 'Anybody.', goal: 'Hello?', success_criteria: ['It greets.'] };
    expect(played(await promote({ version: 1 }))).toEqual([1, ['Both', 'First']]);
    expect(played(await promote({ version: 2 }))).toEqual([2, ['Both', 'Second']]);
    await org.call('POST', '/v1/deployments/gated/scenarios', { body: byHand });
    expect(played(await promote({ version: 1 }))).toEqual([1, ['Both', 'By hand', 'First']]);
    expect(played(await promote({ version: 3 }))).toEqual([3, ['By hand']]);
  });

  it('are asked for by default, and nothing goes live before they have passed [VER-711]', async () => {
    await put(1, [test('First')]);
    const waiting = await promote({ version: 1 });
    expect(waiting.body).toMatchObject({
      promoted: false,
      live_version: null,
      test_run: { version: 1, promote_on_pass: true, promoted: null },
    });
    expect((await promote()).body).toMatchObject({ promoted: false, test_run: { id: waiting.body.test_run.id } });
    expect((await promote({ version: 1, when: 'now' })).body).toMatchObject({ promoted: true, live_version: 1 });
    // Without tests there is nothing to wait for.
    await put(2, []);
    expect((await promote()).body).toMatchObject({ promoted: true, live_version: 2, test_run: null });
  });
});

describe('a database of the release before', () => {
  const migrate = async (name: string) => server.db.$client.query(await readFile(join(migrationsFolder, name), 'utf8'));
  const query = async (text: string, values: unknown[]) => (await server.db.$client.query(text, values)).rows;

  it('gives each version the content of the files that are still uploaded [VER-703]', async () => {
    const [kept, lost] = [await org.addFile('live', 'ab'.repeat(32)), await org.addFile('live', 'cd'.repeat(32))];
    const files = [kept, lost].map((file_id, at) => ({ file_id, path: `${at}.csv` }));
    const env = { Z: '1', A: '2' };
    const { body } = await org.put({ name: 'old', computer: { files, env } }, { mode: 'live', promote: 'now' });
    const before = (
      await query('SELECT manifest::text, uses FROM deployment_versions WHERE deployment_id = $1', [body.id])
    )[0];
    const old = JSON.parse(before.manifest);
    old.environment.files = files;
    await query(
      "UPDATE deployment_versions SET manifest = $2, uses = ARRAY(SELECT used FROM unnest(uses) used WHERE used NOT LIKE 'sha256:%') WHERE deployment_id = $1",
      [body.id, JSON.stringify(old)],
    );
    await query('DELETE FROM files WHERE id = $1', [lost]);
    for (const _ of [1, 2]) await migrate('0149-files-of-versions.sql');
    const [after] = await query('SELECT manifest::text, uses FROM deployment_versions WHERE deployment_id = $1', [
      body.id,
    ]);
    const migrated = JSON.parse(after.manifest);
    expect(migrated.environment.files).toEqual([{ ...files[0], sha256: 'ab'.repeat(32) }, files[1]]);
    expect(after.uses.filter((used: string) => used.startsWith('sha256:'))).toEqual([`sha256:${'ab'.repeat(32)}`]);
    // The order of keys is part of what a model reads.
    expect(Object.keys(migrated)).toEqual(Object.keys(old));
    expect(Object.keys(migrated.environment.env)).toEqual(['Z', 'A']);
    // A version without one of its files is not promoted again.
    await org.put({ name: 'old' }, { mode: 'live', promote: 'now' });
    const back = await org.call('POST', '/v1/deployments/old/rollback', { mode: 'live' });
    expect([back.status, back.body.error.code, back.body.error.names]).toEqual([409, 'version_incomplete', [lost]]);
  });

  it('knows which versions have been live, also those that were rolled back [VER-730]', async () => {
    for (const number of [1, 2, 3]) await put(number, [], number === 1 ? 'no' : 'now');
    await org.call('POST', '/v1/deployments/gated/rollback', { mode: 'live' });
    const liveAt = (id: string) =>
      query('SELECT version FROM deployment_versions WHERE deployment_id = $1 AND live_at IS NOT NULL ORDER BY 1', [
        id,
      ]);
    const { id } = (await org.call('GET', '/v1/deployments/gated')).body;
    await query('UPDATE deployment_versions SET live_at = NULL WHERE deployment_id = $1', [id]);
    await migrate('0148-versions-that-were-live.sql');
    expect(await liveAt(id)).toEqual([{ version: 2 }, { version: 3 }]);
  });
});
