import { redirectTo, type Sites, startSites } from '@vestra/server/computers/chromium/chromium.fixture';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type AgentServer, type StreamEvent, startAgentServer } from '../support/agent.ts';
import { query } from '../support/database.ts';

let server: AgentServer;
let sites: Sites;
beforeAll(async () => {
  sites = await startSites();
  server = await startAgentServer();
  await server.apply({
    name: 'shop',
    browser: { allowed_domains: ['shop.localhost'], blocked_paths: ['shop.localhost/account'] },
  });
  await server.apply({ name: 'open' });
  await server.apply({
    name: 'strict',
    browser: { allowed_domains: ['shop.localhost'], blocked_paths: ['shop.localhost/kept'] },
  });
});
afterAll(async () => {
  await server.stop();
  await sites.close();
});
beforeEach(() => {
  sites.seen.length = 0;
});

const fetchPage = (body: Record<string, unknown>, user = 'ada') =>
  server.call('POST', `/v1/users/${user}/browser/fetch`, { body: { deployment: 'shop', ...body } });
const shop = (path: string) => sites.at('shop.localhost', path);
const other = (path: string) => sites.at('other.localhost', path);
const refusal = async (body: Record<string, unknown>) => {
  const answer = await fetchPage(body);
  return [answer.status, answer.body.error?.code];
};
const blockedRows = async (): Promise<unknown[]> => {
  const { body } = await server.call('GET', '/v1/audit-log?action=browser.page_blocked');
  return body.data;
};

describe('the sites of a fetch', () => {
  it('are those of the deployment and their www. form; nothing else is opened [BRW-024, DFILE-019, DFILE-021]', async () => {
    sites.serve('www.shop.localhost', { '/': 'The shop' });
    expect((await fetchPage({ url: sites.at('www.shop.localhost') })).status).toBe(200);
    sites.seen.length = 0;
    expect(await refusal({ url: other('/') })).toEqual([403, 'domain_not_allowed']);
    expect(await refusal({ url: shop('/'), deployment: 'open' })).toEqual([403, 'domain_not_allowed']);
    expect(await refusal({ url: shop('/'), steps: [{ kind: 'page_fetch', url: other('/x') }] })).toEqual([
      403,
      'domain_not_allowed',
    ]);
    expect(sites.seen).toEqual([]);
  });

  it('are not left by a redirect, a click, a frame, a script or a call from inside the page [BRW-013, BRW-025]', async () => {
    sites.serve('shop.localhost', {
      '/away': redirectTo(other('/target')),
      '/twice': redirectTo(shop('/away')),
      '/link': `<a href="${other('/target')}">Elsewhere</a>`,
      '/new-window': `<a target=_blank href="${other('/target')}">Elsewhere</a>`,
      '/meta': `<meta http-equiv=refresh content="0;url=${other('/target')}">`,
      '/script-moves': `<script>location = '${other('/target')}'</script>`,
      '/parts': `<title>Parts</title><iframe src="${other('/frame')}"></iframe><script src="${other('/script')}"></script><img src="${other('/image')}">`,
    });
    const clicked = [{ kind: 'click', text: 'Elsewhere' }];
    const waited = [{ kind: 'wait_for', text: 'never', within_ms: 5000 }];
    const ways = [
      { url: shop('/away') },
      { url: shop('/twice') },
      { url: shop('/link'), steps: clicked },
      { url: shop('/new-window'), steps: clicked },
      { url: shop('/meta'), steps: waited },
      { url: shop('/script-moves'), steps: waited },
      { url: shop('/parts'), steps: [{ kind: 'page_fetch', url: `//other.localhost:${sites.port}/called` }] },
    ];
    for (const way of ways) expect([way, await refusal(way)]).toEqual([way, [403, 'domain_not_allowed']]);
    expect((await fetchPage({ url: shop('/parts') })).body).toMatchObject({ status: 200, title: 'Parts' });
    expect(sites.seen.filter((each) => each.startsWith('other'))).toEqual([]);
  });

  it('are those of the named deployment, else of the user’s, else of the org’s [BRW-032]', async () => {
    sites.serve('shop.localhost', { '/': 'The shop' });
    const asBea = (body: Record<string, unknown>) =>
      server.call('POST', '/v1/users/bea/browser/fetch', { body: { url: shop('/'), ...body } });
    expect((await asBea({})).status).toBe(200);
    const { body: open } = await server.call('GET', '/v1/deployments/open');
    await server.call('PATCH', '/v1/users/bea', { body: { default_deployment: open.id } });
    expect((await asBea({})).body.error.code).toBe('domain_not_allowed');
    expect((await asBea({ deployment: 'shop@1' })).status).toBe(200);
    const unknown = await asBea({ deployment: 'shop@9' });
    expect([unknown.status, unknown.body.error.code]).toEqual([400, 'invalid_deployment']);
    const key = server.liveKey;
    const live = await server.call('POST', '/v1/users/bea/browser/fetch', {
      key,
      body: { url: shop('/'), deployment: 'shop' },
    });
    expect([live.status, live.body.error.code]).toEqual([409, 'deployment_not_live']);
    await server.call('PATCH', '/v1/users/bea', { body: { status: 'disabled' } });
    const disabled = await asBea({});
    expect([disabled.status, disabled.body.error.code]).toEqual([403, 'user_disabled']);
  });
});

