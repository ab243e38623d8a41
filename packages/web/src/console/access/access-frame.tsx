import { type ReactNode, useEffect } from 'react';
import { Mark } from '../../identity/drawn-mark.tsx';

/** The frame of pages that need no session: who we are on one side, what to do on the other. */
export function AccessFrame({ title, lead, children }: { title: string; lead?: ReactNode; children: ReactNode }) {
  useEffect(() => {
    document.title = `${title} · Vestra`;
  }, [title]);
  return (
    <div className="grid h-dvh grid-rows-[auto_minmax(0,1fr)] lg:grid-cols-[minmax(0,5fr)_minmax(0,6fr)] lg:grid-rows-1">
      <header className="relative flex items-center overflow-hidden bg-brand px-5 py-4 text-on-brand lg:flex-col lg:items-start lg:p-14">
        <p className="flex items-center gap-2.5 font-semibold text-xl tracking-tight lg:text-2xl">
          <Mark className="size-7 lg:size-9" />
          Vestra
        </p>
        <div className="mt-auto max-w-lg max-lg:hidden">
          <p className="text-balance font-semibold text-[2.75rem] leading-[1.1] tracking-tight">
            See what your agents say, do and cost.
          </p>
          <p className="mt-4 max-w-md text-lg">
            Every conversation with its steps, every approval, every test, and the way from a file to live.
          </p>
        </div>
        <Mark className="pointer-events-none absolute -top-[14%] -right-[30%] h-[88%] opacity-12 max-lg:hidden" />
      </header>
      <main className="grid justify-items-center overflow-y-auto px-5 pt-10 lg:content-center lg:pt-12">
        <div className="w-full min-w-0 max-w-sm break-words pb-12 [overflow-wrap:anywhere]">
          <h1 className="font-semibold text-2xl tracking-tight">{title}</h1>
          {lead && <p className="mt-1.5 text-quiet">{lead}</p>}
          <div className="mt-6">{children}</div>
        </div>
      </main>
    </div>
  );
}
