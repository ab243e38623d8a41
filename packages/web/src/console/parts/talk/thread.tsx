import type { Message } from '@vestra/sdk/resources';
import { type ComponentProps, useEffect, useRef } from 'react';
import { useList } from '../../data/queries.ts';
import { Button } from '../button.tsx';
import { CodeBlock } from '../empty-state.tsx';
import { Fault } from '../fault.tsx';
import { Waiting } from '../page.tsx';
import { PageLink } from '../page-link.tsx';
import { Time } from '../shown.tsx';
import { WaitingCard } from '../waiting/waiting-card.tsx';
import { Ratings, useRatings } from './ratings.tsx';
import type { Talk } from './use-talk.ts';

type ThreadProps = {
  talk: Talk;
  chosenTurn: string | null;
  onChooseTurn: (turnId: string) => void;
  /** Keeps the end in sight as it grows. */
  isFollowing?: boolean;
};

/** What was said, oldest first, and what waits for an answer. Text is shown as it was written. */
export function Thread({ talk, chosenTurn, onChooseTurn, isFollowing = false }: ThreadProps) {
  const { conversation, messages, said, typing } = talk;
  const end = useRef<HTMLDivElement>(null);
  const conversation_id = conversation.data?.id ?? '';
  const isWaiting =
    (conversation.data?.open_interactions.length ?? 0) + (conversation.data?.pending_tool_calls.length ?? 0) > 0;
  const waiting = useList('interactions.list', { conversation_id } as never, { enabled: isWaiting });
  const shown = isWaiting ? waiting.rows : [];
  const ratingsOf = useRatings(conversation_id);
  const length = said.length + (typing?.text.length ?? 0) + shown.length;
  // biome-ignore lint/correctness/useExhaustiveDependencies: it moves when there is more of it.
  useEffect(() => {
    if (isFollowing) end.current?.scrollIntoView({ block: 'nearest' });
  }, [length, isFollowing]);
  if (conversation.error) return <Fault error={conversation.error} retry={() => void conversation.refetch()} />;
  if (messages.isLoading) return <Waiting />;
  return (
    <div>
      {messages.hasMore && (
        <Button className="mb-3" isBusy={messages.isFetchingMore} onClick={messages.more} shape="small">
          Older messages
        </Button>
      )}
      <ol aria-label="Messages" className="flex flex-col gap-4">
        {said.map((message) => (
          <Said
            isChosen={message.turn_id === chosenTurn}
            key={message.id}
            message={message}
            onChoose={() => onChooseTurn(message.turn_id)}
            ratings={ratingsOf(message.id)}
          />
        ))}
      </ol>
      {typing && (
        <div className="mt-4" data-typing="">
          <Role>Agent</Role>
          <p className="whitespace-pre-wrap break-words">{typing.text}</p>
        </div>
      )}
      {conversation.data?.status === 'replying' && !typing && (
        <p className="mt-4 animate-breathe text-quiet">Thinking…</p>
      )}
      {conversation.data?.open_work.map(({ task_id, title, status }) => (
        <p className="mt-4 text-sm" key={task_id}>
          <PageLink className="text-accent underline underline-offset-2" to={`/tasks/${task_id}`}>
            {title ?? 'Work'}
          </PageLink>{' '}
          <span className="text-quiet">is {status}</span>
        </p>
      ))}
      {shown.map((each) => (
        <div className="mt-4" key={each.id}>
          <WaitingCard isInTalk waiting={each} />
        </div>
      ))}
      <div ref={end} />
    </div>
  );
}

const names = { user: 'User', agent: 'Agent', work: 'Work' } as const;

type SaidProps = {
  message: Message;
  isChosen: boolean;
  onChoose: () => void;
  ratings: ComponentProps<typeof Ratings>['said'];
};

function Said({ message, isChosen, onChoose, ratings }: SaidProps) {
  const { role, text, data, context, attachments, created_at, task_id, truncated } = message;
  return (
    <li className={`group rounded-md ${role === 'user' ? 'border bg-muted/60 px-3 py-2' : 'px-3'}`} data-said={role}>
      <div className="flex items-center gap-2">
        <Role>{names[role]}</Role>
        <span className="text-quiet text-xs">
          <Time at={created_at} />
        </span>
        {role !== 'user' && (
          <Button
            aria-pressed={isChosen}
            className="ml-auto aria-pressed:bg-accent-soft aria-pressed:text-accent"
            look="quiet"
            onClick={onChoose}
            shape="small"
          >
            Trace
          </Button>
        )}
      </div>
      <p className="whitespace-pre-wrap break-words" dir="auto">
        {text}
      </p>
      {truncated && <p className="text-sm text-warn">The model ran into its limit of length.</p>}
      {data !== null && data !== undefined && <CodeBlock code={JSON.stringify(data, null, 2)} label="As data" />}
      {context && <CodeBlock code={JSON.stringify(context, null, 2)} label="Context that came along" />}
      {attachments.map(({ file_id, filename }) => (
        <p className="text-quiet text-sm" key={file_id}>
          {filename}
        </p>
      ))}
      {role === 'work' && task_id && (
        <PageLink className="text-accent text-sm underline underline-offset-2" to={`/tasks/${task_id}`}>
          See the work
        </PageLink>
      )}
      {role !== 'user' && <Ratings message={message} said={ratings} />}
    </li>
  );
}

const Role = ({ children }: { children: string }) => <span className="eyebrow">{children}</span>;
