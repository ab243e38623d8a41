import type { ReactNode } from 'react';

/** What every card of something that is waited for is made of. In a card words of another language begin where the card does. */
export const Summary = ({ children }: { children: ReactNode }) => (
  <p className="text-[1.0625rem] font-medium leading-snug wrap-anywhere">
    <bdi>{children}</bdi>
  </p>
);

export const Buttons = ({ children }: { children: ReactNode }) => (
  <div className="mt-4 flex flex-wrap gap-2">{children}</div>
);
