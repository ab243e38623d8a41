/**
 * Takes the pictures of the README in both themes: a real server, a real Chromium, and an example with no model key.
 *
 *   npm run pictures                  into docs/pictures
 *   npm run pictures -- <folder>      into another folder, also as PNG files to look at
 */
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import type { BrowserContext, Page } from 'playwright-core';
import { cookieOf, openBrowser, untilThere } from '../bench/console/browser.ts';
import { type Shop, withShop } from './example-shop.ts';

const [elsewhere] = process.argv.slice(2);
const folder = elsewhere ?? join(import.meta.dirname, '../docs/pictures');
const mostBytes = 150_000;

const customers = [
  ['nora', 'Nora Lindqvist'],
  ['ben', 'Ben Okafor'],
  ['chiara', 'Chiara Russo'],
  ['hiro', 'Hiro Tanaka'],
] as const;

const questions = [
  ['ben', 'How do I wash lambswool?'],
  ['chiara', 'What is your returns policy?'],
  ['hiro', 'What helps against moths?'],
] as const;

await mkdir(folder, { recursive: true });
const fonts = await useCommonFont();
await withShop(async (shop) => {
  const conversation = await fill(shop);
  const browser = await openBrowser();
  try {
    const scale = { deviceScaleFactor: 2, locale: 'en-GB', timezoneId: 'Europe/London' };
    const desktop = await browser.newContext({ ...scale, viewport: { width: 1280, height: 760 } });
    await desktop.addCookies([{ ...(await cookieOf(shop)), url: shop.url }]);
    await pictureConsole(desktop, shop, conversation);
    const phone = await browser.newContext({ ...scale, viewport: { width: 560, height: 750 } });
    await pictureChat(phone, shop, conversation);
  } finally {
    await browser.close();
    await rm(fonts, { recursive: true });
  }
});

/** Debian draws `system-ui` in DejaVu Sans, which is a sixth wider than the fonts of other systems. */
async function useCommonFont(): Promise<string> {
  const aliases = ['system-ui', 'ui-sans-serif', 'sans-serif'].map(
    (name) =>
      `<match><test name="family"><string>${name}</string></test><edit name="family" mode="prepend" binding="strong"><string>Liberation Sans</string></edit></match>`,
  );
  const made = await mkdtemp(join(tmpdir(), 'vestra-fonts-'));
  process.env.FONTCONFIG_FILE = join(made, 'fonts.conf');
  const text = `<fontconfig><include>/etc/fonts/fonts.conf</include>${aliases.join('')}</fontconfig>`;
  await writeFile(process.env.FONTCONFIG_FILE, text);
  return made;
}

/** A morning at the desk. Resolves with the conversation that waits for approval. */
async function fill({ call, say }: Shop): Promise<string> {
  await call('PATCH', '/org', { name: 'Maple & Thread' });
  for (const [user_id, name] of customers) await call('POST', '/users', { user_id, name });
  await call('PATCH', '/limits', { caps: { org_daily_usd: 20, user_daily_usd: 1 } });
  for (const [userId, message] of questions) await say(userId, message);
  const { id } = await say('nora', 'What do you do about damaged pieces?');
  await say('nora', 'Please find order MT-1042 and refund 20 dollars: the sleeve has a hole.', id);
  return id;
}

async function pictureConsole(context: BrowserContext, shop: Shop, conversation: string): Promise<void> {
  const page = await context.newPage();
  await page.goto(`${shop.url}/console/${shop.orgId}/test/conversations/${conversation}`);
  await untilThere(page);
  await take(page, 'console');
}

async function pictureChat(context: BrowserContext, { call }: Shop, conversation_id: string): Promise<void> {
  const session = await call('POST', '/sessions', { user_id: 'nora', conversation_id, chat: true });
  const page = await context.newPage();
  await page.goto(session.url);
  await page.locator('[data-role=agent]').first().waitFor();
  await page.getByRole('button', { name: 'Yes', exact: true }).waitFor();
  await take(page, 'chat');
}

/** WebP has a third of the size of PNG, and only the DevTools protocol writes it. */
async function take(page: Page, name: string): Promise<void> {
  const devtools = await page.context().newCDPSession(page);
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
    const file = join(folder, `${name}-${colorScheme}`);
    if (elsewhere) await page.screenshot({ animations: 'disabled', path: `${file}.png` });
    const { data } = await devtools.send('Page.captureScreenshot', { format: 'webp', quality: 85 });
    const bytes = Buffer.from(data, 'base64');
    await writeFile(`${file}.webp`, bytes);
    console.log(`${relative(process.cwd(), file)}.webp: ${Math.round(bytes.byteLength / 1000)} KB`);
    if (bytes.byteLength > mostBytes) throw new Error(`${name} has more than ${mostBytes / 1000} KB.`);
  }
}
