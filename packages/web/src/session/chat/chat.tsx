import { withoutMarks } from '@vestra/contract/source-marks';
import type { Client } from '@vestra/sdk/client';
import { type DragEvent, type ReactNode, useEffect, useMemo, useRef, useState } from 'react';
import { headlineOf } from '../../approval/shown-row.ts';
import { Button } from '../button.tsx';
import { useHeight, useNews } from '../embedding/use-news.ts';
import { ArrowDownIcon } from '../icons.tsx';
import type { Session } from '../use-session.ts';
import type { Words } from '../words/en.ts';
import { useWords } from '../words/words.ts';
import { activityOfTool, plainName } from './activity.ts';
import { type ChatState, type CompanyCall, type Interaction, serverProgress, type Turn } from './chat-state.ts';
import { Composer } from './composer.tsx';
import { useKeptPlace } from './kept-place.ts';
import { Reply, SentMessage, UserMessage } from './message.tsx';
import { SettledWait } from './settled-wait.tsx';
import { askedLast, type Item, isReplying, timelineOf } from './timeline.ts';
import { type Chat as Talk, useChat } from './use-chat.ts';
import { usePinnedScroll } from './use-pinned-scroll.ts';
import { type Ratings, useRatings } from './use-ratings.ts';
import { useUploads } from './use-uploads.ts';
import { isForCompany, WaitCard } from './wait-card.tsx';
import { WorkCard } from './work-card.tsx';

type ChatProps = {
  client: Client;
  conversationId: string;
  failed: (error: unknown) => void;
  opening: Session['opening'];
  /** Replaces the composer once the session has ended. */
  ending: ReactNode;
};

export function Chat({ client, conversationId, failed, opening, ending }: ChatProps) {
  const words = useWords();
  const isOpen = ending === null;
  const talk = useChat({ client, conversationId, failed, isOpen });
  const uploads = useUploads(client, failed);
  const { state } = talk;
  const ratings = useRatings({ client, conversationId, failed, isWanted: isOpen && hasReplies(state) });
  const items = useMemo(() => timelineOf(state), [state]);
  const asked = askedLast(state, items);
  const { view, content, isAtEnd, scrolled, toEnd, unpin } = usePinnedScroll(items[0]?.key, talk.loadOlder);
  useKeptPlace(conversationId, { view, content, isAtEnd, unpin, isLoaded: state.isLoaded });
  useNews(state);
  useHeight(view, content);
  const hasNews = useHasNews(items.at(-1)?.key, isAtEnd);
  const [isDropping, setDropping] = useState(false);
  const isEmpty = state.isLoaded && items.length === 0;

  const answer: Talk['answer'] = async (interactionId, given) => {
    const failure = await talk.answer(interactionId, given);
    // The focused button was removed with its card.
    if (failure === null) view.current?.focus({ preventScroll: true });
    return failure;
  };
  const drag = {
    onDragOver: (event: DragEvent) => {
      if (!isOpen || !event.dataTransfer.types.includes('Files')) return;
      event.preventDefault();
      setDropping(true);
    },
    onDragLeave: (event: DragEvent<HTMLElement>) => {
      if (!event.currentTarget.contains(event.relatedTarget as Node | null)) setDropping(false);
    },
    onDrop: (event: DragEvent) => {
      if (!isOpen) return;
      event.preventDefault();
      setDropping(false);
      uploads.add([...event.dataTransfer.files]);
    },
  };

  return (
    <main className="relative flex min-h-0 min-w-0 flex-1 flex-col" {...drag}>
      <h1 className="sr-only">{words.title}</h1>
      <section
        aria-label={words.conversation}
        className="min-h-0 flex-1 overflow-y-auto overscroll-contain focus-visible:-outline-offset-2"
        onScroll={scrolled}
        ref={view}
        // biome-ignore lint/a11y/noNoninteractiveTabindex: without it, a keyboard cannot scroll what is read here.
        tabIndex={0}
      >
        <div
          className={`mx-auto flex w-full max-w-3xl flex-col gap-6 px-4 py-6 sm:px-8 sm:py-10 ${isEmpty ? 'min-h-full justify-center' : ''}`}
          ref={content}
        >
          {state.older !== null && <p className="text-center text-sm text-muted-foreground">{words.earlier}</p>}
          {isEmpty && isOpen && <Opening opening={opening} send={(text) => void talk.send(text, [])} />}
          {items.map((item) => (
            <ShownItem
              again={item === items.at(-1) ? asked : null}
              answer={answer}
              client={client}
              conversationId={conversationId}
              failed={failed}
              isOpen={isOpen}
              item={item}
              key={item.key}
              ratings={ratings}
              talk={talk}
            />
          ))}
          {isOpen && isThinking(state) && <Thinking progress={serverProgress(state) ?? replyActivity(state, words)} />}
        </div>
      </section>
      {!isAtEnd && (
        <div className="relative">
          <Button
            aria-label={words.newest}
            className="absolute inset-x-0 bottom-3 mx-auto w-fit shadow-(--lift)"
            data-news={hasNews}
            onClick={toEnd}
            shape={hasNews ? 'text' : 'icon'}
            title={words.newest}
          >
            <ArrowDownIcon />
            {hasNews && words.newMessages}
          </Button>
        </div>
      )}
      {ending ?? (
        <Composer
          conversationId={conversationId}
          isBusy={state.status !== 'idle'}
          send={(text, attachments) => {
            toEnd();
            void talk.send(text, attachments);
          }}
          stop={() => void talk.stop()}
          uploads={uploads}
        />
      )}
      {isDropping && (
        <div className="pointer-events-none absolute inset-3 grid place-items-center rounded-3xl border-2 border-dashed border-accent bg-background/85 text-lg font-medium">
          {words.dropHere}
        </div>
      )}
      <Announcer state={state} />
    </main>
  );
}

