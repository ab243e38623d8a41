import { useState } from 'react';
import { useOne } from '../../data/queries.ts';
import type { RouteAnswer } from '../../data/rows.ts';
import { Button } from '../../parts/button.tsx';
import { Fault } from '../../parts/fault.tsx';
import { Waiting } from '../../parts/page.tsx';
import { RequestMenu } from '../../parts/request-menu.tsx';

/** Runs the agent's search on the notebook. */
export function SearchNotebook({
  notebook,
  isLive,
  read,
}: {
  notebook: RouteAnswer<'notebooks.get'>;
  /** In live mode the search finds what live versions read. */
  isLive: boolean;
  read: (documentId: string) => void;
}) {
  const [typed, setTyped] = useState({ q: '', user_id: '' });
  const [asked, setAsked] = useState<typeof typed | null>(null);
  const fields = { notebook_id: notebook.id, q: asked?.q ?? '', ...(asked?.user_id && { user_id: asked.user_id }) };
  const found = useOne('notebooks.search', fields, { enabled: asked !== null });
  const isForSome = notebook.access.mode === 'users';
  return (
    <form
      className="mb-5"
      onSubmit={(event) => {
        event.preventDefault();
        if (typed.q.trim() !== '') setAsked({ q: typed.q.trim(), user_id: typed.user_id.trim() });
      }}
    >
      <div className="flex flex-wrap gap-2">
        <input
          aria-label="Test search"
          className="control w-full max-w-md"
          maxLength={500}
          onChange={(event) => setTyped({ ...typed, q: event.target.value })}
          placeholder="Test search"
          value={typed.q}
        />
        {isForSome && (
          <input
            aria-label="As user"
            className="control w-40"
            onChange={(event) => setTyped({ ...typed, user_id: event.target.value })}
            placeholder="As user"
            value={typed.user_id}
          />
        )}
        <Button type="submit">Search</Button>
        {asked && <RequestMenu request={found.request} />}
      </div>
      {asked && found.isLoading && <Waiting what="Searching" />}
      {asked && found.error && <Fault className="mt-3" error={found.error} />}
      {asked && found.data && (
        <div className="mt-3" role="status">
          {found.data.passages.length === 0 && (
            <p className="text-quiet">
              {isForSome ? 'No results that this user’s agent may read.' : 'No results.'}
              {isLive && ' Only the documents of live versions are searched.'}
            </p>
          )}
          <ol className="flex flex-col gap-2" data-passages="">
            {found.data.passages.map(({ document_id, title, heading, page, text }, index) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: a document may appear several times.
              <li className="panel p-3" key={index}>
                <p className="mb-1 flex flex-wrap items-baseline gap-x-2 text-sm">
                  <button
                    className="font-medium text-accent underline underline-offset-2"
                    onClick={() => read(document_id)}
                    type="button"
                  >
                    {title}
                  </button>
                  <span className="text-quiet">
                    {heading}
                    {page !== null && `, page ${page}`}
                  </span>
                </p>
                <p className="line-clamp-4 whitespace-pre-wrap break-words">{text}</p>
              </li>
            ))}
          </ol>
          {found.data.unindexed > 0 && (
            <p className="mt-2 text-quiet text-sm">
              {found.data.unindexed} documents are not indexed for semantic search yet.
            </p>
          )}
        </div>
      )}
    </form>
  );
}
