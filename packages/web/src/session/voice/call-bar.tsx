import { useCallback, useEffect, useRef, useState } from 'react';
import { Button } from '../button.tsx';
import { beginCall, type CallOf, type CallState, type OwnCall } from './call.ts';
import { type CallWords, callWords } from './call-words.ts';
import { MicrophoneIcon, MutedIcon } from './voice-icons.tsx';

type CallBarProps = { of: CallOf; close: () => void };

/** The bar of a voice call. Escape hangs up, then closes it. */
export default function CallBar({ of, close }: CallBarProps) {
  const words = callWords[document.documentElement.lang] ?? (callWords.en as CallWords);
  const [attempt, setAttempt] = useState(0);
  const [state, setState] = useState<CallState>({ phase: 'asking' });
  const [isMuted, setMuted] = useState(false);
  const call = useRef<OwnCall | null>(null);

  // biome-ignore lint/correctness/useExhaustiveDependencies: each attempt is a separate call.
  useEffect(() => {
    setMuted(false);
    let isShown = true;
    const callAgain = () => {
      if (!isShown) return;
      setState({ phase: 'connecting' });
      setAttempt((before) => before + 1);
    };
    const own = beginCall(of, (next) => isShown && setState(next), callAgain);
    call.current = own;
    return () => {
      isShown = false;
      own.hangUp();
    };
  }, [attempt]);

  const mute = useCallback(() => {
    setMuted((before) => {
      call.current?.mute(!before);
      return !before;
    });
  }, []);

  const isOver = state.phase === 'ended';
  const isTurn = state.phase === 'listening' || state.phase === 'thinking' || state.phase === 'speaking';
  const isDeaf = isMuted && state.phase === 'listening';
  const text = isOver ? words.ends[state.why] : isDeaf ? words.muted : words.states[state.phase];
  return (
    <section
      aria-label={words.call}
      className="panel flex w-full animate-rise flex-wrap items-center gap-x-3 gap-y-2 px-4 py-2.5"
      data-call={isOver ? state.why : isDeaf ? 'muted' : state.phase}
      onKeyDown={({ key }) => {
        if (key !== 'Escape') return;
        if (isOver) close();
        else call.current?.hangUp();
      }}
    >
      <Light phase={isDeaf ? 'asking' : state.phase} />
      {/* Turn changes are audible, so they are not announced. */}
      <p className="min-w-32 flex-1 text-[0.9375rem]" role={isTurn ? undefined : 'status'}>
        {text}
      </p>
      {/* The key recreates the buttons when the call ends, so that they take the focus. */}
      <div className="ms-auto flex items-center gap-2" key={isOver ? 'over' : 'open'}>
        {isOver ? (
          <>
            <Button autoFocus onClick={() => setAttempt((before) => before + 1)}>
              {words.again}
            </Button>
            <Button look="quiet" onClick={close}>
              {words.close}
            </Button>
          </>
        ) : (
          <>
            {isTurn && (
              <Button
                aria-label={isMuted ? words.unmute : words.mute}
                aria-pressed={isMuted}
                look={isMuted ? 'danger' : 'quiet'}
                onClick={mute}
                shape="icon"
                title={isMuted ? words.unmute : words.mute}
              >
                {isMuted ? <MutedIcon /> : <MicrophoneIcon />}
              </Button>
            )}
            <Button autoFocus look="danger" onClick={() => call.current?.hangUp()}>
              {words.hangUp}
            </Button>
          </>
        )}
      </div>
    </section>
  );
}

const colours: Record<CallState['phase'], string> = {
  asking: 'bg-muted-foreground',
  connecting: 'bg-muted-foreground animate-breathe',
  listening: 'bg-good',
  thinking: 'bg-accent animate-breathe',
  speaking: 'bg-accent',
  ended: 'bg-muted-foreground',
};

const Light = ({ phase }: { phase: CallState['phase'] }) => (
  <span aria-hidden="true" className={`size-2.5 shrink-0 rounded-full ${colours[phase]}`} />
);
