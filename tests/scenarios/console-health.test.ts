import { routes } from '@vestra/contract/api';
import { roleMayCall } from '@vestra/contract/role';
import type { Role } from '@vestra/contract/route';
import type { Locator, Page, Request } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { pages } from '../../packages/web/src/console/pages.ts';
import { makeOtherOrg } from '../support/other-org.ts';
import { type ConsoleDesk, startConsoleDesk, widthOf } from './console.fixture.ts';
import { calling, inTurn } from './interactions.fixture.ts';
import { barriersOn } from './session-page.fixture.ts';

/** Whether the agents of an org are well, in the API and on Home. */
let desk: ConsoleDesk;
beforeAll(async () => {
  desk = await startConsoleDesk();
  const tools = [{ function: 'order_paper', description: 'Order paper.', input: { sheets: 'integer' } }];
  await desk.apply({ name: 'desk', memory: 'none', tools });
  await desk.apply({ name: 'till', memory: 'none' });
});
afterAll(() => desk.stop());

const talk = async (message: string, deployment = 'desk'): Promise<string> => {
  const { id } = await desk.say({ deployment, message });
  await desk.rest(id);
  return id;
};

const overview = async (query = '', key = desk.testKey) => {
  const { status, body } = await desk.call('GET', `/v1/overview${query}`, { key });
  expect(status).toBe(200);
  return body;
};

const age = (id: string, by: string) =>
  desk.sql(
    'UPDATE turns SET created_at = created_at - $2::interval, settled_at = settled_at - $2::interval WHERE conversation_id = $1',
    [id, by],
  );

describe('the overview', () => {
  it('counts conversations, failures by cause, latency, cost and approvals, by period and deployment [CON-740]', async () => {
    desk.script(() => ({ text: 'Hello.', usage: { inputTokens: 50_000, outputTokens: 0 } }));
    const first = await talk('One');
    await desk.call('POST', `/v1/conversations/${first}/messages`, {
      body: { message: 'Two' },
      headers: { Prefer: 'wait=60' },
    });
    const earlier = await talk('Three days ago');
    await age(earlier, '3 days');
    await age(await talk('Long ago'), '40 days');
    // An old conversation with a new message is part of today.
    await desk.sql(`UPDATE conversations SET created_at = created_at - interval '40 days' WHERE id = $1`, [first]);
    await talk('At the till', 'till');
    desk.script(() => ({ fail: 400, failMessage: 'No such temperature.' }));
    const broken = await talk('Breaks');
    const latest = await talk('Breaks again');
    desk.script(inTurn(calling('order_paper', { sheets: 5 }), { text: 'Ordered.' }));
    const { conversationId } = await desk.waiting({ deployment: 'desk' });

    const day = await overview();
    expect(day).toMatchObject({
      object: 'overview',
      period: '24h',
      // The one that waits counts as a conversation, and is no reply yet.
      conversation_count: 5,
      reply_count: 5,
      failed_count: 2,
      pending_approval_count: 1,
      failures: [
        {
          code: 'model_error',
          message: expect.stringContaining('refused the request'),
          failed_count: 2,
          conversation_count: 2,
          conversation_id: latest,
        },
      ],
      deployments: [
        { name: 'desk', conversation_count: 4, reply_count: 4, failed_count: 2 },
        { name: 'till', conversation_count: 1, reply_count: 1, failed_count: 0 },
      ],
    });
    expect(day.slots).toHaveLength(24);
    expect(sum(day.slots, 'reply_count')).toBe(5);
    expect(sum(day.slots, 'failed_count')).toBe(2);
    expect(day.latency_ms.p50).toBeGreaterThan(0);
    expect(day.latency_ms.p95).toBeGreaterThanOrEqual(day.latency_ms.p50);
    // All was spent today: messages were moved, and charges were not.
    const { body: usage } = await desk.call('GET', '/v1/usage?group_by=deployment');
    expect(day.cost_usd).toBeCloseTo(usage.total.cost_usd, 5);
    expect(sum(day.deployments, 'cost_usd')).toBeCloseTo(usage.total.cost_usd, 5);

    const week = await overview('?period=7d');
    expect(week).toMatchObject({ conversation_count: 6, reply_count: 6, failed_count: 2 });
    expect(week.slots).toHaveLength(7);
    expect(week.slots.filter(({ reply_count }: { reply_count: number }) => reply_count > 0)).toHaveLength(2);
    expect(await overview('?period=30d')).toMatchObject({ conversation_count: 6, reply_count: 6 });
    expect(await overview('?deployment=desk')).toMatchObject({ pending_approval_count: 1 });
    expect(await overview('?deployment=till')).toMatchObject({
      conversation_count: 1,
      failed_count: 0,
      pending_approval_count: 0,
      failures: [],
      deployments: [{ name: 'till' }],
    });

    // A reply that waited for a person says nothing about latency.
    await desk.sql(`UPDATE turns SET created_at = created_at - interval '2 hours' WHERE conversation_id = $1`, [
      conversationId,
    ]);
    const [interaction] = await desk.open(conversationId);
    await desk.answer(interaction.id, { decision: 'approved' });
    await desk.call('POST', `/v1/conversations/${conversationId}/stop`);
    await desk.rest(conversationId);
    expect((await overview()).latency_ms.p95).toBeLessThan(3_600_000);

    expect((await desk.call('GET', '/v1/overview?deployment=nobody')).body.error).toMatchObject({
      code: 'invalid_deployment',
      param: 'deployment',
    });
    expect((await desk.call('GET', '/v1/overview?period=1y')).status).toBe(400);
    const none = {
      conversation_count: 0,
      reply_count: 0,
      latency_ms: null,
      cost_usd: 0,
      failures: [],
      deployments: [],
    };
    expect(await overview('?period=30d', desk.liveKey)).toMatchObject(none);
    expect(await overview('?period=30d', await makeOtherOrg(desk))).toMatchObject(none);

    const listed = await desk.call('GET', '/v1/conversations?error_code=model_error');
    expect(listed.body.data.map(({ id }: { id: string }) => id)).toEqual([latest, broken]);
    expect((await desk.call('GET', '/v1/conversations?error_code=budget_reached')).body.data).toEqual([]);
  });
});

