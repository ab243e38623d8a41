import type { ComponentProps } from 'react';
import { Spinner } from './icons.tsx';

const looks = {
  primary: 'bg-primary text-on-primary hover:opacity-88 border border-transparent',
  plain: 'border border-strong-line bg-surface hover:bg-muted',
  quiet: 'text-quiet hover:bg-muted hover:text-foreground border border-transparent',
  danger: 'bg-danger text-surface hover:opacity-88 border border-transparent',
  'danger-quiet': 'border border-line text-danger hover:bg-danger-soft',
};

const shapes = {
  text: 'h-8 px-3 pointer-coarse:h-10',
  small: 'h-7 px-2 text-sm',
  icon: 'size-8 pointer-coarse:size-10',
};

type ButtonProps = ComponentProps<'button'> & {
  look?: keyof typeof looks;
  shape?: keyof typeof shapes;
  isBusy?: boolean;
};

export const buttonLook = (look: keyof typeof looks = 'plain', shape: keyof typeof shapes = 'text') =>
  `inline-flex shrink-0 select-none items-center justify-center gap-1.5 whitespace-nowrap rounded-md font-medium transition-[background-color,opacity] duration-100 disabled:opacity-50 disabled:pointer-events-none ${shapes[shape]} ${looks[look]}`;

/** `isBusy` disables the button and shows a spinner next to its label. */
export function Button({
  look = 'plain',
  shape = 'text',
  isBusy = false,
  className = '',
  children,
  ...rest
}: ButtonProps) {
  return (
    <button
      aria-busy={isBusy || undefined}
      className={`${buttonLook(look, shape)} ${className}`}
      disabled={isBusy || rest.disabled}
      type="button"
      {...(isBusy ? { ...rest, disabled: true } : rest)}
    >
      {isBusy && <Spinner />}
      {children}
    </button>
  );
}
