import { VestraError } from '@vestra/sdk/errors';
import type { Message } from '@vestra/sdk/resources';
import { type ComponentProps, Fragment, useEffect, useRef } from 'react';
import { useRole } from '../../data/api.ts';
import { useChange, useList } from '../../data/queries.ts';
import { Button } from '../button.tsx';
import { CodeBlock } from '../empty-state.tsx';
import { Fault } from '../fault.tsx';
import { AsWrittenToggle, ModelText } from '../model-text.tsx';
import { Waiting } from '../page.tsx';
import { PageLink } from '../page-link.tsx';
import { Time } from '../shown.tsx';
import { WaitingCard } from '../waiting/waiting-card.tsx';
import { Attachment } from './attachment.tsx';
import { Ratings, useRatings } from './ratings.tsx';
import { type Sentence, sentenceAt } from './sentence.ts';
import { WithSources } from './sources.tsx';
import type { Talk, Turn } from './use-talk.ts';

type ThreadProps = {
  talk: Talk;
  chosenTurn: string | null;
  /** `said` is a sentence of the reply: the step that wrote it is chosen. */
  onChooseTurn: (turnId: string, said?: Sentence) => void;
  /** Scrolls to the end as the thread grows. */
  isFollowing?: boolean;
};

/** Messages, oldest first, failed or stopped turns, and pending interactions. Only texts of models are formatted. */
export function Thread({ talk, chosenTurn, onChooseTurn, isFollowing = false }: ThreadProps) {
  const { conversation, messages, said, typing, turns, newestTurn } = talk;
  const end = useRef<HTMLDivElement>(null);
  const conversation_id = conversation.data?.id ?? '';
  const isWaiting =
    (conversation.data?.open_interactions.length ?? 0) + (conversation.data?.pending_tool_calls.length ?? 0) > 0;
  const waiting = useList('interactions.list', { conversation_id } as never, { enabled: isWaiting });
  const shown = isWaiting ? waiting.rows : [];
  const ratingsOf = useRatings(conversation_id);
  const length = said.length + (typing?.text.length ?? 0) + shown.length + (newestTurn && isBroken(newestTurn) ? 1 : 0);
  // biome-ignore lint/correctness/useExhaustiveDependencies: scroll when the thread grows.
  useEffect(() => {
    if (isFollowing) end.current?.scrollIntoView({ block: 'nearest' });
  }, [length, isFollowing]);
  if (conversation.error) return <Fault error={conversation.error} retry={() => void conversation.refetch()} />;
  if (messages.isLoading) return <Waiting />;
  return (
    <div>
      <div className="mb-2 flex items-center gap-2">
        {messages.hasMore && (
          <Button isBusy={messages.isFetchingMore} onClick={messages.more} shape="small">
            Older messages
          </Button>
        )}
        {said.some(({ role }) => role !== 'user') && (
          <span className="ml-auto">
            <AsWrittenToggle />
          </span>
        )}
      </div>
      <ol aria-label="Messages" className="flex flex-col gap-4">
        {said.map((message, at) => {
          const { id, turn_id } = message;
          const turn = turns.get(turn_id);
          const isLastOfTurn = said.findLastIndex((each) => each.turn_id === turn_id) === at;
          return (
            <Fragment key={id}>
              <Said
                isChosen={turn_id === chosenTurn}
                message={message}
                onChoose={(said) => onChooseTurn(turn_id, said)}
                ratings={ratingsOf(id)}
              />
              {turn && isLastOfTurn && isBroken(turn) && (
                <TurnEnd
                  again={turn.id === newestTurn?.id ? said.find((each) => each.turn_id === turn_id) : undefined}
                  isChosen={turn_id === chosenTurn}
                  onChoose={message.role === 'user' ? () => onChooseTurn(turn_id) : undefined}
                  turn={turn}
                />
              )}
            </Fragment>
          );
        })}
      </ol>
      {typing && (
        <div className="mt-4 px-3" data-typing="">
          <Role>Agent</Role>
          <ModelText isGrowing text={typing.text} />
        </div>
      )}
      {conversation.data?.status === 'replying' && !typing && !newestTurn?.settled_at && (
        <p className="mt-4 animate-breathe px-3 text-quiet">Thinking…</p>
      )}
      {conversation.data?.open_work.map(({ task_id, title, status }) => (
        <p className="mt-4 text-sm" key={task_id}>
          <PageLink className="text-accent underline underline-offset-2" to={`/tasks/${task_id}`}>
            {title}
          </PageLink>{' '}
          <span className="text-quiet">is {status}</span>
        </p>
      ))}
      {shown.map((each) => (
        <div className="mt-4" key={each.id}>
          <WaitingCard isInTalk waiting={each} />
        </div>
      ))}
      {/* The scroll margin exceeds the height of the sticky composer. */}
      <div className="scroll-mb-28" ref={end} />
    </div>
  );
}

