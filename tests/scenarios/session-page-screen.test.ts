import { type Sites, startSites } from '@vestra/server/computers/chromium/chromium.fixture';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { barriersOn, type PageDesk, startPageDesk, type Visit } from './session-page.fixture.ts';
import {
  documentsOfStates,
  lookingFor,
  openingOfStates,
  takesPictures,
  toolsOfStates,
  walkStates,
} from './session-states.fixture.ts';

let desk: PageDesk;
let sites: Sites;
beforeAll(async () => {
  sites = await startSites();
  // A call that is answered in the page itself finds its own addresses.
  desk = await startPageDesk({}, ['--disable-features=WebRtcHideLocalIpsWithMdns']);
  const { body: notebook } = await desk.call('POST', '/v1/notebooks', { body: { name: 'Rules', slug: 'rules' } });
  for (const [title, text] of Object.entries(documentsOfStates))
    await desk.call('POST', `/v1/notebooks/${notebook.id}/documents`, { body: { title, text } });
  await desk.apply({
    knowledge: [{ notebook: notebook.id }],
    ...{ name: 'desk', memory: 'none', browser: { allowed_domains: ['shop.localhost'] }, tools: toolsOfStates },
  });
  await desk.call('PATCH', '/v1/org', { body: { openings: { desk: openingOfStates } } });
  sites.serve('shop.localhost', {
    '/form': `<body style="margin:0"><input style="width:100%;height:50vh" oninput="tell('typed ' + value)" onkeydown="tell('key ' + event.key)"><button style="width:100%;height:40vh" onclick="tell('pressed')">Press</button><script>const tell = (what) => fetch('/told?' + encodeURIComponent(what));</script>`,
    '/told': '',
  });
});
afterAll(async () => {
  await desk.stop();
  await sites.close();
});

const keep = (user: string) =>
  desk.call('POST', `/v1/users/${user}/browser/fetch`, {
    body: { url: sites.at('shop.localhost', '/form'), keep_open_ms: 300_000 },
  });
const told = () => sites.seen.map(decodeURIComponent).filter((each) => each.includes('/told'));
const hears = (what: string) => expect.poll(told, { timeout: 20_000 }).toContain(`shop.localhost/told?${what}`);
const picture = ({ page }: Visit) => page.getByAltText('The page in the agent’s browser');
const drives = ({ page }: Visit, whom: string) => page.locator(`[data-driven-by=${whom}]`).waitFor();
/** The page that another origin gets in its frame, at its own address. */
const showRefusedFrame = async (page: Page, url: string) => {
  await page.route(url.replace(/#.*/, ''), async (route) => {
    const headers = { 'sec-fetch-dest': 'iframe', referer: 'https://elsewhere.example.com/shop' };
    await route.fulfill({ response: await route.fetch({ headers }) });
  });
  await page.goto(url);
};
const leave = async (visit: Visit) => {
  expect(visit.faults).toEqual([]);
  await visit.page.context().close();
};

describe('every state of the page', () => {
  it.each(['en-GB', ...(takesPictures ? (['ar-EG', 'de-DE'] as const) : [])] as const)(
    'can be read and used by everybody, light and dark, on a desk and on a phone, in %s [SES-420, VOI-440]',
    async (locale) => {
      const found: string[] = [];
      const look = lookingFor(found, locale);
      const visit = await walkStates(desk, { locale, look });
      await keep('eve');
      const screen = await desk.visit({ screen: 'control', user_id: 'eve' }, { locale });
      await screen.page.locator('[data-showing] img').waitFor();
      await look('screen', screen.page);
      await desk.call('DELETE', `/v1/sessions/${screen.session.id}`);
      await screen.page.locator('[data-ended=revoked]').waitFor();
      await look('ended', screen.page);
      await screen.page.goto('about:blank');
      await showRefusedFrame(screen.page, screen.session.url);
      await screen.page.getByText('https://elsewhere.example.com is not among the origins').waitFor();
      await look('refused origin', screen.page);
      expect([found, visit.faults, screen.faults]).toEqual([[], [], []]);
      await screen.page.context().close();
    },
    // Each of 27 states is drawn six times for its pictures.
    takesPictures ? 1_200_000 : undefined,
  );
});

