import type { Page, Request } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { hasFirefox, openFirefox } from './firefox.fixture.ts';
import { calling, inTurn } from './interactions.fixture.ts';
import { tabTo } from './keyboard.fixture.ts';
import { barriersOn, gzippedSize, type PageDesk, replies, say, startPageDesk } from './session-page.fixture.ts';

let desk: PageDesk;
beforeAll(async () => {
  desk = await startPageDesk();
  await desk.apply({
    name: 'desk',
    memory: 'none',
    tools: [{ function: 'order_paper', description: 'Order paper.', input: { type: 'object' } }],
  });
  await desk.call('PATCH', '/v1/org', { body: { memory_panel: true } });
});
afterAll(() => desk.stop());

const embedders = (allowed_embed_origins: string[]) =>
  desk.call('PATCH', '/v1/org', { body: { allowed_embed_origins } });
const open = async (body: object = {}) =>
  (await desk.call('POST', '/v1/sessions', { body: { chat: true, ...body } })).body;
const end = (id: string) => desk.call('DELETE', `/v1/sessions/${id}`);
const policyOf = (answer: Response) => answer.headers.get('content-security-policy')?.split('; ') ?? [];

describe('the files of the page', () => {
  it('are served without a key, with a policy that forbids embedding [AUTH-040, SES-033]', async () => {
    const session = await open();
    const answer = await fetch(`${desk.url}/session/${session.id}`);
    const html = await answer.text();
    expect([answer.status, answer.headers.get('cache-control')]).toEqual([200, 'no-store']);
    expect(policyOf(answer)).toEqual([
      "default-src 'none'",
      "script-src 'self'",
      "style-src 'self'",
      "img-src 'self' data: blob:",
      "font-src 'self'",
      "connect-src 'self'",
      "base-uri 'none'",
      "form-action 'none'",
      "frame-ancestors 'none'",
    ]);
    const files = [...html.matchAll(/(?:src|href)="\.\/(assets\/[^"]+)"/g)].map(([, file]) => file);
    expect(files.length).toBeGreaterThan(1);
    for (const file of files) {
      const asset = await fetch(`${desk.url}/session/${file}`);
      expect([asset.status, asset.headers.get('cache-control')]).toEqual([200, expect.stringContaining('immutable')]);
      expect(asset.headers.get('x-content-type-options')).toBe('nosniff');
      expect(asset.headers.get('referrer-policy')).toBe('no-referrer');
    }
  });

  it('name exactly the origins that may embed the page [SES-034]', async () => {
    const origins = ['https://shop.example.com', 'https://app.example.com'];
    await embedders(origins);
    const answer = await fetch(`${desk.url}/session/${(await open()).id}`);
    expect(policyOf(answer)).toContain(`frame-ancestors ${origins.join(' ')}`);
    await embedders([]);
  });

  it('run no script that is written into the page', async () => {
    const { page, faults } = await desk.visit();
    await page.evaluate(() => {
      const script = document.createElement('script');
      script.textContent = 'window.ran = 1';
      document.body.append(script);
      document.body.insertAdjacentHTML('beforeend', '<iframe src="https://evil.example"></iframe>');
    });
    await expect.poll(() => faults.length).toBeGreaterThanOrEqual(2);
    expect(await page.evaluate(() => (window as { ran?: number }).ran)).toBe(undefined);
    await page.context().close();
  });

  it('reload to the same page in their tab, and in another tab explain how to open it [PAGE-201]', async () => {
    const { page, session } = await desk.visit();
    await page.getByLabel('Message', { exact: true }).fill('Half a sen');
    await page.reload();
    await page.getByText('How can I help?').waitFor();
    expect(await page.getByLabel('Message', { exact: true }).inputValue()).toBe('Half a sen');
    expect(page.url()).not.toContain('vst_');
    const another = await page.context().newPage();
    await another.goto(session.url.split('#')[0]);
    await another.getByText('Open it again from where you found it.').waitFor();
    await page.context().close();
  });
});

