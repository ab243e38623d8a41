import { createHash, randomBytes } from 'node:crypto';
import { newId } from '@vestra/contract/ids';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { makeOtherOrg } from '../support/other-org.ts';
import {
  asksForSize,
  calling,
  type Desk,
  findsStock,
  inTurn,
  paperDesk,
  resultsIn,
  startDesk,
} from './interactions.fixture.ts';

let desk: Desk;
beforeAll(async () => {
  desk = await startDesk();
  await desk.apply(paperDesk);
});
afterAll(() => desk.stop());

describe('a settled interaction', () => {
  it('that was cancelled lets the task continue without it, and never changes again [INT-005, INT-014, INT-017, INT-020, INT-026, ANS-029]', async () => {
    desk.script(inTurn(calling('ask_question', { question: 'Which size?' }), { text: 'Without, then.' }));
    const { conversationId, interaction } = await desk.waiting({ hand_off: 'always' });
    const { body } = await desk.call('POST', `/v1/interactions/${interaction.id}/cancel`);
    expect(body).toEqual({
      ...interaction,
      status: 'cancelled',
      outcome: { decision: 'cancelled' },
      resolved_at: expect.any(String),
    });
    await desk.rest(conversationId);
    expect(resultsIn(desk.asked.at(-1))).toEqual(['The request was withdrawn: go on without this action.']);
    const { body: task } = await desk.call('GET', `/v1/tasks/${interaction.task_id}`);
    expect(task).toMatchObject({ status: 'done', result: { text: 'Without, then.' } });

    expect((await desk.answer(interaction.id, { answers: ['M'] })).body.error.code).toBe('already_answered');
    const again = await desk.call('POST', `/v1/interactions/${interaction.id}/cancel`);
    expect([again.status, again.body.error.code]).toEqual([409, 'already_answered']);
    expect((await desk.call('GET', `/v1/interactions/${interaction.id}`)).body).toEqual(body);
    expect(await desk.told('interaction.resolved', conversationId)).toEqual([body]);
  });

  it('that was not answered in time has expired, and the agent reads so [INT-005, INT-014, INT-018, INT-020, INT-039, ANS-030]', async () => {
    desk.script(asksForSize);
    const { conversationId, interaction } = await desk.waiting();
    // More than one page of waits whose conversations are gone, and all of them older, hold up nobody.
    await desk.sql(
      `INSERT INTO interactions (org_id, mode, id, conversation_id, turn_id, run_id, kind, type, status, summary,
         requires_present_user, details, is_hidden, expires_at)
       SELECT org_id, mode, 'int_gone' || n, 'conv_gone', 'turn_gone', 'turn_gone', kind, type, 'pending', summary,
         false, '{}', true, now() - interval '1 hour'
       FROM interactions, generate_series(1, 450) n WHERE id = $1`,
      [interaction.id],
    );
    await desk.sql(`UPDATE interactions SET expires_at = now() - interval '1 second' WHERE id = $1`, [interaction.id]);
    const path = `/v1/interactions/${interaction.id}`;
    const expired = await desk.until(path, ({ status }) => status !== 'pending');
    expect(expired).toMatchObject({
      status: 'expired',
      outcome: { decision: 'expired' },
      resolved_at: expect.any(String),
    });
    await desk.rest(conversationId);
    expect(resultsIn(desk.asked.at(-1))).toEqual(['Nobody answered in time.']);
    expect(await desk.told('interaction.expired', conversationId)).toEqual([expired]);
    expect(await desk.told('interaction.resolved', conversationId)).toEqual([]);

    const late = await desk.answer(interaction.id, { answers: ['M'] });
    expect([late.status, late.body.error.code]).toEqual([409, 'interaction_expired']);
    const cancelled = await desk.call('POST', `${path}/cancel`);
    expect([cancelled.status, cancelled.body.error.code]).toEqual([409, 'interaction_expired']);
    expect((await desk.call('GET', path)).body).toEqual(expired);
    await desk.sql(`DELETE FROM interactions WHERE conversation_id = 'conv_gone'`);
  });

  it('that was a call is an error to the agent after the time of its tool [INT-030, WAIT-021]', async () => {
    desk.script(findsStock);
    const { conversationId, interaction } = await desk.waiting();
    await desk.sql(`UPDATE interactions SET expires_at = now() - interval '1 minute' WHERE id = $1`, [interaction.id]);
    await desk.until(`/v1/interactions/${interaction.id}`, ({ status }) => status === 'expired');
    await desk.rest(conversationId);
    expect(resultsIn(desk.asked.at(-1))).toEqual([
      expect.stringMatching(/^No answer came in time. .* may have run the call/),
    ]);
    const [call] = await desk.sql('SELECT is_error FROM run_calls WHERE id = $1', [interaction.id]);
    expect(call).toEqual({ is_error: true });
    expect((await desk.answer(interaction.id, { output: 1 })).body.error.code).toBe('interaction_expired');
  });
});

