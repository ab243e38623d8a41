import type { EndReason } from '@vestra/react/bridge';
import { lazy, Suspense, useEffect, useState, useSyncExternalStore } from 'react';
import type { Address } from './address.ts';
import { Button } from './button.tsx';
import { Chat } from './chat/chat.tsx';
import type { Connection } from './connection.ts';
import { MemoryIcon } from './icons.tsx';
import { MemoryPanel } from './memory/memory-panel.tsx';
import { Notice } from './notice.tsx';
import { useSession } from './use-session.ts';
import { Voice } from './voice/voice.tsx';
import type { Words } from './words/en.ts';
import { useWords } from './words/words.ts';

/** Loaded only for sessions with a screen. */
const Screen = lazy(async () => ({ default: (await import('./screen/screen.tsx')).Screen }));

/** The parts of the session, side by side on wide screens. */
export function SessionPage({ address, connection }: { address: Address; connection: Connection }) {
  const words = useWords();
  const { client } = connection;
  const { session, ended, failed } = useSession(connection, address.sessionId);
  const isReached = useSyncExternalStore(connection.subscribe, connection.isReached);
  const memory = useMemoryColumn();

  if (session === null) {
    return ended ? (
      <Notice title={words.ended}>{hintOf(ended, words)}</Notice>
    ) : (
      <Notice title={isReached ? words.opening : words.reconnecting} />
    );
  }
  const { conversation_id } = session;
  const hasChat = session.chat && conversation_id !== null;
  const hasScreen = session.screen !== false && !ended;
  const hasVoice = session.voice && conversation_id !== null && !ended;
  const voice = hasVoice && (
    <Voice
      client={client}
      failed={failed}
      iceServers={session.ice_servers ?? []}
      isAlone={!hasChat}
      sessionId={address.sessionId}
    />
  );
  if (!hasChat && !hasScreen && !session.memory && !hasVoice) {
    return ended ? <Notice title={words.ended}>{hintOf(ended, words)}</Notice> : <Notice title={words.nothingHere} />;
  }
  const isMemoryAlone = !hasChat && !hasScreen && !hasVoice;
  const isMemoryShown = session.memory && (memory.isShown || isMemoryAlone);
  const opener = session.memory && !isMemoryShown && (
    <header className="flex justify-end px-3 pt-3">
      <Button look="quiet" onClick={memory.toggle}>
        <MemoryIcon className="size-4.5" />
        {words.memory}
      </Button>
    </header>
  );
  // The page has one main part: the chat, or the first of the others.
  const ScreenPart = hasChat ? 'div' : 'main';
  const VoicePart = hasScreen ? 'div' : 'main';
  const MemoryPart = isMemoryAlone ? 'main' : 'aside';
  return (
    <div className={`relative flex h-full ${hasScreen ? 'flex-col lg:flex-row' : ''}`}>
      {!isReached && !ended && <Reconnecting />}
      {hasScreen && (
        <ScreenPart
          className={`flex min-h-0 min-w-0 flex-1 flex-col ${hasChat ? 'border-b lg:flex-2 lg:border-e lg:border-b-0' : ''}`}
        >
          {!hasChat && <h1 className="sr-only">{words.screen}</h1>}
          {!hasChat && opener}
          <Suspense fallback={<Notice title={words.opening} />}>
            <Screen
              client={client}
              failed={failed}
              mayDrive={session.screen === 'control'}
              sessionId={address.sessionId}
            />
          </Suspense>
        </ScreenPart>
      )}
      {hasChat && (
        <div className="flex min-h-0 min-w-0 flex-1 flex-col">
          {opener}
          {voice}
          <Chat
            client={client}
            conversationId={conversation_id}
            ending={ended && <Ending reason={ended} />}
            failed={failed}
            opening={session.opening}
          />
        </div>
      )}
      {!hasChat && hasVoice && (
        <VoicePart className="flex min-h-0 flex-1 flex-col">
          {!hasScreen && <h1 className="sr-only">{words.conversation}</h1>}
          {voice}
        </VoicePart>
      )}
      {isMemoryShown && (
        <MemoryPart
          className={
            !isMemoryAlone
              ? 'absolute inset-0 z-10 flex flex-col bg-background lg:relative lg:w-88 lg:border-s'
              : 'mx-auto flex w-full max-w-2xl flex-col'
          }
        >
          <MemoryPanel
            client={client}
            close={isMemoryAlone ? null : memory.toggle}
            failed={failed}
            isOpen={ended === null}
            takesFocus={memory.wasAskedFor}
          />
          {!hasChat && ended && <Ending reason={ended} />}
        </MemoryPart>
      )}
    </div>
  );
}

/** A side column on wide screens, otherwise an overlay. */
function useMemoryColumn() {
  const [isShown, setShown] = useState(() => window.matchMedia('(min-width: 64rem)').matches);
  const [wasAskedFor, setAskedFor] = useState(false);
  useEffect(() => {
    const close = ({ key }: KeyboardEvent) => {
      const isInFront = !window.matchMedia('(min-width: 64rem)').matches;
      if (key === 'Escape' && isInFront && !document.querySelector('dialog[open]')) setShown(false);
    };
    window.addEventListener('keydown', close);
    return () => window.removeEventListener('keydown', close);
  }, []);
  const toggle = () => {
    setAskedFor(true);
    setShown((before) => !before);
  };
  return { isShown, wasAskedFor, toggle };
}

function Reconnecting() {
  const words = useWords();
  return (
    <p
      className="pointer-events-none fixed inset-x-0 top-3 z-20 mx-auto w-fit animate-rise rounded-full border bg-card px-4 py-1.5 text-sm text-muted-foreground shadow-(--lift) max-sm:ms-2 max-sm:px-3"
      role="status"
    >
      {words.reconnecting}
    </p>
  );
}

function Ending({ reason }: { reason: EndReason }) {
  const words = useWords();
  return (
    <div className="mx-auto w-full max-w-3xl px-3 pb-[max(0.75rem,env(safe-area-inset-bottom))] sm:px-6 sm:pb-5">
      <div className="panel animate-rise px-5 py-4 text-center" data-ended={reason} role="status">
        <p className="font-medium">{words.ended}</p>
        <p className="mt-0.5 text-[0.9375rem] text-muted-foreground text-balance">{hintOf(reason, words)}</p>
      </div>
    </div>
  );
}

const hintOf = (reason: EndReason, words: Words) =>
  ({ revoked: words.endedRevoked, expired: words.endedExpired, disabled: words.endedDisabled })[reason];
