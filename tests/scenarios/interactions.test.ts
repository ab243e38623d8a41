import { afterAll, beforeAll, describe, expect, it } from 'vitest';
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

const day = 24 * 60 * 60 * 1000;
const msBetween = (from: string, to: string) => Date.parse(to) - Date.parse(from);

describe('a question', () => {
  it('is an interaction that shows everything, emits events, and resumes with its answer [INT-001, INT-002, INT-009, INT-013, INT-016, INT-025, INT-027, INT-029, INT-031, ANS-001, ANS-004]', async () => {
    desk.script(asksForSize);
    const { conversationId, interaction } = await desk.waiting({ user_id: 'ada' });
    expect(interaction).toEqual({
      object: 'interaction',
      id: expect.stringMatching(/^int_/),
      user_id: 'ada',
      task_id: null,
      conversation_id: conversationId,
      kind: 'ask_question',
      type: 'question',
      status: 'pending',
      summary: 'Which size?',
      moves_money: false,
      requires_present_user: false,
      needs: [],
      questions: [{ question: 'Which size?', header: '', options: ['S', 'M'], multi_select: false }],
      details: {},
      outcome: null,
      created_at: expect.any(String),
      expires_at: expect.any(String),
      resolved_at: null,
    });
    expect(Math.abs(msBetween(interaction.created_at, interaction.expires_at) - 7 * day)).toBeLessThan(10_000);
    expect((await desk.call('GET', `/v1/interactions/${interaction.id}`)).body).toEqual(interaction);
    expect(await desk.told('interaction.created', conversationId)).toEqual([interaction]);

    const { body } = await desk.answer(interaction.id, { answers: ['M'] });
    expect(body).toEqual({
      ...interaction,
      status: 'resolved',
      outcome: { decision: 'answered', answers: ['M'] },
      resolved_at: expect.any(String),
    });
    await desk.rest(conversationId);
    expect(resultsIn(desk.asked.at(-1))).toEqual(['M']);
    const log = await desk.log(conversationId);
    expect(log.filter(({ type }) => type.startsWith('interaction')).map(({ type, data }) => [type, data])).toEqual([
      ['interaction.created', { interaction }],
      ['interaction.resolved', { interaction: body }],
    ]);
  });

  it('with several parts accepts one answer each, in order [ANS-004, ANS-021]', async () => {
    const questions = { question: 'Size?', also: [{ question: 'Colour?' }, { question: 'When?', multi_select: true }] };
    desk.script(inTurn(calling('ask_question', questions), { text: 'Thanks.' }));
    const { conversationId, interaction } = await desk.waiting();
    expect(interaction.questions.map(({ question }: { question: string }) => question)).toEqual([
      'Size?',
      'Colour?',
      'When?',
    ]);
    expect((await desk.answer(interaction.id, { answers: ['M', 'red'] })).body.error).toMatchObject({
      code: 'answers_mismatch',
      param: 'answers',
    });
    await desk.answer(interaction.id, { answers: ['M', 'red', 'today'] });
    await desk.rest(conversationId);
    expect(resultsIn(desk.asked.at(-1))).toEqual(['Size?\nM\n\nColour?\nred\n\nWhen?\ntoday']);
  });

  it('may be declined, and the agent reads so [ANS-005]', async () => {
    desk.script(asksForSize);
    const { conversationId, interaction } = await desk.waiting();
    const { body } = await desk.answer(interaction.id, { approve: false });
    expect(body.outcome).toEqual({ decision: 'denied' });
    await desk.rest(conversationId);
    expect(resultsIn(desk.asked.at(-1))).toEqual(['The person said no.']);
  });

  it('rejects invalid answers and stays open [ANS-020, ANS-022, ANS-023]', async () => {
    desk.script(asksForSize);
    const { conversationId, interaction } = await desk.waiting();
    const codes = [undefined, { approve: true }, { decision: 'done' }, { output: 1 }, { error: 'x' }].map(
      async (body) => (await desk.answer(interaction.id, body)).body.error.code,
    );
    expect(await Promise.all(codes)).toEqual([
      'answers_required',
      'answers_required',
      'decision_not_expected',
      'answer_mismatch',
      'answer_mismatch',
    ]);
    expect(await desk.open(conversationId)).toEqual([interaction]);
    await desk.answer(interaction.id, { answers: ['S'] });
    await desk.rest(conversationId);
  });
});

