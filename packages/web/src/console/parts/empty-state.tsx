import type { ReactNode } from 'react';
import { CopyButton } from './copy.tsx';
import { Icon, type IconName } from './icons.tsx';

export type EmptyStateProps = {
  icon: IconName;
  title: string;
  /** The purpose of the list and the next step. */
  children: ReactNode;
  action?: ReactNode;
  /** A snippet that works when it is pasted. */
  example?: { label: string; code: string };
};

/** The empty state of a list, with the next step. */
export function EmptyState({ icon, title, children, action, example }: EmptyStateProps) {
  return (
    <div className="panel flex flex-col items-start gap-3 px-5 py-8 sm:px-8">
      <span className="grid size-9 place-items-center rounded-lg bg-muted text-quiet">
        <Icon className="size-5" name={icon} />
      </span>
      <div>
        <h2 className="font-semibold">{title}</h2>
        <div className="mt-1 max-w-prose text-quiet">{children}</div>
      </div>
      {action}
      {example && <CodeBlock code={example.code} label={example.label} />}
    </div>
  );
}

type CodeBlockProps = {
  code: string;
  label?: string;
  /** Names the copy button if there is no visible label. */
  name?: string;
  /** Long lines wrap. */
  wraps?: boolean;
};

export function CodeBlock({ code, label, name = label, wraps = false }: CodeBlockProps) {
  return (
    <figure className="w-full min-w-0 max-w-3xl">
      {label && <figcaption className="mb-1 text-quiet text-sm">{label}</figcaption>}
      <div className="relative rounded-md border bg-muted">
        <pre
          className={`overflow-x-auto p-3 pr-12 font-mono text-xs leading-5 ${wraps ? 'max-h-96 whitespace-pre-wrap wrap-anywhere' : ''}`}
          // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrollable area must be reachable by keyboard.
          tabIndex={0}
        >
          {code}
        </pre>
        <span className="absolute top-1.5 right-1.5 rounded-md bg-muted">
          <CopyButton label={`Copy ${name ?? 'this'}`} text={code} />
        </span>
      </div>
    </figure>
  );
}
