import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type ShopDesk, startShopDesk } from './approvals.fixture.ts';
import { calling, inTurn, resultsIn, toolNamesIn } from './interactions.fixture.ts';

let desk: ShopDesk;
beforeAll(async () => {
  desk = await startShopDesk();
});
afterAll(() => desk.stop());

const yes = { approve: true, present_user: true };

describe('a tool that costs money', () => {
  const toolCharges = async (conversationId: string) => {
    const { body } = await desk.call('GET', `/v1/usage/line-items?conversation_id=${conversationId}`);
    return body.data.filter(({ kind }: { kind: string }) => kind === 'tools');
  };

  it('above the limit asks first, though it is read-only, and is charged when it has run [INT-007, INT-034, ANS-010]', async () => {
    const { conversationId, interaction } = await desk.waitsFor('mcp__shop__scan', { page: 1 });
    expect(interaction).toMatchObject({
      kind: 'credit_approval',
      type: 'approval',
      moves_money: true,
      requires_present_user: true,
      details: { tool_name: 'scan', server: 'shop', price_usd: 0.25, rows: [{ label: 'page', value: '1' }] },
    });
    expect((await desk.answer(interaction.id, { approve: true })).body.error.code).toBe('present_user_required');
    expect(await toolCharges(conversationId)).toEqual([]);
    await desk.answer(interaction.id, yes);
    await desk.rest(conversationId);
    expect(desk.shop.called).toEqual([{ name: 'scan', args: { page: 1 } }]);
    expect(desk.lastResults()).toEqual([expect.stringContaining('\nscan is done.\n')]);
    expect(await toolCharges(conversationId)).toMatchObject([
      { kind: 'tools', quantity: 1, unit: 'calls', unit_price_usd: 0.25, cost_usd: 0.25, model: null },
    ]);
    const { body } = await desk.call('GET', `/v1/conversations/${conversationId}`);
    expect(body.cost_breakdown.tools).toBe(0.25);
  });

  it('costs nothing after a no [INT-034]', async () => {
    const { conversationId, interaction } = await desk.waitsFor('mcp__shop__scan');
    await desk.answer(interaction.id, { approve: false });
    await desk.rest(conversationId);
    expect(desk.shop.called).toEqual([]);
    expect(await toolCharges(conversationId)).toEqual([]);
  });

  it('below the limit runs at once and is charged unless it failed [INT-034]', async () => {
    const conversationId = await desk.called('mcp__shop__copy');
    await desk.rest(conversationId);
    expect(await toolCharges(conversationId)).toMatchObject([{ cost_usd: 0.05 }]);
    const failed = await desk.called('mcp__shop__jam');
    await desk.rest(failed);
    expect(desk.lastResults()[0]).toContain('Paper jam.');
    expect(await toolCharges(failed)).toEqual([]);
  });

  it('that became more expensive after its approval is not called and asks again [INT-034]', async () => {
    const scan = calling('mcp__shop__scan');
    desk.script(inTurn(scan, scan, { text: 'Scanned.' }));
    desk.shop.called.length = 0;
    const { conversationId, interaction } = await desk.waiting();
    desk.shop.scanUsd = 0.5;
    const { body: servers } = await desk.call('GET', '/v1/mcp-servers');
    // Another address makes the server list the tools again. With the same one, the cached list must expire first.
    const path = `/v1/mcp-servers/${servers.data[0].id}`;
    await desk.call('PATCH', path, { body: { url: `${desk.shop.url}?dearer` } });
    await desk.answer(interaction.id, yes);
    const [second] = await desk.open(conversationId);
    expect(resultsIn(desk.asked.at(-1))).toEqual([expect.stringContaining('now costs 0.5 US dollars')]);
    expect(second.details.price_usd).toBe(0.5);
    expect(desk.shop.called).toEqual([]);
    await desk.answer(second.id, yes);
    await desk.rest(conversationId);
    expect(desk.shop.called).toHaveLength(1);
    expect(await toolCharges(conversationId)).toMatchObject([{ cost_usd: 0.5 }]);
    await desk.call('PATCH', path, { body: { url: desk.shop.url } });
  });

  it('counts toward the limit of its task, also across a wait [TASK-033]', async () => {
    await desk.apply({
      name: 'frugal',
      memory: 'none',
      limits: { per_task_usd: 0.1 },
      tools: [{ mcp: desk.shop.url, name: 'shop' }],
    });
    const copy = calling('mcp__shop__copy');
    desk.script(inTurn(copy, calling('ask_question', { question: 'Again?' }), copy, { text: 'Copied.' }));
    const { id } = await desk.say({ message: 'Copy', deployment: 'frugal', hand_off: 'always' });
    const [interaction] = await desk.open(id);
    await desk.answer(interaction.id, { answers: ['Yes'] });
    await desk.rest(id);
    expect(await desk.told('task.stopped', id)).toMatchObject([
      { reason: 'max_budget', cost_breakdown: { tools: 0.1 } },
    ]);
  });
});