describe('a hand-off', () => {
  const handOff = (given: Record<string, unknown>) =>
    desk.script(inTurn(calling('request_handoff', given), { text: 'Thanks.' }));

  it.each([
    ['done', 'answered', 'The person did it.'],
    ['could_not', 'denied', 'The person said no. They wrote: "I could not do it.".'],
    ['not_now', 'denied', 'The person said no. They wrote: "Not now.".'],
  ])('accepts `%s` [ANS-006, INT-004, INT-014, INT-031]', async (decision, outcome, read) => {
    handOff({ request: 'Sign in to the shop.' });
    const { conversationId, interaction } = await desk.waiting({ hand_off: 'always' });
    expect(interaction).toMatchObject({
      kind: 'ask_question',
      type: 'handoff',
      questions: [{ question: 'Sign in to the shop.', header: '', options: [], multi_select: false }],
      task_id: expect.stringMatching(/^task_/),
    });
    expect((await desk.answer(interaction.id, { decision })).body.outcome).toMatchObject({
      decision: outcome,
      reason: decision,
    });
    await desk.rest(conversationId);
    expect(resultsIn(desk.asked.at(-1))).toEqual([read]);
  });

  it('accepts a value if it asks for one, and rejects the rest [ANS-007, ANS-024]', async () => {
    handOff({ request: 'Read me the code.', asks_for_value: true });
    const { conversationId, interaction } = await desk.waiting({ hand_off: 'always' });
    for (const body of [undefined, { approve: true }, { approve: false }, { output: 1 }, { error: 'x' }]) {
      expect((await desk.answer(interaction.id, body)).body.error.code).toBe('answer_mismatch');
    }
    await desk.answer(interaction.id, { answers: ['123 456'] });
    await desk.rest(conversationId);
    expect(resultsIn(desk.asked.at(-1))).toEqual(['123 456']);
  });
});

describe('an approval in person', () => {
  it('carries a nonce that the approval must return, and no other answer does [INT-007, INT-008, INT-028, INT-036, ANS-011, ANS-014, ANS-015]', async () => {
    const ask = calling('ask_question', { question: 'Wipe the disk?', in_person: true });
    desk.script(inTurn(ask, { text: 'Thanks.' }));
    const { conversationId, interaction } = await desk.waiting();
    expect(interaction).toMatchObject({ kind: 'hands_approval', type: 'approval', requires_present_user: true });
    expect(interaction.nonce).toMatch(/^[\w-]{24}$/);
    expect(Math.abs(msBetween(interaction.created_at, interaction.expires_at) - day)).toBeLessThan(10_000);
    const { id, nonce } = interaction;
    const code = async (body: Record<string, unknown>) => (await desk.answer(id, body)).body.error.code;
    expect(await code({ approve: true, nonce })).toBe('present_user_required');
    expect(await code({ approve: true, present_user: true })).toBe('nonce_mismatch');
    expect(await code({ approve: true, present_user: true, nonce: `${nonce}x` })).toBe('nonce_mismatch');
    const { body } = await desk.answer(id, { approve: true, present_user: true, nonce });
    expect(body.outcome).toEqual({ decision: 'approved' });
    await desk.rest(conversationId);
    expect(resultsIn(desk.asked.at(-1))).toEqual(['The person said yes.']);

    desk.script(asksForSize);
    const other = await desk.waiting();
    expect(other.interaction).not.toHaveProperty('nonce');
    await desk.answer(other.interaction.id, { approve: false });

    desk.script(inTurn(ask, { text: 'Thanks.' }));
    const refused = await desk.waiting();
    expect(refused.interaction.nonce).not.toBe(nonce);
    expect((await desk.answer(refused.interaction.id, { approve: false })).body.outcome.decision).toBe('denied');
  });
});