describe('the page of a screen', () => {
  it('to look at waits for the browser to wake, shows it, and passes nothing on [PAGE-003, SES-028]', async () => {
    const asked: number[] = [];
    const visit = await desk.visit({ chat: false, screen: 'view', user_id: 'ada' });
    const { page, session } = visit;
    page.on('response', (response) => {
      if (response.url().endsWith('/screen')) asked.push(response.status());
    });
    await page.getByText('No page is open.').waitFor();
    expect(asked.at(-1)).toBe(200);
    await keep('ada');
    await picture(visit).waitFor();
    sites.seen.length = 0;
    await picture(visit).click({ force: true });
    await page.keyboard.type('x');
    expect(await page.getByRole('application').count()).toBe(0);
    expect(await page.getByRole('button', { name: 'Back' }).count()).toBe(0);
    expect(await barriersOn(page)).toEqual([]);
    expect((await keep('ada')).status).toBe(200);
    expect(told()).toEqual([]);
    await desk.call('DELETE', `/v1/sessions/${session.id}`);
    await page.getByText('You can close this page.').waitFor();
    await leave(visit);
  });

  it('retries while the computer wakes, and reports a failure after 30 seconds [SES-028]', async () => {
    const { body: session } = await desk.call('POST', '/v1/sessions', { body: { screen: 'view', user_id: 'zoe' } });
    const context = await desk.browser.newContext({ locale: 'en-GB' });
    const page = await context.newPage();
    await page.clock.install();
    let asked = 0;
    await page.route('**/screen', (route) => {
      asked += 1;
      const error = { type: 'conflict', code: 'browser_not_open', message: 'It wakes.', request_id: 'req_1' };
      return route.fulfill({ status: 409, json: { error } });
    });
    await page.goto(session.url);
    await page.getByText('The browser is starting…').waitFor();
    await expect.poll(() => asked, { timeout: 20_000 }).toBeGreaterThan(1);
    await expect
      .poll(
        async () => {
          await page.clock.runFor(1_000);
          return page.getByText('The browser cannot be shown right now.').isVisible();
        },
        { timeout: 60_000 },
      )
      .toBe(true);
    expect(asked).toBeGreaterThan(10);
    await page.unroute('**/screen');
    // From here on, time passes as it does for the computer that really wakes.
    await page.getByRole('button', { name: 'Try again' }).click();
    await page.getByText('No page is open.').waitFor();
    await context.close();
  });

  it('with control accepts mouse and keys, shows who drives, and returns the browser [PAGE-004]', async () => {
    await keep('bea');
    const visit = await desk.visit({ chat: false, screen: 'control', user_id: 'bea' });
    const { page } = visit;
    const glass = page.getByRole('application');
    await picture(visit).waitFor();
    const box = await picture(visit).boundingBox();
    if (!box) throw new Error('The picture has no place.');
    await page.mouse.click(box.x + box.width / 2, box.y + box.height / 4);
    await drives(visit, 'you');
    await page.getByText('You are in control').waitFor();
    expect((await keep('bea')).body.error.code).toBe('browser_in_use');
    await page.keyboard.type('hi');
    await hears('key i');
    await hears('typed hi');
    await page.getByLabel('Type on the page…').fill('ñandú');
    await page.keyboard.press('Enter');
    await hears('typed hiñandú');
    await page.mouse.click(box.x + box.width / 2, box.y + box.height * 0.7);
    await hears('pressed');
    await glass.focus();
    expect(await barriersOn(page)).toEqual([]);
    await page.keyboard.press('Escape');
    expect(await glass.evaluate((element) => element === document.activeElement)).toBe(false);
    await page.getByRole('button', { name: 'Return control' }).click();
    await drives(visit, 'nobody');
    expect((await keep('bea')).status).toBe(200);
    await leave(visit);
  });

  it('with `driver: user` is in the user’s hands from the start, until the page is left [SES-014]', async () => {
    await keep('carl');
    const visit = await desk.visit({ chat: false, screen: 'control', driver: 'user', user_id: 'carl' });
    await drives(visit, 'you');
    await picture(visit).waitFor();
    expect((await keep('carl')).body.error.code).toBe('browser_in_use');
    await leave(visit);
    await expect.poll(async () => (await keep('carl')).status, { timeout: 20_000 }).toBe(200);
  });

  it('is shown beside the chat, keeps its ratio, and fits the narrowest screen', async () => {
    await keep('dora');
    for (const viewport of [
      { width: 1280, height: 800 },
      { width: 360, height: 640 },
    ]) {
      const visit = await desk.visit({ screen: 'control', user_id: 'dora' }, { viewport });
      const { page } = visit;
      await picture(visit).waitFor();
      await page.getByLabel('Message', { exact: true }).waitFor();
      const shape = await picture(visit).evaluate((image) => {
        const { naturalWidth, naturalHeight } = image as HTMLImageElement;
        const { width, height } = image.getBoundingClientRect();
        return { wanted: naturalWidth / naturalHeight, is: width / height, width };
      });
      expect(Math.abs(shape.wanted - shape.is)).toBeLessThan(0.05);
      expect(shape.width).toBeGreaterThan(100);
      expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(viewport.width);
      await leave(visit);
    }
  });
});