const sum = <Row>(rows: Row[], field: keyof Row) => rows.reduce((all, row) => all + Number(row[field]), 0);

describe('Home', () => {
  it('shows whether all is well, by period and deployment, and leads from a cause to its conversations [CON-741]', async () => {
    desk.script(() => ({ fail: 400, failMessage: 'No such temperature.' }));
    const once = await talk('Breaks once');
    await talk('Where is order 4711?');
    desk.script(() => ({ text: 'Hello.' }));
    await desk.call('POST', `/v1/conversations/${once}/messages`, { body: { message: 'Now?' } });
    await desk.rest(once);
    const { page, go, leave } = await desk.enter('/', { context: { viewport: { width: 1440, height: 900 } } });
    const period = (name: string) => page.getByRole('navigation', { name: 'Period' }).getByRole('link', { name });
    const isWell = (word: string) => page.locator(`[data-health="${word}"]`);
    await isWell('failing').waitFor();
    for (const label of ['Conversations', 'Failure rate', 'Latency', 'Spend', 'Approvals']) {
      await page.locator('main').getByText(label, { exact: true }).first().waitFor();
    }
    await period('7 days').click();
    await page.waitForURL(/period=7d/);
    await page.getByText('Replies per day').first().waitFor();
    await page.getByLabel('Deployment', { exact: true }).selectOption('till');
    await page.waitForURL(/deployment=till/);
    await isWell('healthy').waitFor();
    await page.getByText('No failures in the last 7 days.').waitFor();
    await page.reload();
    await isWell('healthy').waitFor();
    expect(await barriersOn(page)).toEqual([]);

    await go('/?period=24h&deployment=desk');
    const link = page.getByRole('link', { name: /conversations with model_error/ });
    const counted = Number.parseInt((await link.textContent()) ?? '', 10);
    await link.click();
    await page.waitForURL(/error_code=model_error/);
    await page.getByRole('row', { name: /Where is order 4711\?.*failed/ }).waitFor();
    // The one whose next reply succeeded is in it too.
    await page.getByRole('row', { name: /Breaks once.*idle/ }).waitFor();
    expect(await page.getByRole('row').count()).toBe(counted + 1);
    expect(await page.getByLabel('Error code').inputValue()).toBe('model_error');
    expect(await page.getByRole('row', { name: /At the till/ }).count()).toBe(0);

    for (const width of [1440, 1024, 390]) {
      await page.setViewportSize({ width, height: 900 });
      await go('/');
      await isWell('failing').waitFor();
      expect([width, await widthOf(page)]).toEqual([width, width]);
      await look(page, `home-${width}`);
    }
    await page.emulateMedia({ colorScheme: 'dark' });
    expect(await barriersOn(page)).toEqual([]);
    await look(page, 'home-390-dark');
    await leave();
  });
});