describe('the first load', () => {
  it('is under 200 kB, and loads the screen code only for a session with a screen [PAGE-244]', async () => {
    const fetched = async (body: Record<string, unknown>) => {
      const context = await desk.browser.newContext({ locale: 'hi-IN' });
      const page = await context.newPage();
      const files = new Set<string>();
      page.on('request', (request) => files.add(new URL(request.url()).pathname));
      const { body: session } = await desk.call('POST', '/v1/sessions', { body: { chat: true, ...body } });
      await page.goto(session.url);
      await page.getByLabel('संदेश', { exact: true }).waitFor();
      await page.waitForLoadState('load');
      const names = [...files].flatMap((path) => /\/assets\/(.+)$/.exec(path)?.[1] ?? []);
      await context.close();
      return names;
    };
    const chat = await fetched({});
    const kB = chat.reduce((bytes, name) => bytes + gzippedSize(name), 0) / 1000;
    expect(chat.filter((name) => /^(session|markdown|hi)-.*\.js$/.test(name))).toHaveLength(3);
    expect(kB).toBeLessThan(200);
    expect((await fetched({ screen: 'view' })).filter((name) => !chat.includes(name))).toEqual([
      expect.stringMatching(/^screen-.*\.js$/),
    ]);
  });
});

describe('the identity of the page', () => {
  it('has the typeface and the mark from the server, and shows its text before the typeface arrives [PAGE-771]', async () => {
    const context = await desk.browser.newContext({ locale: 'en-GB' });
    const page = await context.newPage();
    const asked: string[] = [];
    page.on('request', (request) => asked.push(request.url()));
    const isLate = Promise.withResolvers<void>();
    await page.route('**/*.woff2', async (route) => {
      await isLate.promise;
      await route.continue();
    });
    await page.goto((await open()).url, { waitUntil: 'commit' });
    await page.getByText('How can I help?').waitFor();
    const look = () =>
      page.evaluate(() => ({
        font: getComputedStyle(document.body).fontFamily.split(',')[0],
        isThere: document.fonts.check('1em "Geist Variable"'),
        isPainted: performance.getEntriesByName('first-contentful-paint').length > 0,
        icon: document.querySelector<HTMLLinkElement>('link[rel=icon]')?.href ?? '',
      }));
    await expect.poll(look).toMatchObject({ font: '"Geist Variable"', isThere: false, isPainted: true });
    isLate.resolve();
    await expect.poll(look).toMatchObject({ isThere: true });
    const fonts = asked.filter((url) => url.endsWith('.woff2'));
    expect(fonts).toEqual([expect.stringContaining('/session/assets/geist-latin-wght-normal')]);
    const scripts = asked.filter((url) => /\/session-[\w-]+\.js$/.test(url));
    expect(scripts).toHaveLength(1);
    expect(asked.indexOf(fonts[0] as string)).toBeGreaterThan(asked.indexOf(scripts[0] as string));
    const icon = await fetch((await look()).icon);
    expect([icon.status, icon.headers.get('content-type')]).toEqual([200, 'image/svg+xml']);
    expect(new Set(asked.map((url) => new URL(url).host))).toEqual(new Set([new URL(desk.line.url).host]));
    await context.close();
  });
});

