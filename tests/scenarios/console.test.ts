import type { Locator, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { pages } from '../../packages/web/src/console/pages.ts';
import { startTestServer } from '../support/server.ts';
import { type ConsoleDesk, endless, hostileText, startConsoleDesk, widthOf } from './console.fixture.ts';
import { improver, wrong } from './improver.fixture.ts';
import { calling, inTurn } from './interactions.fixture.ts';
import { barriersOn } from './session-page.fixture.ts';

let desk: ConsoleDesk;
beforeAll(async () => {
  desk = await startConsoleDesk();
  await desk.apply({
    name: 'desk',
    memory: 'none',
    tools: [{ function: 'order_paper', description: 'Order paper.', input: { sheets: 'integer' }, approver: 'org' }],
  });
});
afterAll(() => desk.stop());

const password = 'correct horse battery';
const isOwned = () => (globalThis as unknown as { owned?: number }).owned !== undefined;

describe('signing in', () => {
  it('is the owner’s login, leads to the address that was asked for, and out again [CON-002] [CON-004] [CON-749]', async () => {
    const { page, leave } = await desk.enter('/test/keys?new=1', { as: null });
    await page.getByLabel('Email').fill(desk.owner.email);
    await page.getByLabel('Password').fill('not the password');
    await page.getByRole('button', { name: 'Sign in', exact: true }).click();
    await page.getByRole('alert').getByText('Email or password is wrong.').waitFor();
    expect(await page.getByRole('alert').textContent()).not.toMatch(/login_failed|req_/);
    await page.getByLabel('Password').fill(desk.owner.password);
    await page.getByRole('button', { name: 'Sign in', exact: true }).click();
    await page.getByRole('dialog', { name: 'Create an API key' }).waitFor();
    expect(new URL(page.url()).pathname).toBe(`/console/${desk.orgId}/test/keys`);
    await page.getByRole('button', { name: 'Cancel' }).click();

    await page.locator('[data-mode-banner]').waitFor();
    await page.getByRole('link', { name: 'Live', exact: true }).click();
    await page.waitForURL(/\/live\/keys$/);
    expect(await page.locator('[data-mode-banner]').count()).toBe(0);
    await page.getByText('First live key').waitFor();
    await page.goBack();
    await page.getByText('First test key').waitFor();

    await page.getByRole('button', { name: /account and appearance/ }).click();
    await page.getByRole('menuitem', { name: 'Sign out' }).click();
    await page.getByRole('heading', { name: 'Sign in' }).waitFor();
    const left = (await page.context().cookies()).filter(
      ({ name, value }) => value !== '' && name !== 'vestra_browser',
    );
    expect(left).toEqual([]);
    await leave();
  });

  it('with an invitation uses its link; a developer sees no keys, and requests for them are refused [CON-003] [CON-008]', async () => {
    const { body } = await desk.call('POST', '/v1/members', {
      key: desk.liveKey,
      body: { email: 'dev@example.com', role: 'developer' },
    });
    const { page, leave } = await desk.enter('/sign-in', { as: null });
    await page.goto(body.invite_url);
    await page.getByLabel('Name').fill('Dev');
    await page.getByLabel('Password').fill(password);
    await page.getByRole('button', { name: 'Join' }).click();
    await page.getByRole('heading', { name: 'Hello, Dev' }).waitFor();
    expect(page.url()).not.toContain('token');
    expect(await page.getByRole('link', { name: 'API keys' }).count()).toBe(0);
    await page.goto(`${desk.line.url}/console/${desk.orgId}/test/keys`);
    await page.getByText('You are a developer of this org. Its owners and admins can open this page.').waitFor();
    expect(await page.getByRole('button', { name: /Create key|Try again/ }).count()).toBe(0);
    expect(await page.getByRole('alert').count()).toBe(0);
    await leave();
  });
});

describe('a change', () => {
  it('resumes after the session ended halfway, and is saved once [CON-005]', async () => {
    const { page, leave } = await desk.enter('/keys?new=1');
    await page.getByLabel('Name').fill('half typed');
    // The page would find out by itself, and this is about who finds out by the change.
    await page.route('**/v1/events?**', () => {});
    await desk.sql(`UPDATE console_sessions SET expires_at = now() - interval '1 second'`);
    desk.forget();
    await page.getByRole('button', { name: 'Create key' }).last().click();
    const again = page.getByRole('dialog', { name: 'Sign in again' });
    await again.getByLabel('Password').fill(desk.owner.password);
    await again.getByRole('button', { name: 'Sign in', exact: true }).click();
    await page.locator('[data-secret]').waitFor();
    expect(await page.locator('[data-secret]').textContent()).toMatch(/^vk_test_/);
    await page.getByRole('button', { name: 'I have saved it' }).click();
    await page.getByRole('cell', { name: 'half typed', exact: true }).waitFor();
    expect(await page.getByRole('cell', { name: 'half typed', exact: true }).count()).toBe(1);
    await leave();
  });

  it('that is refused shows the reason at its field, and hostile text is escaped [CON-006] [CON-009]', async () => {
    const { page, leave } = await desk.enter('/keys?new=1');
    await page.getByRole('button', { name: 'Create key' }).last().click();
    const alert = page.getByRole('alert');
    await alert.getByText('invalid_request').waitFor();
    expect(await alert.textContent()).toMatch(/field name[\s\S]*request req_/);
    expect(await page.getByLabel('Name').getAttribute('aria-invalid')).toBe('true');
    await page.getByLabel('Name').fill(hostileText);
    await page.getByRole('button', { name: 'Create key' }).last().click();
    await page.getByRole('button', { name: 'I have saved it' }).click();
    await page.getByText(hostileText.slice(0, 30)).waitFor();
    expect(await page.evaluate(isOwned)).toBe(false);
    await leave();
  });

  it('elsewhere is on show without a reload, and its call can be copied and works [CON-010] [CON-011]', async () => {
    const { page, leave } = await desk.enter('/keys', {
      context: { permissions: ['clipboard-read', 'clipboard-write'] },
    });
    await page.getByText('First test key').waitFor();
    await page.mouse.move(2, 2);
    await desk.call('POST', '/v1/keys', { body: { name: 'made elsewhere', scopes: ['runtime'] } });
    await page.getByRole('cell', { name: 'made elsewhere', exact: true }).waitFor();
    await page.getByRole('button', { name: 'Copy as API request' }).click();
    await page.getByRole('menuitem', { name: 'Copy as curl' }).click();
    await page.getByText('Copied as curl').waitFor();
    const copied = await page.evaluate(() => navigator.clipboard.readText());
    const [, address = ''] = /'([^']+)'/.exec(copied) ?? [];
    expect(copied).toContain('Authorization: Bearer $VESTRA_KEY');
    expect((await desk.call('GET', address.replace(desk.line.url, ''))).status).toBe(200);
    await leave();
  });
});