describe('a cause', () => {
  it('counts the conversations that its filters list, whatever their next messages did [CON-751]', async () => {
    desk.script(() => ({ fail: 400, failMessage: 'No such temperature.' }));
    const recovered = await talk('Breaks and recovers');
    const twice = await talk('Breaks twice');
    await desk.call('POST', `/v1/conversations/${twice}/messages`, { body: { message: 'Again' } });
    await desk.rest(twice);
    const earlier = await talk('Broke long ago');
    await age(earlier, '40 days');
    desk.script(() => ({ text: 'Hello.' }));
    await desk.call('POST', `/v1/conversations/${recovered}/messages`, { body: { message: 'Now?' } });
    await desk.rest(recovered);

    const { from, failures } = await overview();
    const [{ conversation_count }] = failures;
    const list = async (query: string) =>
      (await desk.call('GET', `/v1/conversations?limit=100&${query}`)).body.data.map(({ id }: { id: string }) => id);
    const failed = await list(`error_code=model_error&failed_after=${from}`);
    expect(failed).toHaveLength(conversation_count);
    expect(failed).toEqual(expect.arrayContaining([recovered, twice]));
    expect(failed).not.toContain(earlier);
    expect(await list(`failed_after=${from}`)).toEqual(failed);
    expect(await list(`error_code=run_expired&failed_after=${from}`)).toEqual([]);
    const now = await list('error_code=model_error');
    expect(now).toEqual(expect.arrayContaining([twice, earlier]));
    expect(now).not.toContain(recovered);
    expect((await desk.call('GET', '/v1/conversations?failed_after=yesterday')).status).toBe(400);
  });
});