describe('a hostile model', () => {
  it('cannot run or load anything through its text', async () => {
    const visit = await desk.visit();
    const { page } = visit;
    const asked: string[] = [];
    page.on('request', (request) => asked.push(new URL(request.url()).hostname));
    const hostile = [
      '<script>window.ran = 1</script><img src=x onerror="window.ran = 2"><svg onload="window.ran = 3"></svg>',
      '<iframe src="https://evil.example"></iframe><style>body{display:none}</style><form action="//evil.example"><button>Win</button></form>',
      '[press](javascript:window.ran=4) [data](data:text/html,<script>window.ran=5</script>) [vb](vbscript:x) [fine](https://fine.example/a)',
      '![pixel](https://tracker.example/p.png) <a href="javascript:window.ran=6" onclick="window.ran=7">link</a>',
      '```html\n<script>window.ran = 8</script>\n```',
      `${'long '.repeat(40_000)}${'x'.repeat(20_000)}`,
      'The end.',
    ].join('\n\n');
    desk.script(() => ({ text: hostile }));
    await say(visit, 'Attack');
    await replies(visit).getByText('The end.').waitFor();
    for (const word of ['press', 'data', 'vb', 'link']) {
      const found = replies(visit).getByText(word, { exact: true }).first();
      if ((await found.count()) > 0) await found.click();
    }
    expect(await page.evaluate(() => (window as { ran?: number }).ran)).toBe(undefined);
    const links = await replies(visit)
      .locator('a')
      .evaluateAll((found) =>
        found.map((a) => [a.getAttribute('href'), a.getAttribute('target'), a.getAttribute('rel')]),
      );
    const rel = 'noopener noreferrer nofollow';
    expect(links).toEqual([
      ['https://fine.example/a', '_blank', rel],
      ['https://tracker.example/p.png', '_blank', rel],
    ]);
    expect(await replies(visit).locator('script, iframe, style, form, img').count()).toBe(0);
    expect(new Set(asked)).toEqual(new Set(['127.0.0.1']));
    const overflow = await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth);
    expect(overflow).toBeLessThanOrEqual(0);
    expect(visit.faults).toEqual([]);
    await page.context().close();
  });

  it('and hostile arguments, questions and file names are text and nothing else, on a phone too', async () => {
    const visit = await desk.visit({}, { viewport: { width: 390, height: 700 } });
    const { page } = visit;
    const bad = '<img src=x onerror="window.ran=1"><script>window.ran=2</script>javascript:window.ran=3';
    const long = 'x'.repeat(3000);
    const stays = async () => {
      expect(await page.evaluate(() => (window as { ran?: number }).ran)).toBe(undefined);
      expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(390);
      expect(await page.locator('[data-wait] img, [data-wait] script, [data-role] img').count()).toBe(0);
    };
    desk.script(
      inTurn(
        calling('order_paper', { sheets: 1, [bad]: long, [long]: bad }),
        calling('ask_question', {
          question: `${bad} ${long.slice(0, 900)}`,
          options: [bad, ...Array.from({ length: 7 }, (_, at) => `${at}${long.slice(0, 199)}`)],
        }),
        { text: 'The end.' },
      ),
    );
    await page.locator('input[type=file]').setInputFiles({
      name: `${'n'.repeat(200)}"><img src=x onerror=1>.txt`,
      mimeType: 'text/plain',
      buffer: Buffer.from('1'),
    });
    await page.getByText('Uploading…').first().waitFor({ state: 'detached' });
    await say(visit, bad);
    await page.locator('[data-wait=approval]').getByText('<img src=x onerror').first().waitFor();
    await stays();
    await page.getByRole('button', { name: 'No' }).click();
    await page.locator('[data-wait=question]').waitFor();
    await stays();
    expect(await barriersOn(page)).toEqual([]);
    // A card that is taller than the window is read from its beginning.
    const top = await page.locator('[data-wait=question]').evaluate((card) => card.getBoundingClientRect().top);
    expect(top).toBeGreaterThanOrEqual(0);
    await page.getByRole('radio').first().check();
    await page.getByRole('button', { name: 'Answer' }).click();
    await replies(visit).getByText('The end.').waitFor();
    await stays();
    expect(visit.faults).toEqual([]);
    await page.context().close();
  });
});

