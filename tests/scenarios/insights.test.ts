import { tmpdir } from 'node:os';
import { runHere } from '@vestra/cli/terminal.fixture';
import { insightKinds } from '@vestra/contract/insights';
import { conversationsOfInsight } from '@vestra/server/evaluation/insights/insights';
import { closeDatabase, openDatabase } from '@vestra/server/platform/db/pool';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { makeOtherOrg } from '../support/other-org.ts';
import type { ApiResponse } from '../support/server.ts';
import { calling, type Desk, inTurn, startDesk } from './interactions.fixture.ts';

type Body = ApiResponse['body'];

let desk: Desk;
beforeAll(async () => {
  desk = await startDesk({ OPENAI_COMPATIBLE_PRICE: '1,1' });
});
afterAll(() => desk.stop());

let number = 0;
/** A new deployment with functions, so that tests do not see the conversations of others. */
async function deploy(more: Record<string, unknown> = {}): Promise<string> {
  const name = `shop-${++number}`;
  await desk.apply({
    name,
    memory: 'none',
    tools: [
      { function: 'find_order', description: 'Finds an order.', input: { order: 'string' }, read_only: true },
      { function: 'find_parcel', description: 'Finds a parcel.', input: { order: 'string' }, read_only: true },
      { function: 'refund_order', description: 'Refunds an order.', input: { order: 'string' } },
    ],
    ...more,
  });
  return name;
}

const report = async (deployment: string, query = '', key = desk.testKey): Promise<Body> => {
  const answer = await desk.call('GET', `/v1/deployments/${deployment}/insights?limit=100&${query}`, { key });
  if (answer.status !== 200) throw new Error(answer.text);
  return answer.body;
};
const ofKind = async (deployment: string, kind: string): Promise<Body[]> =>
  (await report(deployment, `kind=${kind}`)).data;

/** Begins a conversation, sends further messages, and waits for each answer. */
async function talk(deployment: string, messages: readonly string[], body: Record<string, unknown> = {}) {
  const [first, ...later] = messages;
  const { id } = await desk.say({ deployment, message: first, ...body });
  await desk.rest(id);
  for (const message of later) {
    await desk.call('POST', `/v1/conversations/${id}/messages`, { body: { message } });
    await desk.rest(id);
  }
  return id as string;
}

async function rate(conversationId: string, fields: Record<string, unknown>) {
  const { body } = await desk.call('GET', `/v1/conversations/${conversationId}/messages`);
  const answer = body.data.find(({ role }: Body) => role === 'agent');
  await desk.call('POST', `/v1/messages/${answer.id}/feedback`, { body: fields });
}

/** The agent calls a function, and the function answers this. */
async function callFails(deployment: string, message: string, error: string, tool = 'find_order'): Promise<string> {
  desk.script(inTurn(calling(tool, { order: 'A-1' }), { text: 'I could not find it.' }));
  const { id } = await desk.say({ deployment, message });
  const [call] = await desk.open(id);
  await desk.answer(call.id, { error });
  await desk.rest(id);
  return id;
}

const answers = (text = 'Hello.') => desk.script(() => ({ text }));

