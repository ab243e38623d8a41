import type { ComponentProps } from 'react';

const looks = {
  primary: 'bg-primary text-primary-foreground hover:bg-primary/90',
  plain: 'border bg-card hover:bg-muted',
  quiet: 'text-muted-foreground hover:bg-muted hover:text-foreground',
  danger: 'border border-danger/40 text-danger hover:bg-danger/10',
};

const shapes = {
  text: 'min-h-10 px-4 rounded-full text-[0.9375rem] font-medium',
  icon: 'size-10 rounded-full',
};

type ButtonProps = ComponentProps<'button'> & { look?: keyof typeof looks; shape?: keyof typeof shapes };

export function Button({ look = 'plain', shape = 'text', className = '', ...rest }: ButtonProps) {
  return (
    <button
      className={`pressable inline-flex shrink-0 items-center justify-center gap-2 disabled:opacity-45 ${shapes[shape]} ${looks[look]} ${className}`}
      type="button"
      {...rest}
    />
  );
}
