import type { Client } from '@vestra/sdk/client';
import { useRef } from 'react';
import { Button } from '../button.tsx';
import { ArrowUpIcon, ChevronIcon } from '../icons.tsx';
import type { Words } from '../words/en.ts';
import { useWords } from '../words/words.ts';
import { InputLayer } from './input-layer.tsx';
import { type ScreenState, useScreen } from './use-screen.ts';
import { type Input, useScreenInput } from './use-screen-input.ts';

type ScreenProps = { client: Client; sessionId: string; mayDrive: boolean; failed: (error: unknown) => void };

/** The agent's browser, for viewing or control. */
export function Screen({ client, sessionId, mayDrive, failed }: ScreenProps) {
  const words = useWords();
  const { state, tryAgain } = useScreen({ client, sessionId, failed });
  const pass = useScreenInput(client, sessionId, failed);
  const bar = useRef<HTMLParagraphElement>(null);
  const { picture, showing, drivenBy } = state;
  const isShown = picture !== null && showing === 'page';
  return (
    <section
      aria-label={words.screen}
      className="flex min-h-0 min-w-0 flex-1 flex-col gap-2 p-3"
      data-driven-by={drivenBy}
      data-showing={showing}
    >
      <header className="flex min-h-10 flex-wrap items-center gap-2">
        {mayDrive && isShown && <Leaves pass={pass} words={words} />}
        <p
          className="min-w-0 flex-1 truncate text-sm text-muted-foreground outline-none"
          dir="ltr"
          ref={bar}
          tabIndex={-1}
        >
          {hostOf(state.url)}
        </p>
        <p className={drivenBy === 'nobody' ? 'sr-only' : 'text-sm font-medium text-accent'} role="status">
          {saidOf(state, words)}
        </p>
        {drivenBy === 'you' && <Button onClick={() => pass({ kind: 'hand_back' })}>{words.handBack}</Button>}
      </header>
      <div
        className={`panel grid min-h-0 flex-1 place-items-center overflow-hidden bg-muted ${drivenBy === 'you' ? 'ring-2 ring-accent' : ''}`}
      >
        {isShown ? (
          <InputLayer leave={() => bar.current?.focus()} pass={mayDrive ? pass : null} picture={picture} />
        ) : (
          <Reason showing={showing} tryAgain={tryAgain} words={words} />
        )}
      </div>
      {mayDrive && isShown && <TypeField pass={pass} words={words} />}
    </section>
  );
}

type Passing = { pass: (...inputs: Input[]) => void; words: Words };

function Leaves({ pass, words }: Passing) {
  return (
    <div className="flex">
      <Button aria-label={words.back} look="quiet" onClick={() => pass({ kind: 'navigate', to: 'back' })} shape="icon">
        <ChevronIcon className="size-5 rotate-90 rtl:-rotate-90" />
      </Button>
      <Button
        aria-label={words.forward}
        look="quiet"
        onClick={() => pass({ kind: 'navigate', to: 'forward' })}
        shape="icon"
      >
        <ChevronIcon className="size-5 -rotate-90 rtl:rotate-90" />
      </Button>
    </div>
  );
}

/** For on-screen keyboards and input methods, which need a text field. */
function TypeField({ pass, words }: Passing) {
  const type = (form: HTMLFormElement) => {
    const field = form.elements.namedItem('text') as HTMLInputElement;
    if (field.value === '') return;
    pass({ kind: 'text', text: field.value });
    field.value = '';
  };
  return (
    <form
      className="flex gap-2"
      onSubmit={(event) => {
        event.preventDefault();
        type(event.currentTarget);
      }}
    >
      <input
        aria-label={words.typeOnPage}
        autoComplete="off"
        className="panel min-h-10 min-w-0 flex-1 rounded-full px-4 text-[0.9375rem] shadow-none"
        maxLength={2000}
        name="text"
        placeholder={words.typeOnPage}
      />
      <Button aria-label={words.typeIt} shape="icon" type="submit">
        <ArrowUpIcon />
      </Button>
    </form>
  );
}

function Reason({ showing, tryAgain, words }: { showing: ScreenState['showing']; tryAgain: () => void; words: Words }) {
  const reasons = {
    waking: words.screenWaking,
    page: words.opening,
    nothing: words.screenEmpty,
    private: words.screenPrivate,
    payment: words.screenPayment,
    crop_pending: words.opening,
    unavailable: words.screenUnavailable,
  };
  return (
    <div className="flex flex-col items-center gap-3 p-6 text-center text-muted-foreground text-balance" role="status">
      <p>{reasons[showing]}</p>
      {showing === 'unavailable' && <Button onClick={tryAgain}>{words.tryAgain}</Button>}
    </div>
  );
}

const saidOf = ({ drivenBy }: ScreenState, words: Words) =>
  ({ you: words.youDrive, another: words.anotherDrives, nobody: '' })[drivenBy];

const hostOf = (url: string | null) => (url !== null && /^https?:/.test(url) ? new URL(url).host : '');
