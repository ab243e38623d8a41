import { createHash } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ApiResponse } from '../support/server.ts';
import { type ShopDesk, startShopDesk } from './approvals.fixture.ts';
import { calling, inTurn, toolNamesIn } from './interactions.fixture.ts';

let desk: ShopDesk;
beforeAll(async () => {
  desk = await startShopDesk();
});
afterAll(() => desk.stop());

const yes = { approve: true, present_user: true };

describe('a function of the caller', () => {
  it('waits for approval, then reaches the caller, then resumes with the output [WAIT-001, WAIT-002, INT-028, INT-032, ANS-002, ANS-013]', async () => {
    const { conversationId, interaction } = await desk.waitsFor('refund_order', { order: 'A-7' });
    expect(interaction).toMatchObject({
      id: expect.stringMatching(/^int_/),
      kind: 'tool_permission',
      type: 'approval',
      summary: 'Refunds an order. refund_order, order: A-7',
      details: { tool_name: 'refund_order', rows: [{ label: 'order', value: 'A-7' }] },
    });
    const lasts = Date.parse(interaction.expires_at) - Date.parse(interaction.created_at);
    expect(Math.abs(lasts - 24 * 60 * 60 * 1000)).toBeLessThan(10_000);
    const { body: conversation } = await desk.call('GET', `/v1/conversations/${conversationId}`);
    expect(conversation).toMatchObject({
      status: 'waiting',
      open_interactions: [{ interaction_id: interaction.id, kind: 'tool_permission' }],
      pending_tool_calls: [],
    });
    for (const body of [{ approve: true }, { approve: true, present_user: false }]) {
      const answer = await desk.answer(interaction.id, body);
      expect([answer.status, answer.body.error.code]).toEqual([400, 'present_user_required']);
    }
    expect((await desk.answer(interaction.id, yes)).body.outcome).toEqual({ decision: 'approved' });
    const [call] = await desk.open(conversationId);
    expect(call).toMatchObject({ type: 'tool_call', details: { tool_name: 'refund_order' } });
    await desk.answer(call.id, { output: 'Refunded.' });
    await desk.rest(conversationId);
    expect(desk.lastResults()).toEqual([expect.stringContaining('\nRefunded.\n')]);
  });

  it('is not called after a refusal, and the agent reads the refusal [WAIT-011, ANS-003, ANS-014]', async () => {
    const { conversationId, interaction } = await desk.waitsFor('refund_order', { order: 'A-7' });
    expect((await desk.answer(interaction.id, { approve: false })).body.outcome).toEqual({ decision: 'denied' });
    await desk.rest(conversationId);
    expect(desk.lastResults()).toEqual(['The person said no. The tool was not called.']);
    const { body } = await desk.call('GET', `/v1/interactions?conversation_id=${conversationId}&status=resolved`);
    expect(body.data.map(({ id }: { id: string }) => id)).toEqual([interaction.id]);
  });

  it('is not called if the approval expires unanswered [WAIT-010, WAIT-012]', async () => {
    const { conversationId, interaction } = await desk.waitsFor(
      'refund_order',
      { order: 'A-7' },
      { hand_off: 'always' },
    );
    await desk.sql("UPDATE interactions SET expires_at = now() - interval '1 minute' WHERE id = $1", [interaction.id]);
    await desk.rest(conversationId);
    expect(desk.lastResults()).toEqual(['Nobody answered in time. The tool was not called.']);
    const { body } = await desk.call('GET', `/v1/interactions?conversation_id=${conversationId}&type=tool_call`);
    expect(body.data).toEqual([]);
    expect((await desk.call('GET', `/v1/tasks/${interaction.task_id}`)).body.status).toBe('done');
  });

  it.each([
    ['print_menu', 'run_without_asking'],
    ['list_guests', 'read_only'],
  ])('%s reaches the caller at once: it is %s [WAIT-003, WAIT-004, WAIT-022]', async (name) => {
    const { conversationId, interaction } = await desk.waitsFor(name);
    expect(interaction).toMatchObject({ type: 'tool_call', details: { tool_name: name } });
    await desk.answer(interaction.id, { output: 'ok' });
    await desk.rest(conversationId);
  });

  it('has an approval that accepts only approve or decline [ANS-017, ANS-018, ANS-019]', async () => {
    const { conversationId, interaction } = await desk.waitsFor('book_room');
    const bodies = [{ answers: ['yes'] }, { decision: 'done' }, { output: 1 }, { error: 'x' }, undefined];
    const codes = bodies.map(async (body) => (await desk.answer(interaction.id, body)).body.error.code);
    expect(await Promise.all(codes)).toEqual([
      'answers_not_expected',
      'decision_not_expected',
      'answer_mismatch',
      'answer_mismatch',
      'answer_mismatch',
    ]);
    await desk.answer(interaction.id, { approve: false });
    await desk.rest(conversationId);
  });

  it('hides credentials in its arguments, and passes them unchanged to the caller [INT-012, WAIT-017]', async () => {
    const given = { login: { user: 'ada', password: 'hunter2hunter2' }, note: 'Use sk-live-0123456789abcdef' };
    const { conversationId, interaction } = await desk.waitsFor('stack_chairs', given);
    expect(interaction.details.rows).toEqual([
      { label: 'login', value: '{"user":"ada","password":"•••"}' },
      { label: 'note', value: 'Use •••' },
    ]);
    await desk.answer(interaction.id, yes);
    const [call] = await desk.open(conversationId);
    const { body } = await desk.call('GET', `/v1/conversations/${conversationId}`);
    expect(body.pending_tool_calls).toMatchObject([{ call_id: call.id, arguments: given }]);
    await desk.answer(call.id, { output: 'ok' });
    await desk.rest(conversationId);
    const told = JSON.stringify([
      await desk.told('interaction.created', conversationId),
      await desk.told('interaction.resolved', conversationId),
      interaction,
      call,
    ]);
    expect(told).not.toMatch(/hunter2|sk-live/);
  });

  it('has a summary of at most 120 characters and at most 8 rows of 200 [WAIT-013, WAIT-016, WAIT-017, WAIT-018]', async () => {
    const properties = Object.fromEntries(Array.from({ length: 10 }, (_, at) => [`name${at}`, { type: 'string' }]));
    const many = {
      name: 'fill_form',
      description: 'Fills the form in.',
      input_schema: { type: 'object', properties },
    };
    const given = Object.fromEntries(Object.keys(properties).map((name) => [name, 'x'.repeat(300)]));
    const { conversationId, interaction } = await desk.waitsFor('fill_form', given, { tools: [many] });
    expect(interaction.summary).toBe('fill_form, and 10 more');
    expect(interaction.details.rows).toHaveLength(8);
    for (const { value } of interaction.details.rows) expect(value).toBe(`${'x'.repeat(199)}…`);
    await desk.answer(interaction.id, { approve: false });
    await desk.rest(conversationId);
  });
});