describe('planted faults', () => {
  it('reports failed replies by their error code, with share, trend and examples [INS-700] [INS-701]', async () => {
    const shop = await deploy();
    desk.script(() => ({ fail: 400 }));
    const failed = [await talk(shop, ['Where is order 1?']), await talk(shop, ['I want a refund', 'Please answer'])];
    answers();
    await talk(shop, ['Hello']);
    await talk(shop, ['Good morning']);

    const { data, period, total_conversations, is_complete } = await report(shop, 'kind=failed_reply');
    const today = new Date().toISOString().slice(0, 10);
    expect({ total_conversations, is_complete, to: period.to }).toEqual({
      total_conversations: 4,
      is_complete: true,
      to: today,
    });
    expect(data).toHaveLength(1);
    expect(data[0]).toMatchObject({
      kind: 'failed_reply',
      cause: 'model_error',
      title: 'Replies fail with model_error',
      count: 3,
      conversations: 2,
      share: 0.5,
    });
    expect(data[0].trend.previous_count).toBe(0);
    expect(data[0].trend.days).toHaveLength(7);
    expect(data[0].trend.days.at(-1)).toEqual({ date: today, count: 3 });
    expect(data[0].examples.map((each: Body) => each.conversation_id)).toEqual(failed.reverse());
    expect(data[0].examples[0].excerpt).toBe('Please answer');
  });

  it('groups bad ratings by the question, and shows the note [INS-702]', async () => {
    const shop = await deploy();
    answers('No.');
    await rate(await talk(shop, ['Can I return shoes after 20 days?']), { rating: 'bad', note: 'It is 30 days.' });
    await rate(await talk(shop, ['can I return the shoes after 25 days??']), { rating: 'bad' });
    await rate(await talk(shop, ['Do you ship furniture abroad?']), { rating: 'bad' });
    await rate(await talk(shop, ['Do you sell gift cards?']), { rating: 'good' });

    const groups = await ofKind(shop, 'bad_rating');
    expect(groups.map(({ conversations }) => conversations)).toEqual([2, 1]);
    expect(groups[0].title).toMatch(/^Bad ratings of answers to “[Cc]an I return/);
    expect(groups[0].title).not.toMatch(/\d/);
    expect(groups[0].examples.map((each: Body) => each.excerpt)).toContain('It is 30 days.');
  });

  it('reports declined approvals and expired questions, not answered ones [INS-703]', async () => {
    const shop = await deploy();
    desk.script(inTurn(calling('refund_order', { order: 'A-1' }), { text: 'Done.' }));
    for (const approve of [false, false]) {
      const { conversationId, interaction } = await desk.waiting({ deployment: shop });
      await desk.answer(interaction.id, { approve });
      await desk.rest(conversationId);
    }
    desk.script(inTurn(calling('ask_question', { question: 'Which size?', options: ['S', 'M'] }), { text: 'Thanks.' }));
    const answered = await desk.waiting({ deployment: shop });
    await desk.answer(answered.interaction.id, { answers: ['S'] });
    await desk.rest(answered.conversationId);
    const expired = await desk.waiting({ deployment: shop });
    await desk.sql("UPDATE interactions SET expires_at = now() - interval '1 minute' WHERE id = $1", [
      expired.interaction.id,
    ]);
    await desk.rest(expired.conversationId);

    expect(await ofKind(shop, 'declined_approval')).toMatchObject([
      { cause: 'refund_order', title: 'People decline to approve refund_order', conversations: 2 },
    ]);
    expect(await ofKind(shop, 'expired_question')).toMatchObject([
      {
        cause: 'Which size?',
        title: 'Nobody answers “Which size?” in time',
        conversations: 1,
        examples: [{ conversation_id: expired.conversationId }],
      },
    ]);
    expect(await ofKind(shop, 'tool_error')).toEqual([]);
  });

  it('reports searches that found nothing, grouped by their words [INS-704]', async () => {
    const { body: notebook } = await desk.call('POST', '/v1/notebooks', {
      body: { name: 'Rules', slug: 'rules', description: 'The rules of the shop.' },
    });
    await desk.call('POST', `/v1/notebooks/${notebook.id}/documents`, {
      body: { title: 'Opening hours', text: 'The shop opens at nine.' },
    });
    const isIndexed = ({ data }: Body) => data.every(({ indexed }: Body) => indexed);
    await desk.until(`/v1/notebooks/${notebook.id}/documents`, isIndexed);
    const shop = await deploy({ knowledge: [{ notebook: notebook.id }] });
    for (const query of ['warranty of batteries', 'battery warranty']) {
      desk.script(inTurn(calling('search_notebooks', { query }), { text: 'I do not know.' }));
      await talk(shop, ['Something about my thing']);
    }
    desk.script(inTurn(calling('search_notebooks', { query: 'opening hours' }), { text: 'Nine to five.' }));
    await talk(shop, ['When are you open?']);

    const groups = await ofKind(shop, 'empty_search');
    expect(groups).toMatchObject([{ conversations: 2, count: 2 }]);
    expect(groups[0].title).toMatch(/^The knowledge has nothing about “.*warranty.*”$/);
  });

  it('groups tool errors by tool and text, without numbers and ids [INS-705]', async () => {
    const shop = await deploy();
    await callFails(shop, 'Where is my order?', 'Order A-4711 was not found in the warehouse.');
    await callFails(shop, 'Any news?', 'Order B-99 was not found in the warehouse.');
    await callFails(shop, 'And now?', 'Order 7f-1-22-c9-4b-60 was not found in the warehouse.');
    await callFails(shop, 'Hello?', 'Connection to the database timed out.');
    // The same text of another tool has another cause.
    await callFails(shop, 'And my parcel?', 'Order C-5 was not found in the warehouse.', 'find_parcel');
    const groups = await ofKind(shop, 'tool_error');
    expect(groups.map(({ conversations, cause }) => [conversations, cause]).sort()).toEqual([
      [1, 'find_order: Connection to the database timed out.'],
      [1, 'find_parcel: Order … was not found in the warehouse.'],
      [3, 'find_order: Order … was not found in the warehouse.'],
    ]);
    expect(groups[0].examples[0].excerpt).toBe('Order 7f-1-22-c9-4b-60 was not found in the warehouse.');
  });

  it('reports users who repeat a question in a conversation [INS-706]', async () => {
    const shop = await deploy();
    answers('Please wait.');
    const repeated = await talk(shop, ['Where is my parcel?', 'ok', 'ok', 'Where is my parcel now?']);
    await talk(shop, ['Where is my parcel?', 'Thank you. How do I return shoes?']);
    expect(await ofKind(shop, 'repeated_question')).toMatchObject([
      {
        conversations: 1,
        count: 1,
        title: 'Users repeat “Where is my parcel now?”',
        examples: [{ conversation_id: repeated }],
      },
    ]);
  });

  it('reports conversations that cost or take more than three times the median [INS-707]', async () => {
    const shop = await deploy();
    const spends = (inputTokens: number) =>
      desk.script(() => ({ text: 'Hello.', usage: { inputTokens, outputTokens: 100 } }));
    const lasts = (id: string, ms: number) =>
      desk.sql('UPDATE turns SET active_ms = $2 WHERE conversation_id = $1', [id, ms]);
    spends(10_000);
    for (let at = 1; at <= 18; at++) await lasts(await talk(shop, [`Hello ${at}`]), 1000);
    const slow = await talk(shop, ['A hard one']);
    await lasts(slow, 9000);
    // Nineteen conversations are too few to know what is usual.
    expect(await ofKind(shop, 'latency_outlier')).toEqual([]);
    spends(90_000);
    const dear = await talk(shop, ['A long one']);
    await lasts(dear, 2900);
    expect(await ofKind(shop, 'latency_outlier')).toMatchObject([
      {
        conversations: 1,
        examples: [{ conversation_id: slow, excerpt: expect.stringMatching(/^9\.0 s .*9\.0 times/) }],
      },
    ]);
    expect(await ofKind(shop, 'cost_outlier')).toMatchObject([
      {
        title: 'Conversations without tools cost more than 3 times the median',
        conversations: 1,
        examples: [{ conversation_id: dear, excerpt: expect.stringMatching(/^\$0\.09/) }],
      },
    ]);
  });
});

