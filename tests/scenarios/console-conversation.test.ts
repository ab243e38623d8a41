import { readFile } from 'node:fs/promises';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type ConsoleDesk, startConsoleDesk, widthOf } from './console.fixture.ts';
import { calling, inTurn } from './interactions.fixture.ts';
import { barriersOn } from './session-page.fixture.ts';

/** Conversations and tasks as people read them in the console. */
let desk: ConsoleDesk;
beforeAll(async () => {
  desk = await startConsoleDesk();
  await desk.apply({
    name: 'desk',
    memory: 'none',
    instructions: 'You are the desk of a paper shop. Mention the tamarind rule.',
    tools: [
      {
        function: 'find_order',
        description: 'Finds an order.',
        input: { number: 'string', api_key: 'string' },
        read_only: true,
      },
      { function: 'refund', description: 'Refunds an order.', input: { number: 'string', amount_usd: 'number' } },
    ],
  });
  await desk.call('POST', '/v1/users', { body: { user_id: 'u-1815', name: 'Ada Lovelace', email: 'ada@example.com' } });
});
afterAll(() => desk.stop());

const begin = async (message: string, more: Record<string, unknown> = {}): Promise<string> =>
  (await desk.call('POST', '/v1/conversations', { body: { deployment: 'desk', message, ...more } })).body.id;
const talk = async (message: string, more: Record<string, unknown> = {}): Promise<string> => {
  const id = await begin(message, more);
  await desk.rest(id);
  return id;
};
const trace = (page: Page) => page.getByRole('region', { name: 'Step details' });
const isOwned = () => (globalThis as unknown as { owned?: number }).owned !== undefined;

/** Failed requests and lines of the browser's error log. A page without faults has none. */
function errorsOf(page: Page): string[] {
  const errors: string[] = [];
  page.on('console', (line) => line.type() === 'error' && errors.push(line.text()));
  page.on('response', (response) => response.status() >= 400 && errors.push(`${response.status()} ${response.url()}`));
  return errors;
}

/** One red pixel. */
const redPixel = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg==';

const markdown = [
  '# Plans',
  '| Plan | Price |\n|---|---:|\n| Team | $19 |',
  '1. **Choose** one\n2. Pay',
  '<img src=x onerror="window.owned=1">',
  '[open](javascript:window.owned=1) and ![a picture](https://tracker.example/x.png)',
].join('\n\n');