describe('the embedding page', () => {
  const embed = async (at: string, session: { url: string }): Promise<Page> => {
    // The server stands on this machine and the embedding page does not, which a browser asks about.
    const context = await desk.browser.newContext({ locale: 'en-GB', permissions: ['local-network-access'] });
    const page = await context.newPage();
    await page.route(`${at}/`, (route) =>
      route.fulfill({
        contentType: 'text/html',
        body: `<script>told = []; onmessage = ({ data, origin }) => told.push([origin, data]);</script><iframe src="${session.url}"></iframe>`,
      }),
    );
    await page.goto(`${at}/`);
    return page;
  };
  const told = (page: Page) =>
    page.evaluate(() => {
      const { told: all } = globalThis as unknown as { told: [string, { type: string }][] };
      return all.filter(([, { type }]) => type === 'session.ready' || type === 'session.ended');
    });

  it('is notified when the session is ready and has ended, and the page shows that it can be closed [SES-025]', async () => {
    await embedders(['https://other.example.com', 'https://shop.example.com']);
    const session = await open();
    const page = await embed('https://shop.example.com', session);
    const frame = page.frameLocator('iframe');
    await frame.getByText('How can I help?').waitFor();
    const from = desk.line.url;
    const { id: session_id, conversation_id } = session;
    const ready = [from, { source: 'vestra', type: 'session.ready', session_id, conversation_id }];
    await expect.poll(() => told(page)).toEqual([ready]);
    await end(session.id);
    await frame.getByText('You can close this page.').waitFor();
    const ended = { source: 'vestra', type: 'session.ended', session_id: session.id, reason: 'revoked' };
    await expect.poll(() => told(page)).toEqual([ready, [from, ended]]);
    expect(await frame.getByLabel('Message', { exact: true }).count()).toBe(0);
    await page.context().close();
  });

  it('receives nothing once it may no longer embed the page', async () => {
    await embedders(['https://shop.example.com']);
    const session = await open();
    const page = await embed('https://shop.example.com', session);
    await expect.poll(async () => (await told(page)).length).toBe(1);
    await embedders(['https://other.example.com']);
    await end(session.id);
    await page.frameLocator('iframe').getByText('You can close this page.').waitFor();
    // Messages that the page sends to itself arrive after those it would have sent to its parent.
    await page.frames()[1]?.evaluate(async (id) => (await fetch(`/v1/sessions/${id}/frame-policy`)).text(), session.id);
    expect(await told(page)).toHaveLength(1);
    await page.context().close();
  });

  it('of another origin shows and receives nothing', async () => {
    await embedders(['https://shop.example.com']);
    const page = await embed('https://evil.example.com', await open());
    await expect.poll(() => page.frames().at(1)?.url()).toMatch(/^chrome-error:/);
    const refused = await open();
    const failing = page.waitForEvent('requestfailed');
    await page.evaluate((url) => {
      document.querySelector('iframe')?.setAttribute('src', url);
    }, refused.url);
    expect((await failing).failure()?.errorText).toBe('net::ERR_BLOCKED_BY_RESPONSE');
    expect(await told(page)).toEqual([]);
    await page.context().close();
    await embedders([]);
  });
});

