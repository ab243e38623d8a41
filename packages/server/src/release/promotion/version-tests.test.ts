import type { Mode } from '@vestra/contract/route';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
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