describe('a plan', () => {
  const steps = ['Look', 'Tidy up'].map((content) => ({ content, status: 'pending' }));
  const plan = calling('update_plan', { title: 'Tidy the shop', steps });

  it('is shown first, and no tool that changes anything is offered before its approval [INT-035]', async () => {
    desk.script(inTurn(plan, calling('mcp__shop__label'), { text: 'Tidied.' }));
    desk.shop.called.length = 0;
    const { id } = await desk.say({ message: 'Tidy up', plan: true });
    const [interaction] = await desk.open(id);
    expect(interaction).toMatchObject({
      kind: 'exit_plan',
      type: 'approval',
      summary: 'Start this plan of 2 steps?',
      moves_money: false,
      details: {
        title: 'Tidy the shop',
        rows: [
          { label: '1', value: 'Look' },
          { label: '2', value: 'Tidy up' },
        ],
      },
    });
    const { body: task } = await desk.call('GET', `/v1/tasks/${interaction.task_id}`);
    expect(task).toMatchObject({ status: 'waiting', title: 'Tidy the shop', progress: steps });
    const before = toolNamesIn(desk.asked[0]);
    expect(before).toEqual(
      expect.arrayContaining(['update_plan', 'ask_question', 'list_guests', 'mcp__shop__find', 'mcp__shop__count']),
    );
    const changing = ['save_output', 'refund_order', 'print_menu', 'mcp__shop__label', 'mcp__shop__tidy'];
    expect(before.filter((name) => changing.includes(name))).toEqual([]);

    await desk.answer(interaction.id, { approve: true });
    await desk.rest(id);
    expect(toolNamesIn(desk.asked.at(-1))).toEqual(expect.arrayContaining(changing));
    expect(resultsIn(desk.asked[1])).toEqual(['The person said yes.']);
    expect(desk.shop.called.map(({ name }) => name)).toEqual(['label']);
  });

  it('that is declined is proposed again, and tools that were not offered are not called [INT-035]', async () => {
    desk.script(inTurn(calling('mcp__shop__label'), plan, plan, { text: 'Tidied.' }));
    desk.shop.called.length = 0;
    const { id } = await desk.say({ message: 'Tidy up', plan: true });
    const [first] = await desk.open(id);
    expect(resultsIn(desk.asked[1])).toEqual(['There is no tool named "mcp__shop__label".']);
    await desk.answer(first.id, { approve: false });
    const [second] = await desk.open(id);
    expect(second).toMatchObject({ kind: 'exit_plan', id: expect.not.stringContaining(first.id) });
    expect(resultsIn(desk.asked[2]).at(-1)).toBe('The person said no.');
    expect(toolNamesIn(desk.asked[2])).not.toContain('mcp__shop__label');
    await desk.answer(second.id, { approve: true });
    await desk.rest(id);
    expect(desk.shop.called).toEqual([]);
  });

  it('approved while the run resumes for another answer has all tools from then on [INT-035]', async () => {
    const question = { name: 'ask_question', arguments: { question: 'Which shelf?' } };
    desk.script(inTurn({ calls: [...(plan.calls ?? []), question] }, calling('mcp__shop__label'), { text: 'Tidied.' }));
    desk.shop.called.length = 0;
    const { id } = await desk.say({ message: 'Tidy up', plan: true });
    const open = await desk.open(id, 2);
    const of = (kind: string) => open.find((each) => each.kind === kind).id as string;

    const blocker = new pg.Client({ connectionString: desk.connectionString });
    await blocker.connect();
    await blocker.query('BEGIN; LOCK TABLE mcp_servers IN ACCESS EXCLUSIVE MODE');
    await desk.answer(of('ask_question'), { answers: ['The left one'] });
    await expect
      .poll(() => desk.sql(`SELECT FROM pg_locks WHERE relation = 'mcp_servers'::regclass AND NOT granted`), {
        timeout: 30_000,
      })
      .not.toEqual([]);
    await desk.answer(of('exit_plan'), { approve: true });
    await blocker.query('COMMIT');
    await blocker.end();
    await desk.rest(id);
    expect(desk.shop.called.map(({ name }) => name)).toEqual(['label']);
  });
});

describe('calls of one step', () => {
  /** Each of the two calls says whether the other had begun before it ended. */
  function meeting(one: string, other: string, patienceMs: number) {
    const began = { [one]: Promise.withResolvers<string>(), [other]: Promise.withResolvers<string>() };
    return (name: string) => {
      began[name]?.resolve('together');
      const patience = new Promise<string>((resolve) => setTimeout(resolve, patienceMs, 'alone'));
      return Promise.race([began[name === one ? other : one]?.promise ?? 'alone', patience]);
    };
  }

  const both = (...names: string[]) => ({ calls: names.map((name) => ({ name, arguments: {} })) });
  const insides = () => desk.lastResults().map((each) => each.split('\n')[1]);

  it('that change nothing run side by side', async () => {
    desk.shop.says = meeting('find', 'copy', 20_000);
    desk.script(inTurn(both('mcp__shop__find', 'mcp__shop__copy'), { text: 'Done.' }));
    await desk.rest((await desk.say({ message: 'Go on' })).id);
    expect(insides()).toEqual(['together', 'together']);
  });

  it('that change something run one after the other, in order', async () => {
    desk.shop.says = meeting('shelve', 'store', 300);
    desk.shop.called.length = 0;
    desk.script(inTurn(both('mcp__shop__shelve', 'mcp__shop__store'), { text: 'Done.' }));
    await desk.rest((await desk.say({ message: 'Go on' })).id);
    expect(desk.shop.called.map(({ name }) => name)).toEqual(['shelve', 'store']);
    expect(insides()[0]).toBe('alone');
  });
});
