/** What a page of the guide does besides being read. Without it every page is whole, and only the search is missing. */
import { chosenScheme, followSchemeButton } from './colour-scheme.ts';
import { offerCopies } from './copy.ts';
import { markHeadingInView } from './headings.ts';
import { openSearch } from './search.ts';

// Before anything is shown: a page must not flash in the other colours.
chosenScheme();
document.addEventListener('DOMContentLoaded', () => {
  followSchemeButton();
  offerCopies();
  markHeadingInView();
  openSearch();
  showCurrentPage();
});

/** In the list alone: `scrollIntoView` would move the page too. */
function showCurrentPage(): void {
  const list = document.querySelector<HTMLElement>('.pages');
  const current = list?.querySelector<HTMLElement>('[aria-current]');
  if (list && current) list.scrollTop = current.offsetTop - list.clientHeight / 2;
}