describe('a tool of an MCP server', () => {
  it('runs at once if the server marks it read-only [WAIT-005]', async () => {
    await desk.rest(await desk.called('mcp__shop__find', { name: 'tea' }));
    expect(desk.shop.called).toEqual([{ name: 'find', args: { name: 'tea' } }]);
    expect(desk.lastResults()).toEqual([expect.stringContaining('\nfind is done.\n')]);
  });

  it('otherwise waits for approval by a person who is present, and runs once if approved several times [WAIT-005, ANS-012, ANS-031]', async () => {
    const { conversationId, interaction } = await desk.waitsFor('mcp__shop__tidy', { shelf: 3 });
    expect(interaction).toMatchObject({
      kind: 'tool_permission',
      summary: 'Tidies the shelf. tidy, shelf: 3',
      moves_money: false,
      requires_present_user: true,
      details: { tool_name: 'tidy', server: 'shop', rows: [{ label: 'shelf', value: '3' }] },
    });
    expect((await desk.answer(interaction.id, { approve: true })).body.error.code).toBe('present_user_required');
    expect(desk.shop.called).toEqual([]);
    const answers = await Promise.all(Array.from({ length: 50 }, () => desk.answer(interaction.id, yes)));
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
    expect(answers.filter(({ body }) => body.error?.code === 'already_answered')).toHaveLength(49);
    await desk.rest(conversationId);
    expect(desk.shop.called).toEqual([{ name: 'tidy', args: { shelf: 3 } }]);
    expect(await desk.told('interaction.resolved', conversationId)).toHaveLength(1);
  });

  it('is not called after a no or a withdrawal [WAIT-011, INT-017]', async () => {
    const refused = await desk.waitsFor('mcp__shop__tidy');
    await desk.answer(refused.interaction.id, { approve: false });
    await desk.rest(refused.conversationId);
    expect(desk.lastResults()).toEqual(['The person said no. The tool was not called.']);
    const withdrawn = await desk.waitsFor('mcp__shop__tidy');
    await desk.call('POST', `/v1/interactions/${withdrawn.interaction.id}/cancel`);
    await desk.rest(withdrawn.conversationId);
    expect(desk.lastResults()[0]).toMatch(
      /^The request was withdrawn: go on without this action\. The tool was not called/,
    );
    expect(desk.shop.called).toEqual([]);
  });

  it('runs at once if `run_without_asking` lists it [WAIT-006]', async () => {
    await desk.rest(await desk.called('mcp__shop__label'));
    expect(desk.shop.called.map(({ name }) => name)).toEqual(['label']);
  });

  it.each([
    ['count', 'read-only'],
    ['paint', 'listed in run_without_asking too'],
  ])('%s waits if `require_approval` lists it, although it is %s [WAIT-007, WAIT-008]', async (name) => {
    const { conversationId, interaction } = await desk.waitsFor(`mcp__shop__${name}`);
    expect(interaction.details).toMatchObject({ tool_name: name });
    expect(desk.shop.called).toEqual([]);
    await desk.answer(interaction.id, { approve: false });
    await desk.rest(conversationId);
  });

  it('in `deny` is not offered, and not called if the model calls it all the same [WAIT-009]', async () => {
    await desk.rest(await desk.called('mcp__shop__burn'));
    expect(toolNamesIn(desk.asked[0])).toContain('mcp__shop__find');
    expect(toolNamesIn(desk.asked[0])).not.toContain('mcp__shop__burn');
    expect(desk.lastResults()).toEqual(['This tool may not be called. Do not try again.']);
    expect(desk.shop.called).toEqual([]);
  });

  it('obeys the minimum rules of its server, regardless of the version [WAIT-007, WAIT-009]', async () => {
    const { body } = await desk.call('GET', '/v1/mcp-servers');
    const path = `/v1/mcp-servers/${body.data[0].id}`;
    await desk.call('PATCH', path, { body: { tools: { deny: ['find'], require_approval: ['label'] } } });
    const { conversationId, interaction } = await desk.waitsFor('mcp__shop__label');
    expect(interaction.kind).toBe('tool_permission');
    expect(toolNamesIn(desk.asked[0])).not.toContain('mcp__shop__find');

    // A tool that was denied while its call waited is not called after the approval.
    await desk.call('PATCH', path, { body: { tools: { deny: ['find', 'label'], require_approval: [] } } });
    await desk.answer(interaction.id, yes);
    await desk.rest(conversationId);
    expect(desk.lastResults()).toEqual(['This tool may not be called. Do not try again.']);
    expect(desk.shop.called).toEqual([]);
    await desk.call('PATCH', path, { body: { tools: { deny: [], require_approval: [] } } });
  });
});

