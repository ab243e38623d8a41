import { randomUUID } from 'node:crypto';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { codeOf, desk, door, startTalk, type Talk, typesOf } from './conversations.fixture.ts';

let server: Talk;
let database: pg.Client;
beforeAll(async () => {
  server = await startTalk();
  database = new pg.Client({ connectionString: server.connectionString });
  await database.connect();
});
afterAll(async () => {
  await database.end();
  await server.stop();
});

const userId = () => `user-${randomUUID()}`;
const asUser = (user: string) => server.begin({ user_id: user, deployment: 'desk' });

/** A conversation of which this process has seen everything that the next message needs. */
async function warm(user = userId()): Promise<{ id: string; user: string }> {
  await asUser(user);
  const { id } = await asUser(user);
  await server.tell(id, 'Hi');
  return { id, user };
}

/** How often work ran in a separate transaction instead of one group of statements. */
async function transactionsOf(work: () => Promise<unknown>): Promise<number> {
  const parse = vi.spyOn(pg.Connection.prototype, 'parse');
  await work();
  const ended = parse.mock.calls.filter(([statement]) => (statement as { text: string }).text === 'COMMIT').length;
  parse.mockRestore();
  return ended;
}

describe('the cached state of a process', () => {
  it('is enough for a plain message, which starts no transaction [MSG-310]', async () => {
    server.script(() => ({ text: 'Hello.' }));
    const { user } = await warm();
    const keyed = () => server.call('POST', '/v1/keys', { body: { name: 'A transaction', scopes: ['runtime'] } });
    expect(await transactionsOf(keyed)).toBeGreaterThan(0);
    const counts: number[] = [];
    for (let at = 0; at < 7; at++) {
      counts.push(
        await transactionsOf(async () => {
          const { id } = await asUser(user);
          await server.tell(id, 'Hi');
        }),
      );
    }
    // Background work of the process only adds to the count.
    expect(Math.min(...counts)).toBe(0);
  });

  // Each is changed behind the back of the process, as another one would.
  it.each<{ what: string; change: string; back: string; answer: unknown[] }>([
    {
      what: 'a user who was disabled',
      change: `UPDATE users SET status = 'disabled' WHERE id = $1`,
      back: `UPDATE users SET status = 'active' WHERE id = $1`,
      answer: [403, 'user_disabled'],
    },
    {
      what: 'a user who has a cap now',
      change: `UPDATE users SET daily_cap_micros = 0 WHERE id = $1`,
      back: `UPDATE users SET daily_cap_micros = NULL WHERE id = $1`,
      answer: [402, 'user_cap_reached'],
    },
    {
      what: 'an org that has a cap now',
      change: `UPDATE org_settings SET org_daily_micros = 0 WHERE mode = 'test' AND $1::text IS NOT NULL`,
      back: `UPDATE org_settings SET org_daily_micros = NULL WHERE mode = 'test' AND $1::text IS NOT NULL`,
      answer: [402, 'org_cap_reached'],
    },
    {
      what: 'a cap for every user',
      change: `UPDATE org_settings SET user_monthly_micros = 0 WHERE mode = 'test' AND $1::text IS NOT NULL`,
      back: `UPDATE org_settings SET user_monthly_micros = NULL WHERE mode = 'test' AND $1::text IS NOT NULL`,
      answer: [402, 'user_cap_reached'],
    },
    {
      what: 'a wallet that was emptied',
      change: `UPDATE wallets SET balance_micros = balance_micros - 1000000000000 WHERE mode = 'test' AND $1::text IS NOT NULL`,
      back: `UPDATE wallets SET balance_micros = balance_micros + 1000000000000 WHERE mode = 'test' AND $1::text IS NOT NULL`,
      answer: [402, 'wallet_empty'],
    },
    {
      what: 'a deployment that was archived',
      change: `UPDATE deployments SET status = 'archived' WHERE slug = 'desk' AND $1::text IS NOT NULL`,
      back: `UPDATE deployments SET status = 'active' WHERE slug = 'desk' AND $1::text IS NOT NULL`,
      answer: [409, 'deployment_archived'],
    },
  ])('is not used once it is outdated: $what [MSG-311]', async ({ change, back, answer }) => {
    server.script(() => ({ text: 'Hello.' }));
    const { id, user } = await warm();
    await database.query(change, [user]);
    try {
      const refused = await server.send(id, { message: 'Hi' });
      expect(codeOf(refused)).toEqual(answer);
      // Seen again as it is now, it refuses the next one as well.
      expect(codeOf(await server.send(id, { message: 'Hi' }))).toEqual(answer);
      expect((await server.messages(id)).length).toBe(2);
    } finally {
      await database.query(back, [user]);
    }
    expect(await server.tell(id, 'Hi')).toMatchObject({ status: 'settled' });
  });

  it('runs the live version, also right after a promotion [MSG-311, MSG-021]', async () => {
    server.script(({ system }) => ({ text: system.join().includes('Be stern.') ? 'stern' : 'kind' }));
    const { id } = await server.begin({ user_id: userId(), deployment: 'desk' }, server.liveKey);
    expect((await server.tell(id, 'Hi', server.liveKey)).reply.text).toBe('kind');
    await server.apply({ ...desk, instructions: 'Be stern.' }, server.liveKey);
    expect((await server.tell(id, 'Hi', server.liveKey)).reply.text).toBe('stern');
    await server.apply(desk, server.liveKey);
  });

  it("of a conversation does not overwrite another process's changes [MSG-312]", async () => {
    server.script(() => ({ text: 'Hello.' }));
    const { id } = await warm();
    await database.query('UPDATE conversations SET turn_count = 5 WHERE id = $1', [id]);
    await server.tell(id, 'Hi');
    const { rows } = await database.query('SELECT turn_count FROM conversations WHERE id = $1', [id]);
    expect(rows).toEqual([{ turn_count: 6 }]);
  });

  it('of a conversation does not overwrite them while a reply streams either [MSG-312]', async () => {
    const { id } = await warm();
    const gate = door();
    server.script(async () => {
      await gate.opened;
      return { text: ['One ', 'two ', 'three.'], chunkDelayMs: 60 };
    });
    const stream = await server.stream('POST', `/v1/conversations/${id}/messages`, {
      body: { message: 'Hi', stream: true },
    });
    gate.open();
    await stream.waitFor(({ type }) => type === 'reply.delta');
    await database.query('UPDATE conversations SET turn_count = 40 WHERE id = $1', [id]);
    const events = await stream.events;
    const text = events.filter(({ type }) => type === 'reply.delta').map(({ data }) => data.text);
    expect(text.join('')).toBe('One two three.');
    const { rows } = await database.query('SELECT turn_count, status FROM conversations WHERE id = $1', [id]);
    expect(rows).toEqual([{ turn_count: 40, status: 'idle' }]);
    const seqs = (await server.log(id)).map(({ seq }) => seq);
    expect(seqs).toEqual(seqs.map((_, at) => at + 1));
  });

  it('is of no other mode: its conversation is not found there [MSG-311, CONV-032]', async () => {
    server.script(() => ({ text: 'Hello.' }));
    const { id } = await server.begin({ deployment: 'desk' });
    await server.tell(id, 'Hi');
    const refused = await server.send(id, { message: 'Hi' }, { key: server.liveKey });
    expect(codeOf(refused)).toEqual([404, 'conversation_not_found']);
    expect((await server.messages(id)).length).toBe(2);
  });
});

describe('a plain message with an Idempotency-Key', () => {
  it('is accepted once, also if it is repeated on another path [MSG-313, IDEM-012]', async () => {
    server.script(() => ({ text: 'Hello.' }));
    const { id } = await warm();
    const headers = { 'idempotency-key': randomUUID() };
    const answers = await Promise.all(
      Array.from({ length: 12 }, () => server.send(id, { message: 'Hi' }, { headers })),
    );
    expect(new Set(answers.map(({ status, body }) => `${status} ${body.id}`)).size).toBe(1);
    const replayed = answers.filter((answer) => answer.headers.get('idempotent-replayed') === 'true');
    expect(replayed.length).toBe(11);
    await server.rest(id);
    expect(typesOf(await server.log(id)).filter((type) => type === 'turn.settled').length).toBe(2);
    const other = await server.send(id, { message: 'Something else' }, { headers });
    expect(codeOf(other)).toEqual([409, 'idempotency_key_reused']);
  });
});
