import type { Client } from '@vestra/sdk/client';
import { lazy, memo, Suspense } from 'react';
import { Button } from '../button.tsx';
import { useWords } from '../words/words.ts';
import type { Attachment, Outgoing, ShownMessage } from './chat-state.ts';
import { FileLink } from './file-link.tsx';
import { ReplyActions } from './reply-actions.tsx';
import { SentTime } from './sent-time.tsx';
import { useSources, WithSources, withSourceList } from './sources.tsx';
import type { Ratings } from './use-ratings.ts';
import { useSteadyText } from './use-steady-text.ts';

/** The renderer is large, so it loads after the chat and before the first reply. */
const renderer = import('./markdown.tsx');
const Markdown = lazy(() => renderer);

export const UserMessage = memo(function UserMessage({ client, said }: { client: Client; said: ShownMessage }) {
  const { attachments, text, created_at } = said;
  return <OwnMessage at={created_at} attachments={attachments} client={client} text={text} />;
});

type ReplyProps = {
  client: Client;
  conversationId: string;
  said: ShownMessage;
  mayCite: boolean;
  failed: (error: unknown) => void;
  /** Null once the session has ended. */
  ratings: Ratings | null;
  /** Sends the message of this reply again; null unless it is the last one. */
  again: (() => void) | null;
};

/** A reply with its sources and actions. Its text is revealed evenly while it is made. */
export function Reply({ client, conversationId, said, mayCite, failed, ratings, again }: ReplyProps) {
  const words = useWords();
  const { shown, isGrowing } = useSteadyText(said.text, said);
  const isWanted = !isGrowing && said.sources !== undefined;
  const sources = useSources(client, { message_id: said.id, conversation_id: conversationId, isWanted }, failed);
  return (
    <>
      <WithSources cited={said.sources} growing={isGrowing ? shown : null} mayCite={mayCite} sources={sources}>
        <article aria-busy={isGrowing} className="min-w-0" data-role={said.role}>
          <h2 className="sr-only">{words.agent}</h2>
          <Suspense fallback={<p className="reply whitespace-pre-wrap">{shown}</p>}>
            <Markdown isGrowing={isGrowing} text={shown} />
          </Suspense>
        </article>
      </WithSources>
      <ReplyActions
        again={again}
        copied={isGrowing ? null : withSourceList(said.text, sources, words)}
        ratings={ratings}
        said={said}
      />
    </>
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
        <div
          className="mt-1.5 flex flex-wrap items-center justify-end gap-x-3 gap-y-1 text-sm text-danger"
          role="alert"
        >
          <span className="text-end">
            {words.notSent} {words[failure]}
          </span>
          {sendAgain && (
            <Button className="min-h-9 text-foreground text-sm" onClick={() => sendAgain(outgoing)}>
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