describe('what `approvals` lists', () => {
  it.each([
    ['refund_order', { moves_money: null, requires_present_user: true }, 'payment'],
    ['mcp__shop__settle_up', { moves_money: true, requires_present_user: true }, 'payment'],
    ['erase_list', { moves_money: null, requires_present_user: true }, 'delete'],
    ['book_room', { moves_money: null, requires_present_user: true }, undefined],
    ['stack_chairs', { moves_money: null, requires_present_user: true }, undefined],
    ['mcp__shop__tidy', { moves_money: false, requires_present_user: true }, undefined],
  ])(
    'marks the wait of %s, and neither adds nor removes a wait [INT-006, INT-007, ANS-010, WAIT-019, WAIT-022, WAIT-023, WAIT-024, WAIT-026]',
    async (name, marks, category) => {
      const { conversationId, interaction } = await desk.waitsFor(name, name === 'refund_order' ? { order: '1' } : {});
      expect(interaction).toMatchObject({ kind: 'tool_permission', ...marks });
      expect(interaction.details.category).toBe(category);
      expect((await desk.answer(interaction.id, { approve: true })).body.error.code).toBe('present_user_required');
      await desk.answer(interaction.id, { approve: false });
      await desk.rest(conversationId);
    },
  );

  it('is judged once per version, tool and description, and again for a changed description [WAIT-024, WAIT-025]', async () => {
    const { body: deployment } = await desk.apply({
      name: 'kept',
      memory: 'none',
      tools: [
        { mcp: desk.shop.url, name: 'shop' },
        { function: 'stack_chairs', description: 'Stacks chairs.' },
      ],
    });
    const keptFor = (name: string) =>
      desk.sql('SELECT tool, category FROM tool_categories WHERE deployment_id = $1 AND tool = $2 ORDER BY category', [
        deployment.id,
        name,
      ]);
    // As if an earlier release had judged it so: what is kept stands.
    await desk.sql('INSERT INTO tool_categories VALUES ($1, 1, $2, $3, $4)', [
      deployment.id,
      'stack_chairs',
      createHash('sha256').update('Stacks chairs.').digest(),
      'payment',
    ]);
    const categoryOf = async (name: string) => {
      const { conversationId, interaction } = await desk.waitsFor(name, {}, { deployment: 'kept' });
      await desk.answer(interaction.id, { approve: false });
      await desk.rest(conversationId);
      return interaction.details.category;
    };
    expect(await categoryOf('stack_chairs')).toBe('payment');
    expect(await categoryOf('mcp__shop__tidy')).toBeUndefined();
    expect(await keptFor('mcp__shop__tidy')).toEqual([{ tool: 'mcp__shop__tidy', category: null }]);

    desk.shop.tidyDescription = 'Cancels the lease of the shelf.';
    const { body: servers } = await desk.call('GET', '/v1/mcp-servers');
    // Another address makes the server list the tools again. With the same one, the cached list must expire first.
    await desk.call('PATCH', `/v1/mcp-servers/${servers.data[0].id}`, { body: { url: `${desk.shop.url}?again` } });
    expect(await categoryOf('mcp__shop__tidy')).toBe('cancellation');
    expect(await keptFor('mcp__shop__tidy')).toEqual([
      { tool: 'mcp__shop__tidy', category: 'cancellation' },
      { tool: 'mcp__shop__tidy', category: null },
    ]);
    expect(await categoryOf('stack_chairs')).toBe('payment');
  });
});

