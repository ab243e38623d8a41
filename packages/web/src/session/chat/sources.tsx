import type { Api } from '@vestra/contract/api';
import type { ResponseOf } from '@vestra/contract/route';
import { marksIn, splitAtMarks } from '@vestra/contract/source-marks';
import type { Client } from '@vestra/sdk/client';
import { lazy, type ReactNode, Suspense, useEffect, useMemo, useRef, useState } from 'react';
import { MarkNumbers } from '../../markdown/mark-numbers.ts';
import { PassagesContext } from '../../markdown/passages.ts';
import { Button } from '../button.tsx';
import { CloseIcon } from '../icons.tsx';
import type { Words } from '../words/en.ts';
import { useWords } from '../words/words.ts';
import type { ShownMessage } from './chat-state.ts';

type Source = ResponseOf<Api['conversations']['messageSources']>['data'][number];

const Markdown = lazy(() => import('./markdown.tsx'));

type SourcesProps = {
  cited: ShownMessage['sources'];
  sources: readonly Source[] | null;
  /** The shown part of a reply that is growing; null once it is whole. */
  growing: string | null;
  /** The conversation reads documents, so a number in brackets is most likely a mark. */
  mayCite: boolean;
  children: ReactNode;
};

/** A reply with its numbered references, and the list of its sources below. */
export function WithSources({ cited, sources, growing, mayCite, children }: SourcesProps) {
  const [open, setOpen] = useState<Source | null>(null);
  const numbers = useStable(marksOf(cited, sources, mayCite ? growing : null));
  const passages = useMemo(
    () =>
      sources && {
        titles: new Map(sources.map(({ mark, title }) => [mark, title])),
        open: (mark: number) => setOpen(sources.find((each) => each.mark === mark) ?? null),
      },
    [sources],
  );
  return (
    <>
      <MarkNumbers value={numbers}>
        <PassagesContext value={passages}>{children}</PassagesContext>
      </MarkNumbers>
      {growing === null && cited && numbers.size > 0 && (
        <SourceList count={numbers.size} open={setOpen} sources={sources} />
      )}
      {open && <Passage close={() => setOpen(null)} number={numbers.get(open.mark) ?? 0} source={open} />}
    </>
  );
}

/** The marks in the order of their numbers. A source that can no longer be read is none. */
function marksOf(cited: ShownMessage['sources'], sources: readonly Source[] | null, growing: string | null): number[] {
  return growing === null ? (sources ?? cited ?? []).map(({ mark }) => mark) : marksIn(growing);
}

/** The same map for the same marks, so that drawn blocks stay. */
function useStable(marks: readonly number[]): ReadonlyMap<number, number> {
  const name = marks.join();
  // biome-ignore lint/correctness/useExhaustiveDependencies: the name has all marks.
  return useMemo(() => new Map(marks.map((mark, at) => [mark, at + 1])), [name]);
}

/** One request at a time: a conversation with many replies would otherwise ask for everything at once. */
let lastRequest: Promise<unknown> = Promise.resolve();

/** The passages that a whole reply cites. Null until they are loaded, or if it cites none. */
export function useSources(
  client: Client,
  { message_id, conversation_id, isWanted }: { message_id: string; conversation_id: string; isWanted: boolean },
  failed: (error: unknown) => void,
): Source[] | null {
  const [sources, setSources] = useState<Source[] | null>(null);
  useEffect(() => {
    if (!isWanted) return;
    const aborted = new AbortController();
    const { signal } = aborted;
    lastRequest = lastRequest.then(async () => {
      if (signal.aborted) return;
      try {
        setSources((await client.conversations.messageSources({ conversation_id, message_id }, { signal })).data);
      } catch (error) {
        if (!signal.aborted) failed(error);
      }
    });
    return () => aborted.abort();
  }, [client, conversation_id, message_id, isWanted, failed]);
  return sources;
}

/** A reply for other programs: with the numbers that the reader saw, and its sources below. */
export function withSourceList(text: string, sources: readonly Source[] | null, words: Words): string {
  if (!sources || sources.length === 0) return text;
  const number = new Map(sources.map(({ mark }, at) => [mark, at + 1]));
  const numbered = splitAtMarks(text).map((part) =>
    typeof part === 'string' ? part : part.map((mark) => `[${number.get(mark) ?? mark}]`).join(''),
  );
  const list = sources.map((source, at) => `[${at + 1}] ${[source.title, ...placeOf(source, words)].join(' · ')}`);
  return `${numbered.join('')}\n\n${list.join('\n')}`;
}

