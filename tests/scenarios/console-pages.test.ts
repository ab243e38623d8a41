import { readFile } from 'node:fs/promises';
import { signWebhook } from '@vestra/sdk/webhook';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startCompany } from '../../packages/server/src/account/members/identity/company.fixture.ts';
import { type ConsoleDesk, endless, hostileText, startConsoleDesk, widthOf } from './console.fixture.ts';
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

/** Text that an item of the code menu copies to the clipboard. */
async function copied(page: Page, menu: string, item: string): Promise<string> {
  await page.getByRole('button', { name: menu }).last().click();
  await page.getByRole('menuitem', { name: item }).click();
  await page
    .getByText(/^Copied as/)
    .last()
    .waitFor();
  return page.evaluate(() => navigator.clipboard.readText());
}

async function saved(page: Page, act: () => Promise<void>): Promise<{ name: string; text: string }> {
  const coming = page.waitForEvent('download');
  await act();
  const download = await coming;
  return { name: download.suggestedFilename(), text: await readFile(await download.path(), 'utf8') };
}

describe('pages of knowledge, skills and tools', () => {
  it('a notebook accepts files, reports a faulty one, and searches like the agent; versions show its content [CON-100] [CON-006] [CON-267]', async () => {
    const { page, go, leave } = await desk.enter('/knowledge?new=1');
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
        textFile('large.txt', 'x'.repeat(11 * 1024 * 1024)),
      ]);
    await page.getByText('3 of 3 uploaded').waitFor();
    await page.getByRole('alert').getByText('large.txt is 11.0 MB. The maximum is 10 MB.').waitFor();
    await page
      .getByRole('cell', { name: /^(keyword, semantic|indexing)$/ })
      .nth(1)
      .waitFor();
    await page.getByLabel('Test search').fill('how long may I return shoes');
    await press(page, 'Search');
    await page.locator('[data-passages] li').first().getByText('within 30 days').waitFor();
    await page.locator('[data-passages]').getByRole('button', { name: 'returns.md' }).first().click();
    await page.getByRole('dialog', { name: 'returns.md' }).getByText('# Returns').waitFor();
    expect(await page.evaluate(isOwned)).toBe(false);

    const file = { name: 'reader', memory: 'none', knowledge: [{ notebook: made.notebook }] };
    await desk.apply(file);
    const documents = `/v1/notebooks/${made.notebook}/documents`;
    const { data } = (await desk.call('GET', documents)).body;
    const returns = data.find(({ title }: { title: string }) => title === 'returns.md');
    await desk.call('DELETE', `${documents}/${returns.id}`);
    await desk.call('POST', documents, { body: { title: 'returns.md', text: '# Returns\nWithin 14 days.' } });
    const { body } = await desk.apply(file);
    await go(`/deployments/${body.id}/versions`);
    const change = page.locator('[data-content-changes] li', { hasText: 'returns.md' });
    await change.locator('.cm-merge-b', { hasText: 'Within 14 days.' }).waitFor();
    await leave();
  });

  it('a skill is uploaded by its file, a secret is set and never shown [CON-100] [CON-101] [CON-264]', async () => {
    const { page, go, leave } = await desk.enter('/skills?new=1', {
      context: { permissions: ['clipboard-read', 'clipboard-write'] },
    });
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
    const setAgain = await copied(page, 'Copy as API request', 'Copy the last change as curl');
    expect(setAgain).toMatch(/^curl -X PUT '[^']+\/v1\/secrets\/CRM_TOKEN'/);
    expect(setAgain).not.toContain('sk-very-secret');
    await page.getByRole('button', { name: 'Actions for CRM_TOKEN' }).click();
    await page.getByRole('menuitem', { name: 'Delete' }).click();
    const sdk = await copied(page, 'Copy this change as an API request', 'Copy as TypeScript SDK');
    expect(sdk).toContain('vestra.secrets.delete({\n  name: "CRM_TOKEN"\n})');
    await leave();
  });

  it('the policy of a tool is set with one click for every deployment, and so is sampling by its server [CON-102] [CON-321]', async () => {
    const { body } = await desk.call('POST', '/v1/mcp-servers', {
      body: { name: 'CRM', slug: 'crm', url: 'http://127.0.0.1:9/mcp', tools: { deny: ['drop_all', 'send'] } },
    });
    made.server = body.id;
    const { page, leave } = await desk.enter(`/tool-servers/${body.id}`);
    await page.getByRole('alert').getByText('mcp_server_error').waitFor();
    await page.getByLabel('send: Approval').check();
    await press(page, 'Save policy');
    await page.getByText('Policy saved for all deployments').waitFor();
    const { tools } = (await desk.call('GET', `/v1/mcp-servers/${body.id}`)).body;
    expect(tools).toEqual({ deny: ['drop_all'], require_approval: ['send'] });
    await press(page, 'Edit');
    await page.getByLabel('May use the agent’s model').check();
    await press(page, 'Save');
    await page.getByText('while a tool runs, charged to the user').waitFor();
    expect((await desk.call('GET', `/v1/mcp-servers/${body.id}`)).body.sampling).toBe(true);
    await leave();
  });
});

