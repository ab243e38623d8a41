import { useCallback, useEffect, useRef, useState } from 'react';
import { Button } from '../button.tsx';
import { useWords } from '../words/words.ts';
import { beginCall, type CallOf, type CallState, type Caption, type OwnCall } from './call.ts';
import { type CallWords, callWords } from './call-words.ts';
import { LevelMeter } from './level-meter.tsx';
import { MicrophoneIcon, MutedIcon } from './voice-icons.tsx';

type CallBarProps = { of: CallOf; close: () => void };

/** The bar of a voice call. Escape hangs up, then closes it. */
export default function CallBar({ of, close }: CallBarProps) {
  const words = callWords[document.documentElement.lang] ?? (callWords.en as CallWords);
  const [attempt, setAttempt] = useState(0);
  const [state, setState] = useState<CallState>({ phase: 'asking' });
  const [isMuted, setMuted] = useState(false);
  const [captions, setCaptions] = useState<Captions>(noCaptions);
  const call = useRef<OwnCall | null>(null);

  // biome-ignore lint/correctness/useExhaustiveDependencies: each attempt is a separate call.
  useEffect(() => {
    setMuted(false);
    setCaptions(noCaptions);
    let isShown = true;
    const callAgain = () => {
      if (!isShown) return;
      setState({ phase: 'connecting' });
      setAttempt((before) => before + 1);
    };
    const own = beginCall(
      of,
      (next) => isShown && setState(next),
      callAgain,
      (caption) => isShown && setCaptions((before) => captionsAfter(before, caption)),
    );
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
  const microphone = call.current?.microphone() ?? null;
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
      {state.phase === 'listening' && microphone ? (
        <LevelMeter isMuted={isMuted} stream={microphone} />
      ) : (
        <Light phase={state.phase} />
      )}
      {/* The reason of an end is a whole sentence. On a phone, its buttons are below it. */}
      <p className={`min-w-24 flex-1 text-[0.9375rem] ${isOver ? 'max-sm:basis-[calc(100%-2rem)]' : ''}`} role="status">
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
      {isTurn && <Transcript captions={captions} />}
    </section>
  );
}

type Captions = { user: Caption | null; agent: Caption | null };
const noCaptions: Captions = { user: null, agent: null };

/** The words of the user replace those of the agent before them. */
const captionsAfter = (before: Captions, caption: Caption): Captions =>
  caption.by === 'user' ? { user: caption, agent: null } : { ...before, agent: caption };

/** The words of both. They are audible, so they are not announced. Their place has its height before the first word. */
function Transcript({ captions: { user, agent } }: { captions: Captions }) {
  const words = useWords();
  return (
    <div className="flex min-h-14 w-full flex-col gap-1 border-t pt-2 text-[0.9375rem] leading-snug" data-captions="">
      {[user, agent].map(
        (caption) =>
          caption && (
            <p className="line-clamp-3 wrap-anywhere" data-by={caption.by} key={caption.by}>
              <span className="text-muted-foreground">{caption.by === 'user' ? words.you : words.agent}: </span>
              <span className={caption.isWhole ? '' : 'text-muted-foreground'}>
                <bdi>
                  {caption.text}
                  {!caption.isWhole && ' …'}
                </bdi>
              </span>
            </p>
          ),
      )}
    </div>
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