describe('a reply in the console', () => {
  it('is formatted, or as the model wrote it, and never becomes HTML [CON-710]', async () => {
    desk.script(() => ({ text: markdown }));
    const id = await talk('Which plans do you have?');
    const { page, go, leave } = await desk.enter(`/conversations/${id}`);
    const asked: string[] = [];
    page.on('request', (request) => asked.push(request.url()));
    const reply = page.locator('[data-said=agent]');
    await reply.getByRole('cell', { name: '$19' }).waitFor();
    expect(await reply.getByRole('heading', { name: 'Plans', level: 2 }).count()).toBe(1);
    expect(await reply.getByRole('listitem').first().textContent()).toBe('Choose one');
    await reply.getByText('<img src=x').waitFor();
    expect(await reply.locator('img, a[href^=javascript]').count()).toBe(0);
    await page.getByRole('button', { name: 'As written' }).click();
    await reply.getByText('| Team | $19 |').waitFor();
    await page.reload();
    await reply.getByText('| Team | $19 |').waitFor();
    await go(`/playground?conversation=${id}`);
    await page.getByRole('button', { name: 'As written' }).click();
    await reply.getByRole('cell', { name: '$19' }).waitFor();
    expect(await barriersOn(page)).toEqual([]);
    expect(await page.evaluate(isOwned)).toBe(false);
    expect(asked.filter((url) => url.includes('tracker.example'))).toEqual([]);
    await leave();
  });

  it('of a batch is one line without signs in the list, and formatted in its dialog [CON-765]', async () => {
    desk.script(() => ({ text: markdown }));
    const items = [{ user_id: 'u-1815', message: 'Which plans do you have?' }];
    const { body } = await desk.call('POST', '/v1/batches', { body: { deployment: 'desk', items } });
    await desk.until(`/v1/batches/${body.id}`, ({ status }) => status === 'completed');
    const { page, leave } = await desk.enter(`/batches/${body.id}`, {
      context: { viewport: { width: 1024, height: 900 } },
    });
    const result = page.getByRole('cell', { name: /^Plans Plan Price Team \$19 Choose one Pay/ });
    await result.getByRole('button').click();
    const dialog = page.getByRole('dialog', { name: 'Result of item 1' });
    await dialog.getByRole('cell', { name: '$19' }).waitFor();
    await dialog.getByText('<img src=x').waitFor();
    expect(await dialog.locator('img, a[href^=javascript]').count()).toBe(0);
    expect(await page.evaluate(isOwned)).toBe(false);
    expect(await barriersOn(page)).toEqual([]);
    await dialog.getByRole('link', { name: 'Open conversation' }).click();
    await page.locator('[data-said=work]').getByRole('cell', { name: '$19' }).waitFor();
    await leave();
  });

  it('has files and pictures of its message, which can be downloaded [CON-768]', async () => {
    const upload = async (name: string, type: string, content: Buffer) => {
      const form = new FormData();
      form.set('file', new Blob([new Uint8Array(content)], { type }), name);
      return (await desk.call('POST', '/v1/files?user_id=u-1815', { raw: form })).body.id as string;
    };
    const files = [
      await upload('damage.png', 'image/png', Buffer.from(redPixel, 'base64')),
      await upload('receipt <b>.txt', 'text/plain', Buffer.from('One euro')),
      await upload('broken.png', 'image/png', Buffer.from('no picture')),
    ];
    desk.script(() => ({ text: 'I see.' }));
    const attachments = files.map((file_id) => ({ file_id }));
    const id = await talk('It arrived broken', { user_id: 'u-1815', attachments });
    const { page, leave } = await desk.enter(`/conversations/${id}`, { context: { acceptDownloads: true } });
    const shown = page.locator('[data-said=user]').getByRole('list', { name: 'Files' });
    const picture = shown.getByRole('link', { name: 'Download damage.png' }).locator('img');
    await expect.poll(() => picture.evaluate((image: HTMLImageElement) => image.naturalWidth)).toBeGreaterThan(0);
    // A picture that cannot be drawn is a link.
    await shown.getByRole('link', { name: 'Download broken.png' }).getByText('broken.png').waitFor();
    const coming = page.waitForEvent('download');
    await shown.getByRole('link', { name: 'Download receipt <b>.txt' }).click();
    expect(await readFile(await (await coming).path(), 'utf8')).toBe('One euro');
    expect(await barriersOn(page)).toEqual([]);
    expect(await widthOf(page)).toBe(1280);
    await leave();
  });

  it('has numbered references that open the cited passage [CON-761]', async () => {
    const { body: notebook } = await desk.call('POST', '/v1/notebooks', { body: { name: 'Rules', slug: 'rules' } });
    const text = 'A parcel may be sent back within 41 days.';
    await desk.call('POST', `/v1/notebooks/${notebook.id}/documents`, { body: { title: 'Return window', text } });
    await desk.apply({
      name: 'reader',
      memory: 'none',
      instructions: 'Be kind.',
      knowledge: [{ notebook: notebook.id }],
    });
    desk.script(
      inTurn(calling('search_notebooks', { query: 'send back a parcel' }), { text: '41 days [1], not [9].' }),
    );
    const id = await talk('How long?', { deployment: 'reader' });
    const { page, leave } = await desk.enter(`/conversations/${id}`);
    const reply = page.locator('[data-said=agent]');
    await reply.getByRole('region', { name: 'Sources' }).getByText('Return window').waitFor();
    expect(await reply.locator('.reply').textContent()).toBe('41 days1, not [9].');
    await reply.getByRole('button', { name: 'Source 1: Return window' }).click();
    const passage = page.getByRole('dialog', { name: 'Return window' });
    await passage.getByText(text).waitFor();
    expect(await barriersOn(page)).toEqual([]);
    await page.keyboard.press('Escape');
    await leave();
  });
});

