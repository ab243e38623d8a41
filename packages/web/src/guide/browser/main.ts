/** The script of the guide. Every page is complete without it, except for the search. */
import { openSearch } from './search.ts';

/** The colour scheme that the reader chose. Without one, the page follows the system. */
const schemeKey = 'vestra-scheme';

// Runs before the first paint, so that the page does not flash in the wrong scheme.
chosenScheme();
document.addEventListener('DOMContentLoaded', () => {
  followMovedHeading();
  followSchemeButton();
  offerCopies();
  markHeadingInView();
  openSearch();
  showCurrentPage();
});

/** Replaces the old address of a heading that moved to another page, so that Back does not return to it. */
function followMovedHeading(): void {
  const follow = () => {
    // `:target` matches only once the page was scrolled, which is later.
    const named = document.getElementById(location.hash.slice(1));
    const moved = named?.closest('.moved') && named.querySelector('a');
    if (moved) location.replace(moved.href);
  };
  addEventListener('hashchange', follow);
  follow();
}

/** Scrolls only the list: `scrollIntoView` would scroll the page too. */
function showCurrentPage(): void {
  const list = document.querySelector<HTMLElement>('.pages');
  const current = list?.querySelector<HTMLElement>('[aria-current]');
  if (list && current) list.scrollTop = current.offsetTop - list.clientHeight / 2;
}

function chosenScheme(): void {
  const scheme = read();
  if (scheme) document.documentElement.dataset.scheme = scheme;
}

function followSchemeButton(): void {
  const button = document.querySelector<HTMLButtonElement>('.scheme');
  if (!button) return;
  button.hidden = false;
  button.addEventListener('click', () => {
    const isDark = getComputedStyle(document.documentElement).colorScheme === 'dark' || (!read() && systemIsDark());
    const scheme = isDark ? 'light' : 'dark';
    document.documentElement.dataset.scheme = scheme;
    try {
      localStorage.setItem(schemeKey, scheme);
    } catch {
      // Without storage the choice lasts until the next page.
    }
  });
}

const systemIsDark = () => matchMedia('(prefers-color-scheme: dark)').matches;

function read(): 'light' | 'dark' | null {
  try {
    const scheme = localStorage.getItem(schemeKey);
    return scheme === 'light' || scheme === 'dark' ? scheme : null;
  } catch {
    return null;
  }
}

/** Adds a copy button to code blocks. For shell sessions it copies only the commands. */
function offerCopies(): void {
  if (!navigator.clipboard) return;
  for (const figure of document.querySelectorAll('figure.code')) {
    const button = document.createElement('button');
    button.type = 'button';
    button.className = 'copy';
    button.textContent = 'Copy';
    button.addEventListener('click', async () => {
      const isCopied = await navigator.clipboard.writeText(typedIn(figure)).then(
        () => true,
        () => false,
      );
      button.textContent = isCopied ? 'Copied' : 'Not copied';
      setTimeout(() => {
        button.textContent = 'Copy';
      }, 1600);
    });
    figure.append(button);
  }
}

function typedIn(figure: Element): string {
  const text = figure.querySelector('pre')?.textContent ?? '';
  const typed = text.split('\n').filter((line) => line.startsWith('$ '));
  return typed.length === 0 ? text : typed.map((line) => line.slice(2)).join('\n');
}

/** Highlights the current heading in the table of contents. */
function markHeadingInView(): void {
  const links = new Map(
    [...document.querySelectorAll<HTMLAnchorElement>('.headings a')].map((link) => [
      decodeURIComponent(link.hash.slice(1)),
      link,
    ]),
  );
  if (links.size === 0) return;
  const headings = [...links.keys()].flatMap((anchor) => document.getElementById(anchor) ?? []);
  const mark = () => {
    const read = headings.findLast((heading) => heading.getBoundingClientRect().top < innerHeight / 4) ?? headings[0];
    for (const [anchor, link] of links) link.toggleAttribute('data-read', anchor === read?.id);
  };
  addEventListener('scroll', mark, { passive: true });
  mark();
}
