import { type Sites, startSites } from '@vestra/server/computers/chromium/chromium.fixture';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type AgentServer, type StreamEvent, startAgentServer } from '../support/agent.ts';

let server: AgentServer;
let sites: Sites;
beforeAll(async () => {
  sites = await startSites();
  server = await startAgentServer();
  await server.apply({
    name: 'shop',
    browser: { allowed_domains: ['shop.localhost'], blocked_paths: ['shop.localhost/account'] },
  });
});
afterAll(async () => {
  await server.stop();
  await sites.close();
});

const shop = (path: string) => sites.at('shop.localhost', path);
const fetchPage = (user: string, body: Record<string, unknown>) =>
  server.call('POST', `/v1/users/${user}/browser/fetch`, { body });
const open = async (user: string, body: Record<string, unknown> = {}) =>
  (await server.call('POST', '/v1/sessions', { body: { user_id: user, screen: 'view', ...body } })).body;
type Session = Awaited<ReturnType<typeof open>>;
const ask = (session: Session) => server.call('GET', `/v1/sessions/${session.id}/screen`, { key: session.token });
const isAwake = async (session: Session) =>
  server.until(`/v1/sessions/${session.id}/screen`, ({ object }) => object === 'browser_stream', session.token);
const follow = async (session: Session) => {
  const { stream_url, preview_token, preview_token_param } = await isAwake(session);
  const { pathname } = new URL(stream_url);
  return server.stream('GET', `${pathname}?${preview_token_param}=${preview_token}`);
};
const input = (session: Session, ...inputs: Record<string, unknown>[]) =>
  server.call('POST', `/v1/sessions/${session.id}/screen/input`, { key: session.token, body: { inputs } });
const clickAt = (x: number, y: number) => [
  { kind: 'mouse', type: 'down', x, y, button: 'left', clicks: 1 },
  { kind: 'mouse', type: 'up', x, y, button: 'left', clicks: 1 },
];
const isFrame = ({ type }: StreamEvent) => type === 'screen.frame';
const showing = (what: string) => (event: StreamEvent) => event.type === 'screen.state' && event.showing === what;
const drivenBy = (whom: string) => (event: StreamEvent) => event.type === 'screen.state' && event.driven_by === whom;
const refusal = ({ status, body }: { status: number; body: Session }) => [status, body.error?.code];
/** A page that tells the site whatever is done on it. */
const telling = (body: string) =>
  `<body style="margin:0">${body}<script>const tell = (what) => fetch('/told?' + encodeURIComponent(what));</script>`;
const told = async (what: string) => {
  await expect
    .poll(() => sites.seen.map(decodeURIComponent), { timeout: 20_000 })
    .toContain(`shop.localhost/told?${what}`);
};

describe('the screen', () => {
  it('wakes the browser and returns the address of its stream, only to its own token [SES-020]', async () => {
    const session = await open('ada');
    const first = await ask(session);
    expect(refusal(first)).toEqual([409, 'browser_not_open']);
    expect(first.body.error.retry_after_ms).toBeGreaterThan(0);
    const answer = await isAwake(session);
    expect(Object.keys(answer).sort()).toEqual(['object', 'preview_token', 'preview_token_param', 'stream_url']);
    expect(answer.stream_url).not.toContain(answer.preview_token);
    const other = await open('bea');
    const foreign = await server.call('GET', `/v1/sessions/${session.id}/screen`, { key: other.token });
    expect(refusal(foreign)).toEqual([403, 'session_scope']);
    expect(refusal(await ask(await open('ada', { screen: false })))).toEqual([403, 'session_scope']);
  });

  it('opens with its credential only for its own session, and not after its end', async () => {
    const session = await open('ada');
    const { stream_url, preview_token } = await isAwake(session);
    const other = await open('ada');
    const status = async (id: string, token: string) => {
      const leaving = new AbortController();
      const url = `${server.url}${new URL(stream_url).pathname.replace(session.id, id)}?preview_token=${token}`;
      const response = await fetch(url, { signal: leaving.signal });
      leaving.abort();
      return response.status;
    };
    expect(await status(session.id, preview_token)).toBe(200);
    expect(await status(other.id, preview_token)).toBe(404);
    expect(await status(session.id, `9${preview_token}`)).toBe(404);
    expect(await status(session.id, '')).toBe(404);
    await server.call('DELETE', `/v1/sessions/${session.id}`);
    expect(await status(session.id, preview_token)).toBe(404);
  });

  it('shows the front page as it changes, accepts no input in view mode, and ends with its session [PAGE-003]', async () => {
    sites.serve('shop.localhost', { '/a': telling('<h1 onclick="tell(\'no\')">A</h1>'), '/told': '' });
    const session = await open('ada');
    await isAwake(session);
    const stream = await follow(session);
    await stream.waitFor(showing('nothing'));
    const { body: kept } = await fetchPage('ada', { url: shop('/a'), keep_open_ms: 60_000 });
    const { image, width, height } = await stream.waitFor(isFrame);
    expect(Buffer.from(image.split(',')[1], 'base64').subarray(0, 3).toString('hex')).toBe('ffd8ff');
    expect([width > 300, height > 300]).toEqual([true, true]);
    expect(refusal(await input(session, ...clickAt(0.01, 0.05)))).toEqual([403, 'session_scope']);
    expect((await fetchPage('ada', { tab: kept.tab, keep_open_ms: 60_000 })).status).toBe(200);
    expect(sites.seen.filter((each) => each.includes('told'))).toEqual([]);
    await server.call('DELETE', `/v1/sessions/${session.id}`);
    await stream.events;
    await fetchPage('ada', { tab: kept.tab });
  });
});