describe('a closed page', () => {
  it('is not opened directly or by a redirect, and is logged without its query [AUD-010, BRW-026]', async () => {
    sites.serve('shop.localhost', { '/to-account': redirectTo(shop('/account/redirected?token=secret')) });
    const addresses = ['/account/direct?token=secret', '/%61ccount/encoded?token=secret', '/to-account'];
    for (const path of addresses)
      expect([path, await refusal({ url: shop(path) })]).toEqual([path, [403, 'page_blocked']]);
    expect(sites.seen).toEqual(['shop.localhost/to-account']);
    const rows = (await blockedRows()) as { details: { host: string; path: string }; actor: { type: string } }[];
    expect(rows.map(({ details }) => details)).toEqual([
      { host: 'shop.localhost', path: '/account/redirected' },
      { host: 'shop.localhost', path: '/%61ccount/encoded' },
      { host: 'shop.localhost', path: '/account/direct' },
    ]);
    expect(JSON.stringify(rows)).not.toContain('secret');
    expect(rows[0]).toMatchObject({ actor: { type: 'key' }, target: { type: 'user', id: 'ada' } });
  });

  it('is not reached by a click, by a script or in a frame [AUD-010, BRW-026]', async () => {
    sites.serve('shop.localhost', {
      '/my/link': `<a href="/account/clicked?token=secret">My account</a>`,
      '/my/pushed': `<button onclick="history.pushState({}, '', '/account/pushed?token=secret')">Go</button>`,
      '/my/frame': `<title>Framed</title><iframe src="/account/framed?token=secret"></iframe>`,
    });
    const go = (text: string) => [
      { kind: 'click', text },
      { kind: 'wait_for', text: 'never', within_ms: 5000 },
    ];
    const before = (await blockedRows()).length;
    expect(await refusal({ url: shop('/my/link'), steps: go('My account') })).toEqual([403, 'page_blocked']);
    expect(await refusal({ url: shop('/my/pushed'), steps: go('Go') })).toEqual([403, 'page_blocked']);
    const called = [{ kind: 'page_fetch', url: '/account/called?token=secret' }];
    expect(await refusal({ url: shop('/my/link'), steps: called })).toEqual([403, 'page_blocked']);
    expect((await fetchPage({ url: shop('/my/frame') })).body).toMatchObject({ status: 200, title: 'Framed' });
    expect(sites.seen.filter((each) => each.includes('/account'))).toEqual([]);
    const rows = (await blockedRows()) as { details: { path: string } }[];
    expect(rows.slice(0, rows.length - before).map(({ details }) => details.path)).toEqual([
      '/account/framed',
      '/account/called',
      '/account/pushed',
      '/account/clicked',
    ]);
    expect(JSON.stringify(rows)).not.toContain('secret');
  });
});

