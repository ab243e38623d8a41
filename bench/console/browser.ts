import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core';
import type { Company } from './company.ts';

const executablePath = '/usr/bin/chromium-headless-shell';

export const openBrowser = (words: readonly string[] = []): Promise<Browser> =>
  chromium.launch({ executablePath, args: ['--no-sandbox', '--disable-background-networking', ...words] });

type Cookie = { name: string; value: string };

/** Ten sign-ins a minute are let in: one is enough. */
const cookies = new Map<string, Promise<Cookie>>();

/** Signs the owner in once per server and reuses the session cookie. */
export function cookieOf(company: Pick<Company, 'url' | 'owner'>): Promise<Cookie> {
  const known = cookies.get(company.url) ?? signIn(company);
  cookies.set(company.url, known);
  return known;
}

async function signIn({ url, owner }: Pick<Company, 'url' | 'owner'>): Promise<Cookie> {
  const { headers } = await fetch(`${url}/v1/console/login`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(owner),
  });
  const [, name = '', value = ''] = /^(\w+)=([^;]+)/.exec(headers.get('set-cookie') ?? '') ?? [];
  return { name, value };
}

/** A page of the console, signed in, and the way to its addresses. */
export async function enter(browser: Browser, company: Company, options: BrowserContextOptions = {}) {
  const context = await browser.newContext({ locale: 'en-GB', viewport: { width: 1280, height: 900 }, ...options });
  await context.addCookies([{ ...(await cookieOf(company)), url: company.url }]);
  const page = await context.newPage();
  const addressOf = (path: string) => `${company.url}/console/${company.orgId}/test${path === '/' ? '' : path}`;
  return { page, context, addressOf };
}

/** Until nothing on the page says that it is still being fetched. */
export async function untilThere(page: Page): Promise<void> {
  await page.getByRole('heading').first().waitFor();
  await page.waitForFunction(() => document.querySelector('[data-loading]') === null);
}
