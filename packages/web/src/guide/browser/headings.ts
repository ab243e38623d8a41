/** Marks the heading that is being read in the list at the side. */
export function markHeadingInView(): void {
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
