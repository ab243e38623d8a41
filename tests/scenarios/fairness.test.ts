import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { makeOtherOrg } from '../support/other-org.ts';
import { isOneProcess } from '../support/server.ts';
import { type Desk, startDesk } from './interactions.fixture.ts';

let desk: Desk;
let other: string;
/** The model answers no message with these words until the gate opens. */
const heldWords = 'Hold this';
let gate = Promise.withResolvers<void>();
/**
 * How busy the server measures itself to be. While it is busy, its clock moves only here, so that no wait ends by time.
 * While it is not, each look at the clock is a tenth of a second later.
 */
const load = { now: 0, utilization: 0 };
const clock = {
  now() {
    if (load.utilization === 0) load.now += 100;
    return load.now;
  },
  utilization: () => load.utilization,
};

beforeAll(async () => {
  desk = await startDesk(
    { VESTRA_OPEN_TASKS_PER_USER: '3', VESTRA_OPEN_TASKS_PER_ORG: '5' },
    {
      turnstile: { clock, longestWaitMs: 600_000 },
    },
  );
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
afterEach(() => {
  gate.resolve();
  beIdle();
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
  expect((await start({ user_id: 'dee', message: 'Hello', hand_off: 'auto' })).status).toBe(201);
  // Items of a user who is near a cap start one by one.
  expect((await desk.call('PATCH', '/v1/users/dee', { body: { spend_cap_usd: 1 } })).status).toBe(200);
  for (const user_id of ['cy', 'dee']) {
    const { body: batch } = await desk.call('POST', '/v1/batches', {
      body: { items: [{ message: 'Hello', user_id }] },
    });
    const ended = await desk.until(`/v1/batches/${batch.id}`, ({ status }) => status === 'completed');
    expect(ended.counts).toMatchObject({ succeeded: 1, failed: 0 });
  }

  gate.resolve();
  await desk.until('/v1/tasks?status=working', ({ data }) => data.length === 0);
  expect((await start({ user_id: 'ada' })).status).toBe(201);
});

async function hello(key: string): Promise<void> {
  const { body } = await start({ user_id: 'eve', message: 'Hello', hand_off: 'auto' }, key);
  await desk.until(`/v1/conversations/${body.id}`, ({ status }) => status === 'idle', key);
}

/** The share of an org shrinks by a fifth in each tenth of a second in which the process is busy, down to 16. */
async function beBusy(key: string): Promise<void> {
  load.utilization = 1;
  for (let sample = 0; sample < 12; sample++) {
    load.now += 100;
    await hello(key);
  }
}

function beIdle(): void {
  load.utilization = 0;
  load.now += 60_000;
}

/** Messages that the model holds. `accepted` grows with each one that the server accepts. */
function flood(count: number) {
  gate = Promise.withResolvers();
  const of = { accepted: 0, all: Promise.resolve<unknown>(null) };
  of.all = Promise.all(
    Array.from({ length: count }, async (_, at) => {
      const { status } = await start({ user_id: `many-${at % 4}`, hand_off: 'auto' });
      expect(status).toBe(201);
      of.accepted += 1;
    }),
  );
  return of;
}

it.runIf(isOneProcess)(
  'in a busy process an org has 16 runs at once, and its other messages wait while another org has its turns [RATE-706]',
  async () => {
    await hello(desk.testKey);
    await beBusy(other);
    const flooding = flood(48);
    await expect.poll(() => flooding.accepted, { timeout: 120_000 }).toBeGreaterThanOrEqual(16);

    // Five turns of the other org, to none of the flood.
    for (let turn = 0; turn < 5; turn++) await hello(other);
    // A conversation without a message starts no run.
    expect((await desk.call('POST', '/v1/conversations', { body: {} })).status).toBe(201);
    // A few more than 16 may pass: a run counts shortly after its message was accepted.
    expect(flooding.accepted).toBeLessThan(24);
    const metrics = await (await fetch(`${desk.url}/metrics`)).text();
    expect(metrics).toContain(`\nvestra_messages_waiting ${48 - flooding.accepted}\n`);

    // No run ends, and nothing else arrives: the server measures its load again by itself.
    beIdle();
    await flooding.all;
  },
  240_000,
);

it.runIf(isOneProcess)(
  'the next message of a busy org is accepted as soon as one of its runs ends [RATE-706]',
  async () => {
    await beBusy(other);
    const flooding = flood(48);
    await expect.poll(() => flooding.accepted, { timeout: 120_000 }).toBeGreaterThanOrEqual(16);
    expect(flooding.accepted).toBeLessThan(24);
    gate.resolve();
    await flooding.all;
  },
  240_000,
);

it.runIf(isOneProcess)(
  'an org that has the process for itself waits for nobody, however busy the process is [RATE-707]',
  async () => {
    load.now += 3_600_000;
    await beBusy(desk.testKey);
    await flood(24).all;
  },
  240_000,
);

/** More than all places of a process, those of its queue included. */
const moreThanAll = 380;

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
      Array.from({ length: moreThanAll }, async (_, at) => {
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
    await expect.poll(answered, { timeout: 300_000 }).toBe(moreThanAll);
  },
  480_000,
);