it('a tool that once waited keeps waiting if its server later marks it read-only, until a version is saved [WAIT-241]', async () => {
  const file = { name: 'swept', memory: 'none', tools: [{ mcp: `${desk.shop.url}?broom`, name: 'broom' }] };
  await desk.apply(file);
  const { body: servers } = await desk.call('GET', '/v1/mcp-servers');
  const { id: serverId } = servers.data.find(({ slug }: { slug: string }) => slug === 'broom');
  const path = `/v1/mcp-servers/${serverId}`;
  const waits = async () => {
    const { conversationId, interaction } = await desk.waitsFor('mcp__broom__sweep', {}, { deployment: 'swept' });
    await desk.answer(interaction.id, { approve: false });
    await desk.rest(conversationId);
  };
  await waits();
  desk.shop.sweepOnlyReads = true;
  // Another address makes the server list the tools again.
  await desk.call('PATCH', path, { body: { url: `${desk.shop.url}?flipped` } });
  const check = await desk.call('POST', `${path}/check`);
  expect(check.body.tools).toContainEqual(expect.objectContaining({ name: 'sweep', read_only: true }));
  await waits();
  expect(desk.shop.called).toEqual([]);

  await desk.apply({ ...file, tools: [{ mcp: `${desk.shop.url}?flipped`, name: 'broom' }], instructions: 'Sweep.' });
  desk.script(inTurn(calling('mcp__broom__sweep'), { text: 'Swept.' }));
  const { id } = await desk.say({ message: 'Sweep', deployment: 'swept' });
  await desk.rest(id);
  expect(desk.shop.called).toMatchObject([{ name: 'sweep' }]);
});