describe('a deployment', () => {
  const write = async (page: Page, text: string) => {
    await page.getByRole('textbox', { name: 'Deployment file' }).click();
    await page.keyboard.press('Control+a');
    await page.keyboard.insertText(text);
  };

  it('is edited in an editor that knows its fields and shows the plan, and concurrent changes are not lost [CON-013, CON-263, CON-766, PLAN-713]', async () => {
    const { page, go, leave } = await desk.enter('/deployments/new');
    await write(page, 'name: written\ninstrctions: Be kind.\n');
    await page.locator('.cm-lint-marker-error').waitFor();
    await page.getByRole('button', { name: 'Apply' }).click();
    await page.getByRole('alert').getByText('Unknown field `instrctions`. Did you mean `instructions`?').waitFor();
    await write(page, 'name: written\ninstructions: Be kind.\n');
    await page.locator('.cm-lint-marker-error').waitFor({ state: 'detached' });
    await page.getByRole('button', { name: 'Apply' }).click();
    await page.waitForURL(/deployments\/dep_/);

    // The same words stand in the editor of before for as long as this one is not there.
    await page.getByRole('heading', { name: 'written' }).waitFor();
    await page.getByText('Be kind.').waitFor();
    await write(page, 'name: written\ninstructions: Be both.\n');
    const plan = page.getByRole('region', { name: 'Plan' });
    await plan.getByText('Apply saves a version and promotes it.').waitFor();
    await plan.locator('li', { hasText: 'instructions Be kind. → Be both.' }).waitFor();
    // An added list is shown by its entries, without the signs of JSON.
    const withList = 'name: written\ninstructions: Be both.\nbrowser:\n  allowed_domains: [a.example, b.example]\n';
    await write(page, withList);
    const added = plan.locator('li', { hasText: 'browser.allowed_domains' }).getByRole('listitem');
    await expect.poll(() => added.allTextContents()).toEqual(['+ a.example', '+ b.example']);
    await write(page, 'name: written\ninstructions: Be both.\n');
    await plan.locator('li', { hasText: 'instructions Be kind. → Be both.' }).waitFor();
    // Another member presses at the same instant: theirs comes first, after this page has looked for the last time.
    let isFirst = true;
    await page.route('**/v1/deployments/dep_*', async (route) => {
      if (route.request().method() === 'PUT' && isFirst) {
        isFirst = false;
        await desk.call('PUT', '/v1/deployments/written', { body: { name: 'written', instructions: 'Be brief.' } });
      }
      await route.continue();
    });
    await page.getByRole('button', { name: 'Apply' }).click();
    const conflict = page.getByRole('dialog', { name: 'This file has changed' });
    // Differences are marked, so the text is split into several elements.
    await conflict.locator('.cm-merge-a', { hasText: 'Be brief.' }).waitFor();
    await conflict.getByRole('button', { name: 'Keep my changes' }).click();
    await page.getByRole('button', { name: 'Apply' }).click();
    await page.getByText('Version 3 is saved').waitFor();

    await page.getByRole('link', { name: 'Versions' }).click();
    await page.getByText('Version 2', { exact: true }).waitFor();
    await page.getByRole('button', { name: /^v1/ }).click();
    await page.getByRole('button', { name: 'Make draft' }).click();
    await page.getByLabel('Immediately').check();
    await page.getByRole('dialog').getByRole('button', { name: 'Promote' }).click();
    await page.getByText('Version 1 is the draft').waitFor();
    const { body } = await desk.call('GET', '/v1/deployments/written');
    expect(body.draft_version).toBe(1);

    await go('/deployments/new');
    await write(page, 'name: written\ninstructions: Be new.\n');
    await page.getByRole('button', { name: 'Apply' }).click();
    await page.getByRole('alert').getByText('already exists. It was not changed.').waitFor();
    expect(await page.locator('.cm-lint-marker-error').count()).toBe(0);
    expect((await desk.call('GET', '/v1/deployments/written')).body.newest_version).toBe(3);
    // Chromium writes inline styles into selected text that is replaced. They are blocked, and the editor redraws it.
    await leave(/Applying inline style/);
  });

  it('can be read before its editor has loaded [CON-551]', async () => {
    const file = { name: 'read-first', instructions: 'Be early.' };
    const { body } = await desk.call('PUT', '/v1/deployments/read-first', { body: file });
    const { page, go, leave } = await desk.enter('/keys');
    const held = Promise.withResolvers<void>();
    await page.route('**/file-editor-*.js', async (route) => {
      await held.promise;
      await route.continue();
    });
    await go(`/deployments/${body.id}`);
    await page.getByText('Be early.').waitFor();
    expect(await page.getByRole('textbox', { name: 'Deployment file' }).count()).toBe(0);
    held.resolve();
    await page.getByRole('textbox', { name: 'Deployment file' }).getByText('Be early.').waitFor();
    await leave();
  });

  it('that is half written is not left by a slip, nor lost when the session ends [CON-301] [CON-005]', async () => {
    const { page, leave } = await desk.enter('/deployments');
    await page.getByRole('link', { name: 'New deployment' }).first().click();
    await write(page, 'name: half-written\ninstructions: Be whole.\n');
    const asked = page.getByRole('dialog', { name: 'Leave without applying?' });
    const stay = async () => {
      await asked.getByRole('button', { name: 'Keep editing' }).click();
      await asked.waitFor({ state: 'detached' });
    };
    await page.getByRole('link', { name: 'Tasks' }).click();
    await stay();
    await page.goBack();
    await stay();
    await page.getByRole('link', { name: 'Live', exact: true }).click();
    await stay();
    await desk.sql(`UPDATE console_sessions SET expires_at = now() - interval '1 second'`);
    desk.forget();
    const again = page.getByRole('dialog', { name: 'Sign in again' });
    await again.getByLabel('Password').fill(desk.owner.password);
    await again.getByRole('button', { name: 'Sign in', exact: true }).click();
    await again.waitFor({ state: 'detached' });
    await page.getByRole('button', { name: 'Apply' }).click();
    await page.waitForURL(/deployments\/dep_/);
    await page.getByRole('textbox', { name: 'Deployment file' }).getByText('Be whole.').waitFor();
    await write(page, 'name: half-written\ninstructions: Never applied.\n');
    await page.goBack();
    await asked.getByRole('button', { name: 'Leave', exact: true }).click();
    await page.getByRole('heading', { name: 'New deployment' }).waitFor();
    await leave(/Applying inline style/);
  });
});

