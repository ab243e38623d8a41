import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { cast, lastText, resultsIn } from '../support/cast.ts';
import { type ConsoleDesk, startConsoleDesk } from './console.fixture.ts';
import { tabTo } from './keyboard.fixture.ts';

/** The first hour of somebody who uses no mouse. Nothing here clicks or sets the focus. */
let desk: ConsoleDesk;
beforeAll(async () => {
  desk = await startConsoleDesk();
});
afterAll(() => desk.stop());

const file = `name: paper-shop
instructions: Be kind.
tools:
  - function: order_paper
    description: Orders paper.
    input: { sheets: integer }
    approver: org
`;

async function jumpTo(page: Page, words: string, option: RegExp | string, address: RegExp): Promise<void> {
  await page.keyboard.press('Control+k');
  await page.getByRole('combobox', { expanded: true }).waitFor();
  await page.keyboard.type(words);
  const found = page.getByRole('option', { name: option }).first();
  await found.waitFor();
  for (let pressed = 0; (await found.getAttribute('aria-selected')) !== 'true'; pressed++) {
    if (pressed > 20) throw new Error(`${option} cannot be chosen.`);
    await page.keyboard.press('ArrowDown');
  }
  await page.keyboard.press('Enter');
  await page.waitForURL(address);
  // Letters belong to the palette until it is gone.
  await page.getByRole('combobox', { expanded: true }).waitFor({ state: 'detached' });
}

describe('a new company', () => {
  it('has its first hour by keyboard alone, with the focus in sight [CON-754]', { timeout: 480_000 }, async () => {
    desk.script(
      cast({
        agent: (request) => {
          if (!lastText(request).includes('Order')) return { text: 'Hello.' };
          const isOrdered = resultsIn(request).length > 0;
          return isOrdered ? { text: 'Ordered.' } : { calls: [{ name: 'order_paper', arguments: { sheets: 2 } }] };
        },
      }),
    );
    const { page, leave } = await desk.enter('/', { as: null, context: { viewport: { width: 1440, height: 900 } } });
    const button = (name: string | RegExp) => page.getByRole('button', { name, exact: true }).first();
    const link = (name: string) => page.getByRole('link', { name, exact: true }).first();

    // The email field has the focus.
    await tabTo(page, page.getByLabel('Email'));
    await page.keyboard.type(desk.owner.email);
    await page.keyboard.press('Tab');
    await page.keyboard.type(desk.owner.password);
    await page.keyboard.press('Enter');
    await page.getByText(/of 6$/).waitFor();

    // Past the navigation in one step.
    await page.keyboard.press('Tab');
    await tabTo(page, link('Skip to content'), 'Shift+Tab');
    await page.keyboard.press('Enter');
    await tabTo(page, page.getByRole('link', { name: 'Write your first agent' }));
    await page.keyboard.press('Enter');

    // The file, and talking beside it. Escape lets Tab leave the editor.
    const editor = page.getByRole('textbox', { name: 'Deployment file' });
    await tabTo(page, editor);
    await page.keyboard.press('Control+a');
    await page.keyboard.insertText(file);
    // The first Escape may close a list of completions.
    for (let tries = 0; (await editor.evaluate((each) => each === document.activeElement)) && tries < 20; tries++) {
      await page.keyboard.press('Escape');
      await page.keyboard.press('Tab');
    }
    await tabTo(page, button('Apply'));
    await page.keyboard.press('Enter');
    await page.waitForURL(/deployments\/dep_/);
    const playground = page.getByRole('region', { name: 'Playground' });
    await playground.getByText('is ready for your first message').waitFor();
    await editor.getByText('Be kind.').waitFor();
    await tabTo(page, playground.getByRole('textbox', { name: 'Message' }), 'Shift+Tab');
    await page.keyboard.type('Order two sheets');
    await page.keyboard.press('Enter');
    await playground.locator('[data-waiting=approval]').waitFor();

    // Answered in the inbox by one key.
    await jumpTo(page, 'inbox', 'Inbox', /\/inbox/);
    // The page left behind shows the same card.
    await page.getByRole('heading', { name: 'Inbox', level: 1 }).waitFor();
    const approval = page.locator('[data-waiting=approval]');
    await approval.getByText('Orders paper.').waitFor();
    // The page may listen to keys a moment after it has shown the card.
    const pendingAfterKey = async () => {
      await page.keyboard.press('a');
      return approval.count();
    };
    await expect.poll(pendingAfterKey).toBe(0);
    const [call] = (await desk.until('/v1/conversations', ({ data }) => data[0]?.pending_tool_calls !== undefined))
      .data;
    const id: string = call.id;
    const waiting = await desk.until(
      `/v1/conversations/${id}`,
      ({ pending_tool_calls }) => pending_tool_calls.length === 1,
    );
    await desk.answer(waiting.pending_tool_calls[0].call_id, { output: 'order 17' });
    await desk.rest(id);

    // The conversation, its trace and a step of it.
    await jumpTo(page, 'order two', /Order two sheets/, /\/conversations\/conv_/);
    await tabTo(page, button('Trace'));
    await page.keyboard.press('Enter');
    await tabTo(page, page.getByRole('button', { name: /^order_paper/ }));
    await page.keyboard.press('Enter');
    await page.getByRole('region', { name: 'Step details' }).getByText('order 17').first().waitFor();

    // A cap.
    await jumpTo(page, 'limits', /^Limits and alerts/, /\/limits/);
    await tabTo(page, button('Change limits'));
    await page.keyboard.press('Enter');
    await tabTo(page, page.getByLabel('Org, per day'));
    await page.keyboard.press('Control+a');
    await page.keyboard.type('70');
    await page.keyboard.press('Enter');
    await page.getByText('$70.00').first().waitFor();

    // Live.
    await jumpTo(page, 'paper', /^paper-shop/, /\/deployments\/dep_/);
    await tabTo(page, link('Make live'));
    await page.keyboard.press('Enter');
    await page.waitForURL(/\/live\/deployments\/dep_.*\/versions/);
    await tabTo(page, button('Promote to live'));
    await page.keyboard.press('Enter');
    await tabTo(page, page.getByRole('dialog').getByRole('button', { name: 'Promote', exact: true }));
    await page.keyboard.press('Enter');
    await page.getByText('live v1').waitFor();
    await leave(/Applying inline style/);
  });
});
