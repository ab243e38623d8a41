import { readdir, readFile } from 'node:fs/promises';
import { join, posix } from 'node:path';
import { errorCatalogue } from '@vestra/contract/errors';
import { referenceSite } from '../reference/site.ts';
import { errorPages } from './error-pages.ts';
import { type Page, renderMarkdown } from './markdown.ts';
import { movedHeadings } from './moved-headings.ts';
import { guideRoot, type MovedHeading, pageHtml, type SiteFile } from './shell.ts';

/** Every file of the guide by path: pages, Markdown, images and the search index. */
export async function guideSite(docs: string): Promise<Map<string, SiteFile>> {
  const sources = await readSources(docs);
  const pages = new Map([...sources].map(([name, source]) => [name, renderPage(name, source, sources)]));
  const listed = [...pages.keys()].filter((name) => !name.includes('/'));
  const groups = groupsOf(listed).map(({ title, pages: names }) => ({
    title,
    pages: names.map((name) => ({ name, title: pages.get(name)?.title ?? name })),
  }));
  const [first] = groups.flatMap((group) => group.pages);

  const reference = referenceSite();
  const site = new Map<string, SiteFile>(reference.files);
  for (const [name, page] of pages) {
    const html = pageHtml(page, { name, listedAs: name.split('/')[0] ?? name, groups }, movedFrom(name, pages));
    site.set(`${guideRoot}/${name}`, { mediaType: 'text/html; charset=utf-8', text: html });
    if (name === first?.name) site.set(guideRoot, { mediaType: 'text/html; charset=utf-8', text: html });
    site.set(`${guideRoot}/${name}.md`, { mediaType: 'text/markdown; charset=utf-8', text: sources.get(name) ?? '' });
  }
  for (const file of (await readdir(docs)).filter((each) => each.endsWith('.svg')))
    site.set(`${guideRoot}/${file}`, { mediaType: 'image/svg+xml', text: await readFile(join(docs, file), 'utf8') });
  for (const file of await readdir(join(docs, 'pictures'))) {
    const text = await readFile(join(docs, 'pictures', file), 'base64');
    site.set(`${guideRoot}/pictures/${file}`, { mediaType: 'image/webp', text, encoding: 'base64' });
  }
  site.set(`${guideRoot}/search.json`, {
    mediaType: 'application/json; charset=utf-8',
    text: JSON.stringify([...searched(pages), ...reference.entries]),
  });
  return site;
}

function movedFrom(name: string, pages: ReadonlyMap<string, Page>): MovedHeading[] {
  return Object.entries(movedHeadings[name] ?? {}).map(([anchor, place]) => ({
    anchor,
    address: `${guideRoot}/${place}`,
    title: pages.get(place.split('#')[0] ?? '')?.title ?? place,
  }));
}

async function readSources(docs: string): Promise<Map<string, string>> {
  const files = (await readdir(docs)).filter((file) => file.endsWith('.md')).sort();
  const written = await Promise.all(
    files.map(async (file): Promise<[string, string]> => [file.slice(0, -3), await readFile(join(docs, file), 'utf8')]),
  );
  return new Map([...written, ...errorPages()]);
}

/** Error pages are nested one level deeper, but their links are written like those of other pages. */
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
    if (path.endsWith('.webp')) return `${guideRoot}/pictures/${posix.basename(path)}`;
    // Links to other files of the repository are shown as text.
    return null;
  }
}

/** The search index. Error pages contribute only their first section. */
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

/** The table of contents. Unlisted pages of `docs/` are appended. */
const contents: readonly { title: string; pages: readonly string[] }[] = [
  { title: 'Get started', pages: ['getting-started', 'concepts', 'language', 'compared'] },
  {
    title: 'Talk to the agent',
    pages: [
      'conversations',
      'find-conversations',
      'interactions',
      'functions',
      'sessions',
      'session-page',
      'session-screen',
      'embedding',
      'voice',
      'webhooks',
    ],
  },
  { title: 'Money and users', pages: ['users-and-money', 'deleting-data', 'modes', 'going-live'] },
  {
    title: 'Build the agent',
    pages: [
      'deployment-file',
      'interview',
      'models',
      'offline-model',
      'local-models',
      'try-a-model',
      'model-prices',
      'reasoning-and-pictures',
      'tests',
      'tests-from-conversations',
      'insights',
      'improving',
      'success-criteria',
      'versions',
      'knowledge',
      'memory',
      'memory-endpoint',
    ],
  },
  { title: 'Tools', pages: ['tool-servers', 'apps', 'app-catalogue', 'files', 'computer', 'browser', 'routines'] },
  { title: 'Clients', pages: ['console', 'cli', 'cli-agents', 'sdk', 'python', 'openai', 'ag-ui', 'mcp', 'a2a'] },
  {
    title: 'Operate',
    pages: [
      'production',
      'settings',
      'operating',
      'restarts',
      'shares',
      'retention',
      'embeddings',
      'traces',
      'policies',
      'security',
      'console-sign-in',
      'identity-provider',
      'scaling',
      'several-processes',
      'cells',
      'load-simulation',
      'high-availability',
      'failover-tests',
      'computer-isolation',
      'reverse-proxies',
      'voice-operation',
      'backup',
      'moving-an-org',
      'upgrading',
      'metrics',
    ],
  },
  { title: 'Migrate', pages: ['import', 'migrating-from-openai', 'migrating-from-langgraph', 'migrating-from-dify'] },
  {
    title: 'Reference',
    pages: [
      'reference',
      'requests',
      'errors',
      'routes',
      'events',
      'deployment-file-reference',
      'conversation-reference',
      'interaction-reference',
      'test-reference',
      'tool-server-reference',
      'mcp-reference',
      'model-settings',
      'model-reference',
      'server-reference',
      'session-reference',
      'session-access',
      'benchmarks',
      'architecture',
      'changelog',
    ],
  },
];

type Group = { title: string; pages: string[] };

/** The groups with existing pages, followed by unlisted pages. */
function groupsOf(names: readonly string[]): Group[] {
  const listed = new Set(contents.flatMap(({ pages }) => pages));
  const groups = contents.map(({ title, pages }) => ({ title, pages: pages.filter((page) => names.includes(page)) }));
  const others = names.filter((name) => !listed.has(name));
  return [...groups, { title: 'More', pages: others }].filter(({ pages }) => pages.length > 0);
}
