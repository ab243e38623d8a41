import { spawn } from 'node:child_process';
import { cp, mkdtemp, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { BrowserContextOptions, FrameLocator, Locator, Page } from 'playwright-core';
import { rolldown } from 'rolldown';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { builtPackage } from '../support/built-package.ts';
import { examplesFolder } from '../support/example.ts';
import { calling, inTurn } from './interactions.fixture.ts';
import { barriersOn, type PageDesk, startPageDesk } from './session-page.fixture.ts';

const root = join(import.meta.dirname, '../..');

let desk: PageDesk;
let folder: string;
let shop: { url: string; port: string; stop: () => void };
beforeAll(async () => {
  desk = await startPageDesk();
  await desk.apply({ name: 'support-desk', memory: 'none' });
  folder = await mkdtemp(join(tmpdir(), 'vestra-shop-'));
  await cp(join(examplesFolder, 'support-desk/page'), folder, { recursive: true });
  await buildReactExample();
  shop = await openShop();
  await desk.call('PATCH', '/v1/org', { body: { allowed_embed_origins: [shop.url] } });
});
afterAll(async () => {
  shop.stop();
  await desk.stop();
  await rm(folder, { recursive: true, force: true });
});

/** The example as it stands, with the package as it would be published. */
async function buildReactExample(): Promise<void> {
  await symlink(join(root, 'node_modules'), join(folder, 'node_modules'));
  const building = await rolldown({
    input: join(examplesFolder, 'support-desk/page/app.jsx'),
    resolve: { alias: { '@vestra/react': join(await builtPackage('react'), 'vestra-session.js') } },
    transform: { define: { 'process.env.NODE_ENV': '"production"' } },
  });
  await building.write({ file: join(folder, 'app.js') });
  await building.close();
}

/** The company's own server, as the example has it. */
async function openShop(key = desk.testKey) {
  const child = spawn(process.execPath, [join(folder, 'server.js')], {
    env: { VESTRA_URL: desk.line.url, VESTRA_KEY: key, PORT: '0' },
  });
  const said = await new Promise<string>((resolve) => child.stdout.once('data', (chunk) => resolve(String(chunk))));
  const url = /http:\S+/.exec(said)?.[0] as string;
  return { url, port: new URL(url).port, stop: () => child.kill() };
}

type Told = { type: string; detail: Record<string, unknown> };
type Visited = { page: Page; frame: FrameLocator; told: () => Promise<Told[]>; faults: string[] };

/** A customer opens the shop, and the chat in it where it is not open from the start. */
async function visit(customer: string, path = '/', options: BrowserContextOptions = {}): Promise<Visited> {
  const context = await desk.browser.newContext({ locale: 'en-GB', ...options });
  await context.addCookies([{ name: 'customer', value: customer, url: shop.url }]);
  const page = await context.newPage();
  const faults: string[] = [];
  page.on('pageerror', ({ message }) => faults.push(message));
  await page.addInitScript(() => {
    const told: unknown[] = [];
    Object.assign(globalThis, { told });
    for (const type of ['ready', 'ended', 'handoff', 'resize', 'unread', 'error']) {
      document.addEventListener(type, (event) => told.push({ type, detail: (event as CustomEvent).detail }), true);
    }
  });
  await page.goto(`${shop.url}${path}`);
  if (path === '/') await page.getByRole('button', { name: 'Open chat' }).click();
  const told = () => page.evaluate(() => (globalThis as unknown as { told: Told[] }).told);
  return { page, frame: page.locator('vestra-session').locator('iframe').contentFrame(), told, faults };
}

const soon = { timeout: 20_000 };

const reply = ({ frame }: Visited, text: string) => frame.locator('[data-role=agent]').getByText(text).first();
const field = ({ frame }: Visited) => frame.getByLabel('Message', { exact: true });
const say = async (visited: Visited, text: string) => {
  await field(visited).fill(text);
  await field(visited).press('Enter');
};
const of = async ({ told }: Visited, type: string) =>
  (await told()).flatMap((each) => (each.type === type ? [each.detail] : []));
const placeOf = async (visited: Visited) => {
  await expect.poll(async () => (await of(visited, 'ready')).length, soon).toBeGreaterThan(0);
  return (await of(visited, 'ready')).at(-1)?.conversationId as string;
};
const sessionsOf = (customer: string) =>
  desk.sql('SELECT id, conversation_id FROM sessions WHERE user_id = $1 ORDER BY created_at', [customer]);
const expireAll = (customer: string) =>
  desk.sql(`UPDATE sessions SET expires_at = now() - interval '1 minute' WHERE user_id = $1`, [customer]);
const userMessages = async (conversationId: string) =>
  (await desk.call('GET', `/v1/conversations/${conversationId}/messages?limit=50`)).body.data
    .filter(({ role }: { role: string }) => role === 'user')
    .map(({ text }: { text: string }) => text)
    .reverse();
/** A mark that is gone once the page in the frame is loaded again. */
const mark = ({ page }: Visited) => page.frames()[1]?.evaluate(() => Object.assign(globalThis, { marked: true }));
const isMarked = ({ page }: Visited) => page.frames()[1]?.evaluate(() => 'marked' in globalThis);

describe('the plain page of the example', () => {
  it('continues in one conversation after either page reloads, and in a second tab [PAGE-201, SES-202]', async () => {
    desk.script(() => ({ text: `${'A long story. '.repeat(60)}\n\n`.repeat(8) }));
    const visited = await visit('ida');
    const { page, frame, faults } = visited;
    await say(visited, 'Tell me a story');
    await frame.locator('[data-role=agent][aria-busy=false]').first().waitFor();
    const place = await placeOf(visited);
    await desk.rest(place);
    // The page reveals a long reply evenly, also after its end.
    await frame.locator('[data-role=agent][aria-busy=false]').waitFor();
    await field(visited).fill('Half a sen');
    const scroll = frame.getByLabel('Conversation');
    await scroll.evaluate((box) => box.scrollTo({ top: box.scrollHeight / 2 }));
    await frame.getByRole('button', { name: 'Go to the newest message' }).waitFor();
    const read = () => scroll.evaluate((box) => box.scrollTop);
    const at = await read();

    for (const reload of [() => page.reload(), () => page.frames()[1]?.goto(page.frames()[1]?.url() ?? '')]) {
      await reload();
      await frame.getByText('Tell me a story').waitFor();
      expect(await field(visited).inputValue()).toBe('Half a sen');
      await expect.poll(async () => Math.abs((await read()) - at), soon).toBeLessThan(40);
    }
    expect(await placeOf(visited)).toBe(place);

    const second = await page.context().newPage();
    await second.goto(shop.url);
    await second.getByRole('button', { name: 'Open chat' }).click();
    const beside = second.locator('vestra-session').locator('iframe').contentFrame();
    await beside.getByText('Tell me a story').waitFor();
    desk.script(() => ({ text: 'Heard in both.' }));
    await say(visited, 'And now?');
    for (const each of [frame, beside]) await reply({ ...visited, frame: each }, 'Heard in both.').waitFor();
    expect(new Set((await sessionsOf('ida')).map(({ conversation_id }) => conversation_id))).toEqual(new Set([place]));
    expect(faults).toEqual([]);
    await page.context().close();
  });

  it('lasts an hour, with invisible renewals and a stream that is cut [PAGE-202]', async () => {
    desk.script(() => ({ text: 'Yes.' }));
    const visited = await visit('max');
    const { page, frame, faults } = visited;
    await page.clock.install();
    await page.reload();
    const place = await placeOf(visited);
    await field(visited).fill('Not sent yet');
    await mark(visited);
    const before = (await sessionsOf('max')).length;
    for (let renewals = 1; renewals <= 6; renewals += 1) {
      await page.clock.fastForward(10 * 60_000 + 1000);
      await expect.poll(async () => (await sessionsOf('max')).length, soon).toBe(before + renewals);
      const newest = (await sessionsOf('max')).at(-1)?.id;
      const isTaken = async () =>
        (await page.frames()[1]?.evaluate(() => JSON.stringify({ ...sessionStorage })))?.includes(newest);
      await expect.poll(isTaken, soon).toBe(true);
      await desk.sql(`UPDATE sessions SET expires_at = now() - interval '1 minute' WHERE user_id = $1 AND id <> $2`, [
        'max',
        newest,
      ]);
      desk.line.cut();
      desk.line.restore();
    }
    expect([await isMarked(visited), await field(visited).inputValue()]).toEqual([true, 'Not sent yet']);
    await field(visited).press('Enter');
    await frame.locator('[data-role=agent]').getByText('Yes.').waitFor();
    expect(await userMessages(place)).toEqual(['Not sent yet']);
    expect([await of(visited, 'ended'), await of(visited, 'error'), faults]).toEqual([[], [], []]);
    await page.context().close();
  });

  it('renews a session that expired during sleep, and sends meanwhile queued messages once [PAGE-203]', async () => {
    desk.script(() => ({ text: 'Good morning.' }));
    const visited = await visit('zoe');
    const { page, frame } = visited;
    const place = await placeOf(visited);
    await mark(visited);
    await expireAll('zoe');
    await say(visited, 'Awake again');
    await reply(visited, 'Good morning.').waitFor();
    expect([await userMessages(place), await isMarked(visited)]).toEqual([['Awake again'], true]);

    // The shop's server is down for longer than any client waits, then returns.
    await page.route('**/agent-session', (route) => route.fulfill({ status: 503 }));
    await expireAll('zoe');
    // Each time the network is there again, a pause is over.
    const wake = () => page.evaluate(() => void window.dispatchEvent(new Event('online')));
    const isTold = async () => {
      await wake();
      return (await of(visited, 'ended')).at(-1);
    };
    await expect.poll(isTold, soon).toEqual({ reason: 'expired' });
    await frame.getByText('It has expired.').waitFor();
    await page.unroute('**/agent-session');
    await wake();
    await field(visited).waitFor();
    await say(visited, 'Still here');
    await expect.poll(() => userMessages(place), soon).toEqual(['Awake again', 'Still here']);
    await page.context().close();
  });

  it('receives its end, and restarts on request [PAGE-205]', async () => {
    const visited = await visit('tom');
    const place = await placeOf(visited);
    const [session] = await sessionsOf('tom');
    await desk.call('DELETE', `/v1/sessions/${session.id}`);
    await visited.frame.getByText('You can close this page.').waitFor();
    await expect.poll(() => of(visited, 'ended'), soon).toEqual([{ reason: 'revoked' }]);
    await visited.page
      .locator('vestra-session')
      .evaluate((element) => (element as HTMLElement & { restart(): void }).restart());
    await field(visited).waitFor();
    expect(await placeOf(visited)).toBe(place);
    await visited.page.context().close();
  });

  it('may use a bare token itself, and a page of another origin may not [SES-205, SES-207]', async () => {
    const { page } = await visit('eli');
    const { body: session } = await desk.call('POST', '/v1/sessions', { body: { user_id: 'eli', chat: true } });
    const call = ([url, token]: readonly [string, string]) =>
      fetch(url, { headers: { authorization: `Bearer ${token}` } }).then(
        async (response) => (await response.json()).status as string,
        (error: Error) => error.name,
      );
    const given = [`${desk.line.url}/v1/sessions/${session.id}`, session.token] as const;
    expect(await page.evaluate(call, given)).toBe('live');
    expect(await page.evaluate(call, [given[0], desk.testKey] as const)).toBe('TypeError');
    await page.goto(`http://127.0.0.1:${shop.port}/`);
    expect(await page.evaluate(call, given)).toBe('TypeError');
    await page.context().close();
  });
});

describe('the logo of the company', () => {
  it('is shown in the bubble and above the chat, if there is one [PAGE-206]', async () => {
    const { page } = await visit('lea');
    const element = page.locator('vestra-session');
    expect(await element.locator('img:visible').count()).toBe(0);
    const logo = 'data:image/svg+xml,<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"/>';
    await element.evaluate((each, source) => each.setAttribute('logo', source), logo);
    await expect.poll(() => element.locator('img:visible').count(), soon).toBeGreaterThan(0);
    const sources = await element
      .locator('img:visible')
      .evaluateAll((all) => all.map((each) => each.getAttribute('src')));
    expect(new Set(sources)).toEqual(new Set([logo]));
    await page.context().close();
  });
});

/** Whether it is set in the typeface of the server, with its mark, in its colours. */
const hasIdentity = (place: Locator) =>
  place.evaluate(async ({ ownerDocument: { body, fonts, images } }) => {
    const isSet = (await fonts.load('1rem "Geist Variable"')).length > 0;
    const { fontFamily, backgroundColor } = getComputedStyle(body);
    await Promise.all([...images].map((image) => image.decode()));
    return isSet && fontFamily.includes('Geist Variable') && images.length > 0 && backgroundColor.startsWith('oklch');
  });

describe('a page that may not embed it', () => {
  it('shows the reason in the frame with the identity of every page, and receives no messages [SES-208, PAGE-772]', async () => {
    const context = await desk.browser.newContext({ locale: 'en-GB' });
    const page = await context.newPage();
    await page.goto(`http://127.0.0.1:${shop.port}/`);
    await page.getByRole('button', { name: 'Open chat' }).click();
    const frame = page.locator('vestra-session').locator('iframe').contentFrame();
    await frame.getByText(`http://127.0.0.1:${shop.port} is not among the origins that may embed it.`).waitFor();
    expect(await hasIdentity(frame.locator('main'))).toBe(true);
    await context.close();
  });

  it('has the identity of every page, as do an unknown session, an old download and the end of a sign-in [PAGE-772]', async () => {
    const context = await desk.browser.newContext({ locale: 'en-GB' });
    const page = await context.newPage();
    for (const path of ['/session/ses_none', '/downloads/file_none', '/v1/connections/callback?state=none']) {
      await page.goto(`${desk.line.url}${path}`);
      expect([path, await hasIdentity(page.locator('main'))]).toEqual([path, true]);
      expect([path, await barriersOn(page)]).toEqual([path, []]);
    }
    await context.close();
  });
});

describe("a page on the developer's machine", () => {
  const pages = [
    ['localhost', '/'],
    ['localhost', '/react'],
    ['127.0.0.1', '/'],
    ['127.0.0.1', '/react'],
  ] as const;
  const list = (key: string, allowed_embed_origins: string[]) =>
    desk.call('PATCH', '/v1/org', { key, body: { allowed_embed_origins } });
  const frameOn = async (url: string) => {
    const context = await desk.browser.newContext({ locale: 'en-GB' });
    const page = await context.newPage();
    await page.goto(url);
    if (url.endsWith('/')) await page.getByRole('button', { name: 'Open chat' }).click();
    return { page, frame: page.locator('vestra-session').locator('iframe').contentFrame() };
  };

  it.each(pages)('is talked to at http://%s%s with a test key [SES-531]', async (host, path) => {
    desk.script(() => ({ text: `Hello at ${host}.` }));
    await list(desk.testKey, [`http://localhost:${shop.port}`, `http://127.0.0.1:${shop.port}`]);
    const { page, frame } = await frameOn(`http://${host}:${shop.port}${path}`);
    await frame.getByLabel('Message', { exact: true }).fill('Hello?');
    await frame.getByLabel('Message', { exact: true }).press('Enter');
    await frame.locator('[data-role=agent]').getByText(`Hello at ${host}.`).first().waitFor();
    await page.context().close();
    await list(desk.testKey, [shop.url]);
  });

  it.each(pages)(
    'is refused at http://%s%s with a live key, and the frame shows the reason [SES-531, SES-208]',
    async (host, path) => {
      await desk.apply({ name: 'support-desk', memory: 'none' }, desk.liveKey);
      const live = await openShop(desk.liveKey);
      const origin = `http://${host}:${live.port}`;
      const listed = await list(desk.liveKey, [origin]);
      expect([listed.status, listed.body.error.code, listed.body.error.message]).toEqual([
        400,
        'invalid_origin',
        `${origin} is for test mode alone: live pages embed on https origins.`,
      ]);
      const { page, frame } = await frameOn(`${origin}${path}`);
      await frame.getByText(`${origin} is not among the origins that may embed it.`).waitFor();
      expect(await frame.getByLabel('Message', { exact: true }).count()).toBe(0);
      await page.context().close();
      live.stop();
    },
  );
});

describe('the bridge', () => {
  /** Says something to the page in the frame, from the shop's page or from another frame in it. */
  const tell = ({ page }: Visited, message: object, from: 'shop' | 'sibling' = 'shop') =>
    page.evaluate(
      ([said, who]) => {
        const target = document.querySelector('vestra-session')?.shadowRoot?.querySelector('iframe')?.contentWindow;
        if (who === 'shop') return target?.postMessage(said, '*');
        const sibling = document.body.appendChild(document.createElement('iframe'));
        const script = sibling.contentDocument?.createElement('script') as HTMLScriptElement;
        Object.assign(sibling.contentWindow as object, { target, said });
        script.textContent = 'target.postMessage(said, "*")';
        sibling.contentDocument?.body.append(script);
      },
      [message, from] as const,
    );

  it('accepts only a session of the same user and conversation, only from its host [PAGE-204]', async () => {
    desk.script(() => ({ text: 'Still you.' }));
    const visited = await visit('una');
    const place = await placeOf(visited);
    await mark(visited);
    const open = async (body: object) =>
      (await desk.call('POST', '/v1/sessions', { body: { chat: true, ...body } })).body;
    const [expired, revoked] = [await open({ conversation_id: place }), await open({ conversation_id: place })];
    await desk.sql(`UPDATE sessions SET expires_at = now() - interval '1 minute' WHERE id = $1`, [expired.id]);
    await desk.call('DELETE', `/v1/sessions/${revoked.id}`);
    const good = await open({ conversation_id: place });
    const hostile = [
      [expired, 'expired'],
      [revoked, 'revoked'],
      [await open({ user_id: 'mallory' }), 'other_user'],
      [await open({ user_id: 'una' }), 'other_conversation'],
      [{ id: good.id, token: `vst_${'A'.repeat(43)}` }, 'invalid'],
      [{ id: expired.id, token: good.token }, 'invalid'],
    ] as const;
    const handOver = (session: { id: string; token: string }, from?: 'sibling') =>
      tell(visited, { source: 'vestra', type: 'host.session', session_id: session.id, token: session.token }, from);
    for (const [session, reason] of hostile) {
      await handOver(session);
      await expect.poll(async () => (await of(visited, 'error')).at(-1), soon).toEqual({ refused: reason });
    }
    for (const nonsense of [{ type: 'host.session' }, { type: 'host.look', look: { colors: 1 } }, { type: 'x' }]) {
      await tell(visited, { source: 'vestra', ...nonsense });
    }
    // Another window of the right origin is not the one that embeds the page.
    await handOver(hostile[2][0], 'sibling');
    await say(visited, 'Who am I?');
    await reply(visited, 'Still you.').waitFor();
    expect(await userMessages(place)).toEqual(['Who am I?']);
    expect([(await of(visited, 'error')).length, await isMarked(visited)]).toEqual([hostile.length, true]);

    // And what another window tells the shop's page in the name of the chat is not heard, be it of the right origin.
    await visited.page.evaluate(async (url) => {
      const another = document.body.appendChild(document.createElement('iframe'));
      const isReady = new Promise((resolve) => {
        window.addEventListener('message', ({ source, data }) => {
          if (source === another.contentWindow && data.type === 'session.ready') resolve(true);
        });
      });
      another.src = url;
      await isReady;
    }, hostile[2][0].url);
    expect(await of(visited, 'ready')).toHaveLength(1);
    await visited.page.evaluate((session_id) => {
      window.postMessage({ source: 'vestra', type: 'session.unread', session_id, count: 9 }, '*');
    }, good.id);
    expect(await of(visited, 'unread')).toEqual([]);
    expect(visited.faults).toEqual([]);
    await visited.page.context().close();
  });

  it('reports unread messages, a hand-off, and the height of the page [PAGE-205]', async () => {
    const visited = await visit('kim');
    const { page, frame } = visited;
    desk.script(inTurn(calling('request_handoff', { request: 'Sign in to the shop.' }), { text: 'Thanks.' }));
    const place = await placeOf(visited);
    await page.getByRole('button', { name: 'Close chat' }).first().click();
    const work = { message: 'Go on', hand_off: 'always' };
    await desk.call('POST', `/v1/conversations/${place}/messages`, { body: work });
    const [{ id }] = await desk.open(place);
    await expect.poll(() => of(visited, 'handoff'), soon).toEqual([{ interactionId: id }]);
    const bubble = page.getByRole('button', { name: 'Open chat' });
    const unread = async () => (await of(visited, 'unread')).at(-1)?.count ?? 0;
    await expect.poll(unread, soon).toBeGreaterThan(0);
    expect(Number(await bubble.textContent())).toBeGreaterThan(0);
    await bubble.click();
    await expect.poll(unread, soon).toBe(0);
    await frame.getByText('Sign in to the shop.').first().waitFor();
    expect(await of(visited, 'resize')).toContainEqual({ height: expect.any(Number) });
    expect(await barriersOn(page)).toEqual([]);
    await page.context().close();
  });
});

describe('the React example', () => {
  it('shows the chat with the opening of its agent, in the look and language of its page [PAGE-202, PAGE-206]', async () => {
    desk.script(() => ({ text: 'It is on its way.' }));
    const opening = {
      message: 'Welcome to Maple & Thread.',
      suggestions: ['Where is my order?', 'How do I wash wool?'],
    };
    await desk.call('PATCH', '/v1/org', { body: { openings: { 'support-desk': opening } } });
    const visited = await visit('ray', '/react', { colorScheme: 'dark' });
    const { page, frame, faults } = visited;
    await frame.getByText(opening.message).waitFor();
    await page.addStyleTag({
      content: 'vestra-session { --vestra-accent: rgb(1, 2, 3); --vestra-background: red; url: none }',
    });
    await page.addStyleTag({
      content: 'vestra-session { --vestra-card: url(https://evil.example/x); --vestra-font: "Georgia" }',
    });
    const look = () =>
      page.frames()[1]?.evaluate(() => {
        const { style, dataset } = document.documentElement;
        const { backgroundColor, fontFamily } = getComputedStyle(document.body);
        const [accent, card] = ['--accent', '--card'].map((name) => style.getPropertyValue(name));
        return { scheme: dataset.scheme, accent, card, backgroundColor, isGeorgia: fontFamily.startsWith('Georgia') };
      });
    const wanted = {
      scheme: 'light',
      accent: 'rgb(1, 2, 3)',
      card: '',
      backgroundColor: 'rgb(255, 0, 0)',
      isGeorgia: true,
    };
    await page.evaluate(() => document.documentElement.classList.add('themed'));
    // The shop's page knows no dark, whatever the device prefers.
    await expect.poll(look, soon).toEqual(wanted);
    await page.addStyleTag({ content: ':root { color-scheme: dark }' });
    await page.evaluate(() => document.documentElement.classList.add('dark'));
    await expect.poll(async () => (await look())?.scheme, soon).toBe('dark');
    await page.locator('vestra-session').evaluate((element) => {
      element.setAttribute('language', 'de');
      (element as HTMLElement & { restart(): void }).restart();
    });
    await frame.getByLabel('Nachricht', { exact: true }).waitFor();
    await frame.getByRole('button', { name: 'Where is my order?' }).click();
    await reply(visited, 'It is on its way.').waitFor();
    expect(await userMessages(await placeOf(visited))).toEqual(['Where is my order?']);
    expect(faults).toEqual([]);
    await page.context().close();
    await desk.call('PATCH', '/v1/org', { body: { openings: {} } });
  });
});