describe('a call to the caller’s tool', () => {
  it("keeps the call's id and shows its name and rows [INT-002, INT-006, INT-030, INT-038, INT-040, INT-041, WAIT-001, WAIT-003]", async () => {
    desk.script(findsStock);
    const { conversationId, interaction } = await desk.waiting();
    expect(interaction).toMatchObject({
      id: expect.stringMatching(/^call_[0-9a-z]{24}$/),
      kind: 'custom',
      type: 'tool_call',
      moves_money: null,
      requires_present_user: false,
      details: { tool_name: 'find_stock', rows: [{ label: 'sku', value: 'A4' }], renderer: 'tool_call' },
    });
    expect(Object.keys(interaction.details)).toEqual(['tool_name', 'rows', 'renderer']);
    expect(Math.abs(msBetween(interaction.created_at, interaction.expires_at) - 30_000)).toBeLessThan(10_000);
    const { body: conversation } = await desk.call('GET', `/v1/conversations/${conversationId}`);
    const call = { call_id: interaction.id, name: 'find_stock', arguments: { sku: 'A4' }, task_id: null };
    expect(conversation.pending_tool_calls).toEqual([call]);
    expect(conversation.open_interactions).toEqual([]);
    const created = (await desk.log(conversationId)).filter(({ type }) => type === 'tool_call.created');
    expect(created.map(({ data }) => data.call)).toEqual([call]);
    expect((await desk.call('GET', `/v1/interactions/${interaction.id}`)).body).toEqual(interaction);
    await desk.answer(interaction.id, { output: 1 });
    await desk.rest(conversationId);
  });

  it('gives its output to the agent as data [ANS-008]', async () => {
    desk.script(findsStock);
    const { conversationId, interaction } = await desk.waiting();
    const { body } = await desk.answer(interaction.id, { output: { sheets: 500 } });
    expect(body.outcome).toEqual({ decision: 'answered' });
    await desk.rest(conversationId);
    const [result = ''] = resultsIn(desk.asked.at(-1));
    expect(result).toMatch(/^<data-[0-9a-f]{24} of="find_stock">\n\{"sheets":500\}\n<\/data-/);
  });

  it('gives its error to the agent as a failure [ANS-009]', async () => {
    desk.script(inTurn({ text: 'I will look.', ...calling('find_stock', { sku: 'A4' }) }, { text: 'Found.' }));
    const { conversationId, interaction } = await desk.waiting({ hand_off: 'always' });
    await desk.answer(interaction.id, { error: 'The warehouse is closed.' });
    await desk.rest(conversationId);
    expect(resultsIn(desk.asked.at(-1))[0]).toContain('The warehouse is closed.');
    const { body } = await desk.call('GET', `/v1/tasks/${interaction.task_id}/trace`);
    expect(body.steps).toMatchObject([{ tool_use_id: interaction.id, name: 'find_stock', is_error: true }]);
  });

  it('rejects answers that a tool call does not accept [ANS-025, ANS-026, ANS-027]', async () => {
    desk.script(findsStock);
    const { conversationId, interaction } = await desk.waiting();
    const bodies = [{ answers: ['x'] }, { decision: 'done' }, { approve: true }, { output: 1, error: 'x' }, undefined];
    const codes = bodies.map(async (body) => (await desk.answer(interaction.id, body)).body.error.code);
    expect(await Promise.all(codes)).toEqual([
      'answers_not_expected',
      'decision_not_expected',
      'answer_mismatch',
      'answer_mismatch',
      'answer_mismatch',
    ]);
    await desk.answer(interaction.id, { output: 1 });
    await desk.rest(conversationId);
  });
});