describe('many at once', () => {
  it('fifty answers: one wins, the tool runs once, one event says so [ANS-031, INT-039]', async () => {
    desk.script(findsStock);
    const { conversationId, interaction } = await desk.waiting();
    const answers = await Promise.all(
      Array.from({ length: 50 }, (_, at) => desk.answer(interaction.id, { output: `answer ${at}` })),
    );
    const won = answers.findIndex(({ status }) => status === 200);
    const others = answers.filter((_, at) => at !== won);
    expect(others.map(({ status, body }) => [status, body.error.code])).toEqual(
      Array.from({ length: 49 }, () => [409, 'already_answered']),
    );
    await desk.rest(conversationId);
    expect(desk.asked).toHaveLength(2);
    expect(resultsIn(desk.asked.at(-1))).toEqual([expect.stringContaining(`\nanswer ${won}\n`)]);
    expect(await desk.told('interaction.resolved', conversationId)).toHaveLength(1);
    const log = await desk.log(conversationId);
    expect(log.filter(({ type }) => type === 'interaction.resolved')).toHaveLength(1);
    expect(log.filter(({ type }) => type === 'turn.settled')).toHaveLength(1);
  });

  it('an answer and a cancel: one of them counts, and the agent reads that one [ANS-031]', async () => {
    const read = { resolved: 'M', cancelled: 'The request was withdrawn: go on without this action.' };
    for (let round = 0; round < 6; round++) {
      desk.script(asksForSize);
      const { conversationId, interaction } = await desk.waiting();
      const both = [
        () => desk.answer(interaction.id, { answers: ['M'] }),
        () => desk.call('POST', `/v1/interactions/${interaction.id}/cancel`),
      ];
      const tries = await Promise.all((round % 2 === 0 ? both : both.toReversed()).map((each) => each()));
      expect(tries.map(({ status }) => status).toSorted()).toEqual([200, 409]);
      await desk.rest(conversationId);
      const { body } = await desk.call('GET', `/v1/interactions/${interaction.id}`);
      expect(resultsIn(desk.asked.at(-1))).toEqual([read[body.status as keyof typeof read]]);
      expect(await desk.told('interaction.resolved', conversationId)).toEqual([body]);
    }
  });

  it('two waits of one step are answered in any order, each once [INT-021]', async () => {
    const both = ['A3', 'A4'].map((sku) => ({ name: 'find_stock', arguments: { sku } }));
    desk.script(inTurn({ calls: both }, { text: 'Found.' }));
    const { id } = await desk.say({ message: 'Go on' });
    const calls = await desk.open(id, 2);
    await Promise.all(
      calls.map(({ id: callId, details }) => desk.answer(callId, { output: `for ${details.rows[0].value}` })),
    );
    await desk.rest(id);
    expect(resultsIn(desk.asked.at(-1)).map((each) => each.split('\n')[1])).toEqual(['for A3', 'for A4']);
    expect(desk.asked).toHaveLength(2);
  });
});

describe('an answer that comes too late for its conversation', () => {
  it.each([
    ['its task is deleted', 'DELETE FROM interactions WHERE conversation_id = $1'],
    ['its user is erased', 'DELETE FROM conversations WHERE id = $1'],
  ])('returns 404 if %s while it waits for its turn [INT-042]', async (_what, statement) => {
    desk.script(asksForSize);
    const { conversationId, interaction } = await desk.waiting();
    const blocker = new pg.Client({ connectionString: desk.connectionString });
    await blocker.connect();
    await blocker.query('BEGIN');
    await blocker.query('SELECT FROM conversations WHERE id = $1 FOR UPDATE', [conversationId]);
    const late = [
      desk.answer(interaction.id, { answers: ['M'] }),
      desk.call('POST', `/v1/interactions/${interaction.id}/cancel`),
    ];
    await expect
      .poll(
        () => desk.sql(`SELECT FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()`),
        {
          timeout: 30_000,
        },
      )
      .toHaveLength(2);
    await blocker.query(statement, [conversationId]);
    await blocker.query('COMMIT');
    await blocker.end();
    const answers = await Promise.all(late);
    expect(answers.map(({ status, body }) => [status, body.error.code])).toEqual(
      late.map(() => [404, 'interaction_not_found']),
    );
  });
});

