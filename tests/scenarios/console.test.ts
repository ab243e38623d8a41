import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type ConsoleDesk, hostileText, startConsoleDesk } from './console.fixture.ts';
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

describe('the way in', () => {
  it('is the owner’s login, leads to the address that was asked for, and out again [CON-002] [CON-004]', async () => {
    const { page, leave } = await desk.enter('/test/keys?new=1', { as: null });
    await page.getByLabel('Email').fill(desk.owner.email);
    await page.getByLabel('Password').fill('not the password');
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByRole('alert').getByText('login_failed').waitFor();
    await page.getByLabel('Password').fill(desk.owner.password);
    await page.getByRole('button', { name: 'Sign in' }).click();
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
    expect((await page.context().cookies()).filter(({ value }) => value !== '')).toEqual([]);
    await leave();
  });

  it('of somebody invited is their link; a developer is offered no keys, and asking is refused [CON-003] [CON-008]', async () => {
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
    await page.getByRole('alert').getByText('role_missing').waitFor();
    expect(await page.getByRole('button', { name: 'Create key' }).count()).toBe(0);
    await leave();
  });
});

describe('a change', () => {
  it('goes on where the session ended in the middle of it, and is made once [CON-005]', async () => {
    const { page, leave } = await desk.enter('/keys?new=1');
    await page.getByLabel('Name').fill('half typed');
    await desk.sql(`UPDATE console_sessions SET expires_at = now() - interval '1 second'`);
    desk.forget();
    await page.getByRole('button', { name: 'Create key' }).last().click();
    const again = page.getByRole('dialog', { name: 'Sign in again' });
    await again.getByLabel('Password').fill(desk.owner.password);
    await again.getByRole('button', { name: 'Sign in', exact: true }).click();
    await page.locator('[data-secret]').waitFor();
    expect(await page.locator('[data-secret]').textContent()).toMatch(/^vk_test_/);
    await page.getByRole('button', { name: 'I have kept it' }).click();
    await page.getByRole('cell', { name: 'half typed', exact: true }).waitFor();
    expect(await page.getByRole('cell', { name: 'half typed', exact: true }).count()).toBe(1);
    await leave();
  });

  it('that is refused says why at its field, and hostile text is only text [CON-006] [CON-009]', async () => {
    const { page, leave } = await desk.enter('/keys?new=1');
    await page.getByRole('button', { name: 'Create key' }).last().click();
    const alert = page.getByRole('alert');
    await alert.getByText('invalid_request').waitFor();
    expect(await alert.textContent()).toMatch(/field name[\s\S]*request req_/);
    expect(await page.getByLabel('Name').getAttribute('aria-invalid')).toBe('true');
    await page.getByLabel('Name').fill(hostileText);
    await page.getByRole('button', { name: 'Create key' }).last().click();
    await page.getByRole('button', { name: 'I have kept it' }).click();
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
    await page.getByRole('button', { name: 'Copy the call behind this' }).click();
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

  it('is written in an editor that knows its fields, and nobody’s change is lost to another’s [CON-013]', async () => {
    const { page, leave } = await desk.enter('/deployments/new');
    await write(page, 'name: written\ninstrctions: Be kind.\n');
    await page.locator('.cm-lint-marker-error').waitFor();
    await page.getByRole('button', { name: 'Apply' }).click();
    await page.getByRole('alert').getByText('Unknown field `instrctions`. Did you mean `instructions`?').waitFor();
    await write(page, 'name: written\ninstructions: Be kind.\n');
    await page.locator('.cm-lint-marker-error').waitFor({ state: 'detached' });
    await page.getByRole('button', { name: 'Apply' }).click();
    await page.waitForURL(/deployments\/dep_/);

    await page.getByText('Be kind.').waitFor();
    await write(page, 'name: written\ninstructions: Be both.\n');
    await desk.call('PUT', '/v1/deployments/written', { body: { name: 'written', instructions: 'Be brief.' } });
    await page.getByRole('button', { name: 'Apply' }).click();
    const conflict = page.getByRole('dialog', { name: 'This file has changed' });
    // What differs is marked, so the words stand in several pieces.
    await conflict.locator('.cm-merge-a', { hasText: 'Be brief.' }).waitFor();
    await conflict.getByRole('button', { name: 'Keep mine and go on' }).click();
    await page.getByRole('button', { name: 'Apply' }).click();
    await page.getByText('Version 3 is saved').waitFor();

    await page.getByRole('link', { name: 'Versions' }).click();
    await page.getByText('Version 2', { exact: true }).waitFor();
    await page.getByRole('button', { name: /^v1/ }).click();
    await page.getByRole('button', { name: 'Make it the draft' }).click();
    await page.getByLabel('At once').check();
    await page.getByRole('dialog').getByRole('button', { name: 'Promote' }).click();
    await page.getByText('Version 1 is the draft').waitFor();
    const { body } = await desk.call('GET', '/v1/deployments/written');
    expect(body.draft_version).toBe(1);
    // Chromium itself writes styles into selected text that is typed over; they are refused, and the editor draws it anew.
    await leave(/Applying inline style/);
  });
});

describe('a talk', () => {
  it('goes on in the playground with its approval, its function and its trace in place [CON-006] [CON-014]', async () => {
    desk.script(inTurn(calling('order_paper', { sheets: 2 }), { text: `Ordered. ${hostileText}` }));
    const { page, leave } = await desk.enter('/playground?deployment=desk');
    await page.getByRole('textbox', { name: 'Message' }).fill('Two sheets, please');
    await page.keyboard.press('Enter');
    await page.locator('[data-waiting=approval]').getByRole('button', { name: 'Approve' }).click();
    const call = page.locator('[data-waiting=tool_call]');
    await call.getByLabel('What the function answers').fill('{"order": 17}');
    await call.getByRole('button', { name: 'Answer the call' }).click();
    await page.locator('[data-said=agent]').getByText('Ordered.').waitFor();
    await page.getByRole('button', { name: /order_paper/ }).click();
    await page.getByText('{"order":17}').waitFor();
    expect(await page.evaluate(isOwned)).toBe(false);

    await page.getByRole('link', { name: 'Conversation', exact: true }).click();
    const parts = page.getByRole('navigation', { name: 'Parts of the conversation' });
    await parts.getByRole('link', { name: 'Events' }).click();
    await page.getByText('tool_call.created').waitFor();
    await page.goBack();
    await page.locator('[data-said=user]').getByText('Two sheets, please').waitFor();
    await leave();
  });

  it('that waits is in the inbox until it is answered [CON-015]', async () => {
    const { page, leave } = await desk.enter('/inbox?type=approval');
    await page.getByText('Nothing waits that fits these filters').waitFor();
    desk.script(inTurn(calling('order_paper', { sheets: 3 }), { text: 'Not ordered.' }));
    const { conversationId } = await desk.waiting({ deployment: 'desk', user_id: 'ada' });
    await page.locator('[data-waiting=approval]').getByRole('button', { name: 'Deny' }).click();
    await page.getByText('Nothing waits that fits these filters').waitFor();
    await desk.rest(conversationId);
    await leave();
  });

  it('that was handed over to work shows its result and its steps [CON-016]', async () => {
    desk.script(inTurn(calling('recall', { query: 'paper' }), { text: 'The report is written.' }));
    const task = await desk.work({ deployment: 'desk', user_id: 'ada' });
    const { page, leave } = await desk.enter(`/tasks?status=${task.status}`);
    await page.locator('a[data-row]').first().click();
    await page.getByText('The report is written.').waitFor();
    await page.getByRole('list', { name: 'Steps' }).getByRole('button').first().click();
    await page.getByText('From the cache').waitFor();
    await leave();
  });
});

describe('tests', () => {
  it('are added, played, and shown with the talk behind each verdict [CON-017]', async () => {
    desk.script(() => ({ text: 'Good morning.' }));
    const { page, leave } = await desk.enter('/tests?deployment=desk&new=1');
    const form = page.getByRole('dialog', { name: 'Add a scenario' });
    await form.getByLabel('Name').fill('greets');
    await form.getByLabel('What they want').fill('Say hello.');
    await form.getByLabel('What must be so in the end').fill('The agent says "Good morning".');
    await form.getByRole('button', { name: 'Add scenario' }).click();
    await page.getByText('greets').waitFor();
    await page.getByRole('button', { name: 'Run all' }).click();
    await page.waitForURL(/test-runs/);
    await page.getByText('See the talk and its trace').waitFor({ state: 'attached' });
    await page.locator('summary').filter({ hasText: 'greets' }).waitFor();
    await leave();
  });
});

describe('every page', () => {
  it('has no barrier, in light and in dark, and fits a phone [CON-007]', async () => {
    const { page, go, leave } = await desk.enter('/', { context: { viewport: { width: 390, height: 844 } } });
    const { body } = await desk.call('GET', '/v1/deployments/desk');
    const one = `/deployments/${body.id}`;
    const lists = ['/', '/inbox', '/playground', '/deployments', '/conversations', '/tasks', '/tests', '/keys?new=1'];
    for (const path of [...lists, one, `${one}/versions`, `${one}/functions`, '/deployments/interview']) {
      await page.emulateMedia({ colorScheme: 'light' });
      await go(path);
      await page.getByRole('heading').first().waitFor();
      await page.locator('[data-loading]').first().waitFor({ state: 'detached' });
      expect([path, await page.evaluate(() => document.documentElement.scrollWidth)]).toEqual([path, 390]);
      expect([path, await barriersOn(page)]).toEqual([path, []]);
      await page.emulateMedia({ colorScheme: 'dark' });
      expect([path, 'dark', await barriersOn(page)]).toEqual([path, 'dark', []]);
    }
    await leave();
  });

  it('is the same page, and runs no script but its own [CON-012]', async () => {
    for (const path of ['/console', '/console/', '/console/org_x/live/anything/at/all']) {
      const answer = await fetch(`${desk.url}${path}`);
      const policy = answer.headers.get('content-security-policy') ?? '';
      expect([answer.status, policy]).toEqual([200, expect.stringContaining("script-src 'self';")]);
      expect(policy).toContain("frame-ancestors 'none'");
      const [, script = ''] = /src="([^"]+)"/.exec(await answer.text()) ?? [];
      expect((await fetch(new URL(script, `${desk.url}${path}`))).status).toBe(200);
    }
    expect((await fetch(`${desk.url}/console/assets/none.js`)).status).toBe(404);
  });
});