describe('the end of a session', () => {
  it('is asked for every 3 seconds [SES-024]', async () => {
    const context = await desk.browser.newContext({ locale: 'en-GB' });
    const page = await context.newPage();
    const session = await open({ screen: 'view' });
    let asked = 0;
    let answered = 0;
    const isAsked = (request: Request) =>
      request.method() === 'GET' && request.url().endsWith(`/v1/sessions/${session.id}`);
    page.on('request', (request) => {
      if (isAsked(request)) asked += 1;
    });
    page.on('requestfinished', (request) => {
      if (isAsked(request)) answered += 1;
    });
    await page.clock.install();
    await page.goto(session.url);
    await page.getByText('How can I help?').waitFor();
    await page.clock.pauseAt(Date.now() + 10_000);
    // The next time is counted from the answer before: every question must have had its answer, and the page have read it.
    const isRead = async () => {
      await expect.poll(() => asked - answered, { timeout: 20_000 }).toBe(0);
      await page.evaluate(async () => (await fetch('/v1/health')).text());
    };
    await isRead();
    for (let round = 0; round < 3; round += 1) {
      const before = asked;
      await page.clock.runFor(2999);
      await isRead();
      expect(asked).toBe(before);
      await page.clock.runFor(1);
      await expect.poll(() => asked, { timeout: 20_000 }).toBe(before + 1);
      await isRead();
      expect(asked).toBe(before + 1);
    }
    await context.close();
  });

  it('leaves messages readable, and offers no action', async () => {
    const visit = await desk.visit();
    const { page, session } = visit;
    desk.script(inTurn(calling('order_paper', { sheets: 500 }), { text: 'Thanks.' }));
    await page.getByLabel('Message', { exact: true }).fill('Order paper');
    await page.keyboard.press('Enter');
    await page.getByRole('button', { name: 'Yes' }).waitFor();
    await end(session.id);
    await page.locator('[data-ended=revoked]').waitFor();
    expect(await page.getByText('Order paper', { exact: true }).count()).toBe(1);
    expect(await page.getByRole('button').count()).toBe(0);
    await page.context().close();
  });

  it('follows when the time is over', async () => {
    const { page, session } = await desk.visit();
    await page.getByText('How can I help?').waitFor();
    await desk.sql(`UPDATE sessions SET expires_at = now() - interval '1 minute' WHERE id = $1`, [session.id]);
    await page.locator('[data-ended=expired]').getByText('It has expired.').waitFor();
    await page.context().close();
  });
});

