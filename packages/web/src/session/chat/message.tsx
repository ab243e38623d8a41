import type { Client } from '@vestra/sdk/client';
import { lazy, memo, Suspense } from 'react';
import { Button } from '../button.tsx';
import { useWords } from '../words/words.ts';
import type { Attachment, Outgoing, ShownMessage } from './chat-state.ts';
import { FileLink } from './file-link.tsx';
import { SentTime } from './sent-time.tsx';

/** The renderer is large, so it loads after the chat and before the first reply. */
const renderer = import('./markdown.tsx');
const Markdown = lazy(() => renderer);

export const Message = memo(function Message({ client, said }: { client: Client; said: ShownMessage }) {
  if (said.role === 'user') {
    const { attachments, text, created_at } = said;
    return <OwnMessage at={created_at} attachments={attachments} client={client} text={text} />;
  }
  return <Reply said={said} />;
});

function Reply({ said }: { said: ShownMessage }) {
  const words = useWords();
  return (
    <article aria-busy={!said.isWhole} className="min-w-0" data-role={said.role}>
      <h2 className="sr-only">{words.agent}</h2>
      <Suspense fallback={<p className="reply whitespace-pre-wrap">{said.text}</p>}>
        <Markdown isGrowing={!said.isWhole} text={said.text} />
      </Suspense>
    </article>
  );
}

export function SentMessage({
  client,
  outgoing,
  isQueued,
  sendAgain,
}: {
  client: Client;
  outgoing: Outgoing;
  isQueued: boolean;
  /** Null once the session has ended. */
  sendAgain: ((outgoing: Outgoing) => void) | null;
}) {
  const words = useWords();
  const { text, attachments, sentAt, turnId, failure } = outgoing;
  return (
    <div className={turnId === null && failure === null ? 'opacity-60' : ''}>
      <OwnMessage at={sentAt} attachments={attachments} client={client} text={text} />
      {isQueued && <p className="mt-1.5 text-end text-sm text-muted-foreground">{words.queued}</p>}
      {failure !== null && (
        <div className="mt-1.5 flex flex-wrap items-center justify-end gap-x-3 text-sm text-danger" role="alert">
          <span className="text-end">
            {words.notSent} {words[failure]}
          </span>
          {sendAgain && (
            <Button look="quiet" onClick={() => sendAgain(outgoing)}>
              {words.tryAgain}
            </Button>
          )}
        </div>
      )}
    </div>
  );
}

function OwnMessage({
  client,
  text,
  attachments,
  at,
}: {
  client: Client;
  text: string;
  attachments: readonly Attachment[];
  at: string | null;
}) {
  const words = useWords();
  return (
    <div className="flex flex-col items-end gap-1">
      <article className="flex w-full flex-col items-end gap-2" data-role="user">
        <h2 className="sr-only">{words.you}</h2>
        {text !== '' && (
          // The layout follows the page, the text follows its language.
          <div className="max-w-[85%] rounded-3xl rounded-ee-lg bg-muted px-4 py-2.5 leading-relaxed wrap-anywhere">
            <p className="whitespace-pre-wrap" dir="auto">
              {text}
            </p>
          </div>
        )}
        {attachments.length > 0 && (
          <ul className="flex max-w-[85%] flex-wrap justify-end gap-2">
            {attachments.map(({ file_id, filename }) => (
              <li className="min-w-0" key={file_id}>
                <FileLink client={client} fileId={file_id} filename={filename} />
              </li>
            ))}
          </ul>
        )}
      </article>
      <SentTime at={at} />
    </div>
  );
}
