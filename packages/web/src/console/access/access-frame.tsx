import { type ReactNode, useEffect } from 'react';

/** The frame of pages that need no session. */
export function AccessFrame({ title, lead, children }: { title: string; lead?: ReactNode; children: ReactNode }) {
  useEffect(() => {
    document.title = `${title} · Vestra`;
  }, [title]);
  return (
    <main className="grid h-dvh justify-items-center overflow-y-auto px-5 pt-[14dvh]">
      <div className="w-full min-w-0 max-w-sm break-words pb-12 [overflow-wrap:anywhere]">
        <p className="mb-8 font-semibold text-quiet tracking-tight">Vestra</p>
        <h1 className="font-semibold text-2xl tracking-tight">{title}</h1>
        {lead && <p className="mt-1 text-quiet">{lead}</p>}
        <div className="mt-6">{children}</div>
      </div>
    </main>
  );
}
