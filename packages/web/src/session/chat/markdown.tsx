import { type ReactNode, useState } from 'react';
import { MarkdownText, markdownElements } from '../../markdown/markdown-text.tsx';
import { ExternalIcon } from '../icons.tsx';
import { useWords } from '../words/words.ts';
import { Reference } from './reference.tsx';

const elements = markdownElements({ Code: CodeBlock, Table, ImageLabel, Reference });

export default function Markdown({ text, isGrowing }: { text: string; isGrowing: boolean }) {
  return <MarkdownText isPaced elements={elements} isGrowing={isGrowing} text={text} />;
}

/** Wide tables scroll horizontally. */
function Table({ children }: { children?: ReactNode }) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: without it, a keyboard cannot scroll a wide table.
    <div className="my-4 overflow-x-auto rounded-xl border" tabIndex={0}>
      <table>{children}</table>
    </div>
  );
}

function ImageLabel({ host, alt }: { host: string; alt: string | undefined }) {
  const words = useWords();
  return (
    <>
      {alt || words.imageOn(host)} <ExternalIcon className="inline size-3.5" />
    </>
  );
}

/** A code block with its language and a copy button. */
function CodeBlock({ code, language }: { code: string; language: string }) {
  const words = useWords();
  const [isCopied, setCopied] = useState(false);
  const copy = async () => {
    await navigator.clipboard.writeText(code);
    setCopied(true);
    setTimeout(() => setCopied(false), 2000);
  };
  return (
    <div className="my-4 overflow-hidden rounded-xl border bg-card" dir="ltr">
      <div className="flex items-center justify-between border-b bg-muted ps-4 pe-1.5 text-sm text-muted-foreground">
        <span>{language}</span>
        {/* Without https there is no clipboard. */}
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
