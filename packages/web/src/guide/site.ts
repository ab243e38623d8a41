import { readdir, readFile } from 'node:fs/promises';
import { join, posix } from 'node:path';
import { errorCatalogue } from '@vestra/contract/errors';
import { groupsOf, shortTitles } from './contents.ts';
import { errorPages } from './error-pages.ts';
import { type Page, renderMarkdown } from './markdown.ts';
import { guideRoot, pageHtml } from './shell.ts';

export type SiteFile = { mediaType: string; text: string };

/** Every file of the guide by its address: pages, their Markdown, drawings, and what the search reads. */
export async function guideSite(docs: string): Promise<Map<string, SiteFile>> {
  const sources = await readSources(docs);
  const pages = new Map([...sources].map(([name, source]) => [name, renderPage(name, source, sources)]));
  const listed = [...pages.keys()].filter((name) => !name.includes('/'));
  const groups = groupsOf(listed).map(({ title, pages: names }) => ({
    title,
    pages: names.map((name) => ({ name, title: shortTitles[name] ?? pages.get(name)?.title ?? name })),
  }));
  const [first] = groups.flatMap((group) => group.pages);

  const site = new Map<string, SiteFile>();
  for (const [name, page] of pages) {
    const html = pageHtml(page, { name, listedAs: name.split('/')[0] ?? name, groups });
    site.set(`${guideRoot}/${name}`, { mediaType: 'text/html; charset=utf-8', text: html });
    if (name === first?.name) site.set(guideRoot, { mediaType: 'text/html; charset=utf-8', text: html });
    site.set(`${guideRoot}/${name}.md`, { mediaType: 'text/markdown; charset=utf-8', text: sources.get(name) ?? '' });
  }
  for (const file of (await readdir(docs)).filter((each) => each.endsWith('.svg')))
    site.set(`${guideRoot}/${file}`, { mediaType: 'image/svg+xml', text: await readFile(join(docs, file), 'utf8') });
  site.set(`${guideRoot}/search.json`, {
    mediaType: 'application/json; charset=utf-8',
    text: JSON.stringify(searched(pages)),
  });
  return site;
}

async function readSources(docs: string): Promise<Map<string, string>> {
  const files = (await readdir(docs)).filter((file) => file.endsWith('.md')).sort();
  const written = await Promise.all(
    files.map(async (file): Promise<[string, string]> => [file.slice(0, -3), await readFile(join(docs, file), 'utf8')]),
  );
  return new Map([...written, ...errorPages()]);
}

/** The pages of codes stand one address deeper and are written as if they lay beside the others. */
function renderPage(name: string, source: string, sources: ReadonlyMap<string, string>): Page {
  return renderMarkdown(
    source,
    (target) => resolveLink(target),
    (code) => (code in errorCatalogue && `errors/${code}` !== name ? `${guideRoot}/errors/${code}` : null),
  );

  function resolveLink(target: string): string | null {
    if (/^(https?:|mailto:|#|\/)/.test(target)) return target;
    const [path = '', anchor] = target.split('#');
    const page = posix.normalize(path).replace(/\.md$/, '');
    if (sources.has(page)) return `${guideRoot}/${page}${anchor ? `#${anchor}` : ''}`;
    if (path.endsWith('.svg')) return `${guideRoot}/${posix.basename(path)}`;
    // Files of the repository are no part of the site: their names are shown, and whoever has a clone finds them.
    return null;
  }
}

/** `[page title, address, heading, words]` of each section; of a code's page only what stands at its top. */
function searched(pages: ReadonlyMap<string, Page>): [string, string, string, string][] {
  return [...pages].flatMap(([name, { title, sections }]) =>
    (name.includes('/') ? sections.slice(0, 1) : sections).map(({ heading, anchor, text }) => [
      title,
      `${guideRoot}/${name}${anchor ? `#${anchor}` : ''}`,
      heading,
      text.replace(/\s+/g, ' '),
    ]),
  );
}