/** Whether something came after the last item that the reader has seen. */
function useHasNews(newest: string | undefined, isAtEnd: boolean): boolean {
  const [seen, setSeen] = useState(newest);
  if (isAtEnd && seen !== newest) setSeen(newest);
  return !isAtEnd && seen !== newest;
}

type ShownItemProps = {
  client: Client;
  conversationId: string;
  failed: (error: unknown) => void;
  item: Item;
  /** The message of this reply, if it can be sent again. */
  again: ReturnType<typeof askedLast>;
  talk: Talk;
  answer: Talk['answer'];
  ratings: Ratings;
  isOpen: boolean;
};

function ShownItem({ client, conversationId, failed, item, again, talk, answer, ratings, isOpen }: ShownItemProps) {
  const words = useWords();
  switch (item.kind) {
    case 'message':
      if (item.said.role === 'user') return <UserMessage client={client} said={item.said} />;
      return (
        <Reply
          again={isOpen && again ? () => void talk.send(again.text, again.attachments) : null}
          client={client}
          conversationId={conversationId}
          failed={failed}
          mayCite={talk.state.hasSources}
          ratings={isOpen ? ratings : null}
          said={item.said}
        />
      );
    case 'outgoing':
      return (
        <SentMessage
          client={client}
          isQueued={item.isQueued}
          outgoing={item.outgoing}
          sendAgain={isOpen ? (outgoing) => void talk.sendAgain(outgoing) : null}
        />
      );
    case 'work':
      return (
        <WorkCard client={client} settled={item.settled} waitsForCompany={item.waitsForCompany} work={item.work} />
      );
    case 'wait': {
      const { interaction } = item.wait;
      if (interaction.status !== 'pending') return <SettledWait interaction={interaction} />;
      return isOpen ? (
        <WaitCard answer={(given) => answer(interaction.id, given)} connect={talk.connect} interaction={interaction} />
      ) : null;
    }
    case 'call':
      return <Thinking progress={activityOf(item.call, words)} />;
    case 'end':
      return (
        <div
          className={`flex flex-wrap items-center gap-x-3 gap-y-1 text-sm ${isFailed(item.turn) ? 'text-danger' : 'text-muted-foreground'}`}
          data-end={item.turn.status}
        >
          {isFailed(item.turn) ? words.replyFailed : words.stopped}
          {isOpen && item.again && (
            <Button
              className="min-h-9 text-sm"
              onClick={() => item.again && void talk.send(item.again.text, item.again.attachments)}
            >
              {words.tryAgain}
            </Button>
          )}
        </div>
      );
  }
}

const hasReplies = ({ messages }: ChatState) =>
  Object.values(messages).some(({ role, isWhole }) => role !== 'user' && isWhole);

const isFailed = ({ status }: Turn) => status === 'failed';

/** A reply is being made, without text yet. A pending function call has its own line, where it was made. */
function isThinking(state: ChatState): boolean {
  const { messages, isLoaded } = state;
  if (!isLoaded) return false;
  if (serverProgress(state) !== undefined) return true;
  return isReplying(state) && Object.values(messages).every(({ isWhole }) => isWhole);
}