describe('the trace beside a conversation', () => {
  it('shows what the model was sent and answered, tools as tables, and the cost of each step [CON-711] [CON-712]', async () => {
    const key = `sk-${'a1b2'.repeat(6)}`;
    const order = { number: 'MT-1042', total: 49.5 };
    desk.script(
      inTurn(calling('find_order', { number: 'MT-1042', api_key: key }), {
        text: 'It is **on its way**.',
        usage: { inputTokens: 1200, outputTokens: 30 },
      }),
    );
    const id = await begin('Where is order MT-1042?', { user_id: 'u-1815' });
    const called = await desk.until(
      `/v1/conversations/${id}`,
      ({ pending_tool_calls }) => pending_tool_calls.length === 1,
    );
    await desk.answer(called.pending_tool_calls[0].call_id, { output: order });
    await desk.rest(id);
    const { page, leave } = await desk.enter(`/conversations/${id}`, {
      context: { permissions: ['clipboard-read', 'clipboard-write'], viewport: { width: 1440, height: 900 } },
    });
    const errors = errorsOf(page);
    await page.reload();
    await trace(page).getByText('on its way').waitFor();
    const part = (name: string) => trace(page).locator('details', { hasText: name }).first();
    expect(await part('Instructions').getAttribute('open')).toBeNull();
    await part('Instructions').locator('summary').click();
    await part('Instructions').getByText('tamarind rule').waitFor();
    await page.getByLabel('Search what was sent').fill('where is ORDER');
    await part('Messages').locator('mark', { hasText: 'Where is order' }).waitFor();
    expect(await part('Instructions').count()).toBe(0);
    await page.getByLabel('Search what was sent').fill('');
    await part('Earlier steps').locator('summary').click();
    await part('Earlier steps').getByText('Result of find_order').waitFor();
    await part('Tools offered').locator('summary').click();
    await part('Tools offered').getByText('Refunds an order.').waitFor();
    await trace(page).getByText('Not stored, and so not shown: the instructions of the platform').waitFor();
    await page.getByRole('button', { name: 'Copy what was sent' }).click();
    await expect
      .poll(() => page.evaluate(() => navigator.clipboard.readText()))
      .toContain('User: Where is order MT-1042?');
    const steps = page.getByRole('list', { name: 'Steps' });
    await steps.getByRole('button', { name: 'find_order' }).click();
    await trace(page).getByRole('table', { name: 'Input' }).getByRole('row', { name: 'number MT-1042' }).waitFor();
    await trace(page).getByRole('table', { name: 'Output' }).getByRole('row', { name: 'total 49.5' }).waitFor();
    // A credential in an argument is hidden, and shown as hidden.
    await trace(page).getByRole('row', { name: 'api_key •••' }).waitFor();
    expect(await page.content()).not.toContain(key);
    const { body } = await desk.call('GET', `/v1/conversations/${id}`);
    const ofSteps = await steps.getByRole('button').allInnerTexts();
    expect(ofSteps.filter((text) => /\$0\.\d+/.test(text))).toHaveLength(2);
    expect(errors).toEqual([]);
    expect(await barriersOn(page)).toEqual([]);
    expect(body.cost_usd).toBeGreaterThan(0);
    await leave();
  });

  it('of a deleted deployment has no instructions, and everything else [CON-711]', async () => {
    const { body: made } = await desk.apply({ name: 'short-lived', memory: 'none' });
    desk.script(() => ({ text: 'Here is the answer.' }));
    const id = await talk('Who are you?', { deployment: 'short-lived' });
    const { data } = (await desk.call('GET', `/v1/conversations/${id}/messages`)).body;
    await desk.call('DELETE', `/v1/deployments/${made.id}`);
    const path = `/v1/conversations/${id}/turns/${data[0].turn_id}/trace`;
    const { status, body } = await desk.call('GET', `${path}?include=content`);
    expect(status).toBe(200);
    expect(body.turns[0].content).toEqual({ text: 'Here is the answer.', tool_use_ids: [] });
    expect(body.sent.messages).toEqual([{ role: 'user', text: 'Who are you?' }]);
    const plain = (await desk.call('GET', path)).body;
    expect(JSON.stringify(plain)).not.toMatch(/Here is the answer|Who are you/);
  });

  it('is chosen by the button of each reply and of a failure, and fits every width without wrapped times [CON-713]', async () => {
    desk.script(() => ({ text: 'The first answer.' }));
    const id = await talk('One');
    // A long reply has long times on its axis.
    await desk.sql(
      `UPDATE run_steps SET started_at = created_at - interval '92 seconds'
       WHERE run_id IN (SELECT id FROM turns WHERE conversation_id = $1)`,
      [id],
    );
    desk.script(() => ({ fail: 400 }));
    await desk.call('POST', `/v1/conversations/${id}/messages`, { body: { message: 'Two' } });
    await desk.rest(id);
    const { page, leave } = await desk.enter(`/conversations/${id}`);
    await trace(page)
      .getByText(/refused the request \(400/)
      .waitFor();
    await page.locator('[data-said=agent]').getByRole('button', { name: 'Trace' }).click();
    await trace(page).getByText('The first answer.').waitFor();
    expect(new URL(page.url()).searchParams.get('turn')).toMatch(/^turn_/);
    for (const width of [1440, 1024, 390]) {
      await page.setViewportSize({ width, height: 900 });
      expect(await widthOf(page)).toBeLessThanOrEqual(width);
      await page.locator('[data-axis]').getByText('1 min 32 s').waitFor();
      const lines = await page.locator('[data-axis] :not(:has(*)):visible').evaluateAll((all) =>
        all.map((each) => {
          const text = document.createRange();
          text.selectNodeContents(each);
          return text.getClientRects().length;
        }),
      );
      expect([width, Math.max(...lines)]).toEqual([width, 1]);
      const lane = page.locator('[data-axis] :has(> span)').last();
      expect(await lane.evaluate(({ scrollWidth, clientWidth }) => scrollWidth - clientWidth)).toBeLessThanOrEqual(0);
    }
    expect(await page.getByRole('button', { name: 'Zoom in' }).count()).toBe(0);
    await leave();
  });
});

describe('a sentence of a reply', () => {
  it('leads to the step that wrote it [CON-753]', async () => {
    desk.script(
      inTurn(
        { ...calling('find_order', { number: 'MT-7', api_key: 'k' }), text: 'Let me **look** that up.' },
        { text: 'It is on its way.' },
      ),
    );
    const id = await begin('Where is MT-7?');
    await desk.until(`/v1/conversations/${id}`, ({ pending_tool_calls }) => pending_tool_calls.length === 1);
    const [call] = (await desk.call('GET', `/v1/conversations/${id}`)).body.pending_tool_calls;
    await desk.answer(call.call_id, { output: 'on its way' });
    await desk.rest(id);
    const { page, leave } = await desk.enter(`/conversations/${id}`);
    const reply = page.locator('[data-said=agent]');
    await trace(page).getByText('It is on its way.').waitFor();
    await reply.getByText('Let me look that up.').click();
    await trace(page).getByText('Let me look that up.').waitFor();
    expect(await trace(page).getByText('It is on its way.').count()).toBe(0);
    await reply.getByText('It is on its way.').click();
    await trace(page).getByText('It is on its way.').waitFor();
    expect(await page.getByRole('button', { name: 'Trace' }).getAttribute('aria-pressed')).toBe('true');
    await leave();
  });
});

describe('a conversation', () => {
  it('names its user and deployment at once, shows one amount, and shows each argument once [CON-714] [CON-715]', async () => {
    desk.script(inTurn(calling('refund', { number: 'MT-1042', amount_usd: 49.5 }), { text: 'Done.' }));
    const id = await begin('Refund MT-1042', { user_id: 'u-1815' });
    await desk.until(`/v1/conversations/${id}`, ({ open_interactions }) => open_interactions.length === 1);
    const { page, leave } = await desk.enter('/account');
    const seen: string[] = [];
    await page.exposeFunction('seeText', (text: string) => seen.push(text));
    await page.evaluate(() => {
      const see = () => (globalThis as never as { seeText: (text: string) => void }).seeText(document.body.textContent);
      new MutationObserver(see).observe(document.body, { childList: true, subtree: true, characterData: true });
    });
    await page.evaluate((to) => {
      history.pushState(null, '', to);
      dispatchEvent(new PopStateEvent('popstate'));
    }, `${desk.line.url}/console/${desk.orgId}/test/conversations/${id}`);
    const card = page.locator('[data-waiting=approval]');
    await card.getByText('$49.50').waitFor();
    await page.getByRole('heading', { level: 1, name: /^Ada Lovelace/ }).waitFor();
    expect(await card.getByText('Refunds an order.', { exact: true }).count()).toBe(1);
    expect(((await card.textContent()) ?? '').match(/MT-1042/g)).toHaveLength(1);
    await page.getByRole('link', { name: 'desk v1' }).first().waitFor();
    // No id is shown instead of a name while it loads.
    expect(seen.filter((text) => /dep_\w+ v1/.test(text))).toEqual([]);
    expect(await page.getByText('Orchestrator').count()).toBe(0);
    const { cost_usd } = (await desk.call('GET', `/v1/conversations/${id}`)).body;
    const amounts = await page
      .locator('main')
      .getByText(/^\$0\.0\d+$/)
      .allInnerTexts();
    expect(amounts.length).toBeGreaterThan(1);
    for (const amount of amounts) expect(Number(amount.slice(1)) / cost_usd).toBeCloseTo(1, 1);
    await page.getByRole('link', { name: 'Ada Lovelace' }).click();
    await page.waitForURL(/users\/u-1815/);
    await leave();
  });

  it('leads to the next and the previous one of the filtered list by J and K, but not while a field is used [CON-716]', async () => {
    desk.script(() => ({ text: 'Yes.' }));
    const [oldest, middle, newest] = [
      await talk('Marigold one'),
      await talk('Marigold two'),
      await talk('Marigold three'),
    ];
    await talk('Something else');
    const { page, leave } = await desk.enter('/conversations?q=marigold');
    await page.getByRole('cell', { name: 'Marigold three' }).waitFor();
    await page.locator('a[data-row]').first().click();
    await page.waitForURL(new RegExp(newest));
    const next = page.getByRole('button', { name: 'Next conversation' });
    const isReady = (button: typeof next) => expect.poll(() => button.isEnabled()).toBe(true);
    await isReady(next);
    expect(await page.getByRole('button', { name: 'Previous conversation' }).isEnabled()).toBe(false);
    await page.keyboard.press('j');
    await page.waitForURL(new RegExp(middle));
    await page.locator('[data-said=user]').getByText('Marigold two').waitFor();
    await isReady(next);
    await page.getByLabel('Search what was sent').press('k');
    expect(page.url()).toContain(middle);
    await next.click();
    await page.waitForURL(new RegExp(oldest));
    // The address changes before the page does.
    await page.locator('[data-said=user]').getByText('Marigold one').waitFor();
    await expect.poll(() => next.isEnabled()).toBe(false);
    await isReady(page.getByRole('button', { name: 'Previous conversation' }));
    await page.locator('h1').focus();
    await page.keyboard.press('k');
    await page.waitForURL(new RegExp(middle));
    await leave();
  });
});

describe('lists of conversations, tasks and users', () => {
  it('show words, names, deployment and failure, and are filtered by the address [CON-720] [CON-721]', async () => {
    desk.script(({ messages }) =>
      JSON.stringify(messages.at(-1)).includes('quince') ? { fail: 400 } : { text: 'Compared.' },
    );
    await talk('Where is the quince jam?', { user_id: 'u-1815' });
    const task = await desk.work({ deployment: 'desk', user_id: 'u-1815', message: 'Compare three walnut printers' });
    const broken = await desk.work({ deployment: 'desk', user_id: 'u-1815', message: 'Weigh the quince printers' });
    const { page, go, leave } = await desk.enter('/account');
    const errors = errorsOf(page);
    const row = page.getByRole('row').filter({ hasText: 'Where is the quince jam?' });
    const held = Promise.withResolvers<void>();
    await page.route(/\/v1\/(users|deployments)\?/, (route) => held.promise.then(() => route.continue()));
    await go('/conversations?failed=true&q=quince');
    await row.waitFor();
    // No id is shown instead of a name while it loads.
    expect(await row.textContent()).not.toMatch(/u-1815|dep_/);
    held.resolve();
    for (const text of ['failed', 'Ada Lovelace', 'desk v1', 'refused the request', /^\$\d/])
      await row.getByText(text).filter({ visible: true }).first().waitFor();
    await row.locator('time').waitFor();
    // A phone has room for the words and the failure.
    await page.setViewportSize({ width: 390, height: 844 });
    for (const text of ['Where is the quince jam?', 'refused the request'])
      await row.getByText(text).filter({ visible: true }).first().waitFor();
    expect(await widthOf(page)).toBe(390);
    await page.setViewportSize({ width: 1280, height: 800 });
    await page.getByLabel('Deployment').selectOption('desk');
    await page.waitForURL(/deployment=desk/);
    await row.waitFor();
    await page.getByLabel('Failed').selectOption('false');
    await page.getByText('No conversations match these filters').waitFor();
    await go('/tasks');
    const ofTask = page.getByRole('row').filter({ hasText: task.title });
    for (const text of ['done', 'Ada Lovelace', 'desk v1', /^\$\d/]) await ofTask.getByText(text).first().waitFor();
    await ofTask.locator('time').waitFor();
    const ofBroken = page.getByRole('row').filter({ hasText: broken.title });
    for (const text of ['failed', 'refused the request'])
      await ofBroken.getByText(text).filter({ visible: true }).first().waitFor();
    await page.getByLabel('Search', { exact: true }).fill('walnut PRINTERS');
    await page.waitForURL(/q=walnut/);
    await ofTask.waitFor();
    await page.getByLabel('Search', { exact: true }).fill('walnut %');
    await page.getByText('No tasks match these filters').waitFor();
    await go('/users?q=lovelace');
    await page.getByRole('cell', { name: 'Ada Lovelace', exact: true }).waitFor();
    await page.getByLabel('Search', { exact: true }).fill('nobody at all');
    await page.getByText('No users match these filters').waitFor();
    expect(errors).toEqual([]);
    expect(await barriersOn(page)).toEqual([]);
    await leave();
  });

  it('name users beyond the newest hundred, and do not cut off their ids at 1024 pixels [CON-720]', {
    timeout: 240_000,
  }, async () => {
    const elders = { user_id: 'u-oldest', name: 'Wilhelmina Featherstonehaugh' };
    await desk.call('POST', '/v1/users', { body: elders });
    desk.script(inTurn(calling('refund', { number: 'MT-3', amount_usd: 5 }), { text: 'Done.' }));
    const id = await begin('Where is the medlar cheese?', { user_id: elders.user_id });
    await desk.until(`/v1/conversations/${id}`, ({ open_interactions }) => open_interactions.length === 1);
    // A chart of one user names nobody.
    desk.script(() => ({ text: 'Yes.' }));
    await talk('Where is the other cheese?', { user_id: 'u-1815' });
    await desk.sql(
      `INSERT INTO users (org_id, mode, id, created_at) SELECT $1, 'test', 'newer-' || n, now() FROM generate_series(1, 101) n`,
      [desk.orgId],
    );
    const { body: newest } = await desk.call('GET', '/v1/users?limit=100');
    expect(newest.data.some((user: { id: string }) => user.id === elders.user_id)).toBe(false);
    const { page, go, leave } = await desk.enter('/conversations?q=medlar', {
      context: { viewport: { width: 1024, height: 900 } },
    });
    const errors = errorsOf(page);
    await page.getByRole('row').filter({ hasText: 'medlar' }).getByText(elders.name).waitFor();
    await go(`/inbox?user_id=${elders.user_id}`);
    const named = page.getByText(elders.name);
    // In the list and in the chosen card.
    await expect.poll(() => named.count()).toBe(2);
    await page.getByRole('navigation', { name: 'Pending' }).getByText('Amount $5.00').waitFor();
    await page.locator('[data-waiting=approval]').getByText('$5.00', { exact: true }).waitFor();
    await go('/usage?by=user');
    await page.getByRole('cell', { name: elders.name }).waitFor();
    await page.locator('[data-chart]').getByText(elders.name).first().waitFor();
    await go(`/users?q=${elders.user_id}`);
    const cut = await page
      .getByRole('cell', { name: elders.user_id, exact: true })
      .evaluate(({ scrollWidth, clientWidth }) => scrollWidth - clientWidth);
    expect(cut).toBe(0);
    expect(errors).toEqual([]);
    await leave();
  });

  it('show the whole text of a cell that is cut off as a tooltip [CON-769]', async () => {
    const name = 'The help desk of the paper shop for everybody in the northern countries';
    await desk.call('POST', '/v1/users', { body: { user_id: 'u-long', name } });
    desk.script(() => ({ text: 'Yes.' }));
    const message = 'Do you have the tamarillo paper in a large size, lined, and in the colour of the sea?';
    await talk(message, { user_id: 'u-long' });
    const { page, leave } = await desk.enter('/conversations?q=tamarillo', {
      context: { viewport: { width: 1024, height: 900 } },
    });
    /** The link of the row covers its cells, and what it shows is what a person sees. */
    const link = page.getByRole('link', { name: /tamarillo/ });
    const tooltipAt = async (cell: string) => {
      await page.getByRole('cell', { name: cell, exact: true }).hover({ force: true });
      return link.getAttribute('title');
    };
    expect(await tooltipAt(name)).toBe(`${name} (u-long)`);
    expect(await tooltipAt('idle')).toBe('');
    expect(await tooltipAt(message)).toBe(message);
    await page.getByRole('heading', { name: 'Conversations' }).hover();
    await leave();
  });

  it('choose the deployment that was used last, and keep it while others are used [CON-767]', async () => {
    desk.script(() => ({ text: 'Yes.' }));
    await talk('Are you the desk?');
    await desk.apply({ name: 'newer', memory: 'none' });
    const { page, go, leave } = await desk.enter('/tests');
    const chosen = page.getByRole('combobox', { name: 'Deployment', exact: true });
    await chosen.waitFor();
    expect(await chosen.inputValue()).toBe('desk');
    const isListed = page.waitForResponse((response) => response.url().includes('/v1/conversations?'));
    await talk('Are you the newer one?', { deployment: 'newer' });
    await isListed;
    expect(await chosen.inputValue()).toBe('desk');
    await go('/playground');
    await expect.poll(() => chosen.inputValue()).toBe('newer');
    await leave();
  });

  it('are searched by Ctrl K: users by name or email, conversations and tasks by words [CON-722]', async () => {
    desk.script(() => ({ text: 'Found.' }));
    const id = await talk('A saffron question', { user_id: 'u-1815' });
    const { id: taskId } = await desk.work({ deployment: 'desk', message: 'Count the cardamom pods' });
    const { page, leave } = await desk.enter('/account');
    await page.getByRole('heading', { level: 1 }).waitFor();
    for (const [typed, group, option, address] of [
      ['lovelace', 'Users', /^Ada Lovelace/, /users\/u-1815/],
      ['ada@example', 'Users', /^Ada Lovelace/, /users\/u-1815/],
      ['question saffron', 'Conversations', /^A saffron question/, new RegExp(id)],
      ['cardamom', 'Tasks', /cardamom/, new RegExp(taskId)],
    ] as const) {
      await page.keyboard.press('Control+k');
      await page.getByRole('combobox', { expanded: true }).fill(typed);
      await page.getByRole('group', { name: group }).getByRole('option', { name: option }).click();
      await page.waitForURL(address);
      await page.getByRole('combobox', { expanded: true }).waitFor({ state: 'detached' });
    }
    await leave();
  });
});
