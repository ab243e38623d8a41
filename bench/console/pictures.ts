/**
 * Takes pictures of every page of the console in both themes, at 1440, 1024 and 390 pixels, for somebody to look at, and
 * sheets of nine pictures. Prints what axe finds, what is wider than the page, and the errors in the browser's log, and
 * ends with 1 if there is any:
 *
 *   npm run pictures:console -- <folder>
 */
import { readFileSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Browser, Page } from 'playwright-core';
import { enter, openBrowser, untilThere } from './browser.ts';
import type { Company } from './company.ts';
import { pagesOf } from './pages.ts';
import { withCompany } from './with-company.ts';

const [folder = '/tmp/vestra-console-pictures'] = process.argv.slice(2);
const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const schemes = ['light', 'dark'] as const;
const signIn = 'sign-in';
await mkdir(folder, { recursive: true });

let faults = 0;
await withCompany(async (company) => {
  const browser = await openBrowser();
  for (const width of [1440, 1024, 390]) {
    const taken = await takeAll(browser, company, width);
    for (const scheme of schemes) await sheetsOf(browser, taken[scheme], `${width}-${scheme}`);
  }
  await browser.close();
});
console.log(faults === 0 ? 'No faults.' : `${faults} faults.`);
process.exit(faults === 0 ? 0 : 1);

/** The files of each scheme, in the order of the pages. */
async function takeAll(browser: Browser, company: Company, width: number) {
  const viewport = { width, height: width < 500 ? 844 : 900 };
  // axe is a script of another origin.
  const { page, context, addressOf } = await enter(browser, company, { viewport, bypassCSP: true });
  let at = '';
  const tell = (fault: string) => {
    faults++;
    console.log(`${width} ${at}: ${fault}`);
  };
  page.on('pageerror', ({ message }) => tell(message));
  page.on('console', (line) => line.type() === 'error' && tell(line.text()));
  const taken = { light: [] as string[], dark: [] as string[] };
  const named = new Set<string>();
  for (at of [...pagesOf(company), signIn]) {
    if (at === signIn) await context.clearCookies();
    await page.goto(at === signIn ? `${company.url}/console/sign-in` : addressOf(at));
    await untilThere(page);
    const words = at.replaceAll(/[a-z]+_[0-9a-z]{24}/g, 'one').replaceAll(/[^a-z]+/g, '-');
    let name = words.replaceAll(/^-|-$/g, '') || 'home';
    while (named.has(name)) name += '-other';
    named.add(name);
    for (const colorScheme of schemes) {
      await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
      for (const barrier of await barriersOn(page)) tell(`${colorScheme}: ${barrier}`);
      const path = join(folder, `${name}-${width}-${colorScheme}.png`);
      await page.screenshot({ animations: 'disabled', path });
      taken[colorScheme].push(path);
    }
    const wide = await page.evaluate(() => document.documentElement.scrollWidth);
    if (wide > width) tell(`${wide} pixels wide`);
  }
  await context.close();
  return taken;
}

type Axe = { run: (of: Document) => Promise<{ violations: { id: string; nodes: { html: string }[] }[] }> };

/** Every rule of WCAG 2.0 to 2.2, A and AA, and best practices. */
async function barriersOn(page: Page): Promise<string[]> {
  await page.evaluate(axe);
  return page.evaluate(async () => {
    // axe is a separate script in the page.
    const { violations } = await (globalThis as unknown as { axe: Axe }).axe.run(document);
    return violations.flatMap(({ id, nodes }) => nodes.map(({ html }) => `${id} ${html.slice(0, 200)}`));
  });
}

/** Nine pictures of a page, or twelve of a phone, on one. */
async function sheetsOf(browser: Browser, files: readonly string[], name: string): Promise<void> {
  const isPhone = name.startsWith('390');
  const [columns, width, many] = isPhone ? [6, 300, 12] : [3, 640, 9];
  const page = await browser.newPage({ viewport: { width: columns * (width + 8), height: 400 } });
  for (let first = 0; first < files.length; first += many) {
    const shown = files.slice(first, first + many).map((file) => `<img width="${width}" src="${pathToFileURL(file)}">`);
    const html = join(folder, 'sheet.html');
    await writeFile(
      html,
      `<body style="margin:4px;background:#888;display:grid;gap:8px;grid-template-columns:repeat(${columns},max-content)">${shown.join('')}`,
    );
    await page.goto(pathToFileURL(html).href);
    await page.screenshot({ fullPage: true, path: join(folder, `sheet-${name}-${first / many + 1}.png`) });
  }
  await page.close();
}
