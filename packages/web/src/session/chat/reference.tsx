import { useContext } from 'react';
import { PassagesContext } from '../../markdown/passages.ts';
import { useWords } from '../words/words.ts';

/** The number of a source within the text. */
export function Reference({ mark, number }: { mark: number; number: number }) {
  const words = useWords();
  const passages = useContext(PassagesContext);
  const title = passages?.titles.get(mark) ?? '';
  return (
    <sup className="ms-0.5 text-[0.6875rem] leading-none whitespace-nowrap">
      <button
        aria-label={words.source(String(number), title)}
        className="relative min-w-5 rounded-full bg-muted px-1.5 py-0.5 font-medium text-muted-foreground tabular-nums after:absolute after:-inset-1.5 enabled:hover:bg-accent-soft enabled:hover:text-accent"
        disabled={passages === null}
        onClick={() => passages?.open(mark)}
        title={title || undefined}
        type="button"
      >
        {number}
      </button>
    </sup>
  );
}
