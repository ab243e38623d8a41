import { type ReactNode, useContext } from 'react';
import { MarkdownText, markdownElements } from '../../markdown/markdown-text.tsx';
import { PassagesContext } from '../../markdown/passages.ts';
import { CopyButton } from './copy.tsx';

const elements = markdownElements({ Code, Table, ImageLabel, Reference, headings: 'h2' });

/** Model text as the session page shows it. The parser is large, so `ModelText` loads it lazily. */
export default function Markdown({ text, isGrowing }: { text: string; isGrowing: boolean }) {
  return <MarkdownText elements={elements} isGrowing={isGrowing} text={text} />;
}

function Code({ code, language }: { code: string; language: string }) {
  return (
    <div className="relative overflow-hidden rounded-md border bg-muted" dir="ltr">
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a scrollable area must be reachable by keyboard. */}
      <pre className="overflow-x-auto p-3 pr-12 font-mono text-xs leading-5" tabIndex={0}>
        <code>{code}</code>
      </pre>
      <span className="absolute top-1.5 right-1.5 rounded-md bg-muted">
        <CopyButton label={language ? `Copy this ${language}` : 'Copy this code'} text={code} />
      </span>
    </div>
  );
}

function Table({ children }: { children?: ReactNode }) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: without it, a keyboard cannot scroll a wide table.
    <div className="overflow-x-auto rounded-md border bg-surface" tabIndex={0}>
      <table>{children}</table>
    </div>
  );
}

function ImageLabel({ host, alt }: { host: string; alt: string | undefined }) {
  return <>{alt || `Image on ${host}`}</>;
}

/** The number of a cited passage, which opens it. */
function Reference({ mark, number }: { mark: number; number: number }) {
  const passages = useContext(PassagesContext);
  return (
    <sup>
      <button
        aria-label={`Source ${number}: ${passages?.titles.get(mark) ?? ''}`}
        className="ms-0.5 rounded-sm bg-muted px-1 font-medium text-quiet text-xs tabular-nums enabled:hover:text-accent"
        disabled={passages === null}
        onClick={() => passages?.open(mark)}
        type="button"
      >
        {number}
      </button>
    </sup>
  );
}