describe('a person who drives', () => {
  it('clicks, types and turns pages, has the browser meanwhile, and gives it back [BRW-027, PAGE-004]', async () => {
    sites.serve('shop.localhost', {
      '/form': telling(
        `<input style="width:100%;height:100px" oninput="tell('typed ' + value)" onkeydown="tell('key ' + event.key)"><br><a style="display:block;height:100px" href="/next">Next</a>`,
      ),
      '/next': telling('<h1>Next</h1><script>addEventListener("wheel", () => tell("wheel"))</script>'),
      '/told': '',
    });
    const { body: kept } = await fetchPage('carl', { url: shop('/form'), keep_open_ms: 300_000 });
    const session = await open('carl', { screen: 'control' });
    const stream = await follow(session);
    const { height } = await stream.waitFor(isFrame);
    expect((await input(session, { kind: 'mouse', type: 'move', x: 0.5, y: 0.5 })).body).toEqual({
      object: 'screen_input',
      driving: false,
    });
    expect((await input(session, ...clickAt(0.5, 50 / height))).body.driving).toBe(true);
    await stream.waitFor(drivenBy('you'));
    expect(refusal(await fetchPage('carl', { url: shop('/next') }))).toEqual([409, 'browser_in_use']);
    const rival = await open('carl', { screen: 'control' });
    const rivalStream = await follow(rival);
    await rivalStream.waitFor(isFrame);
    await rivalStream.waitFor(drivenBy('another'));
    expect(refusal(await input(rival, { kind: 'key', key: 'x' }))).toEqual([409, 'browser_in_use']);
    rivalStream.close();

    await input(session, { kind: 'key', key: 'h' }, { kind: 'text', text: 'ello' });
    await told('key h');
    await told('typed hello');
    await input(session, { kind: 'key', key: 'a', modifiers: ['control'] }, { kind: 'key', key: 'Backspace' });
    await told('typed ');
    await input(session, ...clickAt(0.5, 160 / height));
    await stream.waitFor(({ url }) => url === shop('/next'));
    await input(session, { kind: 'wheel', x: 0.5, y: 0.5, dx: 0, dy: 120 });
    await told('wheel');
    const before = stream.seen.length;
    await input(session, { kind: 'navigate', to: 'back' });
    await expect.poll(() => stream.seen.slice(before).some(({ url }) => url === shop('/form'))).toBe(true);
    expect((await input(session, { kind: 'hand_back' })).body.driving).toBe(false);
    expect((await fetchPage('carl', { tab: kept.tab, keep_open_ms: 300_000 })).status).toBe(200);
    stream.close();
  });

  it('with `driver: user` has it from the first frame until the stream closes [SES-014]', async () => {
    sites.serve('shop.localhost', { '/a': telling('<h1>A</h1>') });
    const { body: kept } = await fetchPage('dora', { url: shop('/a'), keep_open_ms: 300_000 });
    const session = await open('dora', { screen: 'control', driver: 'user' });
    const stream = await follow(session);
    await stream.waitFor(isFrame);
    expect(stream.seen[0]).toMatchObject({ type: 'screen.state', driven_by: 'you' });
    expect(refusal(await fetchPage('dora', { tab: kept.tab }))).toEqual([409, 'browser_in_use']);
    stream.close();
    await expect
      .poll(async () => (await fetchPage('dora', { tab: kept.tab, keep_open_ms: 300_000 })).status, { timeout: 10_000 })
      .toBe(200);
  });

  it('cannot open a blocked page or another site', async () => {
    sites.serve('shop.localhost', {
      '/links': telling(
        `<a style="display:block;height:100px" href="${sites.at('other.localhost')}">Away</a><a style="display:block;height:100px" href="/account/x?token=secret">Account</a>`,
      ),
    });
    sites.seen.length = 0;
    await fetchPage('edda', { url: shop('/links'), keep_open_ms: 300_000 });
    const session = await open('edda', { screen: 'control' });
    const stream = await follow(session);
    const { height } = await stream.waitFor(isFrame);
    await input(session, ...clickAt(0.1, 50 / height));
    await input(session, ...clickAt(0.1, 150 / height));
    const rows = async () => (await server.call('GET', '/v1/audit-log?action=browser.page_blocked')).body.data;
    await expect
      .poll(async () => (await rows())[0]?.details, { timeout: 10_000 })
      .toMatchObject({ path: '/account/x' });
    expect(sites.seen).toEqual(['shop.localhost/links']);
    stream.close();
  });

  it('can send only input that the schema allows', async () => {
    const session = await open('ada', { screen: 'control' });
    const wrong = [
      { kind: 'mouse', type: 'down', x: 1.5, y: 0 },
      { kind: 'key', key: 'F5' },
      { kind: 'navigate', to: 'https://example.com' },
      { kind: 'text', text: '' },
      { kind: 'hand_back', also: 1 },
    ];
    for (const each of wrong) expect([each, (await input(session, each)).status]).toEqual([each, 400]);
    expect((await input(session)).status).toBe(400);
    expect(refusal(await input(session, { kind: 'key', key: 'a' }))).toEqual([409, 'browser_not_open']);
  });
});