describe('a file', () => {
  const write = async (page: Page, text: string) => {
    await page.getByRole('textbox', { name: 'Deployment file' }).click();
    await page.keyboard.press('Control+a');
    await page.keyboard.insertText(text);
  };
  const isInSight = async (page: Page, place: Locator) => {
    await place.waitFor();
    const box = await place.boundingBox();
    const height = page.viewportSize()?.height ?? 0;
    return box !== null && box.y >= 0 && box.y + box.height <= height;
  };

  it('has its faults beside their lines, and a refusal is in sight [CON-745]', async () => {
    const { page, leave } = await desk.enter('/deployments/new', {
      context: { viewport: { width: 1440, height: 900 } },
    });
    const lines = Array.from({ length: 80 }, (_, at) => `  Rule ${at}: be kind.`);
    await write(page, `name: long-file\nmodell: gpt\ninstructions: |\n${lines.join('\n')}\n`);
    const beside = page.locator('.cm-line', { hasText: 'modell: gpt' }).locator('.cm-fault-beside');
    await page.getByRole('button', { name: 'Apply' }).click();
    await beside.getByText('Unknown field `modell`. Did you mean `model`?').waitFor();
    expect(await isInSight(page, beside)).toBe(true);
    expect(await isInSight(page, page.getByRole('alert'))).toBe(true);
    expect(await isInSight(page, page.getByRole('button', { name: 'Apply' }))).toBe(true);
    expect(await barriersOn(page)).toEqual([]);
    await look(page, 'file-fault-1440');
    await write(page, 'name: long-file\ninstructions: Be kind.\n');
    await beside.waitFor({ state: 'detached' });
    await leave(/Applying inline style/);
  });

  it('leads on after Apply: talk beside it, run its tests, make it live [CON-746]', async () => {
    desk.script(({ outputSchema }) => ({ text: outputSchema ? '{}' : 'We open at nine.' }));
    const { page, leave } = await desk.enter('/deployments/new', {
      context: { viewport: { width: 1440, height: 900 } },
    });
    const tests = 'tests:\n  - { name: greets, ask: Say hello, expect: It greets. }\n';
    await write(page, `name: shop\ninstructions: Be kind.\n${tests}`);
    await page.getByRole('button', { name: 'Apply' }).click();
    await page.waitForURL(/deployments\/dep_/);
    const playground = page.getByRole('region', { name: 'Playground' });
    const editor = page.getByRole('textbox', { name: 'Deployment file' });
    await editor.getByText('Be kind.').waitFor();
    await playground.getByRole('textbox', { name: 'Message' }).fill('When do you open?');
    await page.keyboard.press('Enter');
    await playground.locator('[data-said=agent]').getByText('We open at nine.').waitFor();
    const [left, right] = await Promise.all([editor, playground].map((each) => each.boundingBox()));
    expect(right?.x).toBeGreaterThan((left?.x ?? 0) + (left?.width ?? 0) - 1);
    expect(await barriersOn(page)).toEqual([]);
    await look(page, 'file-talk-1440');

    // A new version begins a new conversation, because the old one keeps its version.
    await write(page, `name: shop\ninstructions: Be brief.\n${tests}`);
    await page.getByRole('button', { name: 'Apply' }).click();
    await page.getByText('Version 2 is saved').waitFor();
    await playground.getByText('is ready for your first message').waitFor();
    await page.getByRole('button', { name: 'Close the playground' }).click();
    await playground.waitFor({ state: 'detached' });
    await page.getByRole('link', { name: 'Talk' }).click();
    await playground.waitFor();
    for (const width of [1024, 390]) {
      await page.setViewportSize({ width, height: 900 });
      expect([width, await widthOf(page)]).toEqual([width, width]);
      await look(page, `file-talk-${width}`);
    }
    await page.setViewportSize({ width: 1440, height: 900 });

    await page.getByRole('button', { name: 'Run tests' }).click();
    await page.waitForURL(/test-runs\//);
    await page.goBack();
    await page.getByRole('link', { name: 'Make live' }).click();
    await page.waitForURL(/\/live\/deployments\/dep_.*\/versions/);
    await page.getByRole('button', { name: 'Promote to live' }).last().click();
    await page.getByLabel('Immediately').check();
    await page.getByRole('dialog').getByRole('button', { name: 'Promote' }).click();
    await page.getByText('Version 2 is live').waitFor();
    expect((await desk.call('GET', '/v1/deployments/shop')).body.live_version).toBe(2);
    await leave(/Applying inline style/);
  });
});

describe('every page', () => {
  /** Parts of pages without a separate path. */
  const parts = [
    '/settings?part=pages',
    '/settings?part=memory',
    '/settings?part=models',
    '/settings?part=sign-in',
    '/users/ada?part=memory',
    '/users/ada?part=files',
    '/users/ada?part=computer',
    '/apps?show=connections',
    '/routines?show=calendar',
    '/usage?by=deployment',
    '/usage?by=user',
  ];
  /** Other states of pages, which are tested for barriers. */
  const states = [
    '/settings?part=traces',
    '/tests?new=1',
    '/batches?new=1',
    '/routines?new=1',
    '/webhooks?new=1',
    '/keys?new=1',
    '/limits?edit=1',
    '/members?invite=1',
    '/conversations?failed=true',
    '/conversations/conv_none',
  ];
  let paths: string[] = [];
  beforeAll(async () => {
    paths = [...(await pathsOfPages()), ...parts];
  });

  it('for an owner makes no request that fails, and logs no error [CON-748]', { timeout: 240_000 }, async () => {
    expect(await errorsOnPages(paths, desk.owner)).toEqual([]);
  });

  it('has no barrier in either theme, and fits a phone [CON-007]', { timeout: 600_000 }, async () => {
    expect(paths.length).toBeGreaterThan(50);
    const { page, follow, go, leave } = await desk.enter('/', { context: { viewport: { width: 390, height: 844 } } });
    for (const path of [...paths, ...states]) {
      await follow(path);
      await page.locator('[data-loading]').first().waitFor({ state: 'detached' });
      await expectNoBarrier(page, path);
    }
    await go('/no-such-page');
    await page.getByRole('heading', { name: 'Page not found' }).waitFor();
    await expectNoBarrier(page, '/no-such-page');
    await leave();
    const outside = await desk.enter('/sign-in', { as: null });
    await outside.page.setViewportSize({ width: 390, height: 844 });
    for (const path of ['/sign-in', '/accept#token=none', '/reset#token=none']) {
      await outside.go(path);
      await outside.page.locator('h1').first().waitFor();
      await expectNoBarrier(outside.page, path);
    }
    await outside.leave();
  });

  it('in live mode makes no request that fails, and logs no error [CON-748]', { timeout: 240_000 }, async () => {
    // Only deployments exist in both modes.
    const { id } = (await desk.call('GET', '/v1/deployments/desk')).body;
    const paths = pages.map(({ path }) => path.replace('$deployment', id)).filter((path) => !path.includes('$'));
    expect(paths.length).toBeGreaterThan(30);
    const live = [...paths, ...parts.filter((path) => !path.startsWith('/users/'))];
    expect(await errorsOnPages(live, desk.owner, 'live')).toEqual([]);
  });

  it('to sign in makes no request that fails before anybody has signed in [CON-748]', async () => {
    const { page, leave } = await desk.enter('/sign-in', { as: null });
    const errors = errorsOf(page, () => page.url());
    await page.goto(`${desk.line.url}/console`);
    await page.getByLabel('Password').waitFor();
    expect(errors).toEqual([]);
    await leave();
  });

  it('for a viewer makes no request that fails, logs no error, and offers no change that is refused [CON-747] [CON-748]', {
    timeout: 240_000,
  }, async () => {
    const viewer = await join('viewer', 'Vera');
    const offers: string[] = [];
    const errors = await errorsOnPages(paths, viewer, 'test', async (page, path) => {
      // Their own name, password and passkeys are theirs to change.
      if (!path.startsWith('/account')) offers.push(...(await offersOn(page)).map((name) => `${path}: ${name}`));
    });
    expect(errors).toEqual([]);
    expect(offers).toEqual([]);

    const { page, go, leave } = await desk.enter('/', { as: viewer });
    await page.getByRole('heading', { name: 'Hello, Vera' }).waitFor();
    expect(await page.getByRole('heading', { name: 'Getting started' }).count()).toBe(0);
    const menu = page.getByRole('navigation', { name: 'Pages' });
    await menu.getByRole('link', { name: 'Conversations' }).waitFor();
    for (const name of ['Playground', 'Secrets', 'API keys', 'Usage', 'Members']) {
      expect([name, await menu.getByRole('link', { name }).count()]).toEqual([name, 0]);
    }
    // Approvals, questions and a function endpoint can be read and not changed.
    desk.script(inTurn(calling('order_paper', { sheets: 5 }), { text: 'Ordered.' }));
    await desk.waiting({ deployment: 'desk' });
    await go('/inbox');
    await page.locator('[data-waiting]').first().waitFor();
    expect(await offersOn(page)).toEqual([]);
    const { id } = (await desk.call('GET', '/v1/deployments/till')).body;
    const url = 'https://functions.example.com/';
    await desk.call('PUT', `/v1/deployments/${id}/function-endpoint`, { body: { url } });
    await go(`/deployments/${id}/functions`);
    await page.getByText(url).waitFor();
    expect(await offersOn(page)).toEqual([]);
    await leave();
  });

  it.each(['developer', 'viewer'] as const)(
    'that is not part of the role says so calmly, and who can open it: %s [CON-730]',
    { timeout: 240_000 },
    async (role) => {
      const member = await join(role, 'Mo');
      const others = pages.filter(({ needs }) => needs !== null && !mayCall(role, needs));
      expect(others.length).toBeGreaterThan(3);
      const { page, go, leave } = await desk.enter('/', { as: member });
      const errors = errorsOf(page, () => page.url());
      const main = page.locator('#main');
      for (const { path, needs } of others) {
        await go(paths[pages.findIndex((each) => each.path === path)] ?? path);
        await main.getByText('This page is not part of your role.').waitFor();
        await main.getByText(`You are a ${role} of this org. Its owners`).waitFor();
        const able = roles.filter((each) => mayCall(each, needs as string));
        for (const each of able) await main.getByText(`${each}s`).waitFor();
        expect([path, await main.getByRole('button').count(), await page.getByRole('alert').count()]).toEqual([
          path,
          0,
          0,
        ]);
      }
      expect(errors).toEqual([]);
      await leave();
    },
  );
});

/** The rules of axe, and the width of a phone. */
async function expectNoBarrier(page: Page, path: string): Promise<void> {
  expect([path, await widthOf(page)]).toEqual([path, 390]);
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme });
    expect([path, colorScheme, await barriersOn(page)]).toEqual([path, colorScheme, []]);
    await look(page, `${path.replaceAll(/\W+/g, '-')}-${colorScheme}`);
  }
}

