import * as Radix from '@radix-ui/react-dialog';
import { type ReactNode, useRef } from 'react';
import { Button } from './button.tsx';
import { Icon } from './icons.tsx';

type DialogProps = {
  title: string;
  description?: ReactNode;
  isOpen: boolean;
  onClose: () => void;
  children: ReactNode;
  /** If false, only the content of the dialog can close it. */
  canLeave?: boolean;
  width?: 'narrow' | 'wide';
};

/** Traps the focus and restores it on close. On a phone it is a bottom sheet. */
export function Dialog({
  title,
  description,
  isOpen,
  onClose,
  children,
  canLeave = true,
  width = 'narrow',
}: DialogProps) {
  const stay = (event: Event) => {
    if (!canLeave) event.preventDefault();
  };
  const focus = useFocusBack();
  return (
    <Radix.Root onOpenChange={(open) => !open && canLeave && onClose()} open={isOpen}>
      <Radix.Portal>
        <Radix.Overlay className="fixed inset-0 z-40 bg-[oklch(0.15_0.02_262/0.45)]" />
        <Radix.Content
          {...(description ? {} : { 'aria-describedby': undefined })}
          className={`fixed z-50 flex max-h-[calc(100dvh-2rem)] w-full animate-appear flex-col overflow-hidden border bg-raised shadow-pop max-sm:inset-x-0 max-sm:bottom-0 max-sm:rounded-t-lg sm:top-[12dvh] sm:left-1/2 sm:max-h-[76dvh] sm:-translate-x-1/2 sm:rounded-lg ${width === 'narrow' ? 'sm:max-w-md' : 'sm:max-w-2xl'}`}
          onCloseAutoFocus={focus.giveBack}
          onOpenAutoFocus={(event) => {
            focus.remember();
            focusFirst(event);
          }}
          onEscapeKeyDown={stay}
          onPointerDownOutside={stay}
        >
          <header className="flex items-start gap-3 px-5 pt-4">
            <div className="min-w-0 grow">
              <Radix.Title className="font-semibold text-lg">{title}</Radix.Title>
              {description && <Radix.Description className="mt-1 text-quiet">{description}</Radix.Description>}
            </div>
            {canLeave && (
              <Radix.Close asChild>
                <Button aria-label="Close" className="-mr-2" look="quiet" shape="icon">
                  <Icon name="close" />
                </Button>
              </Radix.Close>
            )}
          </header>
          <div className="min-h-0 overflow-y-auto px-5 pt-4 pb-5" data-body="">
            {children}
          </div>
        </Radix.Content>
      </Radix.Portal>
    </Radix.Root>
  );
}

/**
 * Focuses the first field or button of the body instead of the close button. In the menu of a phone it is the current
 * page, which is then in sight.
 */
function focusFirst(event: Event): void {
  const body = (event.currentTarget as HTMLElement).querySelector('[data-body]');
  const first =
    body?.querySelector<HTMLElement>('[aria-current=page]') ??
    body?.querySelector<HTMLElement>('input:not([readonly]), select, textarea') ??
    body?.querySelector<HTMLElement>('a, button');
  if (!first) return;
  event.preventDefault();
  first.focus();
}

/** Dialogs are opened by state and not by a trigger of Radix, which would return the focus itself. */
export function useFocusBack() {
  const opener = useRef<Element | null>(null);
  return {
    remember: () => {
      opener.current = document.activeElement;
    },
    giveBack: (event: Event) => {
      event.preventDefault();
      if (opener.current instanceof HTMLElement) opener.current.focus();
      // The change may have removed or disabled the button.
      if (document.activeElement !== opener.current) document.getElementById('page-title')?.focus();
    },
  };
}

export const DialogActions = ({ children }: { children: ReactNode }) => (
  <div className="mt-5 flex flex-wrap justify-end gap-2 max-sm:flex-col-reverse">{children}</div>
);