describe('the money of a fetch', () => {
  it('is the seconds of the computer, charged to the user, and none without money', async () => {
    sites.serve('shop.localhost', { '/': 'The shop' });
    await fetchPage({ url: shop('/') }, 'payer');
    const { body } = await server.call('GET', '/v1/usage?group_by=kind&user_id=payer');
    expect(body.data).toMatchObject([{ key: 'compute' }]);
    expect(body.data[0].cost_usd).toBeGreaterThan(0);
    await server.call('PATCH', '/v1/users/payer', { body: { spend_cap_usd: 0 } });
    const refused = await fetchPage({ url: shop('/') }, 'payer');
    expect([refused.status, refused.body.error.code]).toEqual([402, 'user_cap_reached']);
  });
});

describe('the watch', () => {
  it('shows the tabs of fetches as they change, with tag and stage, and no private one [BRW-005, BRW-018, BRW-022, BRW-038]', async () => {
    sites.serve('shop.localhost', {
      '/watched': '<h1>Watched</h1>',
      '/hidden': '<h1>Hidden</h1>',
      '/next': '<h1>Next</h1>',
    });
    const watch = await server.stream('GET', '/v1/users/ada/browser/watch?deployment=shop');
    expect([watch.status, watch.headers.get('content-type')]).toEqual([200, 'text/event-stream; charset=utf-8']);
    const hidden = await fetchPage({ url: shop('/hidden'), keep_open_ms: 60_000, private: true });
    const { body } = await fetchPage({ url: shop('/watched'), keep_open_ms: 60_000, tag: 'basket', stage: 'Looking' });
    const isAt = (url: string) => (event: StreamEvent) => event.url === url;
    const frame = await watch.waitFor(isAt(shop('/watched')));
    expect(frame).toMatchObject({
      object: 'browser_frame',
      type: 'browser.frame',
      tab: body.tab,
      tag: 'basket',
      stage: 'Looking',
    });
    expect(frame.image).toMatch(/^data:image\/jpeg;base64,\/9j\//);
    await fetchPage({ tab: body.tab, url: shop('/next'), keep_open_ms: 60_000, stage: 'Paying' });
    expect(await watch.waitFor(isAt(shop('/next')))).toMatchObject({ tab: body.tab, tag: 'basket', stage: 'Paying' });
    await fetchPage({ tab: body.tab });
    expect(await watch.waitFor(({ type }) => type === 'browser.closed')).toMatchObject({ tab: body.tab, image: null });
    await fetchPage({ tab: hidden.body.tab });
    expect(watch.seen.filter(({ tab }) => tab !== body.tab)).toEqual([]);
    watch.close();
  });

  it('hides a tab on a blocked path [BRW-006]', async () => {
    sites.serve('shop.localhost', { '/kept': '<h1>Kept</h1>', '/fine': '<h1>Fine</h1>' });
    const watch = await server.stream('GET', '/v1/users/ada/browser/watch?deployment=strict');
    const nothing = await server.stream('GET', '/v1/users/ada/browser/watch?deployment=open');
    const { body } = await fetchPage({ url: shop('/kept'), keep_open_ms: 60_000 });
    await fetchPage({ tab: body.tab, url: shop('/fine'), keep_open_ms: 60_000 });
    await watch.waitFor(({ url }) => url === shop('/fine'));
    await fetchPage({ tab: body.tab, url: shop('/kept'), keep_open_ms: 60_000 });
    await watch.waitFor(({ type }) => type === 'browser.closed');
    await fetchPage({ tab: body.tab });
    expect(watch.seen.map(({ url }) => url)).toEqual([shop('/fine'), null]);
    expect(nothing.seen).toEqual([]);
    watch.close();
    nothing.close();
  });

  it('wakes no computer [BRW-006]', async () => {
    await server.call('POST', '/v1/users', { body: { user_id: 'sleeper' } });
    const watch = await server.stream('GET', '/v1/users/sleeper/browser/watch?deployment=shop');
    await expect.poll(() => watch.comments.length).toBeGreaterThan(0);
    const held = await query(server.connectionString, `SELECT 1 FROM computers WHERE user_key = 'sleeper'`);
    expect(held).toEqual([]);
    watch.close();
    const cookies = '/v1/users/sleeper/browser/cookies?deployment=shop&domain=shop.localhost&names=a';
    expect((await server.call('GET', cookies)).body.cookies).toEqual([]);
    const woken = await query(server.connectionString, `SELECT held_by FROM computers WHERE user_key = 'sleeper'`);
    expect(woken).toEqual([{ held_by: expect.any(String) }]);
  });
});

describe('the cookies of a browser', () => {
  it('are listed by name, site and expiry, never by value, and no page is opened [BRW-002, BRW-003, BRW-004]', async () => {
    sites.serve('shop.localhost', {
      '/sign-in': (_request, response) =>
        response
          .setHeader('set-cookie', [
            'session=very-secret; Max-Age=3600; HttpOnly',
            'theme=very-dark',
            'other=very-other; Max-Age=60',
          ])
          .end('Signed in'),
    });
    await fetchPage({ url: shop('/sign-in') }, 'cora');
    sites.seen.length = 0;
    const read = (domain: string, deployment = 'shop') =>
      server.call(
        'GET',
        `/v1/users/cora/browser/cookies?deployment=${deployment}&domain=${domain}&names=session,%20theme,absent`,
      );
    const { status, body, text } = await read('shop.localhost');
    expect(status).toBe(200);
    expect(body).toEqual({
      object: 'browser_cookies',
      domain: 'shop.localhost',
      cookies: [
        { name: 'session', domain: 'shop.localhost', expires_at: expect.stringMatching(/^\d{4}-/) },
        { name: 'theme', domain: 'shop.localhost', expires_at: null },
      ],
    });
    const lifetime = Date.parse(body.cookies[0].expires_at) - Date.now();
    expect(lifetime).toBeGreaterThan(3_300_000);
    expect(lifetime).toBeLessThanOrEqual(3_600_000);
    expect(text).not.toContain('very');
    expect((await read('www.shop.localhost')).body.cookies).toEqual([]);
    for (const refused of [await read('other.localhost'), await read('shop.localhost', 'open')]) {
      expect([refused.status, refused.body.error.code]).toEqual([403, 'domain_not_allowed']);
    }
    expect(sites.seen).toEqual([]);
  });
});

describe('the screenshot', () => {
  it('is a JPEG of the tab in front, and never of a private one [BRW-019, BRW-031]', async () => {
    sites.serve('shop.localhost', {
      '/red': '<body style="background:red">',
      '/blue': '<body style="background:blue">',
    });
    const take = async () => {
      const response = await fetch(`${server.url}/v1/users/dora/screenshot`, {
        headers: { authorization: `Bearer ${server.testKey}` },
      });
      expect([response.status, response.headers.get('content-type')]).toEqual([200, 'image/jpeg']);
      const picture = Buffer.from(await response.arrayBuffer());
      expect(picture.subarray(0, 3).toString('hex')).toBe('ffd8ff');
      return picture;
    };
    await server.call('POST', '/v1/users', { body: { user_id: 'dora' } });
    const empty = await take();
    const { body: hidden } = await fetchPage({ url: shop('/red'), keep_open_ms: 60_000, private: true }, 'dora');
    expect((await take()).equals(empty)).toBe(true);
    const { body: shown } = await fetchPage({ url: shop('/blue'), keep_open_ms: 60_000 }, 'dora');
    expect((await take()).equals(empty)).toBe(false);
    const { body: front } = await fetchPage({ url: shop('/blue'), front: true }, 'dora');
    const inFront = await take();
    await fetchPage({ tab: shown.tab, url: shop('/red'), keep_open_ms: 60_000 }, 'dora');
    expect((await take()).equals(inFront)).toBe(true);
    for (const { tab } of [hidden, shown, front]) await fetchPage({ tab }, 'dora');
    expect((await take()).equals(empty)).toBe(true);
  });
});
