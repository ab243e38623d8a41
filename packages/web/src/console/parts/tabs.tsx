import { useLayoutEffect, useRef } from 'react';
import { PageLink } from './page-link.tsx';

/** Tabs with separate URLs. */
export function Tabs({
  tabs,
  chosen,
  label,
}: {
  tabs: readonly { id: string; title: string; to: string; note?: string | number; search?: Record<string, string> }[];
  chosen: string;
  label: string;
}) {
  const bar = useRef<HTMLElement>(null);
  // On a phone the bar scrolls, so that the current tab is visible.
  // biome-ignore lint/correctness/useExhaustiveDependencies: the current tab is read from the DOM.
  useLayoutEffect(() => {
    const tab = bar.current?.querySelector<HTMLElement>('[aria-current=page]');
    if (!tab || !bar.current) return;
    const beside = (bar.current.clientWidth - tab.offsetWidth) / 2;
    bar.current.scrollLeft += tab.getBoundingClientRect().left - bar.current.getBoundingClientRect().left - beside;
  }, [chosen]);
  return (
    <nav ref={bar} aria-label={label} className="-mx-4 mb-5 flex gap-1 overflow-x-auto border-b px-4 sm:mx-0 sm:px-0">
      {tabs.map(({ id, title, to, note, search }) => (
        <PageLink
          aria-current={id === chosen ? 'page' : undefined}
          className="-mb-px flex h-9 items-center gap-1.5 whitespace-nowrap border-transparent border-b-2 px-2.5 text-quiet hover:text-foreground aria-[current=page]:border-foreground aria-[current=page]:font-medium aria-[current=page]:text-foreground"
          key={id}
          {...(search && { search })}
          to={to}
        >
          {title}
          {note !== undefined && <span className="figures rounded-sm bg-muted px-1 text-xs">{note}</span>}
        </PageLink>
      ))}
    </nav>
  );
}
