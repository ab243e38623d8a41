import { readFile } from 'node:fs/promises';
import { signWebhook } from '@vestra/sdk/webhook';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type ConsoleDesk, hostileText, startConsoleDesk } from './console.fixture.ts';
import { barriersOn } from './session-page.fixture.ts';

let desk: ConsoleDesk;
beforeAll(async () => {
  desk = await startConsoleDesk();
  await desk.apply({ name: 'help-desk', memory: 'vestra' });
  await desk.call('POST', '/v1/users', { body: { user_id: 'ada', name: hostileText.slice(0, 100) } });
});
afterAll(() => desk.stop());

const made: Record<string, string> = {};
const isOwned = () => (globalThis as unknown as { owned?: number }).owned !== undefined;
const press = (page: Page, name: string) => page.getByRole('button', { name, exact: true }).click();
const textFile = (name: string, text: string) => ({ name, mimeType: 'text/plain', buffer: Buffer.from(text) });
const lastId = (page: Page) => page.url().split('?')[0]?.split('/').at(-1) ?? '';

async function saved(page: Page, act: () => Promise<void>): Promise<{ name: string; text: string }> {
  const coming = page.waitForEvent('download');
  await act();
  const download = await coming;
  return { name: download.suggestedFilename(), text: await readFile(await download.path(), 'utf8') };
}

describe('what agents are built of', () => {
  it('a notebook takes files, says what is wrong with one, and is searched as the agent would [CON-100] [CON-006]', async () => {
    const { page, leave } = await desk.enter('/knowledge?new=1');
    await page.getByLabel('Name', { exact: true }).fill('Help center');
    await page.getByLabel('Slug').fill('help-center');
    await page.getByRole('dialog').getByRole('button', { name: 'Create notebook' }).click();
    await page.getByRole('heading', { name: 'Help center' }).waitFor();
    made.notebook = lastId(page);
    await page
      .getByLabel('Drop documents here, or choose them')
      .setInputFiles([
        textFile('returns.md', '# Returns\nShoes may be returned within 30 days.'),
        textFile('<img src=x onerror=owned=1>.txt', hostileText),
        textFile('large.txt', 'x'.repeat(5 * 1024 * 1024)),
      ]);
    await page.getByText('3 of 3 sent').waitFor();
    await page.getByRole('alert').getByText('large.txt has 5.0 MB; a file may have 3 MB.').waitFor();
    await page
      .getByRole('cell', { name: /^(words, meaning|indexing)$/ })
      .nth(1)
      .waitFor();
    await page.getByLabel('Search as the agent would').fill('how long may I return shoes');
    await press(page, 'Search');
    await page.locator('[data-passages] li').first().getByText('within 30 days').waitFor();
    await page.locator('[data-passages]').getByRole('button', { name: 'returns.md' }).first().click();
    await page.getByRole('dialog', { name: 'returns.md' }).getByText('# Returns').waitFor();
    expect(await page.evaluate(isOwned)).toBe(false);
    await leave();
  });

  it('a skill is uploaded by its file, a secret is set and never shown [CON-100] [CON-101]', async () => {
    const { page, go, leave } = await desk.enter('/skills?new=1');
    const skill = '---\nname: refund\ndescription: Use when money goes back.\n---\nBe quick.';
    await page.getByLabel('Drop a zip or its files here, or choose them').setInputFiles(textFile('SKILL.md', skill));
    await press(page, 'Upload');
    await page.getByRole('heading', { name: 'refund' }).waitFor();
    await page.getByText('Be quick.').waitFor();
    made.skill = lastId(page);
    await go('/secrets?set=1');
    await page.getByLabel('Name', { exact: true }).fill('CRM_TOKEN');
    await page.getByLabel('Value', { exact: true }).fill('sk-very-secret');
    await page.getByRole('dialog').getByRole('button', { name: 'Set secret' }).click();
    await page.getByRole('cell', { name: 'CRM_TOKEN', exact: true }).waitFor();
    expect(await page.content()).not.toContain('sk-very-secret');
    await leave();
  });

  it('the policy of a tool is one press, for every deployment [CON-102]', async () => {
    const { body } = await desk.call('POST', '/v1/mcp-servers', {
      body: { name: 'CRM', slug: 'crm', url: 'http://127.0.0.1:9/mcp', tools: { deny: ['drop_all', 'send'] } },
    });
    made.server = body.id;
    const { page, leave } = await desk.enter(`/tool-servers/${body.id}`);
    await page.getByRole('alert').getByText('mcp_server_error').waitFor();
    await page.getByLabel('send: Asks').check();
    await press(page, 'Save policy');
    await page.getByText('Policy saved for every deployment').waitFor();
    const { tools } = (await desk.call('GET', `/v1/mcp-servers/${body.id}`)).body;
    expect(tools).toEqual({ deny: ['drop_all'], require_approval: ['send'] });
    await leave();
  });
});