describe('the report', () => {
  it('leaves out other modes, other orgs, test runs, deleted conversations and erased users [INS-710]', async () => {
    const shop = await deploy();
    desk.script(() => ({ fail: 400 }));
    const kept = await talk(shop, ['Kept']);
    const deleted = await talk(shop, ['Deleted']);
    await desk.call('POST', '/v1/users', { body: { user_id: 'erin' } });
    await talk(shop, ['Erased'], { user_id: 'erin' });
    await desk.call('POST', `/v1/deployments/${shop}/scenarios`, {
      body: { name: 'Fails', persona: 'A customer.', goal: 'Ask.', success_criteria: ['The agent answers.'] },
    });
    const { body: run } = await desk.call('POST', `/v1/deployments/${shop}/test-runs`);
    await desk.until(`/v1/test-runs/${run.id}`, ({ status }) => status !== 'queued' && status !== 'running');
    expect(await ofKind(shop, 'failed_reply')).toMatchObject([{ conversations: 3 }]);

    await desk.call('DELETE', `/v1/conversations/${deleted}`);
    await desk.call('DELETE', '/v1/users/erin');
    await desk.until(`/v1/deployments/${shop}/insights`, ({ total_conversations }) => total_conversations === 1);
    expect(await report(shop)).toMatchObject({
      total_conversations: 1,
      data: [{ kind: 'failed_reply', conversations: 1, examples: [{ conversation_id: kept }] }],
    });
    expect(await report(shop, '', desk.liveKey)).toMatchObject({ total_conversations: 0, data: [] });
    const other = await makeOtherOrg(desk);
    const { status, body } = await desk.call('GET', `/v1/deployments/${shop}/insights`, { key: other });
    expect([status, body.error.code]).toEqual([404, 'deployment_not_found']);
  });

  it('hides credentials and card numbers in excerpts and titles [INS-711]', async () => {
    const shop = await deploy();
    const secret = `sk-${'a1b2'.repeat(8)}`;
    await callFails(shop, 'Try this', `Key ${secret} was refused for card 4111 1111 1111 1111.`);
    answers('No.');
    await rate(await talk(shop, [`Why is ${secret} refused for ann@example.com?`]), { rating: 'bad' });
    const { data, text } = { ...(await report(shop)), text: JSON.stringify(await report(shop)) };
    expect(data.map(({ kind }: Body) => kind).sort()).toEqual(['bad_rating', 'tool_error']);
    expect(text).toContain('•••');
    expect(text).not.toContain(secret);
    expect(text).not.toContain('4111');
    expect(data.map(({ title }: Body) => title).join()).not.toContain('ann@example.com');
  });

  it('forgets what a deleted task read and said [INS-711]', async () => {
    const shop = await deploy();
    desk.script(inTurn(calling('find_order', { order: 'A-1' }), { text: 'Not found.' }));
    const { id } = await desk.say({ deployment: shop, message: 'Find it', hand_off: 'always' });
    const [call] = await desk.open(id);
    await desk.answer(call.id, { error: 'The order of Dr. Who is missing.' });
    await desk.rest(id);
    const [found] = await ofKind(shop, 'tool_error');
    expect(found.examples[0]).toMatchObject({
      task_id: expect.any(String),
      excerpt: expect.stringContaining('Dr. Who'),
    });
    await desk.call('DELETE', `/v1/tasks/${found.examples[0].task_id}`);
    expect(JSON.stringify(await report(shop))).not.toContain('Who');
  });

  it('compares with the period before, keeps its ids, and pages in a fixed order [INS-712]', async () => {
    const shop = await deploy();
    desk.script(() => ({ fail: 400 }));
    const old = await talk(shop, ['Long ago']);
    await talk(shop, ['Now']);
    await desk.sql(`UPDATE turns SET created_at = created_at - interval '8 days' WHERE conversation_id = $1`, [old]);
    await callFails(shop, 'One', 'Order 1 was not found.');
    await callFails(shop, 'Two', 'Order 2 was not found.');
    answers('No.');
    await rate(await talk(shop, ['Do you sell gift cards?']), { rating: 'bad' });
    const whole = await report(shop);
    const counts = whole.data.map((each: Body) => [each.kind, each.count, each.trend.previous_count]);
    expect([counts[0], ...counts.slice(1).sort()]).toEqual([
      ['tool_error', 2, 0],
      ['bad_rating', 1, 0],
      ['failed_reply', 1, 1],
    ]);
    const day = (ago: number) => new Date(Date.now() - ago * 86_400_000).toISOString().slice(0, 10);
    const wide = await report(shop, `from=${day(20)}&to=${day(0)}`);
    expect(wide.data.map(({ id }: Body) => id).sort()).toEqual(whole.data.map(({ id }: Body) => id).sort());
    expect(wide.data[0].trend.days).toHaveLength(21);

    const path = `/v1/deployments/${shop}/insights?limit=1`;
    const { body: first } = await desk.call('GET', path);
    const { body: second } = await desk.call('GET', `${path}&cursor=${first.next_cursor}`);
    // Two insights in the same number of conversations.
    const { body: third } = await desk.call('GET', `${path}&cursor=${second.next_cursor}`);
    expect([...first.data, ...second.data, ...third.data]).toEqual(whole.data);
    expect(third.next_cursor).toBeNull();
    const another = await desk.call('GET', `${path}&kind=tool_error&cursor=${first.next_cursor}`);
    expect(another.body.error.code).toBe('invalid_cursor');
  });

  it('finds the conversations of an insight again, also of a longer period [INS-714]', async () => {
    const shop = await deploy();
    const found = [];
    for (const order of ['A-1', 'B-2', 'C-3']) found.push(await callFails(shop, 'Hi', `Order ${order} was not found.`));
    const { id: deploymentId } = (await desk.call('GET', `/v1/deployments/${shop}`)).body;
    const [insight] = await ofKind(shop, 'tool_error');
    const db = await openDatabase({ connectionString: desk.connectionString });
    try {
      const tenant = { orgId: desk.orgId, mode: 'test' as const };
      const again = await conversationsOfInsight(db, tenant, deploymentId, insight.id);
      expect(again).toEqual({ title: insight.title, conversationIds: found.reverse() });
      const live = await conversationsOfInsight(db, { ...tenant, mode: 'live' }, deploymentId, insight.id);
      expect(live).toBeNull();
      // In the longer period, another text of the group is the most frequent one.
      const other = await deploy();
      const near = (place: string) => callFails(other, 'Hi', `The parcel was not found in the ${place} warehouse.`);
      const old = [await near('northern'), await near('northern')];
      for (const each of old)
        await desk.sql(`UPDATE turns SET created_at = created_at - interval '20 days' WHERE conversation_id = $1`, [
          each,
        ]);
      const newest = await near('southern');
      const [ofWeek] = await ofKind(other, 'tool_error');
      const { id: otherId } = (await desk.call('GET', `/v1/deployments/${other}`)).body;
      const found30 = await conversationsOfInsight(db, tenant, otherId, ofWeek.id);
      expect(found30?.conversationIds.sort()).toEqual([...old, newest].sort());
    } finally {
      await closeDatabase(db);
    }
  });

  it('is a table in the terminal, and JSON with `--json` [INS-716]', async () => {
    const shop = await deploy();
    await callFails(shop, 'Where is it?', 'Order 17 was not found.');
    answers();
    await talk(shop, ['Hello']);
    const vestra = async (...words: string[]) => {
      const env = { VESTRA_URL: desk.url, VESTRA_KEY: desk.testKey, XDG_CONFIG_HOME: tmpdir() };
      const { code, out, err } = await runHere(['insights', shop, ...words], { cwd: tmpdir(), env });
      expect([code, err]).toEqual([0, expect.any(String)]);
      return out;
    };
    const [head, line, ...beside] = (await vestra()).split('\n');
    expect(head).toMatch(/^CONVERSATIONS +SHARE +COUNT +BEFORE +KIND +ID +TITLE$/);
    expect(line).toMatch(/^1 +50 % +1 +0 +tool_error +ins_\S+ +find_order fails: “Order … was not found.”$/);
    expect(beside.join('\n')).toMatch(/total conversations +2/);
    expect(JSON.parse(await vestra('--json', '--kind', 'tool_error'))).toMatchObject({
      data: [{ object: 'insight', kind: 'tool_error' }],
      total_conversations: 2,
    });
  });

  it('refuses bad periods and kinds, and is empty for a deployment without conversations [INS-713]', async () => {
    const shop = await deploy();
    expect(await report(shop)).toMatchObject({ data: [], total_conversations: 0, is_complete: true });
    const codeOf = async (query: string) =>
      (await desk.call('GET', `/v1/deployments/${shop}/insights?${query}`)).body.error?.code;
    expect(await codeOf('from=2026-01-01&to=2026-12-31')).toBe('invalid_window');
    expect(await codeOf('from=2026-02-01&to=2026-01-01')).toBe('invalid_window');
    expect(await codeOf('from=yesterday')).toBe('invalid_window');
    for (const edge of ['0001-01-01', '0000-02-28', '9999-12-31']) {
      expect(await report(shop, `from=${edge}&to=${edge}`)).toMatchObject({
        data: [],
        period: { from: edge, to: edge },
      });
    }
    expect(await report(shop, 'to=0000-01-02')).toMatchObject({ data: [], period: { from: '0000-01-01' } });
    expect(await codeOf('kind=sadness')).toBe('invalid_query');
    expect((await desk.call('GET', '/v1/deployments/nowhere/insights')).body.error.code).toBe('deployment_not_found');
    expect(insightKinds).toHaveLength(9);
    // Reports of one org run one after the other. A crowd is refused before it takes the database.
    const crowd = await Promise.all(
      Array.from({ length: 60 }, () => desk.call('GET', `/v1/deployments/${shop}/insights`)),
    );
    const codes = new Set(crowd.map(({ status, body }) => `${status} ${body.error?.code ?? ''}`.trim()));
    expect([...codes].filter((code) => code !== '200' && code !== '429 rate_limited')).toEqual([]);
    expect(codes).toContain('200');
  });
});