describe('the memory', () => {
  it('is shown and forgotten, one by one and whole [PAGE-005]', async () => {
    for (const text of ['Drinks tea.', 'Sails on Sundays.', 'Has two cats.']) {
      await desk.call('POST', '/v1/memory', { body: { user_id: 'mia', text } });
    }
    const kept = async () =>
      (await desk.call('GET', '/v1/memory?user_id=mia')).body.data.map(({ text }: { text: string }) => text);
    const { page, faults } = await desk.visit({ user_id: 'mia', memory: true });
    const panel = page.getByRole('complementary');
    await panel.getByText('Sails on Sundays.').waitFor();
    await panel.getByRole('button', { name: 'Forget: Sails on Sundays.' }).click();
    await panel.getByText('Sails on Sundays.').waitFor({ state: 'detached' });
    expect(await kept()).toEqual(['Has two cats.', 'Drinks tea.']);
    await panel.getByRole('button', { name: 'Forget everything' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Cancel' }).click();
    expect(await kept()).toHaveLength(2);
    await panel.getByRole('button', { name: 'Forget everything' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Forget everything' }).click();
    await panel.getByText('Nothing yet.').waitFor();
    expect(await kept()).toEqual([]);
    expect(faults).toEqual([]);
    await page.context().close();
  });

  it('is not there in a session without it', async () => {
    const { page } = await desk.visit({ user_id: 'mia' });
    await page.getByText('How can I help?').waitFor();
    expect(await page.getByText('Memory').count()).toBe(0);
    await page.context().close();
  });
});

describe('everybody', () => {
  it.each(['light', 'dark'] as const)('can read and use it in %s', async (colorScheme) => {
    const { page, session, faults } = await desk.visit(
      { user_id: 'mia', memory: true },
      { colorScheme, reducedMotion: 'reduce' },
    );
    await page.getByText('How can I help?').waitFor();
    expect(await barriersOn(page)).toEqual([]);
    const table =
      '| a | b |\n|---|---|\n| 1 | 2 |\n\n```js\nrun()\n```\n\n- [x] done\n\n> Quote and `code` and [link](https://a.example)';
    desk.script(inTurn({ text: table, ...calling('order_paper', { sheets: 500 }) }, { text: 'Thanks.' }));
    await page.getByLabel('Message', { exact: true }).fill('Order paper');
    await page.keyboard.press('Enter');
    await page.getByRole('button', { name: 'Yes' }).waitFor();
    expect(await barriersOn(page)).toEqual([]);
    await end(session.id);
    await page.locator('[data-ended]').waitFor();
    expect(await barriersOn(page)).toEqual([]);
    expect(faults).toEqual([]);
    await page.context().close();
  });

  it('can do everything with a keyboard alone, and sees where they are [PAGE-770]', async () => {
    const { page, session, faults } = await desk.visit({ voice: true, memory: true, user_id: 'kay' });
    const button = (name: string) => page.getByRole('button', { name, exact: true });
    const field = page.getByLabel('Message', { exact: true });
    desk.script(inTurn(calling('order_paper', { sheets: 500 }), { text: 'As you wish.' }));
    // The field for messages has the focus from the start.
    await expect.poll(() => field.evaluate((element) => element === document.activeElement)).toBe(true);
    await tabTo(page, field);
    await page.keyboard.type('Order paper');
    await page.keyboard.press('Enter');
    await tabTo(page, button('No'));
    await page.keyboard.press('Space');
    await page.locator('[data-outcome=denied]').waitFor();
    await desk.rest(session.conversation_id);
    await tabTo(page, button('Good reply'));
    await page.keyboard.press('Enter');
    await page.locator('[data-rating=good]').waitFor();
    desk.script(inTurn(calling('ask_question', { question: 'Which size?', options: ['S', 'M'] }), { fail: 'hang' }));
    await tabTo(page, field);
    await page.keyboard.type('Ask');
    await tabTo(page, button('Send'));
    await page.keyboard.press('Enter');
    await tabTo(page, page.getByRole('radio', { name: 'S' }));
    await page.keyboard.press('Space');
    await page.keyboard.press('ArrowDown');
    await tabTo(page, button('Answer'));
    await page.keyboard.press('Enter');
    await page.locator('[data-outcome=answered]', { hasText: 'M' }).waitFor();
    await tabTo(page, button('Stop'));
    await page.keyboard.press('Enter');
    await page.locator('[data-end=stopped]').waitFor();
    await tabTo(page, button('Talk'), 'Shift+Tab');
    await page.keyboard.press('Enter');
    // This machine has no microphone. The buttons of a call that ended take the focus.
    await page.locator('[data-call=no_microphone], [data-call=microphone_refused]').waitFor();
    await tabTo(page, button('Call again'));
    await page.keyboard.press('Escape');
    await tabTo(page, button('Talk'));
    expect(faults).toEqual([]);
    await page.context().close();
  });

  it.each([
    ['de-AT', 'Wie kann ich helfen?', 'ltr'],
    ['es-MX', '¿En qué puedo ayudarte?', 'ltr'],
    ['fr-CA', 'Comment puis-je vous aider ?', 'ltr'],
    ['ar-EG', 'كيف يمكنني مساعدتك؟', 'rtl'],
    ['pt-BR', 'Como posso ajudar?', 'ltr'],
    ['hi-IN', 'मैं आपकी क्या मदद करूँ?', 'ltr'],
    ['ja-JP', 'どのようなご用件でしょうか？', 'ltr'],
    ['sv-SE', 'How can I help?', 'ltr'],
  ])(
    'in %s is spoken to in a language it has, on the narrowest screen [PAGE-240]',
    async (locale, greeting, direction) => {
      const { page } = await desk.visit({}, { locale, viewport: { width: 320, height: 560 } });
      await page.getByText(greeting).waitFor();
      expect(await page.evaluate(() => document.documentElement.dir)).toBe(direction);
      expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(320);
      await page.context().close();
    },
  );
});

describe('Firefox', () => {
  if (!hasFirefox)
    process.stderr.write('NOT TRIED: the page in Firefox. `apt install firefox-esr` and run this again.\n');

  it.skipIf(!hasFirefox)('opens the page, talks, approves and changes direction [PAGE-245]', async () => {
    const firefox = await openFirefox({ locale: 'ar-EG' });
    try {
      const session = await open({});
      desk.script(inTurn(calling('order_paper', { sheets: 500 }), { text: 'It is **sunny**.' }));
      await firefox.open(session.url);
      await firefox.until(`document.querySelector('textarea')`);
      await firefox.evaluate(`document.querySelector('textarea').focus()`);
      expect(await firefox.evaluate('[document.documentElement.dir, location.hash]')).toEqual(['rtl', '']);
      await firefox.type('Order paper\uE007');
      await firefox.press('نعم');
      await firefox.until(`document.querySelector('[data-outcome=approved]')`);
      const called = await desk.open(session.conversation_id);
      await desk.answer(called[0].id, { output: 'ordered' });
      await firefox.until(`document.querySelector('[data-role=agent] strong')?.textContent === 'sunny'`);
      expect(await firefox.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true);
      await end(session.id);
      await firefox.until(`document.querySelector('[data-ended=revoked]')`);
      expect(firefox.faults).toEqual([]);
    } finally {
      await firefox.close();
    }
  });
});

describe('a call', () => {
  it('reports a refused microphone or a server without voice, and ends by keyboard [VOI-268]', async () => {
    const visit = await desk.visit({ voice: true });
    const { page } = visit;
    // Nothing of it is fetched before somebody wants to talk.
    const fetched = await page.evaluate(() => performance.getEntriesByType('resource').map(({ name }) => name));
    expect(fetched.filter((name) => name.includes('call-bar'))).toEqual([]);
    await page.getByRole('button', { name: 'Talk' }).focus();
    await page.keyboard.press('Enter');
    await page.getByText(/^(The microphone is blocked|No microphone was found)/).waitFor();
    expect(await barriersOn(page)).toEqual([]);
    await page.evaluate(() => {
      navigator.mediaDevices.getUserMedia = async () => new AudioContext().createMediaStreamDestination().stream;
    });
    await page.keyboard.press('Enter');
    await page.getByText('Voice is not available at the moment.').waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('button', { name: 'Talk' }).waitFor();
    expect(visit.faults).toEqual([]);
    await page.context().close();
  });
});

describe('the guide', () => {
  it('is searched and read with the keyboard alone, light and dark, on a desk and on a phone [GUIDE-004, GUIDE-007]', async () => {
    for (const [colorScheme, width] of [
      ['light', 1280],
      ['dark', 390],
    ] as const) {
      const context = await desk.browser.newContext({ colorScheme, viewport: { width, height: 800 } });
      const page = await context.newPage();
      const foreign: string[] = [];
      const faults: string[] = [];
      page.on('request', (request) => request.url().startsWith(`${desk.url}/`) || foreign.push(request.url()));
      page.on('pageerror', ({ message }) => faults.push(message));
      page.on('console', (line) => /Content.Security.Policy/i.test(line.text()) && faults.push(line.text()));
      await page.goto(`${desk.url}/docs/guide/functions`);
      expect(await barriersOn(page)).toEqual([]);
      await page.keyboard.press('/');
      await page.keyboard.type('who approves');
      await page.getByRole('option').first().waitFor();
      expect(await barriersOn(page)).toEqual([]);
      await page.keyboard.press('Enter');
      await page.waitForURL('**/docs/guide/interactions#who-approves');
      expect(await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)).toBe(0);
      expect([foreign, faults]).toEqual([[], []]);
      await context.close();
    }
  });

  it('leads the old address of a moved heading to its new page, also without scripts [GUIDE-016]', async () => {
    const old = `${desk.url}/docs/guide/conversations#inspect-a-turn`;
    const scripted = await desk.browser.newContext();
    const page = await scripted.newPage();
    await page.goto(`${desk.url}/docs/guide/functions`);
    await page.goto(old);
    await page.waitForURL('**/docs/guide/find-conversations#inspect-a-turn');
    // Back does not return to the old address, which would lead here again.
    await page.goBack();
    await page.waitForURL('**/docs/guide/functions');
    await scripted.close();
    const plain = await desk.browser.newContext({ javaScriptEnabled: false });
    const still = await plain.newPage();
    await still.goto(old);
    const moved = still.getByText('This section moved to');
    expect(await moved.filter({ visible: true }).count()).toBe(1);
    await moved.filter({ visible: true }).getByRole('link').click();
    await still.waitForURL('**/docs/guide/find-conversations#inspect-a-turn');
    await plain.close();
  });

  it('saves the chosen colours, and opens its pages from a button on a phone [GUIDE-007]', async () => {
    const context = await desk.browser.newContext({ colorScheme: 'light', viewport: { width: 390, height: 800 } });
    const page = await context.newPage();
    await page.goto(`${desk.url}/docs/guide/functions`);
    const scheme = () => page.evaluate(() => getComputedStyle(document.documentElement).colorScheme);
    await page.getByRole('button', { name: 'Switch between light and dark' }).press('Enter');
    expect(await scheme()).toBe('dark');
    await page.getByRole('button', { name: 'Pages' }).press('Enter');
    await page.getByRole('link', { name: 'Webhooks', exact: true }).click();
    await page.waitForURL('**/docs/guide/webhooks');
    expect(await scheme()).toBe('dark');
    await context.close();
  });
});

describe('the API reference', () => {
  it('shows code in three languages and sends a request with a test key only, without another host [REQ-702]', async () => {
    for (const [colorScheme, width] of [
      ['light', 1440],
      ['dark', 390],
    ] as const) {
      const context = await desk.browser.newContext({ colorScheme, viewport: { width, height: 900 } });
      const page = await context.newPage();
      const foreign: string[] = [];
      const faults: string[] = [];
      page.on('request', (request) => request.url().startsWith(`${desk.url}/`) || foreign.push(request.url()));
      page.on('pageerror', ({ message }) => faults.push(message));
      page.on('console', (line) => /Content.Security.Policy/i.test(line.text()) && faults.push(line.text()));
      await page.goto(`${desk.url}/docs`);
      expect(await barriersOn(page)).toEqual([]);
      await page.goto(`${desk.url}/docs/api/users#users_create`);
      const operation = page.locator('#users_create');
      // Every table fits: on a phone, nobody has to scroll a row to read what a field means.
      const tables = page.locator('.table');
      expect(await tables.count()).toBeGreaterThan(0);
      expect(await tables.evaluateAll((all) => all.filter((each) => each.scrollWidth > each.clientWidth).length)).toBe(
        0,
      );
      await operation.getByRole('tab', { name: 'Python' }).click();
      await operation.getByText('client.users.create(').waitFor();
      await page.reload();
      await operation.getByText('client.users.create(').waitFor();
      await operation.getByText('Try it').press('Enter');
      expect(await barriersOn(page)).toEqual([]);
      await operation.getByLabel('Body').fill(JSON.stringify({ user_id: `reader-${width}` }));
      await operation.getByLabel('Test key').fill('vk_live_123456789');
      await operation.getByRole('button', { name: 'Send POST' }).press('Enter');
      await operation.getByText('Use a test key').waitFor();
      await operation.getByLabel('Test key').fill(desk.testKey);
      await operation.getByRole('button', { name: 'Send POST' }).press('Enter');
      await operation.locator('output').getByText(`"reader-${width}"`).waitFor();
      expect((await desk.call('GET', `/v1/users/reader-${width}`)).status).toBe(200);
      expect(await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)).toBe(0);
      expect([foreign, faults]).toEqual([[], []]);
      await context.close();
    }
  });
});
