import { markSvg } from '../identity/mark.ts';
import { socialTags } from '../identity/social.ts';
import { escapeHtml } from './code-colours.ts';
import type { Page } from './markdown.ts';

export const guideRoot = '/docs/guide';

/** Pictures are base64, because the site is packed as one JSON text. */
export type SiteFile = { mediaType: string; text: string; encoding?: 'base64' };

export type Frame = {
  /** The name of the page, such as `functions` or `errors/wallet_empty`. */
  name: string;
  /** The current entry of the navigation. For an error code it is the list of codes. */
  listedAs: string;
  groups: { title: string; pages: { name: string; title: string }[] }[];
};

export const referenceRoot = '/docs';

/** The parts in which pages of the guide and of the reference differ. */
type Shell = {
  title: string;
  place: 'guide' | 'reference';
  /** Elements for the head of the page. */
  head: string;
  navigation: string;
  main: string;
  /** HTML beside the text. */
  aside: string;
};

/** A complete HTML page without inline scripts and styles. */
export function shellHtml({ title, place, head, navigation, main, aside }: Shell): string {
  const current = (at: Shell['place']) => (at === place ? ' aria-current="true"' : '');
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${escapeHtml(title)} · Vestra ${place === 'guide' ? 'guide' : 'API reference'}</title>
<link rel="icon" href="/favicon.svg" type="image/svg+xml">
<link rel="preload" href="/brand/geist-latin-wght-normal.woff2" as="font" type="font/woff2" crossorigin>
<link rel="stylesheet" href="/brand/identity.css">
<link rel="stylesheet" href="${guideRoot}/guide.css">
${socialTags(escapeHtml(title))}
${head}
<script src="${guideRoot}/guide.js"></script>
</head>
<body class="${place}">
<a class="skip" href="#content">Skip to content</a>
<header class="top">
<button class="menu" type="button" popovertarget="pages" aria-label="Pages">${icons.menu}</button>
<a class="brand" href="/">${markSvg(20)}Vestra</a>
<nav class="places" aria-label="Vestra"><a href="${guideRoot}"${current('guide')}>Guide</a><a href="${referenceRoot}"${current('reference')}>API reference</a><a href="/console">Console</a></nav>
<button class="search-open" type="button" aria-label="Search" aria-keyshortcuts="Control+K /" hidden>${icons.search}<span>Search</span><kbd>/</kbd></button>
<button class="scheme" type="button" aria-label="Switch between light and dark" hidden>${icons.scheme}</button>
</header>
<div class="columns">
<nav class="pages" id="pages" popover aria-label="${place === 'guide' ? 'Guide pages' : 'Groups of routes'}">${navigation}</nav>
<main id="content" tabindex="-1">
${main}
</main>
${aside}
</div>
<dialog class="search" aria-label="Search guide and reference">
<input type="search" role="combobox" aria-label="Search guide and reference" aria-expanded="false" aria-controls="found" aria-autocomplete="list" autocomplete="off" spellcheck="false" placeholder="Search guide and reference">
<div id="found" role="listbox" aria-label="Results"></div>
<p class="search-state" role="status"></p>
</dialog>
</body>
</html>
`;
}

/** A page of the guide. `moved` lists the headings that it had once, with their new addresses. */
export function pageHtml({ title, html, headings }: Page, frame: Frame, moved: readonly MovedHeading[]): string {
  return shellHtml({
    title,
    place: 'guide',
    head: `<link rel="alternate" type="text/markdown" href="${guideRoot}/${frame.name}.md">`,
    navigation: pagesHtml(frame),
    main: `<article>
${html}
</article>${movedHtml(moved)}
${neighboursHtml(frame)}
<footer><a href="${guideRoot}/${frame.name}.md">View as Markdown</a></footer>`,
    aside: headingsHtml(headings),
  });
}

export type MovedHeading = { anchor: string; address: string; title: string };

/** A browser shows only the paragraph that the address names. The script follows the link by itself. */
function movedHtml(moved: readonly MovedHeading[]): string {
  if (moved.length === 0) return '';
  const paragraph = ({ anchor, address, title }: MovedHeading) =>
    `<p id="${escapeHtml(anchor)}">This section moved to <a href="${address}">${escapeHtml(title)}</a>.</p>`;
  return `\n<aside class="moved">${moved.map(paragraph).join('')}</aside>`;
}

const linkTo = (name: string) => `${guideRoot}/${name}`;

function pagesHtml({ groups, listedAs }: Frame): string {
  const item = ({ name, title }: { name: string; title: string }) =>
    `<li><a href="${linkTo(name)}"${name === listedAs ? ' aria-current="page"' : ''}>${escapeHtml(title)}</a></li>`;
  return groups
    .map(({ title, pages }) => `<section><h2>${escapeHtml(title)}</h2><ul>${pages.map(item).join('')}</ul></section>`)
    .join('');
}

function headingsHtml(headings: Page['headings']): string {
  const shown = headings.filter(({ depth }) => depth <= 3);
  if (shown.length < 2) return '';
  const item = ({ depth, text, anchor }: Page['headings'][number]) =>
    `<li class="depth-${depth}"><a href="#${escapeHtml(anchor)}">${escapeHtml(text)}</a></li>`;
  return `<nav class="headings" aria-label="On this page"><h2>On this page</h2><ul>${shown.map(item).join('')}</ul></nav>`;
}

function neighboursHtml({ groups, name }: Frame): string {
  const all = groups.flatMap(({ pages }) => pages);
  const place = all.findIndex((page) => page.name === name);
  if (place === -1) return '';
  const [before, after] = [all[place - 1], all[place + 1]];
  const link = (page: { name: string; title: string } | undefined, rel: string, words: string) =>
    page ? `<a rel="${rel}" href="${linkTo(page.name)}"><small>${words}</small>${escapeHtml(page.title)}</a>` : '';
  return `<nav class="neighbours" aria-label="Previous and next">${link(before, 'prev', 'Previous')}${link(after, 'next', 'Next')}</nav>`;
}

const icon = (path: string) =>
  `<svg viewBox="0 0 20 20" width="18" height="18" fill="none" stroke="currentColor" stroke-width="1.6" stroke-linecap="round" stroke-linejoin="round" aria-hidden="true">${path}</svg>`;

const icons = {
  menu: icon('<path d="M3 5.5h14M3 10h14M3 14.5h14"/>'),
  search: icon('<circle cx="9" cy="9" r="5.25"/><path d="m13 13 4 4"/>'),
  scheme: icon('<circle cx="10" cy="10" r="6.5"/><path d="M10 3.5v13a6.5 6.5 0 0 0 0-13Z" fill="currentColor"/>'),
};
