import { type ReactNode, useEffect } from 'react';
import { usePendingCount } from '../data/pending.ts';
import type { Request } from '../data/rows.ts';
import { Fault } from './fault.tsx';
import { GuideLink } from './guide-link.tsx';
import { Spinner } from './icons.tsx';
import { PageLink } from './page-link.tsx';
import { RequestMenu } from './request-menu.tsx';

type PageProps = {
  title: ReactNode;
  /** The document title. Defaults to `title` if that is a string. */
  tabTitle?: string;
  /** The purpose of the page in one sentence. */
  lead?: ReactNode;
  /** The parent page. */
  above?: { to: string; title: string };
  /** The API call behind the page. */
  request?: Request;
  actions?: ReactNode;
  /** For a page of two columns, which uses the width of large screens. */
  isWide?: boolean;
  children: ReactNode;
};

/** The frame of every page. */
export function Page({ title, tabTitle, lead, above, request, actions, isWide = false, children }: PageProps) {
  const tab = tabTitle ?? (typeof title === 'string' ? title : 'Vestra');
  const pending = usePendingCount();
  useEffect(() => {
    document.title = `${pending && `(${pending}) `}${tab} · Vestra`;
  }, [tab, pending]);
  return (
    <div className={`mx-auto w-full px-4 pt-5 pb-16 sm:px-8 sm:pt-7 ${isWide ? 'max-w-[110rem]' : 'max-w-[78rem]'}`}>
      <header className="mb-5">
        {above && (
          <PageLink className="mb-1 inline-block text-quiet text-sm hover:text-foreground" to={above.to}>
            ← {above.title}
          </PageLink>
        )}
        <div className="flex flex-wrap items-center gap-x-3 gap-y-2">
          <h1
            className="min-w-0 break-words max-sm:max-w-[calc(100%-6.5rem)] font-semibold text-xl tracking-tight outline-none"
            id="page-title"
            tabIndex={-1}
          >
            {title}
          </h1>
          {/* On a phone the actions have a line to themselves, below the lead. Elsewhere both wrap together. */}
          <div className="max-sm:contents sm:ml-auto sm:flex sm:items-center sm:gap-3">
            <div className="flex flex-wrap items-center gap-2 max-sm:order-2 max-sm:w-full max-sm:empty:hidden sm:justify-end">
              {actions}
            </div>
            <span className="flex items-center max-sm:ml-auto">
              {request && <RequestMenu request={request} withLastChange />}
              <GuideLink />
            </span>
          </div>
          {lead && (
            <div className="w-full max-sm:order-1 sm:-mt-1">
              <p className={`text-pretty text-quiet wrap-anywhere ${isWide ? '' : 'max-w-[92ch]'}`}>{lead}</p>
            </div>
          )}
        </div>
      </header>
      {children}
    </div>
  );
}

export function Section({
  title,
  actions,
  children,
  className = '',
}: {
  title: ReactNode;
  actions?: ReactNode;
  children: ReactNode;
  className?: string;
}) {
  return (
    <section className={`mb-8 ${className}`}>
      <div className="mb-2 flex min-h-8 flex-wrap items-center gap-2">
        <h2 className="font-semibold">{title}</h2>
        <div className="ml-auto flex flex-wrap items-center gap-2">{actions}</div>
      </div>
      {children}
    </section>
  );
}

export const Waiting = ({ what = 'Loading' }: { what?: string }) => (
  <div className="flex items-center gap-2 py-10 text-quiet" data-loading="" role="status">
    <Spinner /> {what}…
  </div>
);

/** Renders the data, the loading state or the error. Old data stays visible during a refetch. */
export function Loaded<T>({
  query,
  children,
}: {
  query: { data: T | undefined; error: Error | null; refetch: () => unknown };
  children: (data: T) => ReactNode;
}) {
  if (query.data !== undefined) return children(query.data);
  if (query.error) return <Fault error={query.error} retry={() => void query.refetch()} />;
  return <Waiting />;
}

/** A page whose title comes from its data. Until then it shows a placeholder title. */
export function LoadedPage<T>({
  title,
  above,
  query,
  children,
}: {
  title: string;
  above: { to: string; title: string };
  query: { data: T | undefined; error: Error | null; refetch: () => unknown };
  children: (data: T) => ReactNode;
}) {
  if (query.data !== undefined) return children(query.data);
  return (
    <Page above={above} title={title}>
      <Loaded query={query}>{() => null}</Loaded>
    </Page>
  );
}

/** A list of names and values. */
export function Facts({ rows }: { rows: readonly (readonly [ReactNode, ReactNode])[] }) {
  return (
    <dl className="panel grid grid-cols-[fit-content(12rem)_minmax(0,1fr)] gap-x-6 divide-y">
      {rows.map(([name, value], index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the rows of one list keep their order.
        <div className="col-span-2 grid grid-cols-subgrid items-baseline px-3 py-1.5" key={index}>
          <dt className="text-quiet">{name}</dt>
          <dd className="min-w-0 break-words">{value ?? '–'}</dd>
        </div>
      ))}
    </dl>
  );
}
