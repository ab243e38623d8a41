import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type ConsoleDesk, hostileText, startConsoleDesk } from './console.fixture.ts';
import { barriersOn } from './session-page.fixture.ts';

let desk: ConsoleDesk;
beforeAll(async () => {
  desk = await startConsoleDesk();
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

describe('every page', () => {
  it.each(['light', 'dark'] as const)('in %s has no barrier and fits a phone [CON-007]', async (colorScheme) => {
    const { page, go, leave } = await desk.enter('/', {
      context: { colorScheme, viewport: { width: 390, height: 844 } },
    });
    for (const path of ['/', '/keys', '/keys?new=1']) {
      await go(path);
      await page.getByRole('heading').first().waitFor();
      await page.waitForLoadState('networkidle');
      expect([path, await barriersOn(page)]).toEqual([path, []]);
      expect([path, await page.evaluate(() => document.documentElement.scrollWidth)]).toEqual([path, 390]);
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