describe('a server that restarts under the page', () => {
  it('is waited for, and the typed text is sent once it is back [CON-303]', async () => {
    const { page, leave } = await desk.enter('/keys?new=1');
    await page.getByLabel('Name').fill('typed before');
    desk.line.cut();
    const create = page.getByRole('button', { name: 'Create key' }).last();
    await create.click();
    await page.getByRole('dialog').getByRole('alert').waitFor();
    const next = await startTestServer({ beside: desk, env: { ...desk.env, VESTRA_PUBLIC_URL: desk.line.url } });
    desk.line.leadTo(next.url);
    desk.line.restore();
    expect(await page.getByLabel('Name').inputValue()).toBe('typed before');
    await create.click();
    await page.getByRole('button', { name: 'I have saved it' }).click();
    await page.getByRole('cell', { name: 'typed before', exact: true }).waitFor();
    expect(await page.getByRole('cell', { name: 'typed before', exact: true }).count()).toBe(1);
    // The page still follows changes.
    await page.mouse.move(2, 2);
    await desk.call('POST', '/v1/keys', { body: { name: 'made after', scopes: ['runtime'] } });
    await page.getByRole('cell', { name: 'made after', exact: true }).waitFor();
    desk.line.leadTo(desk.url);
    await leave();
    await next.stop();
  });
});

describe('the back button', () => {
  it('goes back from every page and closes what was opened [CON-304]', async () => {
    const { page, leave } = await desk.enter('/keys');
    await page.getByText('First test key').waitFor();
    await page.getByRole('button', { name: 'Create key' }).click();
    await page.getByRole('dialog', { name: 'Create an API key' }).waitFor();
    await page.goBack();
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    const links = page.getByRole('navigation', { name: 'Pages' }).getByRole('link');
    const been: string[] = [];
    for (const link of await links.all()) {
      been.push(page.url());
      await link.click();
      await page.waitForURL((url) => url.href !== been.at(-1));
      await page.getByRole('heading', { level: 1 }).waitFor();
    }
    for (const url of been.reverse()) {
      await page.goBack();
      await page.waitForURL(url);
      await page.getByRole('heading', { level: 1 }).waitFor();
    }
    await page.getByText('First test key').waitFor();
    await leave();
  });
});

