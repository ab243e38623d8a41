/**
 * Takes the pictures of the README in both themes: a real server, a real Chromium, and an example with no model key.
 *
 *   npm run pictures                  into docs/pictures
 *   npm run pictures -- <folder>      into another folder, also as PNG files to look at
 */
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import type { BrowserContext, Page } from 'playwright-core';
import { cookieOf, openBrowser, untilThere } from '../bench/console/browser.ts';
import { markSvg } from '../packages/web/src/identity/mark.ts';
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
    const improvement = await improve(shop);
    await pictureImprovement(desktop, shop, improvement);
    const phone = await browser.newContext({ ...scale, viewport: { width: 560, height: 750 } });
    await pictureChat(phone, shop, conversation);
    await pictureSocial(await browser.newContext({ viewport: { width: 1200, height: 630 } }));
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

/** Instructions that contradict a document, a complaint, and the improvement of it. Resolves with its id. */
async function improve({ call }: Shop): Promise<string> {
  const notebook = await call('POST', '/notebooks', { slug: 'policies', name: 'Policies' });
  const text = '# Returns\n\nCustomers can return a cardigan within 30 days.';
  await call('POST', `/notebooks/${notebook.id}/documents`, { title: 'returns.md', text });
  await call('PUT', '/deployments/returns-desk?promote=now', {
    name: 'returns-desk',
    instructions: 'You answer customers of a knitwear shop. Customers can return a cardigan within 14 days.',
    knowledge: [{ notebook: notebook.id }],
  });
  const message = 'How many days can I return a cardigan?';
  const { id } = await call('POST', '/conversations', { deployment: 'returns-desk', user_id: 'chiara', message });
  await ended(
    () => call('GET', `/conversations/${id}`),
    ({ status }) => status === 'idle',
  );
  const from = { type: 'conversations', conversation_ids: [id] };
  const started = await call('POST', '/deployments/returns-desk/improvements', { from, budget_usd: 1 });
  await ended(
    () => call('GET', `/improvements/${started.id}`),
    ({ finished_at }) => finished_at !== null,
  );
  return started.id;
}

async function ended(
  read: () => ReturnType<Shop['call']>,
  isOver: (body: Awaited<ReturnType<Shop['call']>>) => boolean,
): Promise<void> {
  while (!isOver(await read())) await new Promise((resolve) => setTimeout(resolve, 200));
}

async function pictureImprovement(context: BrowserContext, shop: Shop, improvement: string): Promise<void> {
  const page = await context.newPage();
  await page.setViewportSize({ width: 1280, height: 1040 });
  await page.goto(`${shop.url}/console/${shop.orgId}/test/improvements/${improvement}`);
  await untilThere(page);
  await page.locator('[data-side=after] li').first().waitFor();
  await take(page, 'improvement');
}

async function pictureChat(context: BrowserContext, { call }: Shop, conversation_id: string): Promise<void> {
  const session = await call('POST', '/sessions', { user_id: 'nora', conversation_id, chat: true });
  const page = await context.newPage();
  await page.goto(session.url);
  await page.locator('[data-role=agent]').first().waitFor();
  await page.getByRole('button', { name: 'Yes', exact: true }).waitFor();
  await take(page, 'chat');
}

/** The picture that other sites show beside a link. They read no WebP and no SVG. */
async function pictureSocial(context: BrowserContext): Promise<void> {
  const page = await context.newPage();
  const typeface = join(import.meta.dirname, '../packages/web/dist/brand/geist-latin-wght-normal.woff2');
  const font = (await readFile(typeface)).toString('base64');
  await page.setContent(`<style>
    @font-face { font-family: Geist; font-weight: 100 900; src: url(data:font/woff2;base64,${font}) }
    body { margin: 0; height: 630px; overflow: hidden; background: #2c4bd0; color: #fff; font: 400 34px/1.4 Geist; position: relative }
    main { position: absolute; left: 84px; bottom: 78px; width: 660px }
    h1 { font-size: 108px; font-weight: 620; letter-spacing: -0.035em; line-height: 1; margin: 0 0 26px }
    p { text-wrap: balance }
    p { margin: 0; opacity: .86 }
    .small { position: absolute; left: 76px; top: 70px }
    .large { position: absolute; right: -150px; top: -120px; opacity: .13 }
  </style><span class="small">${markSvg(96)}</span><span class="large">${markSvg(900)}</span>
  <main><h1>Vestra</h1><p>Open platform for hosting AI agents. Configure an agent once, run it for every user.</p></main>`);
  await page.evaluate(() => document.fonts.ready);
  const path = elsewhere
    ? join(folder, 'social.png')
    : join(import.meta.dirname, '../packages/web/src/identity/social.png');
  await page.screenshot({ path });
}

/** WebP has a third of the size of PNG, and only the DevTools protocol writes it. */
async function take(page: Page, name: string): Promise<void> {
  // A page shows its text before its typeface.
  await page.evaluate(async () => void (await document.fonts.ready));
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
