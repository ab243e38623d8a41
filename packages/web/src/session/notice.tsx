import type { ReactNode } from 'react';

/** A full-page message. */
export function Notice({ title, children }: { title: string; children?: ReactNode }) {
  return (
    <main className="grid h-full place-items-center p-6">
      <div className="max-w-sm animate-rise text-center" role="status">
        <h1 className="text-xl font-semibold tracking-tight text-balance">{title}</h1>
        {children && <p className="mt-2 leading-relaxed text-muted-foreground text-balance">{children}</p>}
      </div>
    </main>
  );
}
