import type { BrowserContextOptions, Page, Request } from 'playwright-core';
import { onTestFailed } from 'vitest';
import { type PageDesk, startPageDesk } from './session-page.fixture.ts';

export type ConsoleDesk = PageDesk & {
  /** Opens a page of the console in a separate browser context, signed in as the owner by default. */
  enter: (path?: string, options?: EnterOptions) => Promise<ConsoleVisit>;
  /** Drops saved sessions after they ended, so that the next visit signs in again. */
  forget: () => void;
};

type EnterOptions = { as?: { email: string; password: string } | null; context?: BrowserContextOptions };

type ConsoleVisit = {
  page: Page;
  /** Policy violations and errors of the page. */
  faults: string[];
  /** Goes to another page of the console, in test mode and the owner's org. */
  go: (path: string) => Promise<void>;
  /** The same as a link does it: the console is not loaded again. Resolves when the other page shows its title. */
  follow: (path: string) => Promise<void>;
  /** Fails for every fault but those that fit `but`. */
  leave: (but?: RegExp) => Promise<void>;
};

/** One server and one browser for all tests of the console. */
export async function startConsoleDesk(env: Record<string, string> = {}): Promise<ConsoleDesk> {
  // By name: browsers bind passkeys to no number.
  const desk = await startPageDesk(env, [], 'localhost');
  // A sign-in costs half a second of argon2, and ten a minute are let in: each person signs in once.
  const cookies = new Map<string, { name: string; value: string }>();

  async function cookieOf({ email, password }: { email: string; password: string }) {
    const known = cookies.get(email);
    if (known) return known;
    const { headers } = await desk.call('POST', '/v1/console/login', { key: null, body: { email, password } });
    const [, name = '', value = ''] = /^(\w+)=([^;]+)/.exec(headers.get('set-cookie') ?? '') ?? [];
    cookies.set(email, { name, value });
    return { name, value };
  }

  return {
    ...desk,
    forget: () => cookies.clear(),
    async enter(path = '/', { as = desk.owner, context: options = {} } = {}) {
      const context = await desk.browser.newContext({
        locale: 'en-GB',
        // Elements must not move while the test clicks them.
        reducedMotion: 'reduce',
        viewport: { width: 1280, height: 800 },
        ...options,
      });
      if (as) await context.addCookies([{ ...(await cookieOf(as)), url: desk.line.url }]);
      const page = await context.newPage();
      page.setDefaultTimeout(60_000);
      tellOnFailure(page);
      const faults: string[] = [];
      page.on('pageerror', ({ message }) => faults.push(message));
      page.on('console', (line) => {
        if (/Content.Security.Policy/i.test(line.text())) faults.push(line.text());
      });
      const addressOf = (below: string) =>
        as
          ? `${desk.line.url}/console/${desk.orgId}/test${below === '/' ? '' : below}`
          : `${desk.line.url}/console${below}`;
      await page.goto(addressOf(path));
      return {
        page,
        faults,
        go: async (below) => void (await page.goto(addressOf(below))),
        async follow(below) {
          // In between, a page that is none: two paths may lead to one page, which would keep its title.
          await push(page, addressOf('/no-such-page'));
          await push(page, addressOf(below));
        },
        async leave(but) {
          await context.close();
          const left = faults.filter((fault) => !but?.test(fault));
          if (left.length > 0) throw new Error(left.join('\n'));
        },
      };
    },
  };
}

async function push(page: Page, address: string): Promise<void> {
  await page.evaluate((to) => {
    for (const title of document.querySelectorAll('h1')) title.dataset.left = '';
    history.pushState(null, '', to);
    dispatchEvent(new PopStateEvent('popstate'));
  }, address);
  await page.locator('h1:not([data-left])').first().waitFor({ state: 'attached' });
}

/** A page that does not show what a test waits for says what it shows instead, and which calls have no answer yet. */
function tellOnFailure(page: Page): void {
  const open = new Set<Request>();
  page.on('request', (request) => open.add(request));
  page.on('requestfinished', (request) => open.delete(request));
  page.on('requestfailed', (request) => open.delete(request));
  onTestFailed(async ({ task }) => {
    if (page.isClosed()) return;
    const shown = await page.locator('body').ariaSnapshot({ timeout: 5000 }).catch(String);
    const asked = [...open].map((request) => `${request.method()} ${request.url()}`).join(', ');
    const told = `At ${page.url()}, unanswered: ${asked || 'nothing'}, on show:\n${shown.slice(-1500)}`;
    for (const error of task.result?.errors ?? []) error.message += `\n${told}`;
  });
}

/** Nothing in it may run or break out of where it is shown. */
export const hostileText = `"><img src=x onerror="window.owned=1"><script>window.owned=1</script>{{7*7}}\u202Eevil`;

/** A word without end, which fits no line and reads from right to left after its first half. */
export const endless = `${hostileText}${'W'.repeat(5000)}\u202E${'<b>'.repeat(1600)}`;

/** How wide the page is, with whatever in it scrolls to the side and with what a row of a table would have cut. */
export const widthOf = (page: Page): Promise<number> =>
  page.evaluate(() => {
    const widths = [document.documentElement, ...document.querySelectorAll('main')].map((each) => each.scrollWidth);
    const rows = [...document.querySelectorAll('tr')].map((row) => innerWidth + row.scrollWidth - row.clientWidth);
    return Math.max(...widths, ...rows);
  });