describe('a talk', () => {
  it('continues in the playground with its approval, its function and its trace [CON-006] [CON-014]', async () => {
    desk.script(inTurn(calling('order_paper', { sheets: 2 }), { text: `Ordered. ${hostileText}` }));
    const { page, leave } = await desk.enter('/playground?deployment=desk');
    await page.getByRole('textbox', { name: 'Message' }).fill('Two sheets, please');
    await page.keyboard.press('Enter');
    await page.locator('[data-waiting=approval]').getByRole('button', { name: 'Approve' }).click();
    const call = page.locator('[data-waiting=tool_call]');
    await call.getByLabel('Function result').fill('{"order": 17}');
    await call.getByRole('button', { name: 'Send result' }).click();
    await page.locator('[data-said=agent]').getByText('Ordered.').waitFor();
    await page.getByRole('button', { name: /^order_paper/ }).click();
    await page.getByRole('table', { name: 'Output' }).getByRole('row', { name: 'order 17' }).waitFor();
    expect(await page.evaluate(isOwned)).toBe(false);

    await page.getByRole('link', { name: 'Conversation', exact: true }).click();
    const parts = page.getByRole('navigation', { name: 'Sections' });
    await parts.getByRole('link', { name: 'Events' }).click();
    await page.getByText('tool_call.created').waitFor();
    await page.goBack();
    await page.locator('[data-said=user]').getByText('Two sheets, please').waitFor();
    await leave();
  });

  it('becomes a scenario with its tool results, after a warning about personal data [CON-230]', async () => {
    desk.script(
      inTurn(calling('order_paper', { sheets: 4 }), { text: 'Order 4711 is on its way to ada@example.com.' }),
    );
    const { conversationId, interaction } = await desk.waiting({
      deployment: 'desk',
      message: 'Four for ada@example.com',
    });
    await desk.answer(interaction.id, { approve: true });
    const [call] = await desk.open(conversationId);
    await desk.answer(call.id, { output: { order: 4711 } });
    await desk.rest(conversationId);
    const { page, leave } = await desk.enter(`/conversations/${conversationId}`);
    await page.getByRole('button', { name: 'Create scenario' }).click();
    const form = page.getByRole('dialog', { name: 'Add this scenario' });
    await form.locator('[data-personal]').getByText('ada@example.com').waitFor();
    expect(await form.getByLabel('Tool results').inputValue()).toContain('"order": 4711');
    await form.getByLabel('Name').fill('Paper for Ada');
    await form.getByLabel('Goal').fill('Four sheets, please');
    await form.getByRole('button', { name: 'Add scenario' }).click();
    const saved = page.getByRole('dialog', { name: 'Scenario saved' });
    await saved.getByRole('button', { name: 'Run tests' }).click();
    await page.waitForURL(/test-runs\/trun_/);
    await page.getByText('Paper for Ada').waitFor();
    const { body } = await desk.call('GET', '/v1/deployments/desk/scenarios');
    expect(body.data[0]).toMatchObject({ goal: 'Four sheets, please', tool_results: { order_paper: { order: 4711 } } });
    expect(body.data[0].success_criteria).toEqual(['The agent calls order_paper.', 'The agent says "4711".']);
    await desk.call('DELETE', `/v1/deployments/desk/scenarios/${body.data[0].id}`);
    await leave();
  });

  it('is answered again by another version, with both answers side by side [CON-231]', async () => {
    await desk.apply({ name: 'greeter', memory: 'none' });
    desk.script(inTurn({ text: 'Good morning.' }));
    const { id } = await desk.say({ deployment: 'greeter', message: 'Hello?' });
    await desk.rest(id);
    await desk.apply({ name: 'greeter', memory: 'none', instructions: 'Be brief.' });
    desk.script(inTurn({ text: 'Morning.' }));
    const { page, leave } = await desk.enter('/tests?deployment=greeter&replay=1');
    const asked = page.getByRole('dialog', { name: 'Replay conversations' });
    await asked.getByLabel('Number of latest conversations').fill('1');
    await asked.getByRole('button', { name: 'Replay', exact: true }).click();
    await page.waitForURL(/replays\/rpl_/);
    await page.locator('[data-counts]').getByText('1 different').waitFor();
    await page.getByText('Version 1, original').waitFor();
    await page.getByText('Good morning.').waitFor();
    await page.getByText('Version 2, replayed').waitFor();
    await page.getByText('Morning.', { exact: true }).waitFor();
    expect(await barriersOn(page)).toEqual([]);
    await leave();
  });

  it('that waits is in the inbox until it is answered [CON-015]', async () => {
    const { page, leave } = await desk.enter('/inbox?type=approval');
    await page.getByText('Nothing matches these filters').waitFor();
    desk.script(inTurn(calling('order_paper', { sheets: 3 }), { text: 'Not ordered.' }));
    const { conversationId } = await desk.waiting({ deployment: 'desk', user_id: 'ada' });
    await page.locator('[data-waiting=approval]').getByRole('button', { name: 'Deny' }).click();
    await page.getByText('Nothing matches these filters').waitFor();
    await desk.rest(conversationId);
    await leave();
  });

  it('that waits is counted in the menu and the title, people first and oldest first, and answered by key [CON-730] [CON-731]', async () => {
    const input = { sheets: 'integer' };
    await desk.apply({
      name: 'errands',
      memory: 'none',
      tools: [
        { function: 'count_paper', description: 'Count paper.', input, read_only: true },
        { function: 'order_paper', description: 'Order paper.', input, approver: 'org' },
      ],
    });
    const { page, leave } = await desk.enter('/inbox');
    await page.getByText('Nothing is pending').waitFor();
    expect(await page.title()).toBe('Inbox · Vestra');
    const waiting: string[] = [];
    for (const [tool, sheets] of [
      ['count_paper', 5],
      ['order_paper', 11],
      ['order_paper', 22],
    ] as const) {
      desk.script(inTurn(calling(tool, { sheets }), { text: 'Done.' }));
      waiting.push((await desk.waiting({ deployment: 'errands', user_id: 'ada' })).conversationId);
    }
    desk.script(() => ({ text: 'Done.' }));
    const entries = page.getByRole('navigation', { name: 'Pending' }).getByRole('button');
    await expect.poll(() => entries.count()).toBe(3);
    await page.getByRole('link', { name: 'Inbox 3 pending' }).waitFor();
    await expect.poll(() => page.title()).toBe('(3) Inbox · Vestra');
    const shown = page.locator('[data-waiting]').filter({ visible: true });
    const numberOf = async () => [
      await shown.count(),
      await shown.getAttribute('data-waiting'),
      await shown.textContent(),
    ];
    await expect.poll(numberOf).toEqual([1, 'approval', expect.stringMatching(/(?<!\d)11(?!\d)/)]);
    await page.keyboard.press('j');
    await expect.poll(numberOf).toEqual([1, 'approval', expect.stringMatching(/(?<!\d)22(?!\d)/)]);
    await page.keyboard.press('d');
    await expect.poll(() => entries.count()).toBe(2);
    await expect.poll(numberOf).toEqual([1, 'approval', expect.stringMatching(/(?<!\d)11(?!\d)/)]);
    await page.keyboard.press('a');
    // The call that was approved is now for the company's program, as the other one.
    await expect.poll(async () => (await numberOf())[1]).toBe('tool_call');
    for (const left of [1, 0]) {
      // A letter in a field is text.
      await shown.getByLabel('Function result').fill('');
      await shown.getByLabel('Function result').pressSequentially('"jad"');
      await shown.getByRole('button', { name: 'Send result' }).click();
      await expect.poll(() => entries.count()).toBe(left);
    }
    await page.getByText('Nothing is pending').waitFor();
    for (const id of waiting) await desk.rest(id);
    expect(await barriersOn(page)).toEqual([]);
    await leave();
  });

  it('is rated by its user, by members and by programs, counted per version, and found again [CON-204]', async () => {
    desk.script(() => ({ text: 'Paper is in the cupboard.' }));
    const { id: conversation_id } = await desk.say({ deployment: 'desk', user_id: 'ada', message: 'Where is paper?' });
    await desk.rest(conversation_id);
    const { body: session } = await desk.call('POST', '/v1/sessions', { body: { chat: true, conversation_id } });
    const path = `/v1/conversations/${conversation_id}`;
    const [answer] = (await desk.call('GET', `${path}/messages`)).body.data;
    const rate = (key: string, body: object) => desk.call('POST', `/v1/messages/${answer.id}/feedback`, { key, body });
    await rate(session.token, { rating: 'bad', note: hostileText });

    const { page, go, leave } = await desk.enter(`/conversations/${conversation_id}`);
    await page.locator('[data-rated=bad]').getByText('The user rated it bad').waitFor();
    await page.getByRole('button', { name: 'Good answer' }).click();
    await page.locator('button[aria-pressed=true][aria-label="Good answer"]').waitFor();
    await page.getByRole('button', { name: 'Bad answer' }).click();
    await page.getByRole('dialog').getByLabel('Note').fill('Which cupboard?');
    await page.getByRole('button', { name: 'Save note' }).click();
    await page.getByText('A member rated it bad').waitFor();

    const { deployment_id } = (await desk.call('GET', path)).body;
    await go(`/deployments/${deployment_id}/ratings?rating=good`);
    await page.locator('[data-version="1"]').getByText('0 good, 2 bad').waitFor();
    await page.getByText('No ratings match these filters.').waitFor();
    await rate(desk.testKey, { rating: 'good' });
    await page.locator('[data-version="1"]').getByText('1 good, 2 bad').waitFor();
    await page.getByRole('cell', { name: 'no note' }).waitFor();
    await page.getByLabel('Rating', { exact: true }).selectOption('bad');
    await page.getByText('Which cupboard?').waitFor();
    expect(await page.getByRole('cell', { name: 'no note' }).count()).toBe(0);
    await page.locator('a[data-row]').first().click();
    await page.waitForURL(new RegExp(conversation_id));
    expect(await page.evaluate(isOwned)).toBe(false);
    await leave();
  });

  it('that went wrong is in a group of the deployment’s insights, which opens it [INS-715]', async () => {
    await desk.apply({ name: 'shelf', memory: 'none' });
    const { id } = (await desk.call('GET', '/v1/deployments/shelf')).body;
    const { page, go, leave } = await desk.enter(`/deployments/${id}/insights`);
    await page.getByRole('heading', { name: 'No conversations in this period' }).waitFor();
    await page.getByText('tool errors and repeated questions appear here').waitFor();

    desk.script(() => ({ fail: 400 }));
    const failed = await desk.say({ deployment: 'shelf', message: hostileText });
    await desk.rest(failed.id);
    desk.script(() => ({ text: 'Hello.' }));
    await desk.rest((await desk.say({ deployment: 'shelf', message: 'Hello' })).id);
    await go(`/deployments/${id}/insights?kind=tool_error`);
    await page.getByRole('heading', { name: 'Nothing went wrong in this period' }).waitFor();
    await page.getByLabel('Kind').selectOption('failed_reply');
    const group = page.locator('[data-kind=failed_reply]');
    await group.getByRole('heading', { name: 'Replies fail with model_error' }).waitFor();
    await group.getByText('conversation · 50%').waitFor();
    await group
      .getByRole('img', { name: /^1 event, 0 in the period before\. Per day: 0, 0, 0, 0, 0, 0, 1\.$/ })
      .waitFor();
    expect(await barriersOn(page)).toEqual([]);
    await group.getByRole('listitem').getByRole('link').click();
    await page.waitForURL(new RegExp(`/conversations/${failed.id}\\?turn=turn_`));
    expect(await page.evaluate(isOwned)).toBe(false);
    await leave();
  });

  it('that went wrong alike are named with one request for each click, and a failure is reported [INS-719]', async () => {
    await desk.apply({ name: 'named', memory: 'none' });
    const answer = improver();
    const clicked = Promise.withResolvers<void>();
    desk.script(async (request) => {
      const { properties = {} } = (request.outputSchema ?? {}) as { properties?: object };
      if (!('names' in properties)) return answer(request);
      await clicked.promise;
      return { fail: 400 };
    });
    const complain = async (message: string) => {
      const { id } = await desk.say({ deployment: 'named', message });
      await desk.rest(id);
      const { data } = (await desk.call('GET', `/v1/conversations/${id}/messages`)).body;
      const reply = data.find(({ role }: { role: string }) => role === 'agent');
      await desk.call('POST', `/v1/messages/${reply.id}/feedback`, { body: { rating: 'bad' } });
    };
    await complain('How long can I return shoes?');
    await complain('Do you sell gift cards?');
    const { page, leave } = await desk.enter('/deployments/named/insights?kind=bad_rating');
    let asked = 0;
    page.on('request', (request) => (asked += Number(request.url().includes('name_groups=true'))));
    const button = page.getByRole('button', { name: 'Name groups' });
    await button.dblclick();
    clicked.resolve();
    await page.getByText('The model gave no names. Try again later.').waitFor();
    expect(asked).toBe(1);
    await leave();
  });

  it('that was rated badly leads in two clicks to a proposal with its diff and evidence, and to its promotion [CON-780]', async () => {
    const { body: notebook } = await desk.call('POST', '/v1/notebooks', { body: { slug: 'policy', name: 'Policy' } });
    const document = { title: 'refunds.md', text: 'Refunds: 30 days.' };
    await desk.call('POST', `/v1/notebooks/${notebook.id}/documents`, { body: document });
    await desk.apply({ name: 'refunds', instructions: wrong, memory: 'none', knowledge: [{ notebook: notebook.id }] });
    desk.script(improver());
    const { id } = await desk.say({ deployment: 'refunds', user_id: 'ada', message: 'How long can I return it?' });
    await desk.rest(id);
    const { data } = (await desk.call('GET', `/v1/conversations/${id}/messages`)).body;
    const reply = data.find(({ role }: { role: string }) => role === 'agent');
    await desk.call('POST', `/v1/messages/${reply.id}/feedback`, { body: { rating: 'bad', note: 'It is 30 days.' } });
    const { page, go, leave } = await desk.enter('/deployments/refunds/insights');
    await page.locator('[data-kind=bad_rating]').getByRole('button', { name: 'Improve' }).click();
    await page.getByRole('button', { name: 'Start', exact: true }).click();
    await page.getByText('The proposed version fixes failures, and nothing else got worse.').waitFor();
    await page.getByText('The document says 30 days.').waitFor();
    await page.locator('.cm-content', { hasText: 'within 30 days' }).first().waitFor();
    const evidence = page.locator('[data-scenario]');
    await evidence.locator('[data-side=before]').getByText('14 days').first().waitFor();
    await evidence.locator('[data-side=after]').getByText('30 days').first().waitFor();
    await evidence.getByText('0 of 3 passed before, 3 of 3 after').waitFor();
    await evidence.getByText('fixed', { exact: true }).waitFor();
    expect(await barriersOn(page)).toEqual([]);
    const { version } = (await desk.call('GET', `/v1/improvements/${page.url().split('/').at(-1)}`)).body;
    await page.getByRole('button', { name: 'Make draft' }).click();
    await page.getByLabel('Immediately').check();
    await page.getByRole('button', { name: 'Promote', exact: true }).click();
    await page.getByRole('button', { name: 'Current draft' }).waitFor();
    expect((await desk.call('GET', '/v1/deployments/refunds')).body.draft_version).toBe(version);
    await desk.apply({ name: 'refunds', instructions: 'Another text.', memory: 'none' });
    await page.getByText(`Version ${version + 1} runs now, and this proposal changes version 1.`).waitFor();
    await go('/deployments/refunds/insights');
    await page.getByRole('link', { name: `version 1 → ${version}` }).waitFor();
    await leave();
  });

  it('that was handed over to work shows its result and its steps [CON-016]', async () => {
    desk.script(inTurn(calling('recall', { query: 'paper' }), { text: 'The report is written.' }));
    const task = await desk.work({ deployment: 'desk', user_id: 'ada' });
    const { page, leave } = await desk.enter(`/tasks?status=${task.status}`);
    await page.locator('a[data-row]').first().click();
    await page.getByText('The report is written.').waitFor();
    await page.getByRole('list', { name: 'Steps' }).getByRole('button').first().click();
    await page.getByText('From cache').waitFor();
    await leave();
  });
});

