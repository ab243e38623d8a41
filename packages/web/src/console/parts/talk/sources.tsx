import type { Message } from '@vestra/sdk/resources';
import { type ReactNode, useMemo, useState } from 'react';
import { MarkNumbers } from '../../../markdown/mark-numbers.ts';
import { type Passages, PassagesContext } from '../../../markdown/passages.ts';
import { useOne } from '../../data/queries.ts';
import { Dialog } from '../dialog.tsx';
import { ModelText } from '../model-text.tsx';
import { PageLink } from '../page-link.tsx';

type SourcesProps = {
  message: Pick<Message, 'id' | 'conversation_id' | 'sources'>;
  children: ReactNode;
};

/** A reply with its numbered references, and the passages that it cites below. */
export function WithSources({ message, children }: SourcesProps) {
  return message.sources ? <Cited message={message}>{children}</Cited> : children;
}

function Cited({ message: { id, conversation_id, sources: cited = [] }, children }: SourcesProps) {
  const { data } = useOne('conversations.messageSources', { conversation_id, message_id: id });
  const [chosen, setChosen] = useState<number | null>(null);
  const sources = data?.data ?? null;
  const marks = (sources ?? cited).map(({ mark }) => mark);
  const passages = useMemo<Passages | null>(
    () => sources && { titles: new Map(sources.map(({ mark, title }) => [mark, title])), open: setChosen },
    [sources],
  );
  const open = sources?.find(({ mark }) => mark === chosen);
  return (
    <>
      <MarkNumbers value={new Map(marks.map((mark, at) => [mark, at + 1]))}>
        <PassagesContext value={passages}>{children}</PassagesContext>
      </MarkNumbers>
      {sources && (
        <section aria-label="Sources" className="mt-2 text-sm" data-sources="">
          {sources.length < cited.length && (
            <p className="text-quiet">
              {sources.length === 0 ? 'Its sources' : 'Some of its sources'} were deleted or replaced, or are closed to
              the user.
            </p>
          )}
          <ol>
            {sources.map(({ mark, title, heading, page }, at) => (
              <li key={mark}>
                <button
                  className="flex max-w-full gap-2 rounded-sm text-start hover:underline"
                  onClick={() => setChosen(mark)}
                  type="button"
                >
                  <span className="text-quiet tabular-nums">{at + 1}</span>
                  <span className="truncate">
                    {title} <span className="text-quiet">{placeOf(heading, page)}</span>
                  </span>
                </button>
              </li>
            ))}
          </ol>
        </section>
      )}
      {open && (
        <Dialog
          description={placeOf(open.heading, open.page)}
          isOpen
          onClose={() => setChosen(null)}
          title={open.title}
          width="wide"
        >
          <div className="grid gap-3">
            <ModelText text={open.text.trim()} />
            <PageLink
              className="text-accent text-sm underline underline-offset-2"
              to={`/knowledge/${open.notebook_id}`}
            >
              Open the notebook
            </PageLink>
          </div>
        </Dialog>
      )}
    </>
  );
}

const placeOf = (heading: string, page: number | null): string =>
  [...(heading === '' ? [] : [heading]), ...(page === null ? [] : [`page ${page}`])].join(' · ');
