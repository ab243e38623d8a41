import type { ReactNode } from 'react';

/** Parts of interaction cards. Text in another language keeps its direction. */
export const Summary = ({ children }: { children: ReactNode }) => (
  <p className="text-[1.0625rem] font-medium leading-snug wrap-anywhere">
    <bdi>{children}</bdi>
  </p>
);

export const Buttons = ({ children }: { children: ReactNode }) => (
  <div className="mt-4 flex flex-wrap gap-2">{children}</div>
);