describe('tests', () => {
  it('are added, played, and shown with the conversation behind each verdict [CON-017]', async () => {
    desk.script(() => ({ text: '**Good** morning.' }));
    const { page, leave } = await desk.enter('/tests?deployment=desk&new=1');
    const form = page.getByRole('dialog', { name: 'Add a scenario' });
    await form.getByLabel('Name').fill('greets');
    await form.getByLabel('Goal').fill('Say hello.');
    await form.getByLabel('Success criteria').fill('The agent says "Good morning".');
    await form.getByRole('button', { name: 'Add scenario' }).click();
    await page.getByText('greets').waitFor();
    await page.getByRole('button', { name: 'Run all' }).click();
    await page.waitForURL(/test-runs/);
    await page.getByText('Open conversation and trace').waitFor({ state: 'attached' });
    await page.locator('summary').filter({ hasText: 'greets' }).waitFor();
    await page.locator('strong').getByText('Good', { exact: true }).first().waitFor({ state: 'attached' });
    await leave();
  });
});

describe('an MCP client', () => {
  it('sends a browser, is let in after the sign-in and shut out again; the page has no barrier [MCP-480, MCP-490, MCP-491]', async () => {
    const back = 'http://127.0.0.1:43118/callback';
    const name = `Paper helper ${'W'.repeat(200)}`.slice(0, 80);
    const { body: client } = await desk.call('POST', '/v1/oauth/register', {
      key: null,
      body: { client_name: name, redirect_uris: [back] },
    });
    const asked = new URLSearchParams({
      response_type: 'code',
      client_id: client.client_id,
      redirect_uri: back,
      code_challenge: 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM',
      code_challenge_method: 'S256',
      state: 'a state, with & and =',
      resource: `${desk.line.url}/v1/mcp`,
    });
    const context = { viewport: { width: 390, height: 844 } };
    const { page, leave } = await desk.enter(`/authorize?${asked}`, { as: null, context });
    await page.getByLabel('Email').fill(desk.owner.email);
    await page.getByLabel('Password').fill(desk.owner.password);
    await page.getByRole('button', { name: 'Sign in', exact: true }).click();
    await page.getByText('Access is sent to').waitFor();
    await page.getByText('a program on this computer').waitFor();
    await page.getByText('The name is not verified.').waitFor();
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme });
      expect([colorScheme, await barriersOn(page), await widthOf(page)]).toEqual([colorScheme, [], 390]);
    }
    await page.getByLabel('Live').check();
    await page.getByText('Permissions in live mode of this org').waitFor();
    const isBack = (url: URL) => url.href.startsWith(back);
    await page.route(isBack, (route) => route.fulfill({ contentType: 'text/html', body: '<h1>Connected</h1>' }));
    await page.getByRole('button', { name: 'Authorize' }).click();
    await page.waitForURL(isBack);
    const { searchParams } = new URL(page.url());
    expect(Object.fromEntries(searchParams)).toEqual({
      code: expect.stringMatching(/^vmc_/),
      state: 'a state, with & and =',
      iss: desk.line.url,
    });
    await desk.call('POST', '/v1/oauth/token', {
      key: null,
      body: {
        grant_type: 'authorization_code',
        client_id: client.client_id,
        code: searchParams.get('code'),
        redirect_uri: back,
        code_verifier: 'dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk',
      },
    });
    await page.goto(`${desk.line.url}/console/${desk.orgId}/live/account`);
    const clients = page.getByRole('table', { name: 'Connected MCP clients' });
    await clients.getByText(name).waitFor();
    expect(await widthOf(page)).toBe(390);
    await clients.getByRole('button', { name: `Revoke ${name}` }).click();
    await page.getByRole('button', { name: 'Revoke access' }).click();
    await clients.getByText(name).waitFor({ state: 'detached' });

    asked.set('code_challenge_method', 'plain');
    await page.goto(`${desk.line.url}/console/authorize?${asked}`);
    const link = page.getByRole('link', { name: /^Go back to/ });
    expect(await link.getAttribute('href')).toMatch(/^http:\/\/127\.0\.0\.1:43118\/callback\?error=invalid_request&/);
    asked.set('redirect_uri', 'https://evil.example/');
    await page.goto(`${desk.line.url}/console/authorize?${asked}`);
    await page.getByText('invalid_redirect_uri').waitFor();
    expect(await page.locator('a[href*="evil"]').count()).toBe(0);
    await leave();
  });
});

