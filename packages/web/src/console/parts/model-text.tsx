import { Suspense, useSyncExternalStore } from 'react';
import { keep, kept } from '../kept.ts';
import { Button } from './button.tsx';
import { lazyPart } from './lazy-part.tsx';

const Markdown = lazyPart<{ text: string; isGrowing: boolean }>(() => import('./markdown.tsx'));
const MarkdownLine = lazyPart<{ text: string }>(() => import('./markdown-line.tsx'));

let isAsWritten = kept('text') === 'as-written';
const listeners = new Set<() => void>();
const subscribe = (listener: () => void) => {
  listeners.add(listener);
  return () => void listeners.delete(listener);
};

const useIsAsWritten = () => useSyncExternalStore(subscribe, () => isAsWritten);

/** Text of a model: Markdown, or as the model wrote it. HTML in it is always text. */
export function ModelText({ text, isGrowing = false }: { text: string; isGrowing?: boolean }) {
  const asWritten = (
    <p className="whitespace-pre-wrap break-words" data-as-written="" dir="auto">
      {text}
    </p>
  );
  if (useIsAsWritten()) return asWritten;
  return (
    <Suspense fallback={asWritten}>
      <Markdown isGrowing={isGrowing} text={text} />
    </Suspense>
  );
}

/** The beginning of such a text in one line, for a cell of a table. */
export function ModelLine({ text }: { text: string }) {
  if (useIsAsWritten()) return <>{text}</>;
  return (
    <Suspense fallback={text}>
      <MarkdownLine text={text} />
    </Suspense>
  );
}

/** Switches all texts of models, and remembers the choice in this browser. */
export function AsWrittenToggle() {
  const isPressed = useIsAsWritten();
  return (
    <Button
      aria-pressed={isPressed}
      className="aria-pressed:bg-accent-soft aria-pressed:text-accent"
      look="quiet"
      onClick={() => {
        isAsWritten = !isAsWritten;
        keep('text', isAsWritten ? 'as-written' : null);
        for (const listener of listeners) listener();
      }}
      shape="small"
      title="Show replies without formatting"
    >
      As written
    </Button>
  );
}