describe('whoever agents work for', () => {
  it('has caps, a memory, and is erased only by their name [CON-103]', async () => {
    await desk.call('POST', '/v1/users', { body: { user_id: 'gone' } });
    const { page, go, leave } = await desk.enter('/users/gone?edit=1');
    await page.getByLabel('Cap a day').fill('2.5');
    await press(page, 'Save');
    await page.getByText('of $2.50').waitFor();
    await go('/users/gone?part=memory&remember=1');
    await page.getByLabel('Fact', { exact: true }).fill('Likes <b>tea</b>.');
    await press(page, 'Remember');
    await page.getByRole('cell', { name: 'Likes <b>tea</b>.', exact: true }).waitFor();
    await press(page, 'Erase');
    const dialog = page.getByRole('dialog', { name: 'Erase this user?' });
    const erase = dialog.getByRole('button', { name: 'Erase user' });
    expect(await erase.isDisabled()).toBe(true);
    await dialog.getByRole('textbox').fill('gone');
    await erase.click();
    await page.getByRole('heading', { name: 'Users' }).waitFor();
    expect((await desk.call('GET', '/v1/users/gone')).status).toBe(404);
    await leave();
  });

  it('a batch comes from a file, and its results go into one that no table runs [CON-104]', async () => {
    desk.script(() => ({ text: '=1+1' }));
    const { page, leave } = await desk.enter('/batches?new=1', { context: { acceptDownloads: true } });
    const file = page.getByLabel('Drop a file here, or choose it');
    await file.setInputFiles(textFile('orders.csv', 'order,message\n1,"Hello, one'));
    await page.getByRole('alert').getByText('A cell begins with a quote that never ends.').waitFor();
    await file.setInputFiles(textFile('orders.csv', 'order,user_id,message\n1,ada,"Hello, one"\n2,ada,Two\n'));
    await press(page, 'Start 2 conversations');
    await page.getByText('2 of 2 done').waitFor();
    made.batch = lastId(page);
    const { name, text } = await saved(page, () => press(page, 'Download results'));
    expect(name).toBe(`${made.batch}.csv`);
    expect(text.split('\r\n')).toEqual([
      expect.stringMatching(/^index,user_id,status/),
      expect.stringMatching(/^0,ada,succeeded,'=1\+1/),
      expect.stringMatching(/^1,ada,succeeded,'=1\+1/),
    ]);
    await leave();
  });

  it('a routine says its next ten times in words, and is paused [CON-105]', async () => {
    const { page, leave } = await desk.enter('/routines?user_id=ada&new=1');
    await page.getByLabel('Name', { exact: true }).fill('Morning');
    await page.getByLabel('Ask').fill('What is new?');
    await page.getByLabel('Every').fill('weekday at 08:00');
    await page.getByLabel('Time zone').fill('Asia/Tokyo');
    await page.getByRole('dialog').getByRole('button', { name: 'Create routine' }).click();
    const times = page.locator('[data-next-times] li > time');
    await times.nth(9).waitFor();
    for (const words of await times.allTextContents())
      expect(words).toMatch(/^(Mon|Tues|Wednes|Thurs|Fri)day .* 08:00$/);
    made.routine = lastId(page);
    await press(page, 'Pause');
    await page.getByText('None while it is paused.').waitFor();
    expect((await desk.call('GET', `/v1/routines/${made.routine}`)).body.enabled).toBe(false);
    await leave();
  });
});

describe('what the org is told and spends', () => {
  it('an endpoint is made, tried, and its signature checked in the page [CON-106]', async () => {
    const { page, go, leave } = await desk.enter('/webhooks?new=1');
    await page.getByLabel('Address').fill(`${desk.line.url}/nowhere`);
    await page.getByRole('dialog').getByRole('button', { name: 'Add endpoint' }).click();
    const secret = (await page.locator('[data-secret]').textContent()) ?? '';
    await press(page, 'I have kept it');
    await press(page, 'Send a test event');
    await page.getByRole('cell', { name: 'webhook.test' }).first().waitFor();
    made.endpoint = lastId(page);
    const signed = await signWebhook({ id: 'evt_1', body: '{"a":1}', secret });
    await go('/webhooks?signature=1');
    await page.getByLabel('Secret of the endpoint').fill(secret);
    for (const name of ['webhook-id', 'webhook-timestamp', 'webhook-signature'])
      await page.getByLabel(name).fill(signed[name] ?? '');
    await page.getByLabel('Raw body, byte for byte').fill('{"a":1}');
    await press(page, 'Check');
    await page.getByText('The signature fits.').waitFor();
    await page.getByLabel('Raw body, byte for byte').fill('{"a":2}');
    await press(page, 'Check');
    await page.getByText('The signature does not fit').waitFor();
    made.event = (await desk.call('GET', '/v1/events?limit=1')).body.data[0].id;
    await leave();
  });

  it('spend is shown with its cap and kept as CSV, and the cap is changed [CON-107]', async () => {
    const { page, go, leave } = await desk.enter('/limits?edit=1', { context: { acceptDownloads: true } });
    await page.getByLabel('Org, a day').fill('3');
    await page.getByLabel('Alerts at').fill('50, 90');
    await press(page, 'Save limits');
    await page.getByRole('alert').getByText('cap_above_maximum').waitFor();
    expect(await page.getByLabel('Each user, a day').getAttribute('aria-invalid')).toBe('true');
    await page.getByLabel('Each user, a day').fill('2');
    await press(page, 'Save limits');
    await page.getByText('50 %, 90 % of a cap').waitFor();
    const { caps, usage_alerts } = (await desk.call('GET', '/v1/limits')).body;
    expect([caps.org_daily_usd, usage_alerts.thresholds]).toEqual([3, [50, 90]]);
    await go('/usage?by=kind');
    await page.locator('[data-chart]').getByText('Cap a day $3.00').waitFor();
    const { text } = await saved(page, () => press(page, 'Download CSV'));
    expect(text.split('\r\n')[0]).toBe('kind,label,cost_usd,tasks,input_tokens,output_tokens');
    await leave();
  });
});

describe('people', () => {
  it('are invited, get a link for a new password, and end their other sign-ins [CON-108]', async () => {
    const { page, leave } = await desk.enter('/members?invite=1');
    await page.getByLabel('Email').fill('new@example.com');
    await page.getByRole('dialog').getByRole('button', { name: 'Invite' }).click();
    const invitation = (await page.locator('[data-secret]').textContent()) ?? '';
    await press(page, 'I have kept it');
    const token = new URL(invitation).hash.replace('#token=', '');
    await desk.call('POST', '/v1/members/accept', {
      key: null,
      body: { token, name: 'New', password: 'forgotten passphrase' },
    });
    await page.reload();
    await page.getByRole('cell', { name: 'New', exact: true }).waitFor();
    await page.getByRole('button', { name: 'What can be done with New' }).click();
    await page.getByRole('menuitem', { name: 'Link for a new password' }).click();
    const reset = (await page.locator('[data-secret]').textContent()) ?? '';
    await leave();

    const other = await desk.enter('/sign-in', { as: null });
    await other.page.goto(reset);
    await other.page.getByLabel('New password').fill('a better passphrase');
    await press(other.page, 'Save and sign in');
    await other.page.getByRole('heading', { name: 'Hello, New' }).waitFor();
    await other.page.goto(`${desk.line.url}/console/${desk.orgId}/test/account`);
    await other.page.getByText('this one').waitFor();
    await other.page.getByLabel('Name', { exact: true }).fill('Newer');
    await press(other.page, 'Save name');
    await other.page.getByRole('button', { name: /^Newer.*account and appearance/ }).waitFor();
    const again = { email: 'new@example.com', password: 'a better passphrase' };
    expect((await desk.call('POST', '/v1/console/login', { key: null, body: again })).status).toBe(200);
    await press(other.page, 'Sign out everywhere else');
    await other.page.getByText('One browser is signed out').waitFor();
    await other.leave();
  });
});

describe('every page', () => {
  it('has no barrier and fits a phone, the themes in turn [CON-007]', { timeout: 240_000 }, async () => {
    const { page, go, leave } = await desk.enter('/', { context: { viewport: { width: 390, height: 844 } } });
    const paths = [
      ...['/knowledge', `/knowledge/${made.notebook}`, '/skills', `/skills/${made.skill}`, '/secrets', '/apps'],
      ...['/tool-servers', `/tool-servers/${made.server}`, '/apps?show=connections', '/users', '/users/ada'],
      ...['/users/ada?part=memory', '/users/ada?part=files', '/users/ada?part=computer', '/usage?by=user', '/limits'],
      ...['/webhooks', `/webhooks/${made.endpoint}`, '/events', `/events/${made.event}`, '/batches', '/audit'],
      ...[`/batches/${made.batch}`, '/routines', `/routines/${made.routine}`, '/members', '/account', '/settings'],
      ...['/settings?part=pages', '/settings?part=memory', '/settings?part=models'],
    ];
    for (const [at, path] of paths.entries()) {
      await page.emulateMedia({ colorScheme: at % 2 === 0 ? 'light' : 'dark' });
      await go(path);
      await page.getByRole('heading', { level: 1 }).waitFor();
      await page.getByText('Loading…').first().waitFor({ state: 'detached' });
      expect([path, await barriersOn(page)]).toEqual([path, []]);
      expect([path, await page.evaluate(() => document.documentElement.scrollWidth)]).toEqual([path, 390]);
    }
    expect(await page.evaluate(isOwned)).toBe(false);
    await leave();
  });
});
