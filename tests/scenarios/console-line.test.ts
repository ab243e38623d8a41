import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { lastText } from '../support/cast.ts';
import { type ConsoleDesk, startConsoleDesk } from './console.fixture.ts';

/** The console over a line that is lost for a while, at the worst moment. */
let desk: ConsoleDesk;
beforeAll(async () => {
  desk = await startConsoleDesk();
});
afterAll(() => desk.stop());

/** More than a call is repeated before its failure is told of. */
const manyTimes = 8;

/**
 * Cuts the line as the page asks for what `asked` says, until a script was lost or calls have failed `times`. Tells whether it
 * was ever cut.
 */
async function cutAt(page: Page, asked: RegExp, times = manyTimes): Promise<() => boolean> {
  let isCut = false;
  await page.route(asked, async (route) => {
    if (!isCut) {
      isCut = true;
      desk.line.cut();
    }
    await route.continue();
  });
  let failures = 0;
  page.on('requestfailed', (request) => {
    failures += 1;
    if (request.resourceType() !== 'fetch' || failures >= times) desk.line.restore();
  });
  return () => isCut;
}

const firstKey = (page: Page) => page.getByRole('cell', { name: 'First test key', exact: true });

describe('a connection that is lost while a page loads', () => {
  it.each([
    ['its frame', /assets\/console-[^/]*\.js$/],
    ['its looks', /\.css$/],
    ['what several pages share', /assets\/data-table-/],
    ['the page itself', /assets\/keys-page-/],
    ['who is signed in', /\/v1\/console\/session/],
    ['what it shows', /\/v1\/keys/],
  ])('is waited for, and the page then loads by itself: %s [CON-531]', async (_what, asked) => {
    const { page, go, leave } = await desk.enter('/account');
    await page.getByRole('heading', { level: 1 }).waitFor();
    const wasCut = await cutAt(page, asked);
    await go('/keys');
    await firstKey(page).waitFor();
    expect(wasCut()).toBe(true);
    const { background } = await page.evaluate(() => ({ background: getComputedStyle(document.body).backgroundColor }));
    expect(background).not.toBe('rgba(0, 0, 0, 0)');
    await leave(/Failed to fetch dynamically|Importing a module|Unable to preload/);
  });

  it('is waited for when navigating to a page [CON-531]', async () => {
    const { page, leave } = await desk.enter('/account');
    await page.getByRole('heading', { name: 'Your account' }).waitFor();
    const wasCut = await cutAt(page, /assets\/usage-page-/);
    await page.getByRole('link', { name: 'Usage', exact: true }).click();
    await page.getByRole('heading', { level: 1, name: 'Usage' }).waitFor();
    expect(wasCut()).toBe(true);
    await leave();
  });

  it('keeps typed text if a part of the page does not load [CON-531]', async () => {
    const { page, leave } = await desk.enter('/keys?new=1');
    await page.getByLabel('Name').fill('typed before');
    await cutAt(page, /assets\/palette-dialog-/);
    await page.keyboard.press('Control+k');
    await page.getByText('This part of the page could not be loaded.').waitFor({ state: 'attached' });
    expect(await page.getByLabel('Name').inputValue()).toBe('typed before');
    await leave();
  });
});

