/**
 * Takes pictures of every page of the console in both themes, at 1280 and 390 pixels, for somebody to look at:
 *
 *   node bench/console/pictures.ts <folder>
 */
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { enter, openBrowser, untilThere } from './browser.ts';
import { pagesOf } from './pages.ts';
import { withCompany } from './with-company.ts';

const [folder = '/tmp/vestra-console-pictures'] = process.argv.slice(2);
await mkdir(folder, { recursive: true });

await withCompany(async (company) => {
  const browser = await openBrowser();
  for (const [width, height] of [
    [1280, 900],
    [390, 844],
  ] as const) {
    const { page, context, addressOf } = await enter(browser, company, { viewport: { width, height } });
    for (const path of pagesOf(company)) {
      await page.goto(addressOf(path));
      await untilThere(page);
      for (const colorScheme of ['light', 'dark'] as const) {
        await page.emulateMedia({ colorScheme });
        const words = path.replaceAll(/[a-z]+_[0-9a-z]{24}/g, 'one').replaceAll(/[^a-z]+/g, '-');
        await page.screenshot({
          animations: 'disabled',
          path: join(folder, `${words.replaceAll(/^-|-$/g, '') || 'home'}-${width}-${colorScheme}.png`),
        });
      }
    }
    await context.close();
  }
  await browser.close();
});