/** The tool that the newest running reply calls before its text, in words. */
function replyActivity({ tools }: ChatState, words: Words): string | null {
  const tool = Object.entries(tools).sort().at(-1)?.[1];
  return tool === undefined ? null : activityOfTool(tool, words);
}

/** The line that is shown while a function runs. */
const activityOf = ({ name, progress }: CompanyCall, words: Words): string =>
  progress ?? (name === null ? words.thinking : words.using(plainName(name)));

function Thinking({ progress }: { progress: string | null }) {
  const words = useWords();
  return (
    <p className="flex items-center gap-2.5 text-muted-foreground">
      <span aria-hidden="true" className="size-2.5 animate-breathe rounded-full bg-accent" />
      {progress ?? words.thinking}
    </p>
  );
}

/** Announces complete messages to screen readers, never word by word. */
function Announcer({ state }: { state: ChatState }) {
  const words = useWords();
  const told = useRef<{ ids: Set<string>; oldest: string | null } | null>(null);
  const isWaitTold = useRef(false);
  const [news, setNews] = useState('');

  useEffect(() => {
    if (!state.isLoaded) return;
    const whole = Object.values(state.messages)
      .filter(({ role, isWhole }) => isWhole && role !== 'user')
      .map(({ id, text }) => ({ id, text: `${words.agent}: ${spoken(text)}` }));
    const open = Object.values(state.waits)
      .filter(({ interaction }) => interaction.status === 'pending')
      .map(({ interaction }) => ({ id: interaction.id, text: waitingText(interaction, words) }));
    // After the answer, the company's function is running.
    const working = Object.values(state.calls).map((call) => {
      const text = activityOf(call, words);
      return { id: `${call.id} ${text}`, text };
    });
    const failed = Object.values(state.turns)
      .filter(({ status, task_id }) => status === 'failed' && task_id === null)
      .map(({ id }) => ({ id: `${id} failed`, text: words.replyFailed }));
    const known = told.current;
    const fresh = [...whole, ...open, ...working, ...failed].filter(({ id }) => !known?.ids.has(id));
    told.current = { ids: new Set([...(known?.ids ?? []), ...fresh.map(({ id }) => id)]), oldest: state.oldest };
    // Messages from before the page was opened are not announced.
    const isNews = known !== null && known.oldest === state.oldest;
    // An answered question must not be read out again.
    const isWaitOver = isWaitTold.current && open.length === 0;
    isWaitTold.current = open.length > 0;
    if (isNews && fresh.length > 0) setNews(fresh.map(({ text }) => text).join('\n'));
    else if (isWaitOver) setNews('');
  }, [state, words]);

  return (
    <div aria-live="polite" className="sr-only" role="status">
      {news}
    </div>
  );
}

const waitingText = (interaction: Interaction, words: Words) =>
  isForCompany(interaction) ? words.waitingForCompany : `${words.waitingForYou}: ${headlineOf(interaction)}`;

/** Strips Markdown syntax, with the lines of dashes below table headings. */
const spoken = (markdown: string) =>
  withoutMarks(markdown)
    .replace(/^[ \t|:-]+$\n?/gm, (line) => (line.includes('-') ? '' : line))
    .replace(/\]\([^()]*\)/g, '')
    .replace(/[*_`#>|~[\]]+/g, ' ');

type OpeningProps = { opening: Session['opening']; send: (text: string) => void };

/** The welcome message of an empty chat. */
function Opening({ opening, send }: OpeningProps) {
  const words = useWords();
  return (
    <div className="flex animate-rise flex-col items-center gap-6">
      <p
        className="text-center text-2xl font-medium tracking-tight text-balance whitespace-pre-line sm:text-3xl"
        dir="auto"
      >
        {opening?.message ?? words.greeting}
      </p>
      {opening && opening.suggestions.length > 0 && (
        <ul className="flex flex-wrap justify-center gap-2">
          {opening.suggestions.map((text) => (
            <li className="max-w-full" key={text}>
              <button
                className="pressable max-w-full rounded-full border bg-card px-4 py-2 text-start text-[0.9375rem] wrap-anywhere hover:border-muted-foreground/50 hover:bg-muted"
                dir="auto"
                onClick={() => send(text)}
                type="button"
              >
                {text}
              </button>
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}