describe('the start page, the guide and the reference', () => {
  it('have no barrier in either theme, and fit a phone [GUIDE-017]', { timeout: 240_000 }, async () => {
    const context = await desk.browser.newContext({ viewport: { width: 390, height: 844 }, bypassCSP: true });
    const page = await context.newPage();
    const guide = ['', '/getting-started', '/architecture', '/console', '/deployment-file-reference', '/changelog'];
    for (const path of ['/', '/docs', '/docs/api/conversations', ...guide.map((each) => `/docs/guide${each}`)]) {
      const answer = await page.goto(`${desk.line.url}${path}`);
      expect([path, answer?.status()]).toEqual([path, 200]);
      await expectNoBarrier(page, path);
    }
    await page.goto(`${desk.line.url}/docs/guide/errors/wallet_empty`);
    await expectNoBarrier(page, 'an error');
    await context.close();
  });
});

const roles: readonly Role[] = ['owner', 'admin', 'developer', 'viewer'];

function mayCall(role: Role, row: string): boolean {
  const found = routes.find(({ name }) => name === row);
  return found !== undefined && roleMayCall(role, found.route);
}

/** A new member of the org. */
async function join(role: Role, name: string): Promise<{ email: string; password: string }> {
  const member = { email: `${role}-${name}@example.com`.toLowerCase(), password: 'a password of a member' };
  const { body } = await desk.call('POST', '/v1/members', { key: desk.liveKey, body: { email: member.email, role } });
  const token = new URL(body.invite_url).hash.replace('#token=', '');
  const accepted = { token, name, password: member.password };
  await desk.call('POST', '/v1/members/accept', { key: null, body: accepted });
  return member;
}