describe('an approval by the org', () => {
  const till = () => ({
    name: 'till',
    memory: 'none',
    approvals: ['payment'],
    tools: [
      { mcp: `${desk.shop.url}?till`, name: 'till', approver: 'org' },
      {
        function: 'refund_card',
        description: 'Refunds to the card.',
        input: { secret_note: 'string' },
        approver: 'org',
      },
    ],
  });
  const refused = (answer: ApiResponse) => [answer.status, answer.body.error.code];
  const openSession = async (conversation_id: string) =>
    (await desk.call('POST', '/v1/sessions', { body: { chat: true, screen: 'control', conversation_id } })).body.token;

  it.each([
    ['a reply, of a function', 'refund_card', {}],
    ['work, of a server', 'mcp__till__settle_up', { hand_off: 'always' }],
  ])(
    'is answered by a key and by no session, which sees that it is pending without its arguments: in %s [WAIT-242, WAIT-243, WAIT-244, INT-240]',
    async (_, tool, body) => {
      await desk.apply(till());
      const { conversationId, interaction } = await desk.waitsFor(
        tool,
        { secret_note: 'CANARY-9' },
        { deployment: 'till', user_id: 'ada', ...body },
      );
      expect(interaction).toMatchObject({
        approver: 'org',
        needs: [],
        requires_present_user: false,
        kind: 'tool_permission',
      });
      expect(interaction.summary).toContain('CANARY-9');
      expect(await desk.told('interaction.created', conversationId)).toMatchObject([{ approver: 'org', needs: [] }]);

      const asked = async (approver: string) =>
        (await desk.call('GET', `/v1/interactions?conversation_id=${conversationId}&approver=${approver}`)).body.data;
      expect([await asked('org'), await asked('user')]).toMatchObject([[{ id: interaction.id }], []]);

      const key = await openSession(conversationId);
      const path = `/v1/interactions/${interaction.id}`;
      const seen = await desk.call('GET', path, { key });
      expect(seen.body).toMatchObject({ id: interaction.id, type: 'approval', approver: 'org', status: 'pending' });
      expect(Object.keys(seen.body)).not.toContain('summary');
      for (const given of [yes, { approve: true }, { approve: false }, {}]) {
        expect(refused(await desk.answer(interaction.id, given, key))).toEqual([403, 'session_scope']);
      }
      const events = await desk.call('GET', `/v1/conversations/${conversationId}/events?format=json&limit=100`, {
        key,
      });
      expect(events.text).toContain('"approver":"org"');
      expect(`${events.text}${seen.text}`).not.toContain('CANARY');

      expect((await desk.answer(interaction.id, { approve: false })).body.outcome).toEqual({ decision: 'denied' });
      await desk.rest(conversationId);
      expect(desk.lastResults()).toEqual(['The company said no. The tool was not called.']);
      expect((await desk.call('GET', path, { key })).body.outcome).toEqual({ decision: 'denied' });

      const again = await desk.waitsFor(tool, { secret_note: 'x' }, { deployment: 'till', ...body });
      expect((await desk.answer(again.interaction.id, { approve: true })).body.outcome).toEqual({
        decision: 'approved',
      });
      if (tool === 'refund_card') {
        const [call] = await desk.open(again.conversationId);
        await desk.answer(call.id, { output: 'Refunded.' });
      }
      await desk.rest(again.conversationId);
      const { body: log } = await desk.call('GET', '/v1/audit-log?action=interaction.answered&limit=10');
      expect(log.data.find(({ target }: ApiResponse['body']) => target.id === again.interaction.id).details).toEqual({
        kind: 'tool_permission',
        decision: 'approved',
        approver: 'org',
      });
      expect(desk.lastResults()[0]).toMatch(tool === 'refund_card' ? /Refunded\./ : /settle_up is done\./);
      expect(desk.lastResults()[0]).toContain('[The company said yes to this call before it was made.]');
    },
  );
});
