import { afterAll, beforeAll, expect, it } from 'vitest';
import { makeOtherOrg } from '../support/other-org.ts';
import { isOneProcess } from '../support/server.ts';
import { type Desk, startDesk } from './interactions.fixture.ts';

let desk: Desk;
let other: string;
/** The model answers no message with these words until the gate opens. */
const heldWords = 'Hold this';
let gate = Promise.withResolvers<void>();

beforeAll(async () => {
  desk = await startDesk({ VESTRA_OPEN_TASKS_PER_USER: '3', VESTRA_OPEN_TASKS_PER_ORG: '5' });
  other = await makeOtherOrg(desk);
  await desk.sql(
    `INSERT INTO wallets (org_id, mode, balance_micros) SELECT id, 'test', 1000000000 FROM orgs WHERE name = 'Other'`,
  );
  for (const key of [desk.testKey, other]) await desk.apply({ name: 'desk', memory: 'none' }, key);
  desk.script(async ({ messages }) => {
    const text = JSON.stringify(messages);
    if (text.includes('Ask me')) return { calls: [{ name: 'ask_question', arguments: { question: 'Which size?' } }] };
    if (text.includes(heldWords)) await gate.promise;
    return { text: 'Done.' };
  });
});
afterAll(() => desk.stop());

const start = (body: Record<string, unknown>, key = desk.testKey) =>
  desk.call('POST', '/v1/conversations', { key, body: { message: heldWords, hand_off: 'always', ...body } });
const countRows = async () =>
  Number((await desk.sql('SELECT (SELECT count(*) FROM conversations) + (SELECT count(*) FROM turns) AS n'))[0].n);

it('a user and an org have a limited number of queued and working tasks, and nobody else is refused [RATE-702, RATE-703]', async () => {
  await desk.work({ message: 'Ask me', user_id: 'ada' }, ({ status }) => status === 'waiting');
  const first = await start({ user_id: 'ada' });
  for (let at = 1; at < 3; at++) expect((await start({ user_id: 'ada' })).status).toBe(201);

  const before = await countRows();
  for (const request of [{}, { hand_off: 'auto', plan: true }, { hand_off: 'auto', success_criteria: 'It is done.' }]) {
    const refused = await start({ user_id: 'ada', ...request });
    expect([refused.status, refused.body.error.code]).toEqual([429, 'rate_limited']);
    expect(refused.body.error.message).toMatch(/^At most 3 tasks of one user may be queued or working at once\./);
    expect(Number(refused.headers.get('retry-after')) * 1000).toBe(refused.body.error.retry_after_ms);
  }
  const path = `/v1/conversations/${first.body.id}/messages`;
  const again = await desk.call('POST', path, { body: { message: heldWords, hand_off: 'always' } });
  expect(again.status).toBe(429);
  expect(await countRows()).toBe(before);
  expect((await start({ user_id: 'ada', message: 'Hello', hand_off: 'auto' })).status).toBe(201);

  for (let at = 0; at < 2; at++) expect((await start({ user_id: 'bob' })).status).toBe(201);
  const full = await start({ user_id: 'cy' });
  expect([full.status, full.body.error.message]).toEqual([
    429,
    expect.stringMatching(/^At most 5 tasks of one org may/),
  ]);
  expect((await start({ user_id: 'cy' }, other)).status).toBe(201);
  const batch = await desk.call('POST', '/v1/batches', { body: { items: [{ message: 'Hello', user_id: 'cy' }] } });
  await desk.until(`/v1/batches/${batch.body.id}`, ({ status }) => status === 'completed');

  gate.resolve();
  await desk.until('/v1/tasks?status=working', ({ data }) => data.length === 0);
  expect((await start({ user_id: 'ada' })).status).toBe(201);
});

/** More than all places of a process, those of its queue included. */
const flood = 380;

// With two processes another one has room in any case.
it.runIf(isOneProcess)(
  'an org whose turns all wait for the model delays no turn of another org [RATE-705]',
  async () => {
    gate = Promise.withResolvers();
    const answered = async () =>
      Number(
        (await desk.sql(`SELECT count(*) AS n FROM turns WHERE state = 'settled' AND user_id LIKE 'user-%'`))[0].n,
      );
    await Promise.all(
      Array.from({ length: flood }, async (_, at) => {
        const { status } = await start({ user_id: `user-${at % 20}`, hand_off: 'auto' });
        expect(status).toBe(201);
      }),
    );
    const floodIsHeld = async () => Number((await desk.sql('SELECT count(*) AS n FROM runs'))[0].n) >= 192;
    await expect.poll(floodIsHeld, { timeout: 120_000 }).toBe(true);

    // Not one turn of the flood ends before the turns of the other org have ended.
    for (const hand_off of ['auto', 'always']) {
      const { body } = await start({ user_id: 'eve', message: 'Hello', hand_off }, other);
      await desk.until(`/v1/conversations/${body.id}`, ({ status }) => status === 'idle', other);
    }
    expect(await answered()).toBe(0);
    gate.resolve();
    await expect.poll(answered, { timeout: 300_000 }).toBe(flood);
  },
  480_000,
);