describe('a hand-off', () => {
  it('in private is seen by who may drive, and pauses the screen of those who look on [SES-005, SES-023]', async () => {
    sites.serve('shop.localhost', { '/sign-in': telling('<h1>Sign in</h1>') });
    const view = await open('fred');
    const watching = await follow(view);
    await watching.waitFor(showing('nothing'));
    await fetchPage('fred', { url: shop('/sign-in'), front: true, private: true });
    await watching.waitFor(showing('private'));
    expect(refusal(await ask(view))).toEqual([409, 'browser_in_use']);
    const shown = await server.call('GET', `/v1/sessions/${view.id}`);
    expect(shown.body.screen_paused).toBe(true);
    expect(refusal(await server.call('GET', '/v1/users/fred/screenshot'))).toEqual([409, 'browser_in_use']);
    const driver = await open('fred', { screen: 'control' });
    expect((await server.call('GET', `/v1/sessions/${driver.id}`)).body).not.toHaveProperty('screen_paused');
    const stream = await follow(driver);
    await stream.waitFor(isFrame);
    stream.close();
    expect(watching.seen.some(isFrame)).toBe(false);
    watching.close();
    await fetchPage('fred', {});
    expect((await server.call('GET', `/v1/sessions/${view.id}`)).body).not.toHaveProperty('screen_paused');
    expect((await ask(view)).status).toBe(200);
  });

  it('shows only the element it names, and passes clicks to that alone [BRW-021, SES-026]', async () => {
    sites.serve('shop.localhost', {
      '/code': telling(
        `<h1 style="height:200px;margin:0">Secret</h1><div id=place></div><script>
          fetch('/ready').then(() => { place.innerHTML = '<button style="width:200px;height:80px;margin:20px" onclick="tell(\\'pressed\\')">Confirm</button>' })
        </script>`,
      ),
      '/ready': (_request, response) => void door.then(() => response.end()),
      '/told': '',
    });
    let letIn = () => {};
    const door = new Promise<void>((resolve) => {
      letIn = resolve;
    });
    const crop = { role: 'button', name: 'Confirm' };
    await fetchPage('gina', { url: shop('/code'), front: true, front_crop: crop });
    const session = await open('gina', { screen: 'control' });
    await isAwake(session);
    expect((await ask(session)).body.crop_pending).toBe(true);
    const stream = await follow(session);
    await stream.waitFor(showing('crop_pending'));
    expect(stream.seen.some(isFrame)).toBe(false);
    letIn();
    const frame = await stream.waitFor(isFrame);
    expect([frame.width, frame.height]).toEqual([200, 80]);
    expect((await ask(session)).body).not.toHaveProperty('crop_pending');
    await input(session, ...clickAt(0.99, 0.99));
    await told('pressed');
    expect(stream.seen.filter(isFrame).every(({ width, height }) => width === 200 && height === 80)).toBe(true);
    stream.close();
  });
});

describe('after 20 seconds', () => {
  it.concurrent('a hand-off whose element has not appeared shows the page as before [SES-027]', async () => {
    sites.serve('shop.localhost', { '/other': telling('<h1>Something else</h1>') });
    await fetchPage('hans', { url: shop('/other'), front: true, front_crop: { text: 'Confirm' } });
    const session = await open('hans');
    await isAwake(session);
    const began = Date.now();
    const stream = await follow(session);
    const frame = await stream.waitFor(isFrame);
    expect(Date.now() - began).toBeGreaterThan(15_000);
    expect(frame).toMatchObject({ width: 390, height: 844 });
    expect((await ask(session)).body).not.toHaveProperty('crop_pending');
    stream.close();
  });

  it.concurrent('an untouched browser is no longer controlled by the person', async () => {
    sites.serve('shop.localhost', { '/a': telling('<h1>A</h1>') });
    const { body: kept } = await fetchPage('ines', { url: shop('/a'), keep_open_ms: 300_000 });
    const session = await open('ines', { screen: 'control' });
    const stream = await follow(session);
    await stream.waitFor(isFrame);
    await input(session, ...clickAt(0.5, 0.5));
    const taken = await stream.waitFor(drivenBy('you'));
    expect(refusal(await fetchPage('ines', { tab: kept.tab }))).toEqual([409, 'browser_in_use']);
    await stream.waitFor((event) => event.seq > taken.seq && drivenBy('nobody')(event));
    expect((await fetchPage('ines', { tab: kept.tab })).status).toBe(200);
    stream.close();
  });
});
