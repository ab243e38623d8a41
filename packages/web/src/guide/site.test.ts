import { existsSync, globSync, readFileSync, statSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { errorCatalogue } from '@vestra/contract/errors';
import type { Nodes, Root } from 'mdast';
import { beforeAll, describe, expect, it } from 'vitest';
import { pages } from '../console/pages.ts';
import { find } from './browser/find.ts';
import { colouredCode } from './code-colours.ts';
import { anchorsOf, parseMarkdown } from './markdown.ts';
import { movedHeadings } from './moved-headings.ts';
import type { SiteFile } from './shell.ts';
import { guideSite } from './site.ts';

const root = join(import.meta.dirname, '../../../..');
/** All Markdown pages of the repository. */
const written = globSync(['*.md', 'docs/**/*.md', 'examples/**/*.md', 'packages/*/README.md'], { cwd: root });

let site: Map<string, SiteFile>;
beforeAll(async () => {
  site = await guideSite(join(root, 'docs'));
  // It renders every page: seconds, or minutes on a busy machine.
}, 600_000);

describe('guide links', () => {
  it.each(written)('in %s lead to existing files and headings [GUIDE-003]', (file) => {
    const dead = linksIn(parsed(file)).filter((target) => !leadsSomewhere(file, target));
    expect(dead).toEqual([]);
  });

  it('of the site lead to existing pages and headings [GUIDE-003]', () => {
    const dead = [...site].flatMap(([address, { text, mediaType }]) =>
      mediaType.startsWith('text/html')
        ? [...text.matchAll(/(?:href|src)="([^"]+)"/g)]
            .map(([, target = '']) => target)
            .filter((target) => !isOnSite(address, target))
            .map((target) => `${address} → ${target}`)
        : [],
    );
    expect(dead).toEqual([]);
  });

  it('in errors, help texts, comments and settings lead to existing pages and headings [GUIDE-003]', () => {
    const files = globSync(['packages/**/*.{ts,tsx,py,md,json}', 'scripts/**/*.ts', 'deploy/**/*'], {
      cwd: root,
      exclude: ['**/node_modules/**', '**/dist/**', '**/vendor/**'],
      withFileTypes: true,
    }).flatMap((entry) => (entry.isFile() ? [join(entry.parentPath, entry.name)] : []));
    const named = files.flatMap((file) =>
      [
        ...readFileSync(file, 'utf8').matchAll(
          /(?<![\w/.])(?:docs\/|\/docs\/guide\/)([a-z-]+)(?:\.md)?#([a-z][\w-]+)/g,
        ),
      ].map(([, page, anchor]) => [relative(root, file), `/docs/guide/${page}#${anchor}`] as const),
    );
    expect(named.length).toBeGreaterThan(0);
    expect(named.filter(([, target]) => !isOnSite('/', target))).toEqual([]);
  });

  it('to a heading that moved lead to its new page [GUIDE-016]', () => {
    const moved = Object.entries(movedHeadings).flatMap(([page, headings]) =>
      Object.entries(headings).map(([anchor, place]) => ({ page: `/docs/guide/${page}`, anchor, place })),
    );
    expect(moved.length).toBeGreaterThan(100);
    for (const { page, anchor, place } of moved) {
      const text = site.get(page)?.text ?? '';
      expect(text).toContain(`<p id="${anchor}">This section moved to <a href="/docs/guide/${place}">`);
      expect([page, anchor, isOnSite('/', `${page}#${anchor}`)]).toEqual([page, anchor, false]);
      expect([place, isOnSite('/', `/docs/guide/${place}`)]).toEqual([place, true]);
    }
  });

  it('of console pages lead to existing guide pages and headings [CON-260]', () => {
    const sources = globSync('packages/web/src/console/**/*.tsx', { cwd: root }).map((file) =>
      readFileSync(join(root, file), 'utf8'),
    );
    const named = sources.flatMap((text) => [...text.matchAll(/guideAddress\('([^']+)'\)/g)].map(([, place]) => place));
    const targets = [...pages.map(({ guide }) => guide), ...named].map((place) => `/docs/guide/${place}`);
    expect(targets.filter((target) => !isOnSite('/', target))).toEqual([]);
  });

  /** Paths outside the guide. */
  const elsewhere = [
    '/',
    '/console',
    '/favicon.svg',
    '/brand/identity.css',
    '/brand/geist-latin-wght-normal.woff2',
    '/v1/openapi.json',
    '/docs/guide/guide.css',
    '/docs/guide/guide.js',
    '/docs/reference.js',
  ];

  function isOnSite(from: string, target: string): boolean {
    if (/^(https?|mailto):/.test(target) || elsewhere.includes(target)) return true;
    const [path, anchor] = target.split('#');
    const page = site.get(path || from);
    return page !== undefined && (!anchor || withoutMoved(page.text).includes(`id="${anchor}"`));
  }

  function leadsSomewhere(from: string, target: string): boolean {
    if (/^(https?|mailto):/.test(target)) return true;
    if (target.startsWith('/')) return isOnSite('/', target);
    const [path = '', anchor] = target.split('#');
    const file = path === '' ? from : relative(root, join(root, dirname(from), decodeURI(path)));
    if (!existsSync(join(root, file))) return false;
    return !anchor || anchorsIn(file).includes(anchor);
  }
});

describe('README', () => {
  const readme = readFileSync(join(root, 'README.md'), 'utf8');

  it('shows pictures of the console and the chat, each light and dark and below 150 KB [FIRST-790]', () => {
    const shown = linksIn(parsed('README.md')).filter((target) => target.startsWith('docs/pictures/'));
    const names = ['console', 'chat'].flatMap((name) => [`${name}-dark.webp`, `${name}-light.webp`]);
    expect(shown).toEqual(names.map((name) => `docs/pictures/${name}`));
    const inGuide = ['improvement-dark.webp', 'improvement-light.webp'];
    expect(globSync('*', { cwd: join(root, 'docs/pictures') }).toSorted()).toEqual([...names, ...inGuide].toSorted());
    for (const each of [...shown, ...inGuide.map((name) => `docs/pictures/${name}`)])
      expect([each, statSync(join(root, each)).size < 150_000]).toEqual([each, true]);
  });

  it('has the two set-up commands, and at most 100 lines [FIRST-790]', () => {
    expect(readme).toContain('\n**Start it:** `npm install && npm start`\n');
    expect(readme).toContain('\n**Test it:** `npm install && npm test`\n');
    expect(readme.split('\n').length).toBeLessThanOrEqual(100);
  });
});

describe('guide site', () => {
  it('has every page of docs/ with its Markdown, and a page for every error code [GUIDE-001, GUIDE-002]', () => {
    const names = globSync('*.md', { cwd: join(root, 'docs') }).map((file) => file.slice(0, -3));
    const codes = Object.keys(errorCatalogue).map((code) => `errors/${code}`);
    expect(names.length).toBeGreaterThan(40);
    for (const name of [...names, ...codes]) {
      expect([name, site.get(`/docs/guide/${name}`)?.text]).toEqual([name, expect.stringContaining('<h1>')]);
      expect(site.get(`/docs/guide/${name}.md`)?.text).toMatch(/^# /);
    }
    expect(site.get('/docs/guide/errors/wallet_empty')?.text).toContain('vestra admin credit');
  });

  it('shows pictures of the pages, each with its dark version [GUIDE-013]', () => {
    const shown = new Map<string, string[]>();
    for (const [address, { text }] of site) {
      const pictures = [...text.matchAll(/<picture>.*?<\/picture>/g)].map(([picture]) => picture);
      if (pictures.length > 0 && !address.includes('/errors/'))
        shown.set(address.replace('/docs/guide/', ''), pictures);
    }
    for (const page of ['console', 'embedding', 'interactions', 'getting-started']) expect(shown.has(page)).toBe(true);
    for (const picture of [...shown.values()].flat()) {
      const addresses = [...picture.matchAll(/(?:src|srcset)="([^"]+)"/g)].map(([, address = '']) => address);
      expect(addresses).toHaveLength(2);
      for (const address of addresses) {
        const { mediaType, text, encoding } = site.get(address) ?? {};
        expect([address, mediaType, encoding]).toEqual([address, 'image/webp', 'base64']);
        expect(
          Buffer.from(text ?? '', 'base64')
            .subarray(8, 12)
            .toString(),
        ).toBe('WEBP');
      }
    }
  });

  it('lists each page of docs/ once, in every page [GUIDE-001]', () => {
    const listed = /<nav class="pages"[\s\S]*?<\/nav>/.exec(site.get('/docs/guide/errors')?.text ?? '')?.[0] ?? '';
    const links = [...listed.matchAll(/href="\/docs\/guide\/([\w-]+)"[^>]*>(.*?)<\/a>/g)];
    expect(links.map(([, name]) => name).toSorted()).toEqual(
      globSync('*.md', { cwd: join(root, 'docs') })
        .map((file) => file.slice(0, -3))
        .toSorted(),
    );
    for (const [, name, entry] of links) {
      const [, title] = /<h1>(.*?)<\/h1>/.exec(site.get(`/docs/guide/${name}`)?.text ?? '') ?? [];
      expect([name, entry]).toEqual([name, title]);
    }
  });

  it('has at most three screens of prose on a page, except in the reference [GUIDE-015]', () => {
    const listed = /<nav class="pages"[\s\S]*?<\/nav>/.exec(site.get('/docs/guide/errors')?.text ?? '')?.[0] ?? '';
    const groups = [...listed.matchAll(/<h2>([^<]+)<\/h2><ul>([\s\S]*?)<\/ul>/g)];
    const guides = groups
      .filter(([, title]) => title !== 'Reference')
      .flatMap(([, , items = '']) => [...items.matchAll(/href="\/docs\/guide\/([\w-]+)"/g)])
      .map(([, name]) => `docs/${name}.md`);
    expect(guides.length).toBeGreaterThan(60);
    const long = guides.map((file): [string, number] => [file, proseOf(parsed(file)).trim().split(/\s+/).length]);
    expect(long.filter(([, words]) => words > 1_300)).toEqual([]);
  });

  it('shows a picture of the console, light and dark [GUIDE-001]', () => {
    const page = site.get('/docs/guide/improving')?.text ?? '';
    for (const name of ['improvement-light.webp', 'improvement-dark.webp']) {
      const path = `/docs/guide/pictures/${name}`;
      expect(page).toContain(`"${path}"`);
      const { mediaType, text = '' } = site.get(path) ?? {};
      expect([mediaType, Buffer.from(text, 'base64').toString('latin1', 8, 12)]).toEqual(['image/webp', 'WEBP']);
    }
  });

  it('contains no inline scripts, styles or handlers and no external resources [GUIDE-004]', () => {
    for (const { text, mediaType } of site.values()) {
      if (!mediaType.startsWith('text/html')) continue;
      const markup = text.replace(/<pre[\s\S]*?<\/pre>|<code>[^<]*<\/code>/g, '');
      expect(markup).not.toMatch(/<script>|<style|\sstyle=|\son\w+=|<(?:script|img|link)[^>]+(?:src|href)="https?:/);
    }
  });

  it('escapes markup in code [GUIDE-004]', () => {
    expect(colouredCode('<script>"&"</script>', 'html')).not.toContain('<script>');
    expect(colouredCode('a < b && "c"', 'ts')).toBe(
      'a &lt; b &amp;&amp; <span class="code-string">&quot;c&quot;</span>',
    );
  });
});

describe('guide search', () => {
  const sections = () => JSON.parse(site.get('/docs/guide/search.json')?.text ?? '[]');

  it.each([
    ['wallet_empty', '/docs/guide/errors/wallet_empty'],
    ['wallet empt', '/docs/guide/errors/wallet_empty'],
    ['Test and live', '/docs/guide/modes'],
    ['FUNCTIONS', '/docs/guide/functions'],
    ['approval', '/docs/guide/interactions'],
    ['how do I add a model', '/docs/guide/models'],
    ['webhook retry', '/docs/guide/webhooks'],
    ['create a conversation', '/docs/api/conversations#conversations_create'],
    ['wallet xyzzyplugh', '/docs/guide/users-and-money'],
  ])('finds %s first at %s [GUIDE-005]', (asked, address) => {
    expect(find(sections(), asked)[0]?.section[1]?.split(address.includes('#') ? '\n' : '#')[0]).toBe(address);
  });

  it.each(['', '   ', '?', 'xyzzyplugh'])('finds nothing for “%s” [GUIDE-005]', (asked) => {
    expect(find(sections(), asked)).toEqual([]);
  });

  it('accepts special characters [GUIDE-005]', () => {
    expect(() => find(sections(), '.* ( [ - .+ \\ <b>')).not.toThrow();
  });
});

/** Only bookmarks and other sites may use the old address of a heading that moved. */
const withoutMoved = (html: string) => html.replace(/<aside class="moved">.*?<\/aside>/, '');

const trees = new Map<string, Root>();

function parsed(file: string): Root {
  const tree = trees.get(file) ?? parseMarkdown(readFileSync(join(root, file), 'utf8'));
  trees.set(file, tree);
  return tree;
}

const anchorsIn = (file: string) => [...anchorsOf(parsed(file)).values()];

/** The text without code blocks and tables. */
function proseOf(node: Nodes): string {
  if (node.type === 'text' || node.type === 'inlineCode') return ` ${node.value}`;
  return 'children' in node && node.type !== 'table' ? node.children.map(proseOf).join('') : '';
}

function linksIn(node: Nodes): string[] {
  const own = node.type === 'link' || node.type === 'image' || node.type === 'definition' ? [node.url] : [];
  if (node.type === 'html')
    return [...node.value.matchAll(/\s(?:src|srcset|href)="([^"]+)"/g)].map(([, target = '']) => target);
  return 'children' in node ? [...own, ...node.children.flatMap(linksIn)] : own;
}