const isBroken = ({ status }: Turn) => status === 'failed' || status === 'stopped';

type TurnEndProps = {
  turn: Turn;
  /** The message to send again. Undefined if newer messages exist. */
  again: Message | undefined;
  isChosen: boolean;
  /** Undefined if a message of the agent already has the trace button. */
  onChoose: (() => void) | undefined;
};

/** The end of a turn without a complete answer: the error, or that a person stopped it. */
function TurnEnd({ turn, again, isChosen, onChoose }: TurnEndProps) {
  const { may } = useRole();
  const send = useChange('conversations.send', { touches: ['interactions', 'tasks'] });
  const { error, conversation_id } = turn;
  const trace = onChoose && <TraceButton isChosen={isChosen} onChoose={onChoose} />;
  if (!error) {
    return (
      <li className="flex items-center px-3 text-quiet text-sm" data-turn-end="stopped">
        Stopped
        <span className="ml-auto">{trace}</span>
      </li>
    );
  }
  const sendAgain = ({ text, context, attachments }: Message) =>
    send.run({
      conversation_id,
      ...(text !== '' && { message: text }),
      ...(context && { context }),
      ...(attachments.length > 0 && { attachments: attachments.map(({ file_id }) => ({ file_id })) }),
    });
  return (
    <li className="flex flex-col gap-2" data-turn-end="failed">
      <Fault
        actions={trace}
        error={new VestraError(error.message || 'The reply was interrupted.', { code: error.code })}
        hasPage={turn.status === 'failed'}
        isRetrying={send.isRunning}
        retry={again?.role === 'user' && may('conversations.send') ? () => sendAgain(again) : undefined}
      />
      {send.error && <Fault error={send.error} />}
    </li>
  );
}

const TraceButton = ({ isChosen, onChoose }: { isChosen: boolean; onChoose: () => void }) => (
  <Button
    aria-pressed={isChosen}
    className="aria-pressed:bg-accent-soft aria-pressed:text-accent"
    look="quiet"
    onClick={onChoose}
    shape="small"
  >
    Trace
  </Button>
);

const names = { user: 'User', agent: 'Agent', work: 'Task' } as const;

type SaidProps = {
  message: Message;
  isChosen: boolean;
  onChoose: (said?: Sentence) => void;
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
          <span className="ml-auto">
            <TraceButton isChosen={isChosen} onChoose={() => onChoose()} />
          </span>
        )}
      </div>
      {role === 'user' ? (
        <p className="whitespace-pre-wrap break-words" dir="auto">
          {text}
        </p>
      ) : (
        // A shortcut for the mouse: the button and the list of steps do the same by keyboard.
        // biome-ignore lint/a11y/noStaticElementInteractions: see above.
        // biome-ignore lint/a11y/useKeyWithClickEvents: see above.
        <div
          className="sentences"
          onClick={(event) => {
            const sentence = sentenceAt(event.target);
            if (sentence) onChoose(sentence);
          }}
        >
          <WithSources message={message}>
            <ModelText text={text} />
          </WithSources>
        </div>
      )}
      {truncated && <p className="text-sm text-warn">Truncated: the model reached its output limit.</p>}
      {data !== null && data !== undefined && <CodeBlock code={JSON.stringify(data, null, 2)} label="Data" />}
      {context && <CodeBlock code={JSON.stringify(context, null, 2)} label="Context" />}
      {attachments.length > 0 && (
        <ul aria-label="Files" className="my-2 flex flex-wrap gap-2">
          {attachments.map((attachment) => (
            <li className="min-w-0" key={attachment.file_id}>
              <Attachment {...attachment} />
            </li>
          ))}
        </ul>
      )}
      {role === 'work' && task_id && (
        <PageLink className="text-accent text-sm underline underline-offset-2" to={`/tasks/${task_id}`}>
          Open the task
        </PageLink>
      )}
      {role !== 'user' && <Ratings message={message} said={ratings} />}
    </li>
  );
}

const Role = ({ children }: { children: string }) => <span className="eyebrow">{children}</span>;