describe('a reply that fails', () => {
  const shown = (page: Page) => page.locator('[data-turn-end=failed]');
  /** In the title of a conversation, and above the thread of the playground. The trace has its own status. */
  const badge = (page: Page, status: string) =>
    page.locator('main').locator('h1, p:has(a)').getByText(status, { exact: true }).first();
  const send = async (page: Page, text: string) => {
    await page.getByRole('textbox', { name: 'Message' }).fill(text);
    await page.keyboard.press('Enter');
    await page.waitForURL(/conversation=conv_/);
    return new URL(page.url()).searchParams.get('conversation') ?? '';
  };

  it.each([
    ['a request that the provider refuses', { fail: 400 }, /refused the request \(400/],
    ['a wrong key', { fail: 401 }, /did not accept the key \(401.*OPENAI_COMPATIBLE_API_KEY/],
    ['a provider that is down', { fail: 500, headers: { 'retry-after-ms': '1' } }, /failed \(500/],
    ['a stream that breaks off', { text: ['Half an ', 'answer'], fail: 'cut' as const }, /connection .* was lost/],
  ])(
    'shows the error, the badge and the failed call, live and after a reload: %s [CON-650] [CON-651]',
    async (_what, answer, sentence) => {
      desk.script(() => answer);
      const { page, go, leave } = await desk.enter('/playground?deployment=desk');
      const id = await send(page, 'Is it open?');
      const isThere = async () => {
        await shown(page).getByText(sentence).waitFor();
        await shown(page).getByText('model_error').waitFor();
        await badge(page, 'failed').waitFor();
        if ('text' in answer) await page.locator('[data-said=agent]').getByText('Half an answer').waitFor();
        await page.getByRole('list', { name: 'Steps' }).getByRole('button').click();
        // In the thread, and in the details of the call.
        await page.getByText(sentence).nth(1).waitFor();
      };
      await isThere();
      await page.reload();
      await isThere();
      await go(`/conversations/${id}`);
      await isThere();
      expect(await shown(page).getByRole('button', { name: 'Try again' }).count()).toBe(1);
      expect(await barriersOn(page)).toEqual([]);
      await leave();
    },
  );

  it('is sent again as a new message of the same conversation, and the failure stays in the thread [CON-650]', async () => {
    desk.script(() => ({ fail: 400 }));
    const { page, go, leave } = await desk.enter('/playground?deployment=desk');
    const id = await send(page, 'Is it open?');
    const again = shown(page).getByRole('button', { name: 'Try again' });
    await again.click();
    await shown(page).nth(1).waitFor();
    desk.script(() => ({ text: 'From nine to five.' }));
    await again.click();
    await page.locator('[data-said=agent]').getByText('From nine to five.').waitFor();
    await badge(page, 'idle').waitFor();
    const { body } = await desk.call('GET', `/v1/conversations/${id}/messages`);
    expect(body.data.map(({ role, text }: { role: string; text: string }) => [role, text]).reverse()).toEqual([
      ['user', 'Is it open?'],
      ['user', 'Is it open?'],
      ['user', 'Is it open?'],
      ['agent', 'From nine to five.'],
    ]);
    await go(`/conversations/${id}`);
    await shown(page).nth(1).waitFor();
    expect(await page.getByRole('button', { name: 'Try again' }).count()).toBe(0);
    await badge(page, 'idle').waitFor();
    await leave();
  });

  it('shows which limit was reached, and why sending it again is refused [CON-650]', async () => {
    await desk.apply({ name: 'short', memory: 'none', limits: { max_steps: 1 } });
    desk.script(() => ({ ...calling('no_such_tool'), usage: { inputTokens: 1_000_000, outputTokens: 1_000_000 } }));
    const { page, leave } = await desk.enter('/playground?deployment=short&user=poor');
    await send(page, 'Go on');
    await shown(page).getByText('The limit of 1 step was reached.').waitFor();
    await shown(page).getByText('max_turns').waitFor();
    await badge(page, 'failed').waitFor();
    await desk.call('PATCH', '/v1/users/poor', { body: { spend_cap_usd: 0 } });
    await page.reload();
    await shown(page).getByRole('button', { name: 'Try again' }).click();
    await shown(page).getByText('user_cap_reached').waitFor();
    await shown(page)
      .getByText(/^request req_/)
      .waitFor();
    await leave();
  });

  it('that a person stopped shows Stopped and no error [CON-652]', async () => {
    desk.script(() => ({ text: ['Half an ', 'answer'], fail: 'hang' }));
    const { page, leave } = await desk.enter('/playground?deployment=desk');
    const id = await send(page, 'Count to a million');
    await desk.until(`/v1/conversations/${id}/events?format=json`, ({ data }) =>
      /Half an .*answer/.test(JSON.stringify(data)),
    );
    await page.getByRole('button', { name: 'Stop', exact: true }).click();
    const stopped = page.locator('[data-turn-end=stopped]').getByText('Stopped');
    await stopped.waitFor();
    await page.reload();
    await stopped.waitFor();
    await page.locator('[data-said=agent]').getByText('Half an answer').waitFor();
    await badge(page, 'idle').waitFor();
    expect(await page.getByRole('alert').count()).toBe(0);
    await leave();
  });
});

describe('the menu of an owner', () => {
  it('fits a window of 900 pixels, and shows the chosen entry in a lower one and on a phone [CON-764]', async () => {
    const { page, go, leave } = await desk.enter('/audit', { context: { viewport: { width: 1440, height: 900 } } });
    const menu = page.getByRole('navigation', { name: 'Pages' });
    const chosen = menu.locator('[aria-current=page]');
    /** Pixels of the chosen entry that are cut off. Browsers scroll by whole ones. */
    const cutOff = () =>
      chosen.evaluate((entry) => {
        const { top, bottom } = entry.getBoundingClientRect();
        const frame = entry.closest('nav')?.getBoundingClientRect() ?? new DOMRect();
        return Math.floor(Math.max(0, frame.top - top, bottom - frame.bottom));
      });
    await chosen.getByText('Audit log').waitFor();
    expect(await menu.getByRole('link').count()).toBe(pages.filter(({ nav }) => nav).length);
    expect(await menu.evaluate(({ scrollHeight, clientHeight }) => scrollHeight - clientHeight)).toBe(0);
    const heights = await menu.getByRole('link').evaluateAll((all) => all.map(({ clientHeight }) => clientHeight));
    // The smallest target of WCAG 2.2.
    expect(Math.min(...heights)).toBeGreaterThanOrEqual(24);
    await page.setViewportSize({ width: 1440, height: 500 });
    for (const title of ['Org settings', 'Inbox', 'Audit log']) {
      await page.keyboard.press('Control+k');
      await page.getByRole('combobox', { expanded: true }).fill(title);
      await page.getByRole('option', { name: title, exact: true }).click();
      await page.getByRole('combobox', { expanded: true }).waitFor({ state: 'detached' });
      await chosen.getByText(title).waitFor();
      await expect.poll(cutOff).toBe(0);
    }
    await go('/no-such-page');
    await page.getByRole('heading', { name: 'Page not found' }).waitFor();
    await menu.getByRole('link', { name: 'Conversations' }).click();
    await page.waitForURL(/\/conversations$/);
    await leave();

    const phone = await desk.enter('/settings', {
      context: { viewport: { width: 390, height: 700 }, hasTouch: true, isMobile: true },
    });
    await phone.page.getByRole('button', { name: 'Open the navigation' }).tap();
    const entry = phone.page.getByRole('navigation', { name: 'Pages' }).locator('[aria-current=page]');
    await entry.getByText('Org settings').waitFor();
    expect(await entry.evaluate(({ clientHeight }) => clientHeight)).toBe(40);
    await expect.poll(() => entry.evaluate((each) => each.getBoundingClientRect().bottom <= innerHeight)).toBe(true);
    await phone.leave();
  });
});

describe('a menu or a dialog', () => {
  it.each(['reduce', 'no-preference'] as const)(
    'is closed by Escape, which returns the focus, with motion: %s [CON-774]',
    async (reducedMotion) => {
      const context = { reducedMotion, viewport: { width: 1280, height: 800 } };
      const { page, go, leave } = await desk.enter('/', { context });
      const isClosedBy = async (role: 'menu' | 'dialog', trigger: Locator) => {
        await trigger.focus();
        await page.keyboard.press('Enter');
        const opened = page.getByRole(role);
        await opened.waitFor();
        // Escape is heard once the focus is inside.
        await expect.poll(() => opened.evaluate((each) => each.contains(document.activeElement))).toBe(true);
        await page.keyboard.press('Escape');
        await opened.waitFor({ state: 'detached' });
        await expect.poll(() => trigger.evaluate((each) => each === document.activeElement)).toBe(true);
      };
      for (let times = 0; times < 2; times++) {
        await isClosedBy('menu', page.getByRole('button', { name: /account and appearance/ }));
        await isClosedBy('menu', page.getByRole('button', { name: 'Copy as API request' }));
        await isClosedBy('dialog', page.getByRole('button', { name: 'Search or jump to' }));
      }
      const { body } = await desk.call('GET', '/v1/deployments/desk');
      await go(`/deployments/${body.id}`);
      await isClosedBy('menu', page.getByRole('button', { name: 'Actions for desk' }));
      await page.goto(`${desk.line.url}/console/${desk.orgId}/live/deployments/${body.id}/versions`);
      await isClosedBy('dialog', page.getByRole('button', { name: 'Promote to live' }).first());
      await page.setViewportSize({ width: 390, height: 844 });
      await isClosedBy('dialog', page.getByRole('button', { name: 'Open the navigation' }));
      await leave();
    },
  );
});

describe('every page', () => {
  it('has no barrier, in light and in dark, and fits a phone [CON-007]', async () => {
    const { page, follow, leave } = await desk.enter('/', { context: { viewport: { width: 390, height: 844 } } });
    const { body } = await desk.call('GET', '/v1/deployments/desk');
    const one = `/deployments/${body.id}`;
    desk.script(() => ({ text: endless }));
    const { id } = await desk.say({ deployment: 'desk', user_id: 'ada', message: endless });
    await desk.rest(id);
    const lists = ['/', '/inbox', '/playground', '/deployments', '/conversations', '/tasks', '/tests', '/keys?new=1'];
    const talks = [`/conversations/${id}`, `/playground?conversation=${id}`];
    for (const path of [
      ...lists,
      one,
      `${one}/versions`,
      `${one}/functions`,
      `${one}/ratings`,
      `${one}/insights`,
      '/deployments/interview',
      ...talks,
    ]) {
      await page.emulateMedia({ colorScheme: 'light' });
      await follow(path);
      await page.locator('[data-loading]').first().waitFor({ state: 'detached' });
      expect([path, await widthOf(page)]).toEqual([path, 390]);
      expect([path, await barriersOn(page)]).toEqual([path, []]);
      await page.emulateMedia({ colorScheme: 'dark' });
      expect([path, 'dark', await barriersOn(page)]).toEqual([path, 'dark', []]);
    }
    await leave();
  });

  it('is the same document, and runs only its own scripts [CON-012]', async () => {
    for (const path of ['/console', '/console/', '/console/org_x/live/anything/at/all']) {
      const answer = await fetch(`${desk.url}${path}`);
      const policy = answer.headers.get('content-security-policy') ?? '';
      expect([answer.status, policy]).toEqual([200, expect.stringMatching(/script-src 'self' 'sha256-[\w+/]+=';/)]);
      expect(policy).toContain("frame-ancestors 'none'");
      const [, script = ''] = /src="([^"]+)"/.exec(await answer.text()) ?? [];
      expect((await fetch(new URL(script, `${desk.url}${path}`))).status).toBe(200);
    }
    expect((await fetch(`${desk.url}/console/assets/none.js`)).status).toBe(404);
  });
});