describe('who may see and answer one', () => {
  it('no caller of another org or in the other mode [INT-042]', async () => {
    desk.script(asksForSize);
    const { conversationId, interaction } = await desk.waiting();
    for (const key of [await makeOtherOrg(desk), desk.liveKey]) {
      const path = `/v1/interactions/${interaction.id}`;
      const tries = [
        await desk.call('GET', path, { key }),
        await desk.answer(interaction.id, { answers: ['M'] }, key),
        await desk.call('POST', `${path}/cancel`, { key }),
      ];
      expect(tries.map(({ status, body }) => [status, body.error.code])).toEqual(
        tries.map(() => [404, 'interaction_not_found']),
      );
      expect((await desk.call('GET', '/v1/interactions', { key })).body.data).toEqual([]);
    }
    expect(await desk.open(conversationId)).toEqual([interaction]);
    await desk.answer(interaction.id, { approve: false });
  });

  it.each([newId('int'), newId('call'), 'int_1', 'msg_00000000000000000000000a', 'x'])(
    'no caller if it does not exist: %s [INT-042]',
    async (id) => {
      const path = `/v1/interactions/${id}`;
      const tries = [
        await desk.call('GET', path),
        await desk.answer(id, { approve: true }),
        await desk.call('POST', `${path}/cancel`),
      ];
      expect(tries.map(({ status, body }) => [status, body.error.code])).toEqual(
        tries.map(() => [404, 'interaction_not_found']),
      );
    },
  );

  it('a session of its own conversation, and of no other [INT-025, ANS-001]', async () => {
    desk.script(asksForSize);
    const { conversationId, interaction } = await desk.waiting({ user_id: 'ada' });
    const other = await desk.say({ user_id: 'ada' });
    const [own, foreign] = [await sessionOf(conversationId), await sessionOf(other.id)];
    const path = `/v1/interactions/${interaction.id}`;
    for (const answer of [
      await desk.call('GET', path, { key: foreign }),
      await desk.answer(interaction.id, { answers: ['M'] }, foreign),
    ]) {
      expect([answer.status, answer.body.error.code]).toEqual([403, 'session_scope']);
    }
    expect((await desk.call('GET', path, { key: own })).body).toEqual(interaction);
    expect((await desk.answer(interaction.id, { answers: ['M'] }, own)).body.status).toBe('resolved');
    await desk.rest(conversationId);
    const { body } = await desk.call('GET', '/v1/audit-log?action=interaction.answered&limit=1');
    expect(body.data).toMatchObject([
      {
        actor: { type: 'session' },
        target: { type: 'interaction', id: interaction.id },
        details: { decision: 'answered' },
      },
    ]);
  });

  async function sessionOf(conversationId: string): Promise<string> {
    const token = `vst_${randomBytes(32).toString('base64url')}`;
    await desk.sql(
      `INSERT INTO sessions (id, org_id, mode, user_id, conversation_id, token_hash, chat, screen, memory, driver, expires_at)
       VALUES ($1, $2, 'test', 'ada', $3, $4, true, 'false', false, 'bash', now() + interval '15 minutes')`,
      [newId('ses'), desk.orgId, conversationId, createHash('sha256').update(token).digest()],
    );
    return token;
  }
});

describe('the list', () => {
  it('shows pending interactions unless another status is requested, by pages, and filters [INT-003, INT-004, INT-005, INT-021, INT-022, INT-023, INT-024]', async () => {
    desk.script(asksForSize);
    const bob = await desk.waiting({ user_id: 'bob' });
    desk.script(inTurn(calling('ask_question', { question: 'Which colour?' }), { text: 'Thanks.' }));
    const work = await desk.waiting({ user_id: 'bob', hand_off: 'always' });
    desk.script(findsStock);
    const call = await desk.waiting({ user_id: 'eve' });
    desk.script(inTurn(calling('order_paper', { sheets: 5 }), { text: 'Ordered.' }));
    const yes = await desk.waiting({ user_id: 'eve' });

    const ids = async (filter: string) =>
      (await desk.call('GET', `/v1/interactions?${filter}`)).body.data.map(({ id }: { id: string }) => id);
    const [b, w, c, y] = [bob, work, call, yes].map(({ interaction }) => interaction.id as string);
    expect(await ids('')).toEqual(expect.arrayContaining([b, w, c, y]));
    expect(await ids('user_id=bob')).toEqual([w, b]);
    expect(await ids(`conversation_id=${bob.conversationId}`)).toEqual([b]);
    expect(await ids(`task_id=${work.interaction.task_id}`)).toEqual([w]);
    expect(await ids('user_id=eve&type=tool_call')).toEqual([c]);
    expect(await ids('user_id=eve&type=approval')).toEqual([y]);
    expect(await ids('user_id=eve&kind=tool_permission')).toEqual([y]);
    expect(await ids('user_id=bob&kind=custom')).toEqual([]);

    await desk.answer(b as string, { answers: ['M'] });
    await desk.call('POST', `/v1/interactions/${w}/cancel`);
    expect(await ids('user_id=bob')).toEqual([]);
    expect(await ids('user_id=bob&status=pending')).toEqual([]);
    expect(await ids('user_id=bob&status=resolved')).toEqual([b]);
    expect(await ids('user_id=bob&status=cancelled')).toEqual([w]);

    const first = (await desk.call('GET', '/v1/interactions?user_id=eve&limit=1')).body;
    const second = await desk.call('GET', `/v1/interactions?user_id=eve&limit=1&cursor=${first.next_cursor}`);
    expect([...first.data, ...second.body.data].map(({ id }) => id).toSorted()).toEqual([c, y].toSorted());
    expect(second.body.next_cursor).toBeNull();

    await desk.answer(c as string, { output: 1 });
    await desk.answer(y as string, { approve: false });
    await Promise.all([bob, work, call, yes].map(({ conversationId }) => desk.rest(conversationId)));
  });

  it.each(['status=open', 'kind=other', 'type=other', 'conversation_id=x', 'task_id=x', 'colour=red'])(
    'refuses %s',
    async (filter) => {
      expect((await desk.call('GET', `/v1/interactions?${filter}`)).status).toBe(400);
    },
  );
});
