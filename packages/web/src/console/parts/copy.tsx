import { useEffect, useState } from 'react';
import { Button } from './button.tsx';
import { Icon } from './icons.tsx';
import { say } from './notices.tsx';

/** Without https a browser has no clipboard, so the text is shown in a prompt. */
export async function copyText(text: string, what = 'Copied'): Promise<void> {
  try {
    await navigator.clipboard.writeText(text);
    say(what);
  } catch {
    window.prompt('Copy this:', text);
  }
}

export function CopyButton({ text, label = 'Copy' }: { text: string; label?: string }) {
  const [isDone, setIsDone] = useState(false);
  useEffect(() => {
    if (!isDone) return;
    const timer = setTimeout(() => setIsDone(false), 1500);
    return () => clearTimeout(timer);
  }, [isDone]);
  return (
    <Button
      aria-label={label}
      look="quiet"
      onClick={() => void copyText(text).then(() => setIsDone(true))}
      shape="small"
      title={label}
    >
      <Icon className="size-3.5" name={isDone ? 'check' : 'copy'} />
    </Button>
  );
}

/** An id with a copy button. */
export function Id({ children }: { children: string }) {
  return (
    <span className="-my-1 inline-flex min-w-0 max-w-full items-center gap-0.5 align-middle">
      <code className="min-w-0 truncate font-mono text-quiet text-xs" title={children}>
        {children}
      </code>
      <CopyButton label={`Copy ${children}`} text={children} />
    </span>
  );
}