describe('pages of users and automation', () => {
  it('a user has caps, a memory, and is erased only after their name is typed [CON-103]', async () => {
    await desk.call('POST', '/v1/users', { body: { user_id: 'gone' } });
    const { page, go, leave } = await desk.enter('/users/gone?edit=1');
    await page.getByLabel('Daily cap').fill('2.5');
    await press(page, 'Save');
    await page.getByText('of $2.50').waitFor();
    await go('/users/gone?part=memory&remember=1');
    await page.getByLabel('Fact', { exact: true }).fill('Likes <b>tea</b>.');
    await page.getByRole('dialog').getByRole('button', { name: 'Add fact' }).click();
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

  it('a batch is created from a file, and its CSV results contain no formulas [CON-104]', async () => {
    desk.script(() => ({ text: '=1+1' }));
    const { page, leave } = await desk.enter('/batches?new=1', { context: { acceptDownloads: true } });
    const file = page.getByLabel('Drop a file here, or choose it');
    await file.setInputFiles(textFile('orders.csv', 'order,message\n1,"Hello, one'));
    await page.getByRole('alert').getByText('A quoted cell is never closed.').waitFor();
    await file.setInputFiles(textFile('orders.csv', 'order,user_id,message\n1,ada,"Hello, one"\n2,ada,Two\n'));
    await press(page, 'Start 2 conversations');
    await page.getByText('2 of 2 done').waitFor();
    made.batch = lastId(page);
    const { name, text } = await saved(page, () => press(page, 'Download CSV'));
    expect(name).toBe(`${made.batch}.csv`);
    expect(text.split('\r\n')).toEqual([
      expect.stringMatching(/^index,user_id,status/),
      expect.stringMatching(/^0,ada,succeeded,'=1\+1/),
      expect.stringMatching(/^1,ada,succeeded,'=1\+1/),
    ]);
    await leave();
  });

  it('a routine shows its next ten times in words and a calendar of its runs, and can be paused [CON-105] [CON-265]', async () => {
    const { page, leave } = await desk.enter('/routines?user_id=ada&new=1');
    await page.getByLabel('Name', { exact: true }).fill('Morning');
    await page.getByLabel('Prompt').fill('What is new?');
    await page.getByLabel('Every').fill('weekday at 08:00');
    await page.getByLabel('Time zone').fill('Asia/Tokyo');
    await page.getByRole('dialog').getByRole('button', { name: 'Create routine' }).click();
    const times = page.locator('[data-next-times] li > time');
    await times.nth(9).waitFor();
    for (const words of await times.allTextContents())
      expect(words).toMatch(/^(Mon|Tues|Wednes|Thurs|Fri)day .* 08:00$/);
    made.routine = lastId(page);
    const runsOfDay = page.locator('[data-runs-of-day] li');
    desk.script(() => ({ text: 'News.' }));
    await desk.call('POST', `/v1/routines/${made.routine}/run`);
    await runsOfDay.filter({ hasText: 'ran' }).waitFor();
    desk.script(() => ({ fail: 400, failMessage: 'The model is tired.' }));
    await desk.call('POST', `/v1/routines/${made.routine}/run`);
    await runsOfDay.filter({ hasText: 'failed' }).waitFor();
    const today = page.locator('[data-calendar] [aria-pressed=true]');
    expect(await today.textContent()).toMatch(/: 1 ran, 1 failed/);
    await press(page, 'Next month');
    expect(
      await page
        .locator('[data-calendar]')
        .getByRole('button', { name: /: 1 scheduled$/ })
        .count(),
    ).toBeGreaterThan(19);
    await press(page, 'Pause');
    await page.getByText('No runs while paused.').waitFor();
    expect((await desk.call('GET', `/v1/routines/${made.routine}`)).body.enabled).toBe(false);
    await leave();
  });
});

describe('pages of webhooks and spend', () => {
  it('an endpoint is created and tested, and its signature verified in the page [CON-106]', async () => {
    const { page, go, leave } = await desk.enter('/webhooks?new=1');
    await page.getByLabel('URL').fill(`${desk.url}/nowhere`);
    await page.getByRole('dialog').getByRole('button', { name: 'Add endpoint' }).click();
    const secret = (await page.locator('[data-secret]').textContent()) ?? '';
    await press(page, 'I have saved it');
    await press(page, 'Send a test event');
    await page.getByRole('cell', { name: 'webhook.test' }).first().waitFor();
    made.endpoint = lastId(page);
    const signed = await signWebhook({ id: 'evt_1', body: '{"a":1}', secret });
    await go('/webhooks?signature=1');
    await page.getByLabel('Signing secret').fill(secret);
    for (const name of ['webhook-id', 'webhook-timestamp', 'webhook-signature'])
      await page.getByLabel(name).fill(signed[name] ?? '');
    await page.getByLabel('Raw body').fill('{"a":1}');
    await press(page, 'Check');
    await page.getByText('The signature is valid.').waitFor();
    await page.getByLabel('Raw body').fill('{"a":2}');
    await press(page, 'Check');
    await page.getByText('The signature is invalid').waitFor();
    made.event = (await desk.call('GET', '/v1/events?limit=1')).body.data[0].id;
    await leave();
  });

  it('spend by user and by deployment includes costs without either, and names the deployment [CON-653] [USE-650]', async () => {
    const file = JSON.stringify({ name: 'spender', instructions: 'Be kind.' });
    const asked = JSON.stringify({ question: 'Which hours?', is_done: false, file });
    desk.script(({ outputSchema }) => ({
      text: outputSchema ? asked : 'Hello.',
      usage: { inputTokens: 50_000, outputTokens: 0 },
    }));
    const spend = async (of: Record<string, unknown>) => {
      const { id } = await desk.say({ deployment: 'help-desk', message: 'Hello', ...of });
      await desk.rest(id);
    };
    await spend({ user_id: 'ada' });
    await spend({});
    const begun = { deployment: 'spender', describe: 'Answers questions about opening hours.' };
    expect((await desk.call('POST', '/v1/deployments/interview', { body: begun })).status).toBe(201);
    const { page, go, leave } = await desk.enter('/usage?by=user');
    const chart = page.locator('[data-chart]');
    const isDrawn = async (...names: string[]) => {
      for (const name of names) await chart.getByText(name, { exact: true }).first().waitFor();
      expect(await page.getByRole('alert').count()).toBe(0);
    };
    await isDrawn(hostileText.slice(0, 100), 'The org’s own agent');
    await go('/usage?by=deployment');
    await isDrawn('help-desk', 'No deployment');
    await page.getByRole('cell', { name: 'help-desk', exact: true }).waitFor();
    const { body } = await desk.call('GET', '/v1/usage?group_by=deployment');
    expect(body.data.map(({ label }: { label: string }) => label)).toEqual(['help-desk', 'No deployment']);

    for (const user_id of ['bea', 'cem', 'dora', 'eve', 'fay', 'gus']) await spend({ user_id });
    await go('/usage?by=user');
    await isDrawn('The org’s own agent and everything else');
    for (const by of ['day', 'model', 'kind', 'conversation', 'task']) {
      await go(`/usage?by=${by}&user_id=`);
      await chart.waitFor();
      await isDrawn();
    }
    await leave();
  });

  it('conversations show first words, user, deployment and failure, and their filters are in the address [REC-711]', async () => {
    await desk.call('POST', '/v1/users', { body: { user_id: 'u-17', name: 'Grace Hopper' } });
    desk.script(() => ({ fail: 400 }));
    const broken = await desk.say({ deployment: 'help-desk', user_id: 'u-17', message: 'Where is my parcel?' });
    await desk.rest(broken.id);
    desk.script(() => ({ text: 'Hello.' }));
    const work = await desk.say({ deployment: 'help-desk', message: 'Count the parcels', hand_off: 'always' });
    await desk.rest(work.id);
    const { page, go, leave } = await desk.enter('/conversations');
    const row = (name: RegExp) => page.getByRole('row', { name });
    await row(/Where is my parcel\?.*failed.*Grace Hopper.*help-desk v1/).waitFor();
    await row(/Count the parcels.*idle.*the org’s own agent/i).waitFor();
    await page.getByLabel('Failed').selectOption('true');
    await row(/Count the parcels/).waitFor({ state: 'detached' });
    await page.getByLabel('Search').fill('parc');
    await page.waitForURL(/q=parc/);
    await page.reload();
    await row(/Where is my parcel/).waitFor();
    expect(await page.getByLabel('Failed').inputValue()).toBe('true');
    await go('/conversations?q=nothing-like-it');
    await page.getByText('No conversations match these filters').waitFor();

    const [{ id }] = (await desk.call('GET', `/v1/tasks?conversation_id=${work.id}`)).body.data;
    await go(`/tasks/${id}`);
    await page.getByRole('heading', { name: 'Count the parcels' }).waitFor();
    const request = page.locator('section', { has: page.getByRole('heading', { name: 'Request', exact: true }) });
    await request.getByText('Count the parcels').waitFor();
    await leave();
  });

  it('spend of a single day is one narrow bar with its day [CON-770]', async () => {
    desk.script(() => ({ text: 'Hello.' }));
    const { id } = await desk.say({ deployment: 'help-desk', message: 'Hello' });
    await desk.rest(id);
    const { data } = (await desk.call('GET', '/v1/usage?group_by=day')).body;
    const day: string = data[0].key;
    const { page, go, leave } = await desk.enter(`/usage?from=${day}&to=${day}`);
    const chart = page.locator('[data-chart] svg');
    const bars = chart.locator('rect');
    await bars.first().waitFor();
    expect([await bars.count(), await bars.first().getAttribute('width')]).toEqual([1, '48']);
    await chart.getByText(day).waitFor();
    await page.getByRole('cell', { name: day, exact: true }).waitFor();
    await page.getByText('Show as table').click();
    await page.getByRole('rowheader', { name: day }).waitFor();
    // The same look as a longer period has.
    await go('/usage');
    await expect.poll(() => bars.count()).toBe(30);
    await leave();
  });

  it('spend is shown with its cap and exported as CSV, and the cap is changed [CON-107] [CON-205]', async () => {
    const { page, go, leave } = await desk.enter('/', { context: { acceptDownloads: true } });
    // Every org begins with caps, which nobody has set.
    await page.getByRole('link', { name: 'To do: Set a cap' }).waitFor();
    await go('/limits?edit=1');
    await page.getByLabel('Org, per day').fill('3');
    await page.getByLabel('Alerts at').fill('50, 90');
    await press(page, 'Save limits');
    await page.getByRole('alert').getByText('cap_above_maximum').waitFor();
    expect(await page.getByLabel('Each user, per day').getAttribute('aria-invalid')).toBe('true');
    await page.getByLabel('Each user, per day').fill('2');
    await press(page, 'Save limits');
    await page.getByText('50% and 90% of a cap').waitFor();
    const { caps, usage_alerts } = (await desk.call('GET', '/v1/limits')).body;
    expect([caps.org_daily_usd, usage_alerts.thresholds]).toEqual([3, [50, 90]]);
    await go('/');
    await page.getByRole('link', { name: 'Done: Set a cap' }).waitFor();
    await go('/usage?by=kind');
    await page.locator('[data-chart]').getByText('Daily cap $3.00').waitFor();
    const { text } = await saved(page, () => press(page, 'Download CSV'));
    expect(text.split('\r\n')[0]).toBe('kind,label,cost_usd,tasks,input_tokens,output_tokens');
    await leave();
  });
});

describe('the page of a session', () => {
  it('shows the org’s opening message, and previews a new appearance [CON-266]', async () => {
    const { page, leave } = await desk.enter('/settings?part=pages');
    await press(page, 'Add deployment');
    await page.getByLabel('Message', { exact: true }).fill('Hello from paper.');
    await page.getByLabel('Suggested questions, one per line').fill('Where is my order?\n\nWho are you?');
    await press(page, 'Save welcome messages');
    await page.getByText('Saved. New sessions use it.').waitFor();
    const { openings } = (await desk.call('GET', '/v1/org')).body;
    expect(openings).toEqual({
      '*': { message: 'Hello from paper.', suggestions: ['Where is my order?', 'Who are you?'] },
    });
    await press(page, 'Show preview');
    const frame = page.frameLocator('vestra-session iframe');
    await frame.getByText('Hello from paper.').waitFor();
    await page.getByLabel('Accent').fill('#b4532a');
    const accent = () =>
      frame.locator('html').evaluate((html) => getComputedStyle(html).getPropertyValue('--accent').trim());
    await expect.poll(accent).toBe('#b4532a');
    await page.getByText('--vestra-accent: #b4532a;').waitFor();
    await leave();
  });
});

describe('people', () => {
  it('are invited, get a link for a new password, and end their other sign-ins [CON-108]', async () => {
    const { page, leave } = await desk.enter('/members?invite=1');
    await page.getByLabel('Email').fill('new@example.com');
    await page.getByRole('dialog').getByRole('button', { name: 'Invite' }).click();
    const invitation = (await page.locator('[data-secret]').textContent()) ?? '';
    await press(page, 'I have saved it');
    const token = new URL(invitation).hash.replace('#token=', '');
    await desk.call('POST', '/v1/members/accept', {
      key: null,
      body: { token, name: 'New', password: 'forgotten passphrase' },
    });
    await page.reload();
    await page.getByRole('cell', { name: 'New', exact: true }).waitFor();
    await page.getByRole('button', { name: 'Actions for New' }).click();
    await page.getByRole('menuitem', { name: 'Create password reset link' }).click();
    const reset = (await page.locator('[data-secret]').textContent()) ?? '';
    await leave();

    const other = await desk.enter('/sign-in', { as: null });
    await other.page.goto(reset);
    await other.page.getByLabel('New password').fill('a better passphrase');
    await press(other.page, 'Save and sign in');
    await other.page.getByRole('heading', { name: 'Hello, New' }).waitFor();
    await other.page.goto(`${desk.line.url}/console/${desk.orgId}/test/account`);
    await other.page.getByText('current', { exact: true }).waitFor();
    await other.page.getByLabel('Name', { exact: true }).fill('Newer');
    await press(other.page, 'Save name');
    await other.page.getByRole('button', { name: /^Newer.*account and appearance/ }).waitFor();
    const again = { email: 'new@example.com', password: 'a better passphrase' };
    expect((await desk.call('POST', '/v1/console/login', { key: null, body: again })).status).toBe(200);
    await press(other.page, 'Sign out everywhere else');
    await other.page.getByText('Signed out of 1 browser').waitFor();
    await other.leave();
  });
});

describe('a way to sign in', () => {
  const newer = { email: 'new@example.com', password: 'a better passphrase' };
  const signOut = async (page: Page) => {
    await page.getByRole('button', { name: /account and appearance/ }).click();
    await page.getByRole('menuitem', { name: 'Sign out' }).click();
    await page.getByRole('heading', { name: 'Sign in' }).waitFor();
  };
  const more = async (page: Page, of: string, act: string) => {
    await page.getByRole('button', { name: `Actions for ${of}` }).click();
    await page.getByRole('menuitem', { name: act }).click();
  };

  it('is a passkey: added with the password, renamed, used and removed [CON-200]', async () => {
    const { page, go, leave } = await desk.enter('/account?passkey=1', { as: newer });
    await addDevice(page);
    await page.getByLabel('Name', { exact: true }).last().fill('Laptop');
    await page.getByRole('dialog').getByLabel('Password').fill('not the password');
    await press(page, 'Continue');
    await page.getByRole('alert').getByText('password_wrong').waitFor();
    await page.getByRole('dialog').getByLabel('Password').fill(newer.password);
    await press(page, 'Continue');
    await page.getByRole('cell', { name: 'Laptop', exact: true }).waitFor();
    await more(page, 'Laptop', 'Rename');
    await page.getByRole('dialog').getByLabel('Name').fill('Old laptop');
    await page.getByRole('dialog').getByRole('button', { name: 'Save' }).click();
    await page.getByRole('cell', { name: 'Old laptop', exact: true }).waitFor();

    await signOut(page);
    await press(page, 'Sign in with a passkey');
    await page.getByRole('heading', { name: 'Hello, Newer' }).waitFor();
    await go('/account');
    await more(page, 'Old laptop', 'Remove');
    await press(page, 'Remove passkey');
    await page.getByText('No passkeys yet').waitFor();
    await signOut(page);
    await press(page, 'Sign in with a passkey');
    await page.getByRole('alert').getByText('This passkey is not valid here.').waitFor();
    await leave();
    desk.forget();
  });

  it('is the company’s sign-in: set up, tested, linked, and removed with a warning of the consequences [CON-201] [CON-202] [CON-203]', async () => {
    const company = await startCompany(`${desk.line.url}/v1/console/sign-in/callback`);
    const sits = (name: string, email: string) => {
      company.person = { sub: name, claims: { email, email_verified: true, name } };
    };
    const { page, go, leave } = await desk.enter('/settings?part=sign-in');
    await page.getByLabel('Issuer').fill(`${company.issuer}/nowhere`);
    await page.getByLabel('Client id').fill(company.clientId);
    await page.getByLabel('Client secret').fill(company.clientSecret);
    await page.getByLabel('Allowed domains').fill('example.com\n');
    await page.getByLabel('Role of new members').selectOption('developer');
    await press(page, 'Set up single sign-on');
    await page.getByRole('alert').getByText('identity_provider_error').waitFor();
    await page.getByLabel('Issuer').fill(company.issuer);
    await press(page, 'Set up single sign-on');
    await page.getByText('Leave this empty to keep it.').waitFor();
    expect(await page.content()).not.toContain(company.clientSecret);

    sits('Olga', 'olga@elsewhere.example');
    await press(page, 'Test sign-in');
    await page.getByRole('alert').getByText('not in a domain that this org allows').waitFor();
    expect(new URL(page.url()).pathname).toBe(`/console/${desk.orgId}/test/account`);
    sits('Olga', 'olga@example.com');
    await press(page, 'Link company account');
    await page.getByText('olga@example.com').waitFor();
    await go('/settings?part=sign-in');
    await press(page, 'Test sign-in');
    await page.getByText('olga@example.com').waitFor();
    await press(page, 'Unlink');
    await page.getByRole('dialog').getByRole('button', { name: 'Unlink' }).click();
    await page.getByRole('button', { name: 'Link company account' }).waitFor();

    await go('/members');
    await page.getByRole('cell', { name: 'Newer', exact: true }).waitFor();
    sits('Mia', 'mia@example.com');
    const mia = await desk.enter('/sign-in', { as: null });
    await mia.page.goto(`${desk.line.url}/v1/console/sign-in/${desk.orgId}`);
    await mia.page.getByRole('heading', { name: 'Hello, Mia' }).waitFor();
    await page.getByRole('cell', { name: 'Mia', exact: true }).waitFor();

    await mia.page.getByRole('link', { name: 'Deployments' }).click();
    await mia.page.getByRole('heading', { name: 'Deployments' }).waitFor();
    // The page finds out by itself, as it looks for what happened.
    await desk.sql(`DELETE FROM console_sessions WHERE member_id IS NOT NULL`);
    const again = mia.page.getByRole('dialog', { name: 'Sign in again' });
    const [tab] = await Promise.all([
      mia.page.context().waitForEvent('page'),
      again.getByRole('link', { name: 'Sign in with your company’s account' }).click(),
    ]);
    await tab.getByRole('heading', { name: 'Hello, Mia' }).waitFor();
    await tab.close();
    await mia.page.evaluate(() => window.dispatchEvent(new Event('focus')));
    await mia.page.getByRole('heading', { name: 'Deployments' }).waitFor();
    await again.waitFor({ state: 'detached' });

    await go('/settings?part=sign-in&remove=1');
    await page.getByRole('dialog').getByText('they are locked out until it is set up again').waitFor();
    await page.getByRole('dialog').getByRole('button', { name: 'Remove single sign-on' }).click();
    await page.getByRole('button', { name: 'Set up single sign-on' }).waitFor();
    await mia.page.goto(`${desk.line.url}/v1/console/sign-in/${desk.orgId}`);
    await mia.page.getByRole('alert').getByText('This org has no single sign-on.').waitFor();
    await mia.leave();
    await leave();
    await company.stop();
  });
});

/** A device of the browser's own that says yes by itself. */
async function addDevice(page: Page): Promise<void> {
  const devtools = await page.context().newCDPSession(page);
  await devtools.send('WebAuthn.enable');
  await devtools.send('WebAuthn.addVirtualAuthenticator', {
    options: {
      protocol: 'ctap2',
      transport: 'internal',
      hasResidentKey: true,
      hasUserVerification: true,
      isUserVerified: true,
      automaticPresenceSimulation: true,
    },
  });
}

describe('a long list', () => {
  it('is loaded and drawn only where visible, and a page that fails is requested once [CON-320]', async () => {
    const many = 2000;
    await desk.sql(
      `INSERT INTO conversations (id, org_id, mode, user_id)
       SELECT 'conv_' || lpad(n::text, 24, '0'), $1, 'test', 'many' FROM generate_series(1, $2::int) n`,
      [desk.orgId, many],
    );
    const { page, go, leave } = await desk.enter('/account');
    await page.addInitScript(countReadsOfRows);
    let asked = 0;
    let refused = 0;
    await page.route(/\/v1\/conversations\?/, async (route) => {
      asked++;
      // The third page fails with an error that no retry can fix.
      if (asked !== 3) return route.continue();
      refused++;
      return route.fulfill({ status: 400, json: { error: { code: 'invalid_request', message: 'Not this page.' } } });
    });
    await go('/conversations?user_id=many');
    const rows = page.locator('#main tbody tr');
    const last = rows.last();
    const shownRows = async () => Number(await last.getAttribute('aria-rowindex')) - 1;
    const scrollTo = (top: number) =>
      page.locator('#main').evaluate((main, to) => main.scrollTo({ top: to < 0 ? main.scrollHeight : to }), top);
    // The second page comes by itself: the end of the first is near.
    await page.waitForFunction(() => (document.querySelector('#main tbody')?.clientHeight ?? 0) >= 150 * 40);
    await scrollTo(-1);
    await page.getByText('Not this page.').waitFor();
    const before = asked;
    await page.evaluate(() => new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve))));
    expect([asked, refused]).toEqual([before, 1]);
    await press(page, 'Try again');
    for (const done = page.getByText('2,000 in total'); !(await done.isVisible()); ) {
      const at = await shownRows();
      await scrollTo(-1);
      await page.waitForFunction(
        (seen) =>
          Number(document.querySelector('#main tbody tr:last-child')?.getAttribute('aria-rowindex')) - 1 > seen ||
          / in total/.test(document.querySelector('#main p[role=status]')?.textContent ?? ''),
        at,
      );
    }
    expect(asked).toBeLessThan(2 + many / 100 + 2);
    // Twenty pages came. To look at every row for each of them, and for each step on the way, would be 50,000 at least.
    const reads = () => page.evaluate(() => (window as unknown as { readsOfRows: number }).readsOfRows);
    expect(await reads()).toBeLessThan(25_000);
    const readBefore = await reads();
    for (const top of [60_000, 40_000, 20_000, 0]) {
      await scrollTo(top);
      await page.waitForFunction(
        (first) => Number(document.querySelector('#main tbody tr')?.getAttribute('aria-rowindex')) - 2 <= first,
        top / 40,
      );
      expect(await rows.count()).toBeLessThan(60);
    }
    expect((await reads()) - readBefore).toBeLessThan(many);
    await leave();
  });
});

/** Runs in the page and counts how often a row's id is read, which each pass through all rows does. */
function countReadsOfRows(): void {
  const counted = window as unknown as { readsOfRows: number };
  counted.readsOfRows = 0;
  const { parse } = JSON;
  JSON.parse = (text: string) => {
    const value = parse(text);
    for (const row of value?.data ?? []) {
      const { id } = row;
      Object.defineProperty(row, 'id', {
        enumerable: true,
        get: () => {
          counted.readsOfRows++;
          return id;
        },
      });
    }
    return value;
  };
}

describe('every page', () => {
  it('has no barrier and fits a phone with the chosen tab in sight, the themes in turn [CON-007] [CON-322]', {
    timeout: 240_000,
  }, async () => {
    await writeEverywhere(endless);
    const { page, follow, leave } = await desk.enter('/', { context: { viewport: { width: 390, height: 844 } } });
    const paths = [
      ...['/knowledge', `/knowledge/${made.notebook}`, '/skills', `/skills/${made.skill}`, '/secrets', '/apps'],
      ...['/tool-servers', `/tool-servers/${made.server}`, '/apps?show=connections', '/users', '/users/ada'],
      ...['/users/ada?part=memory', '/users/ada?part=files', '/users/ada?part=computer', '/usage?by=user', '/limits'],
      ...['/webhooks', `/webhooks/${made.endpoint}`, '/events', `/events/${made.event}`, '/batches', '/audit'],
      ...[`/batches/${made.batch}`, '/routines', `/routines/${made.routine}`, '/members', '/account', '/settings'],
      ...['/settings?part=pages', '/settings?part=memory', '/settings?part=models', '/settings?part=sign-in'],
      ...['/routines?show=calendar&user_id=ada', '/account?passkey=1'],
    ];
    for (const [at, path] of paths.entries()) {
      await page.emulateMedia({ colorScheme: at % 2 === 0 ? 'light' : 'dark' });
      await follow(path);
      await page.getByText('Loading…').first().waitFor({ state: 'detached' });
      expect([path, await barriersOn(page)]).toEqual([path, []]);
      expect([path, await widthOf(page)]).toEqual([path, 390]);
      expect([path, await hasChosenTabInSight(page)]).toEqual([path, true]);
    }
    expect(await page.evaluate(isOwned)).toBe(false);
    await leave();
  });
});

/** True also where a page has no tabs. */
const hasChosenTabInSight = (page: Page) =>
  page.locator('#main nav [aria-current=page]').evaluateAll((tabs) =>
    tabs.every((tab) => {
      const { left, right } = tab.getBoundingClientRect();
      return left >= 0 && right <= window.innerWidth;
    }),
  );

/** The same text into every field that takes any, cut to what the field takes. */
async function writeEverywhere(text: string): Promise<void> {
  const change = async (method: string, path: string, body: unknown) => {
    const answer = await desk.call(method, path, { body });
    if (answer.status >= 300) throw new Error(`${method} ${path}: ${answer.text}`);
  };
  await change('PATCH', '/v1/users/ada', { name: text.slice(0, 200), metadata: { note: text.slice(0, 500) } });
  await change('POST', '/v1/memory', { user_id: 'ada', text: text.slice(0, 1000) });
  await change('PATCH', `/v1/notebooks/${made.notebook}`, {
    name: text.slice(0, 80),
    description: text.slice(0, 300),
  });
  await change('PATCH', `/v1/mcp-servers/${made.server}`, { name: text.slice(0, 80) });
  await change('PATCH', `/v1/webhooks/${made.endpoint}`, { description: text.slice(0, 200) });
  await change('PATCH', `/v1/routines/${made.routine}`, { name: text.slice(0, 120), ask: text.slice(0, 8000) });
  await change('PATCH', '/v1/org', { name: text.slice(0, 200) });
}
