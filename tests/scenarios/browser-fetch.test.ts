import { json, type Sites, startSites } from '@vestra/server/computers/chromium/chromium.fixture';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type AgentServer, startAgentServer } from '../support/agent.ts';

let server: AgentServer;
let sites: Sites;
beforeAll(async () => {
  sites = await startSites();
  server = await startAgentServer();
  await server.apply({ name: 'shop', browser: { allowed_domains: ['shop.localhost'] } });
});
afterAll(async () => {
  await server.stop();
  await sites.close();
});
beforeEach(() => {
  sites.seen.length = 0;
});

const fetchPage = (body: Record<string, unknown>, user = 'ada') =>
  server.call('POST', `/v1/users/${user}/browser/fetch`, { body });
const shop = (path: string) => sites.at('shop.localhost', path);
const did = (what: string) => `shop.localhost/did?${what}`;
/** A page that reports each of its actions by a request to its own site. */
const page = (body: string) =>
  `<title>Shop</title><script>const did = (what) => fetch('/did?' + what);</script>${body}`;

describe('a browser fetch', () => {
  it('opens the page, wakes the computer, runs no model and returns the results of its data calls [BRW-001, BRW-008, BRW-010, BRW-030, BRW-041, BRW-042, BRW-044]', async () => {
    sites.serve('shop.localhost', {
      '/items': `<title>Items</title><script>fetch('/api/items?page=1')</script>`,
      '/api/items': json({ items: [1, 2] }),
    });
    const { status, body } = await fetchPage({ url: shop('/items'), capture: [{ match: '/api/items' }] });
    expect(status).toBe(200);
    expect(body).toEqual({
      object: 'browser_fetch',
      url: shop('/items'),
      status: 200,
      title: 'Items',
      tab: null,
      captures: [
        {
          match: '/api/items',
          url: shop('/api/items?page=1'),
          status: 200,
          content_type: 'application/json',
          body: { items: [1, 2] },
          truncated: false,
        },
      ],
      steps: [],
      timings: {
        wake_ms: expect.any(Number),
        open_ms: expect.any(Number),
        capture_ms: expect.any(Number),
        total_ms: expect.any(Number),
      },
      frames: [],
    });
    expect(body.timings.total_ms).toBeGreaterThanOrEqual(body.timings.wake_ms + body.timings.capture_ms);
    expect(server.asked).toEqual([]);
  });

  it('answers as soon as every required capture is there, while the page still loads [BRW-011, BRW-045]', async () => {
    const hanging = Promise.withResolvers<void>();
    sites.serve('shop.localhost', {
      '/eager': `<img src="/never-ends"><script>for (const name of ['a', 'b', 'c']) fetch('/eager/' + name + '?x=1')</script>`,
      '/never-ends': (_request, response) => void hanging.promise.then(() => response.end()),
      '/eager/a': json(['a']),
      '/eager/b': json(['b']),
      '/eager/c': json(['c']),
    });
    const capture = [{ match: 'eager/a' }, { match: '*/eager/b*' }, { match: '/eager\\/[c-z]\\?x=\\d$/' }];
    const { status, body } = await fetchPage({ url: shop('/eager'), capture });
    expect(status).toBe(200);
    expect(
      Object.fromEntries(body.captures.map((each: { match: string; body: unknown }) => [each.match, each.body])),
    ).toEqual({
      'eager/a': ['a'],
      '*/eager/b*': ['b'],
      '/eager\\/[c-z]\\?x=\\d$/': ['c'],
    });
    hanging.resolve();
  });

  it('does not wait for a capture that is not required, and does for any other [BRW-029, BRW-046, BRW-047, ERR-005]', async () => {
    sites.serve('shop.localhost', {
      '/one-call': page(`<script>fetch('/first')</script>`),
      '/first': json({ first: true }),
    });
    const loose = await fetchPage({ url: shop('/one-call'), capture: [{ match: '/second', required: false }] });
    expect([loose.status, loose.body.captures]).toEqual([200, []]);
    const { status, body } = await fetchPage({
      url: shop('/one-call'),
      capture: [{ match: '/first' }, { match: '/second' }],
      timeout_ms: 3000,
    });
    expect([status, body.error.code, body.error.type]).toEqual([504, 'timeout', 'upstream']);
    expect(body.error.message).toContain('/second');
    expect(body.error.partial).toMatchObject({
      url: shop('/one-call'),
      status: 200,
      captures: [{ match: '/first', body: { first: true } }],
      steps: [],
    });
  });

  it('returns JSON as JSON, text as text, and truncates long results [BRW-042]', async () => {
    const text = (body: string) => (_: unknown, response: { end: (body: string) => void }) => response.end(body);
    sites.serve('shop.localhost', {
      '/bodies': page(
        `<script>for (const name of ['json', 'text', 'long', 'missing']) fetch('/body-' + name)</script>`,
      ),
      '/body-json': text('  [1, {"two": 2}]'),
      '/body-text': text('12'),
      '/body-long': text(`"${'ü'.repeat(700_000)}"`),
    });
    const capture = ['json', 'text', 'long', 'missing'].map((name) => ({ match: `/body-${name}` }));
    const { body } = await fetchPage({ url: shop('/bodies'), capture });
    const found = new Map<string, { body: string; truncated: boolean; status: number }>(
      body.captures.map((each: { match: string }) => [each.match, each]),
    );
    expect(found.get('/body-json')).toMatchObject({ body: [1, { two: 2 }], truncated: false });
    expect(found.get('/body-text')).toMatchObject({ body: '12', truncated: false });
    expect(found.get('/body-missing')).toMatchObject({ status: 404, body: 'Nothing is here.' });
    const { body: long, truncated } = found.get('/body-long') as { body: string; truncated: boolean };
    expect([truncated, Buffer.byteLength(long) <= 1024 * 1024, /^"ü+$/.test(long)]).toEqual([true, true, true]);
  });

  it('reports an unreachable site and an error of the site', async () => {
    sites.serve('shop.localhost', { '/broken': (_request, response) => response.writeHead(503).end('Broken') });
    expect((await fetchPage({ url: shop('/broken') })).body).toMatchObject({ status: 503, captures: [] });
    const away = `https://shop.localhost:${sites.port}/`;
    expect((await fetchPage({ url: away })).body).toMatchObject({ status: 502, captures: [] });
    const { status, body } = await fetchPage({ url: away, capture: [{ match: '/x' }] });
    expect([status, body.error.code]).toEqual([504, 'timeout']);
  });
});

describe('a step', () => {
  it('clicks by text, by selector and by role with name, in order [BRW-033, BRW-043]', async () => {
    sites.serve('shop.localhost', {
      '/clicks': page(`
        <p>Add to basket soon</p><div hidden>Add to basket</div>
        <button onclick="did('text')">Add <b>to</b> basket</button>
        <div id=box onclick="did('selector')" style="width:30px;height:30px"></div>
        <button onclick="did('wrong')">Save draft</button><span role=button aria-label="Save" onclick="did('role')">x</span>
        <div style="height:3000px"></div><a href="/landed">Far below</a>`),
      '/landed': page('<h1>Landed</h1>'),
    });
    const steps = [
      { kind: 'click', text: 'add to basket' },
      { kind: 'click', selector: '#box' },
      { kind: 'click', role: 'button', name: 'Save' },
      { kind: 'click', text: 'Far below' },
      { kind: 'wait_for', text: 'landed' },
    ];
    const { body } = await fetchPage({ url: shop('/clicks'), steps });
    expect(body.steps).toEqual(
      steps.map(({ kind }) => ({ kind, ok: true, duration_ms: expect.any(Number), result: null })),
    );
    expect(sites.seen.filter((each) => each.includes('/did'))).toEqual([did('text'), did('selector'), did('role')]);
    expect(body.url).toBe(shop('/landed'));
  });

  it('clicks the nth element, the one nearest a text, and one that appears in time [BRW-014, BRW-015, BRW-016]', async () => {
    const row = (name: string) => `<div>${name} <button onclick="did('${name}')">Buy</button></div>`;
    sites.serve('shop.localhost', {
      '/rows': page(`${['Tea', 'Coffee', 'Cocoa'].map(row).join('')}
        <script>did('open').then(() => fetch('/late')).then(() => {
          document.body.insertAdjacentHTML('beforeend', '<button onclick="did(\\'late\\')">Late</button>');
        })</script>`),
      '/late': (_request, response) => void setTimeout(() => response.end(), 400),
    });
    const steps = [
      { kind: 'click', text: 'Buy', nth: 1 },
      { kind: 'click', text: 'Buy', nth: 3 },
      { kind: 'click', text: 'Buy', near_text: 'Coffee' },
      { kind: 'click', text: 'Buy', nth: 4, within_ms: 0 },
      { kind: 'click', text: 'Late', within_ms: 10_000 },
    ];
    const { body } = await fetchPage({ url: shop('/rows'), steps });
    expect(body.steps.map(({ ok }: { ok: boolean }) => ok)).toEqual([true, true, true, false, true]);
    expect(body.steps[3].result).toEqual({ error: 'No such element is on the page.' });
    const clicked = sites.seen.filter((each) => each.includes('/did') && !each.includes('open'));
    expect(clicked).toEqual([did('Tea'), did('Cocoa'), did('Coffee'), did('late')]);
  });

  it('types, scrolls and waits [BRW-034, BRW-035, BRW-036]', async () => {
    sites.serve('shop.localhost', {
      '/form': page(`
        <form action="/found"><label>Your name <input name=who value=Somebody></label>
        <input placeholder="What to find" name=what><select aria-label=Size name=size><option>S<option>Large</select><button>Find</button></form>
        <div style="height:4000px"></div><p id=end>End</p>
        <script>addEventListener('scroll', () => scrollY > 100 && did('scrolled'), { once: true })</script>`),
      '/found': page('<p>Found</p>'),
    });
    const steps = [
      { kind: 'scroll', to: 'bottom' },
      { kind: 'scroll', to: -100 },
      { kind: 'scroll', to: 'top' },
      { kind: 'scroll', to: 250 },
      { kind: 'type', into: 'Your name', text: 'Ada Lovelace' },
      { kind: 'type', into: 'size', text: 'large' },
      { kind: 'type', into: '[name=what]', text: 'tea & cake', submit: true },
      { kind: 'wait_for', url: '*/found?*' },
      { kind: 'wait_for', selector: 'p' },
      { kind: 'wait_for', text: 'Nowhere', within_ms: 50 },
    ];
    const { body } = await fetchPage({ url: shop('/form'), steps });
    const results = body.steps.map(({ ok, result }: { ok: boolean; result: { y?: number } | null }) => result?.y ?? ok);
    expect(results.slice(4)).toEqual([true, true, true, true, true, false]);
    expect(results[0]).toBeGreaterThan(1000);
    expect([results[1], results[2], results[3]]).toEqual([results[0] - 100, 0, 250]);
    expect(body.url).toBe(shop('/found?who=Ada+Lovelace&what=tea+%26+cake&size=Large'));
    expect(sites.seen).toContain(did('scrolled'));
  });

  it('calls the site from inside the page [BRW-013, BRW-037]', async () => {
    sites.serve('shop.localhost', {
      '/calls': (_request, response) => response.setHeader('set-cookie', 'known=yes').end(page('')),
      '/echo': async (request, response) => {
        const chunks: Buffer[] = [];
        for await (const chunk of request) chunks.push(chunk as Buffer);
        const { method, headers } = request;
        response.setHeader('content-type', 'application/json').end(
          JSON.stringify({
            method,
            cookie: headers.cookie,
            mark: headers['x-mark'],
            type: headers['content-type'],
            referer: headers.referer,
            body: Buffer.concat(chunks).toString(),
          }),
        );
      },
    });
    const steps = [
      { kind: 'page_fetch', url: '/echo', method: 'POST', headers: { 'X-Mark': '7' }, body: { a: 1 } },
      { kind: 'page_fetch', url: shop('/echo'), method: 'PUT', body: 'plain' },
    ];
    const { body } = await fetchPage({ url: shop('/calls'), steps });
    expect(body.steps[0]).toMatchObject({
      kind: 'page_fetch',
      ok: true,
      result: {
        url: shop('/echo'),
        status: 200,
        content_type: 'application/json',
        truncated: false,
        body: {
          method: 'POST',
          cookie: 'known=yes',
          mark: '7',
          type: 'application/json',
          referer: shop('/calls'),
          body: '{"a":1}',
        },
      },
    });
    expect(body.steps[1].result.body).toMatchObject({ method: 'PUT', body: 'plain' });
  });

  it.each<[Record<string, unknown>, string]>([
    [{ steps: [{ kind: 'hover', text: 'x' }] }, 'steps.0.kind'],
    [{ steps: [{ kind: 'click' }] }, 'steps.0'],
    [{ steps: [{ kind: 'click', text: 'a', selector: 'b' }] }, 'steps.0'],
    [{ steps: [{ kind: 'click', role: 'button' }] }, 'steps.0'],
    [{ steps: [{ kind: 'click', text: 'a', within_ms: 10_001 }] }, 'steps.0.within_ms'],
    [{ steps: [{ kind: 'click', text: 'a', nth: 0 }] }, 'steps.0.nth'],
    [{ steps: [{ kind: 'type', text: 'a' }] }, 'steps.0.into'],
    [{ steps: [{ kind: 'scroll', to: 'left' }] }, 'steps.0.to'],
    [{ steps: [{ kind: 'wait_for' }] }, 'steps.0'],
    [{ steps: [{ kind: 'page_fetch', url: '/x', method: 'BREW' }] }, 'steps.0.method'],
    [{ stage: '' }, 'stage'],
    [{ stage: 'x'.repeat(81) }, 'stage'],
    [{ front_crop: {} }, 'front_crop'],
    [{ front_crop: { css: 'x' } }, 'front_crop.css'],
    [{ front_device: 'tablet' }, 'front_device'],
    [{ challenge: 'captcha' }, 'challenge'],
    [{ timeout_ms: 999 }, 'timeout_ms'],
    [{ timeout_ms: 60_001 }, 'timeout_ms'],
    [{ capture: [{ match: '/(/' }] }, 'capture.0.match'],
  ])(
    '%j is refused on %s [BRW-012, BRW-014, BRW-015, BRW-020, BRW-033, BRW-034, BRW-035, BRW-036, BRW-037, BRW-038, BRW-039, BRW-040, BRW-045, BRW-047]',
    async (given, param) => {
      const { status, body } = await fetchPage({ url: shop('/items'), ...given });
      expect([status, body.error.code, body.error.param]).toEqual([400, 'invalid_request', param]);
      expect(sites.seen).toEqual([]);
    },
  );
});

describe('a tab', () => {
  it('stays open for the next fetch, by its name or as the last one, until it expires [BRW-008, BRW-009, BRW-017, BRW-041]', async () => {
    sites.serve('shop.localhost', { '/kept': page('<button onclick="this.textContent = \'Pressed\'">Press</button>') });
    const none = await fetchPage({ steps: [] }, 'bea');
    expect([none.status, none.body.error.code]).toEqual([409, 'no_open_tab']);
    const { body: first } = await fetchPage({ url: shop('/kept?1'), keep_open_ms: 60_000 }, 'bea');
    const { body: second } = await fetchPage({ url: shop('/kept?2'), keep_open_ms: 60_000 }, 'bea');
    expect(first.tab).not.toBe(second.tab);
    const press = [{ kind: 'click', text: 'Press' }];
    const named = await fetchPage({ tab: first.tab, steps: press, keep_open_ms: 60_000 }, 'bea');
    expect(named.body).toMatchObject({ url: shop('/kept?1'), status: 200, tab: first.tab, steps: [{ ok: true }] });
    const again = await fetchPage({ tab: first.tab, steps: [{ kind: 'wait_for', text: 'Pressed' }] }, 'bea');
    expect(again.body).toMatchObject({ tab: null, steps: [{ ok: true }] });
    const gone = await fetchPage({ tab: first.tab }, 'bea');
    expect([gone.status, gone.body.error.code]).toEqual([409, 'no_open_tab']);
    const last = await fetchPage({ keep_open_ms: 1000 }, 'bea');
    expect(last.body).toMatchObject({ url: shop('/kept?2'), tab: second.tab });
    const until = Date.now() + 1000;
    await expect.poll(() => Date.now(), { timeout: 5000 }).toBeGreaterThan(until);
    expect((await fetchPage({}, 'bea')).body.error.code).toBe('no_open_tab');
    expect(sites.seen.filter((each) => each.includes('/kept'))).toEqual([
      'shop.localhost/kept?1',
      'shop.localhost/kept?2',
    ]);
  });

  it('has four fetches at once and no fifth [BRW-028, ERR-006]', async () => {
    const held: (() => void)[] = [];
    sites.serve('shop.localhost', { '/held': (_request, response) => void held.push(() => response.end('Done')) });
    const running = [1, 2, 3, 4].map((each) => fetchPage({ url: shop(`/held?${each}`) }));
    await expect.poll(() => held.length, { timeout: 20_000 }).toBe(4);
    const { status, body } = await fetchPage({ url: shop('/held?5') });
    expect([status, body.error.code, body.error.retry_after_ms > 0]).toEqual([409, 'browser_busy', true]);
    for (const release of held) release();
    expect((await Promise.all(running)).map((answer) => answer.status)).toEqual([200, 200, 200, 200]);
    expect(held.length).toBe(4);
  });

  it('in front has the shape of a phone, or the page of a desktop in that shape, and stays [BRW-019, BRW-020, BRW-039]', async () => {
    sites.serve('shop.localhost', {
      '/shape': page(`<meta name=viewport content="width=device-width"><script>
        did(new URLSearchParams({ width: innerWidth, height: innerHeight, touch: navigator.maxTouchPoints > 0, mobile: /Mobile/.test(navigator.userAgent) }))
      </script><button>Sign in</button>`),
    });
    const wanted = { url: shop('/shape'), steps: [{ kind: 'wait_for', text: 'Sign in' }] };
    const { body: background } = await fetchPage(wanted);
    expect(background.tab).toBeNull();
    const { body: phone } = await fetchPage({
      ...wanted,
      front: true,
      front_crop: { role: 'button', name: 'Sign in' },
    });
    const { body: desktop } = await fetchPage({ ...wanted, front: true, front_device: 'desktop' });
    expect([phone.tab, desktop.tab]).toEqual([expect.any(String), expect.any(String)]);
    await expect.poll(() => sites.seen.filter((each) => each.includes('/did')).length).toBe(3);
    const shapes = sites.seen.filter((each) => each.includes('/did')).map((each) => each.split('?')[1]);
    expect(shapes).toEqual([
      'width=1280&height=800&touch=false&mobile=false',
      'width=390&height=844&touch=true&mobile=true',
      'width=980&height=2121&touch=false&mobile=false',
    ]);
    const { body: finished } = await fetchPage({ tab: phone.tab, steps: [{ kind: 'click', text: 'Sign in' }] });
    expect(finished.steps[0].ok).toBe(true);
    await fetchPage({ tab: desktop.tab });
  });

  it('is captured at milestones if requested [BRW-023]', async () => {
    sites.serve('shop.localhost', { '/pictured': page('<button>Go</button>') });
    const { body } = await fetchPage({ url: shop('/pictured'), frames: true, steps: [{ kind: 'click', text: 'Go' }] });
    expect(body.frames.map(({ milestone }: { milestone: string }) => milestone)).toEqual([
      'opened',
      'step 1: click',
      'answered',
    ]);
    for (const { image, at_ms } of body.frames) {
      expect(Buffer.from(image.replace('data:image/jpeg;base64,', ''), 'base64').subarray(0, 3).toString('hex')).toBe(
        'ffd8ff',
      );
      expect(image.length).toBeLessThan(60_000);
      expect(at_ms).toBeLessThanOrEqual(body.timings.total_ms);
    }
  });

  it('waits for a bot check to pass by itself and never touches it [BRW-040]', async () => {
    let isPassed = false;
    sites.serve('shop.localhost', {
      '/checked': page(`<div class=cf-turnstile style="width:300px;height:65px"><input name=cf-turnstile-response></div>
        <script>
        addEventListener('click', () => did('touched')); addEventListener('input', () => did('touched'));
        const ask = async () => {
          const { passed } = await (await fetch('/passed')).json();
          if (passed) document.querySelector('input').value = 'token'; else setTimeout(ask, 50);
        };
        ask();</script>`),
      '/passed': (_request, response) => void response.end(JSON.stringify({ passed: isPassed })),
    });
    const late = await fetchPage({ url: shop('/checked'), challenge: 'turnstile', timeout_ms: 1000 });
    expect([late.status, late.body.error.code]).toEqual([504, 'timeout']);
    const asked = () => sites.seen.filter((each) => each.endsWith('/passed')).length;
    const before = asked();
    const fetching = fetchPage({
      url: shop('/checked'),
      challenge: 'turnstile',
      steps: [{ kind: 'scroll', to: 'top' }],
    });
    await expect.poll(asked, { timeout: 20_000 }).toBeGreaterThan(before + 2);
    isPassed = true;
    expect(await fetching).toMatchObject({ status: 200, body: { steps: [{ ok: true }] } });
    expect(sites.seen).not.toContain(did('touched'));
    sites.serve('shop.localhost', { '/unchecked': page('') });
    expect((await fetchPage({ url: shop('/unchecked'), challenge: 'turnstile' })).status).toBe(200);
  });
});