const changes =
  /^(Add|Apply|Approve|Archive|Cancel|Change|Connect|Create|Delete|Deny|Edit|Erase|Improve|Invite|Make|Name groups|New|Open the playground|Pause|Playground|Promote|Remove|Replay|Resume|Revoke|Roll|Run|Save|Send|Set|Start|Stop|Talk|Unarchive|Upload|Wake|Write)\b/;

/** The enabled buttons and the links of a page that begin a change, also in its menus. */
async function offersOn(page: Page): Promise<string[]> {
  const namesOf = (all: Locator) =>
    all.evaluateAll((each) =>
      each
        .filter((one) => !one.matches(':disabled, [data-disabled]'))
        .map((one) => (one.ariaLabel ?? one.textContent ?? '').trim()),
    );
  const names = await namesOf(page.locator('#main').locator('button, a'));
  const menu = page.locator('#main').getByRole('button', { name: /^Actions for/ });
  if ((await menu.count()) > 0 && (await menu.first().isEnabled())) {
    await menu.first().click();
    await page.getByRole('menu').waitFor();
    names.push(...(await namesOf(page.getByRole('menuitem'))));
    // The menu may listen to keys a moment after it is shown.
    const openAfterKey = async () => {
      await page.keyboard.press('Escape');
      return page.getByRole('menu').count();
    };
    await expect.poll(openAfterKey).toBe(0);
  }
  return names.filter((name) => changes.test(name));
}

