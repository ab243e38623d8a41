import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type ComputerDesk, startComputerDesk, systemOf } from './computer.fixture.ts';
import { calling, inTurn, resultsIn, toolNamesIn } from './interactions.fixture.ts';

let desk: ComputerDesk;
beforeAll(async () => {
  desk = await startComputerDesk({ VESTRA_COMPUTER_IDLE_SECONDS: '1' });
  await desk.apply({ name: 'desk', memory: 'none', computer: { setup: 'echo warm >>setup.log' } as never });
});
afterAll(() => desk.stop());

const warm = (userId: string, body?: Record<string, unknown>, key = desk.testKey) =>
  desk.call('POST', `/v1/users/${userId}/warm`, { key, ...(body && { body }) });
const rowOf = async (userId: string) =>
  (
    await desk.sql(
      `SELECT held_by, held_until > now() AS is_held, keep_until, waking_since FROM computers WHERE user_key = $1`,
      [userId],
    )
  )[0];
/** Each waking is charged once, and for no task. */
const wakings = async (userId: string) =>
  (
    await desk.sql(
      `SELECT count(*)::int AS count FROM ledger_entries WHERE kind = 'compute' AND user_id = $1 AND task_id IS NULL`,
      [userId],
    )
  )[0].count;
const ready = (userId: string) => expect.poll(async () => (await warm(userId)).status, { timeout: 30_000 }).toBe(200);

describe('warming a computer', () => {
  it('answers `waking` until it is up and prepared, and then `ready` [USR-024, USR-025]', async () => {
    const first = await warm('ada', { keep_ms: 60_000 });
    expect([first.status, first.body]).toEqual([202, { user_id: 'ada', status: 'waking' }]);
    await ready('ada');
    expect((await warm('ada')).body).toEqual({ user_id: 'ada', status: 'ready' });
    const [computer] = await desk.sql(`SELECT FROM computer_preparations WHERE user_key = 'ada' AND kind = 'setup'`);
    expect(computer).toBeDefined();
    // The files prepared then are there for the first task.
    expect(await desk.commands({ user_id: 'ada' }, 'cat setup.log')).toEqual(['Exit code 0.\nstdout:\nwarm']);
    const charged = await desk.sql(
      `SELECT unit FROM ledger_entries WHERE kind = 'compute' AND user_id = 'ada' AND task_id IS NULL`,
    );
    expect(charged).toEqual([{ unit: 'seconds' }]);
  });

  it('keeps it awake for the requested time, and longer if requested again [USR-026, USR-027]', async () => {
    await warm('bea', { keep_ms: 20_000 });
    await ready('bea');
    await warm('carl');
    const before = (await rowOf('bea')).keep_until;
    // One that nobody asked to keep is asleep after a second.
    await expect.poll(async () => (await rowOf('carl')).held_by, { timeout: 30_000 }).toBeNull();
    expect((await rowOf('bea')).is_held).toBe(true);
    await warm('bea', { keep_ms: 120_000 });
    const after = (await rowOf('bea')).keep_until;
    expect(after.getTime()).toBeGreaterThan(before.getTime() + 60_000);
    await warm('bea', { keep_ms: 1000 });
    expect((await rowOf('bea')).keep_until).toEqual(after);
  });

  it.each([999, 120_001, 1000.5, '1000', null])('refuses to keep it for %j [USR-026]', async (keepMs) => {
    const { status, body } = await warm('bea', { keep_ms: keepMs });
    expect([status, body.error.code, body.error.param]).toEqual([400, 'invalid_request', 'keep_ms']);
  });

  it('joins a start that is under way, or a computer that is awake [USR-029]', async () => {
    const answers = await Promise.all([warm('dan'), warm('dan'), warm('dan'), warm('dan')]);
    expect(answers.every(({ status }) => status === 200 || status === 202)).toBe(true);
    await ready('dan');
    await desk.commands({ user_id: 'dan' }, 'true');
    expect(await wakings('dan')).toBe(1);
  });

  it('refuses an eleventh that wakes at once in the org, counted over all processes [USR-028]', async () => {
    const names = Array.from({ length: 10 }, (_, at) => `waking-${at}`);
    await desk.sql(
      `INSERT INTO computers (org_id, mode, user_key, waking_since)
       SELECT $1, 'test', 'waking-' || at, now() FROM generate_series(0, 9) AS at`,
      [desk.orgId],
    );
    const { status, body } = await warm('eve');
    expect([status, body.error.code, body.error.type]).toEqual([429, 'warm_limit', 'rate_limited']);
    // One that wakes already rides along, and one that is awake is ready.
    expect((await warm('waking-1')).status).toBe(202);
    expect((await warm('bea')).status).toBe(200);
    // A start that has not finished within a minute and has no owner no longer counts.
    await desk.sql(`UPDATE computers SET waking_since = now() - interval '61 seconds' WHERE user_key = 'waking-0'`);
    expect((await warm('eve')).status).toBe(202);
    await desk.sql(`DELETE FROM computers WHERE user_key = ANY($1)`, [names]);
  });

  it('creates the user, and refuses a disabled one', async () => {
    await warm('finn');
    expect((await desk.call('GET', '/v1/users/finn')).status).toBe(200);
    await desk.call('PATCH', '/v1/users/finn', { body: { status: 'disabled' } });
    const { status, body } = await warm('finn');
    expect([status, body.error.code]).toEqual([403, 'user_disabled']);
  });
});

describe('a server without computers', () => {
  it('answers 503 and gives work no tools for one [CMP-008]', async () => {
    const without = await startComputerDesk({ VESTRA_COMPUTER: 'off' });
    try {
      const { status, body } = await without.call('POST', '/v1/users/gus/warm');
      expect([status, body.error.type, body.error.code, body.error.message]).toEqual([
        503,
        'upstream',
        'computer_unavailable',
        'Computers are switched off on this server.',
      ]);
      await without.apply({ name: 'desk', memory: 'none', computer: { setup: 'true' } as never });
      without.script(inTurn(calling('run_command', { command: 'true' }), { text: 'Done.' }));
      await without.work({});
      expect(resultsIn(without.asked.at(-1))).toEqual(['There is no tool named "run_command".']);
      expect(toolNamesIn(without.asked[0])).not.toContain('read_file');
      expect(systemOf(without.asked[0])).not.toContain('/home/agent');
    } finally {
      await without.stop();
    }
  });

  it('that has only bash runs what it can and reports the rest [CMP-006]', async () => {
    const plain = await startComputerDesk({ VESTRA_COMPUTER: 'just-bash' });
    try {
      await plain.apply({ name: 'desk', memory: 'none', computer: { setup: 'echo ready >setup.log' } as never });
      const { results } = await plain.calls(
        { user_id: 'ada' },
        ['run_command', { command: 'cat setup.log; echo a,b | cut -d, -f2 >b.txt' }],
        ['read_file', { path: 'b.txt' }],
        ['run_command', { command: 'git --version' }],
      );
      expect(results).toEqual([
        'Exit code 0.\nstdout:\nready',
        '2 bytes, part 1 of 1\nb\n',
        'Exit code 127.\nstderr:\nbash: git: command not found',
      ]);
      expect(toolNamesIn(plain.asked[0])).toContain('run_command');
    } finally {
      await plain.stop();
    }
  });
});
