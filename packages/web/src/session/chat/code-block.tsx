import { isValidElement, type ReactNode, useState } from 'react';
import { useWords } from '../words/words.ts';

/** Code as it was written, with its language and a way to take it along. */
export function CodeBlock({ children }: { children: ReactNode }) {
  const words = useWords();
  const [isCopied, setCopied] = useState(false);
  const { code, language } = partsOf(children);
  const copy = async () => {
    await navigator.clipboard.writeText(code);
    setCopied(true);
    setTimeout(() => setCopied(false), 2000);
  };
  return (
    <div className="my-4 overflow-hidden rounded-xl border bg-card" dir="ltr">
      <div className="flex items-center justify-between border-b bg-muted ps-4 pe-1.5 text-sm text-muted-foreground">
        <span>{language}</span>
        {/* A page without https has no clipboard to write to. */}
        {navigator.clipboard && (
          <button
            className="pressable rounded-lg px-2.5 py-2 hover:text-foreground"
            onClick={() => void copy()}
            type="button"
          >
            {isCopied ? words.copied : words.copyCode}
          </button>
        )}
      </div>
      <pre
        className="overflow-x-auto px-4 py-3 text-sm leading-relaxed outline-offset-[-2px]"
        // biome-ignore lint/a11y/noNoninteractiveTabindex: without it, a keyboard cannot scroll long lines.
        tabIndex={0}
      >
        <code>{code}</code>
      </pre>
    </div>
  );
}

function partsOf(children: ReactNode): { code: string; language: string } {
  if (!isValidElement<{ className?: string; children?: ReactNode }>(children)) return { code: '', language: '' };
  const { className = '', children: code } = children.props;
  return { code: String(code ?? '').replace(/\n$/, ''), language: /language-([\w+#-]+)/.exec(className)?.[1] ?? '' };
}