const shownAtFirst = 4;

/** Each row has a fixed height, so that nothing moves when the titles arrive. */
function SourceList({
  count,
  sources,
  open,
}: {
  count: number;
  sources: readonly Source[] | null;
  open: (source: Source) => void;
}) {
  const words = useWords();
  const [isWhole, setWhole] = useState(false);
  const shown = isWhole ? count : Math.min(count, shownAtFirst);
  return (
    <section aria-label={words.sources} className="-mt-3 text-sm" data-sources={sources ? 'known' : 'loading'}>
      <h3 className="h-7 text-muted-foreground">{words.sources}</h3>
      <ol className="flex flex-col">
        {Array.from({ length: shown }, (_, at) => {
          const source = sources?.[at];
          return (
            <li className="flex h-8 items-center" key={source?.mark ?? at}>
              <button
                className="pressable -ms-2 flex h-8 min-w-0 items-center gap-2 rounded-lg px-2 text-start hover:bg-muted"
                disabled={!source}
                onClick={() => source && open(source)}
                type="button"
              >
                <span className="min-w-5 rounded-full bg-muted px-1.5 text-center text-xs leading-5 text-muted-foreground tabular-nums">
                  {at + 1}
                </span>
                {source && (
                  <span className="truncate">
                    <bdi>{source.title}</bdi>
                    <span className="text-muted-foreground">
                      {placeOf(source, words).map((part) => (
                        <span key={part}>
                          {' · '}
                          <bdi>{part}</bdi>
                        </span>
                      ))}
                    </span>
                  </span>
                )}
              </button>
            </li>
          );
        })}
      </ol>
      {count > shown && (
        <button
          className="pressable -ms-2 h-8 rounded-lg px-2 text-muted-foreground hover:bg-muted hover:text-foreground"
          onClick={() => setWhole(true)}
          type="button"
        >
          {words.moreSources(String(count - shown))}
        </button>
      )}
    </section>
  );
}

const placeOf = ({ heading, page }: Source, words: Words): string[] => [
  ...(heading === '' ? [] : [heading]),
  ...(page === null ? [] : [words.sourcePage(String(page))]),
];

/** The text of a passage. Escape and a click beside it close it, and the focus returns to the reference. */
function Passage({ source, number, close }: { source: Source; number: number; close: () => void }) {
  const words = useWords();
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    dialog.current?.showModal();
  }, []);
  const place = placeOf(source, words);
  return (
    <dialog
      aria-label={words.source(String(number), source.title)}
      className="m-auto max-h-[min(40rem,calc(100dvh-2rem))] w-[min(42rem,calc(100vw-2rem))] flex-col overflow-hidden rounded-2xl border bg-card text-foreground shadow-(--lift) backdrop:bg-black/40 open:flex max-sm:mb-0 max-sm:w-full max-sm:max-w-full max-sm:rounded-b-none"
      onClick={(event) => event.target === event.currentTarget && dialog.current?.close()}
      onClose={close}
      onKeyDown={(event) => event.stopPropagation()}
      ref={dialog}
    >
      <header className="flex items-start gap-3 border-b px-5 py-4">
        <span className="mt-0.5 min-w-6 rounded-full bg-muted px-1.5 text-center text-sm leading-6 text-muted-foreground tabular-nums">
          {number}
        </span>
        <div className="min-w-0 flex-1">
          <h2 className="font-medium wrap-anywhere" dir="auto">
            {source.title}
          </h2>
          {place.length > 0 && (
            <p className="text-sm text-muted-foreground wrap-anywhere" dir="auto">
              {place.join(' · ')}
            </p>
          )}
        </div>
        <Button
          aria-label={words.close}
          className="-me-2 -mt-1.5 size-9"
          look="quiet"
          onClick={() => dialog.current?.close()}
          shape="icon"
        >
          <CloseIcon className="size-4" />
        </Button>
      </header>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: without it, a keyboard cannot scroll a long passage. */}
      <div className="passage min-h-0 flex-1 overflow-y-auto px-5 py-4 outline-offset-[-2px]" tabIndex={0}>
        <Suspense fallback={<p className="reply whitespace-pre-wrap">{source.text}</p>}>
          <Markdown isGrowing={false} text={source.text.trim()} />
        </Suspense>
      </div>
    </dialog>
  );
}
