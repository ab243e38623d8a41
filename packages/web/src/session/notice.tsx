import type { ReactNode } from 'react';
import { Mark } from '../identity/drawn-mark.tsx';
import { isFramed } from './embedding/host.ts';

/** A full-page message. Within another page it has no mark but those of that page. */
export function Notice({ title, children }: { title: string; children?: ReactNode }) {
  return (
    <main className="grid h-full place-items-center p-6">
      <div className="max-w-sm animate-rise text-center" role="status">
        {!isFramed && <Mark className="mx-auto mb-5 size-9" />}
        <h1 className="text-xl font-semibold tracking-tight text-balance">{title}</h1>
        {children && <p className="mt-2 leading-relaxed text-muted-foreground text-balance">{children}</p>}
      </div>
    </main>
  );
}