/** One address of each page, with something to show on it. */
async function pathsOfPages(): Promise<string[]> {
  const make = async (method: string, path: string, body?: unknown) => {
    const answer = await desk.call(method, path, { ...(body !== undefined && { body }) });
    if (answer.status >= 300) throw new Error(`${method} ${path}: ${answer.text}`);
    return answer.body;
  };
  await make('POST', '/v1/users', { user_id: 'ada', name: 'Ada' });
  desk.script(({ outputSchema }) => ({ text: outputSchema ? '{}' : 'Hello.' }));
  const conversation = await talk('Hello');
  const task = await desk.work({ deployment: 'desk' });
  const { id: deployment } = await make('GET', '/v1/deployments/desk');
  await make('POST', `/v1/deployments/${deployment}/scenarios`, {
    name: 'Greets',
    persona: 'A new customer.',
    goal: 'Say hello',
    success_criteria: ['It greets.'],
  });
  const replay = { conversation_ids: [conversation] };
  const improving = { from: { type: 'conversations', conversation_ids: [conversation] }, budget_usd: 5 };
  const improvement = await make('POST', `/v1/deployments/${deployment}/improvements`, improving);
  await make('POST', `/v1/improvements/${improvement.id}/cancel`);
  const content = '---\nname: folding\ndescription: Folds paper.\n---\nFold it.';
  const ids: Record<string, string> = {
    deployment,
    conversation,
    task: task.id,
    run: (await make('POST', `/v1/deployments/${deployment}/test-runs`, {})).id,
    replay: (await make('POST', `/v1/deployments/${deployment}/replays`, replay)).id,
    improvement: improvement.id,
    notebook: (await make('POST', '/v1/notebooks', { name: 'Rules', slug: 'rules' })).id,
    skill: (await make('POST', '/v1/skills', { files: [{ path: 'SKILL.md', content }] })).id,
    server: (await make('POST', '/v1/mcp-servers', { name: 'Shop', slug: 'shop', url: 'https://mcp.example.com/mcp' }))
      .id,
    batch: (await make('POST', '/v1/batches', { deployment: 'desk', items: [{ user_id: 'ada', message: 'Hello' }] }))
      .id,
    routine: (
      await make('POST', '/v1/routines', { user_id: 'ada', deployment: 'desk', ask: 'Hello', every: 'day at 08:00' })
    ).id,
    user: 'ada',
    endpoint: (await make('POST', '/v1/webhooks', { url: 'https://hooks.example.com/', events: ['turn.failed'] })).id,
    event: (await make('GET', '/v1/events?limit=1')).data[0].id,
  };
  return pages.map(({ path }) =>
    path.replace(/\$(\w+)/g, (_, name: string) => {
      if (ids[name] === undefined) throw new Error(`No ${name} for ${path}`);
      return ids[name];
    }),
  );
}

/** Opens each page as its own document, so that a page that reuses data of the one before hides nothing. */
async function errorsOnPages(
  paths: readonly string[],
  as: { email: string; password: string },
  mode: 'test' | 'live' = 'test',
  look: (page: Page, path: string) => Promise<void> = async () => {},
): Promise<string[]> {
  const { page, leave } = await desk.enter('/', { as });
  const go = (path: string) => page.goto(`${desk.line.url}/console/${desk.orgId}/${mode}${path}`);
  let at = '/';
  const errors = errorsOf(page, () => at);
  const open = openCalls(page);
  for (at of paths) {
    await go(at);
    await page.locator('h1').first().waitFor();
    await expect.poll(async () => open.size + (await page.locator('[data-loading]').count())).toBe(0);
    await look(page, at);
  }
  await leave();
  return errors;
}

/** Failed requests, and lines of the browser's error log. */
function errorsOf(page: Page, at: () => string): string[] {
  const errors: string[] = [];
  page.on('console', (line) => line.type() === 'error' && errors.push(`${at()}: ${line.text()}`));
  page.on('response', (response) => {
    const called = `${response.request().method()} ${new URL(response.url()).pathname}`;
    if (response.status() >= 400) errors.push(`${at()}: ${response.status()} ${called}`);
  });
  return errors;
}

/** Unanswered calls of the API, without streams and the poll for news. */
function openCalls(page: Page): ReadonlySet<Request> {
  const open = new Set<Request>();
  page.on('request', (request) => {
    const { pathname } = new URL(request.url());
    if (pathname.startsWith('/v1/') && !pathname.endsWith('/events')) open.add(request);
  });
  page.on('response', (response) => open.delete(response.request()));
  page.on('requestfailed', (request) => open.delete(request));
  return open;
}

/** A picture of the page, for the person who changes it: `VESTRA_LOOK=/tmp/looks npx vitest run …`. */
async function look(page: Page, name: string): Promise<void> {
  const folder = process.env.VESTRA_LOOK;
  if (folder) await page.screenshot({ path: `${folder}/${name}.png` });
}