describe('data on a page', () => {
  it('is requested again when the server is back, without a click [CON-532]', async () => {
    const { page, leave } = await desk.enter('/account');
    await page.getByRole('heading', { name: 'Your account' }).waitFor();
    await page.route(/\/v1\/keys/, async (route) => {
      desk.line.cut();
      await route.continue();
    });
    await page.getByRole('link', { name: 'API keys', exact: true }).click();
    await page.getByRole('alert').first().waitFor();
    await page.unroute(/\/v1\/keys/);
    desk.line.restore();
    await firstKey(page).waitFor();
    await leave();
  });

  it('is requested even if the browser reports itself offline [CON-532]', async () => {
    const { page, leave } = await desk.enter('/account');
    await page.getByRole('heading', { name: 'Your account' }).waitFor();
    await page.evaluate(() => window.dispatchEvent(new Event('offline')));
    await page.getByRole('link', { name: 'API keys', exact: true }).click();
    await firstKey(page).waitFor();
    await page.getByRole('button', { name: 'Create key' }).click();
    await page.getByLabel('Name').fill('made offline');
    await page.getByRole('button', { name: 'Create key' }).last().click();
    await page.getByRole('button', { name: 'I have saved it' }).click();
    await page.getByRole('cell', { name: 'made offline', exact: true }).waitFor();
    await leave();
  });

  it('is never a response that is older than a change [CON-533]', async () => {
    const { page, leave } = await desk.enter('/account');
    await page.getByRole('heading', { name: 'Your account' }).waitFor();
    const release = Promise.withResolvers<void>();
    let asked = 0;
    await page.route(/\/v1\/keys\?/, async (route) => {
      asked += 1;
      if (asked > 1) return route.continue();
      const response = await route.fetch();
      await desk.call('POST', '/v1/keys', { body: { name: 'made meanwhile', scopes: ['runtime'] } });
      await release.promise;
      return route.fulfill({ response }).catch(() => {});
    });
    await page.getByRole('link', { name: 'API keys', exact: true }).click();
    await page.getByRole('cell', { name: 'made meanwhile', exact: true }).waitFor();
    release.resolve();
    await leave();
  });
});

describe('an interview', () => {
  it('continues where it was after a reload and after leaving the page, and shows what the file leaves out [CON-535, VER-744]', async () => {
    desk.script((request) => {
      const told = /<data-[0-9a-f]{24} of="interview">\n([\s\S]*?)\n<\/data-/.exec(lastText(request))?.[1];
      if (told === undefined) return { text: '{}' };
      const { name, answers } = JSON.parse(told) as { name: string; answers: { answer: string }[] };
      // The name of the function is not valid, so it is left out of the file.
      const tools = [{ function: 'refund order!', description: 'Refunds an order.' }];
      const file = { name, instructions: answers.map(({ answer }) => answer).join(' ') || 'Be kind.', tools };
      const question = `Question ${answers.length + 1}?`;
      return { text: JSON.stringify({ question, is_done: answers.length === 5, file: JSON.stringify(file) }) };
    });
    const { page, go, leave } = await desk.enter('/deployments/interview');
    const question = (at: number) => page.getByText(`Question ${at}?`, { exact: true });
    const answer = async (at: number) => {
      await question(at).waitFor();
      await page.getByLabel('Your answer').fill(`Answer ${at}.`);
      await page.getByRole('button', { name: 'Answer', exact: true }).click();
    };
    await page.getByLabel('Agent name').fill('Ink Shop');
    await page.getByLabel('What should it do?').fill('It sells ink.');
    await page.getByRole('button', { name: 'Start', exact: true }).click();
    await answer(1);
    await question(2).waitFor();
    await page.reload();
    await answer(2);
    await question(3).waitFor();
    await page.getByText('It sells ink.', { exact: true }).waitFor();
    await go('/deployments/interview');
    await page.getByRole('button', { name: 'Resume' }).click();
    for (const at of [3, 4, 5]) await answer(at);
    await page.getByRole('heading', { name: 'Deployment file', exact: true }).waitFor();
    const leftOut = page.getByRole('region', { name: 'Left out of the file' });
    await leftOut.getByText('refund order!').waitFor();
    await page.reload();
    await page.getByRole('heading', { name: 'Deployment file', exact: true }).waitFor();
    await leftOut.getByText('refund order!').waitFor();
    await page.getByRole('button', { name: 'Apply', exact: true }).click();
    await page.waitForURL(/deployments\/dep_/);
    await go('/deployments/interview');
    await page.getByLabel('What should it do?').waitFor();
    expect(await page.getByRole('button', { name: 'Resume' }).count()).toBe(0);
    await leave();
  });
});
