import { type FormEvent, type ReactNode, useId, useRef, useState } from 'react';
import { Button } from '../button.tsx';
import { ThumbIcon } from '../icons.tsx';
import type { Trouble } from '../trouble.ts';
import { useWords } from '../words/words.ts';
import type { Rating, Ratings } from './use-ratings.ts';

type RateReplyProps = {
  messageId: string;
  rated: Rating | undefined;
  rate: Ratings['rate'];
  /** Further actions, in the same row. */
  children: ReactNode;
};

/** Rates a reply. A bad rating is saved immediately, a comment may follow. */
export function RateReply({ messageId, rated, rate, children }: RateReplyProps) {
  const words = useWords();
  const bad = useRef<HTMLButtonElement>(null);
  const [isWriting, setWriting] = useState(false);
  const [trouble, setTrouble] = useState<Trouble | null>(null);
  const [isThanked, setThanked] = useState(false);

  const say = async (said: Rating) => {
    const failure = await rate(messageId, said);
    setTrouble(failure);
    return failure === null;
  };
  const press = async (rating: Rating['rating']) => {
    setThanked(false);
    setWriting(rating === 'bad');
    // Sending the same rating again would delete its comment.
    if (rated?.rating !== rating && !(await say({ rating, note: null }))) setWriting(false);
  };
  const leave = () => {
    setWriting(false);
    bad.current?.focus();
  };
  return (
    <div className="-mt-4 text-sm" data-rating={rated?.rating ?? ''}>
      <div className="-ms-2 flex min-h-9 flex-wrap items-center">
        {/* biome-ignore lint/a11y/useSemanticElements: two buttons are no fields of a form. */}
        <div aria-label={words.rateReply} className="flex items-center" role="group">
          <Thumb isPressed={rated?.rating === 'good'} label={words.goodReply} press={() => void press('good')} />
          <Thumb
            button={bad}
            isPressed={rated?.rating === 'bad'}
            isTurned
            label={words.badReply}
            press={() => void press('bad')}
          />
        </div>
        <span className="ms-1 text-muted-foreground" role="status">
          {isThanked && words.ratingThanks}
        </span>
        {trouble && (
          <span className="ms-1 text-danger" role="alert">
            {words[trouble]}
          </span>
        )}
        {children}
      </div>
      {isWriting && (
        <WhatWasWrong
          before={rated?.note ?? ''}
          leave={leave}
          send={async (note) => {
            if (!(await say({ rating: 'bad', note }))) return;
            setThanked(true);
            leave();
          }}
        />
      )}
    </div>
  );
}

type ThumbProps = {
  label: string;
  isPressed: boolean;
  isTurned?: boolean;
  press: () => void;
  button?: React.RefObject<HTMLButtonElement | null>;
};

const Thumb = ({ label, isPressed, isTurned = false, press, button }: ThumbProps) => (
  <Button
    aria-label={label}
    aria-pressed={isPressed}
    className="size-9 aria-pressed:text-accent"
    look="quiet"
    onClick={press}
    ref={button}
    shape="icon"
    title={label}
  >
    <ThumbIcon className={`size-4 ${isTurned ? 'rotate-180' : ''} ${isPressed ? 'fill-accent-soft' : ''}`} />
  </Button>
);

function WhatWasWrong({
  before,
  send,
  leave,
}: {
  before: string;
  send: (note: string | null) => Promise<void>;
  leave: () => void;
}) {
  const words = useWords();
  const id = useId();
  const [text, setText] = useState(before);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (text.trim() === '') leave();
    else void send(text.trim());
  };
  return (
    <form
      className="panel mt-1 flex flex-col gap-2 p-3"
      onKeyDown={({ key }) => {
        if (key === 'Escape') leave();
      }}
      onSubmit={submit}
    >
      <label htmlFor={id}>{words.whatWasWrong}</label>
      <textarea
        className="min-h-16 w-full rounded-xl border bg-background px-3 py-2"
        dir={text === '' ? undefined : 'auto'}
        id={id}
        maxLength={2000}
        onChange={({ target }) => setText(target.value)}
        ref={takeFocus}
        value={text}
      />
      <div className="flex justify-end gap-2">
        <Button look="quiet" onClick={leave}>
          {words.cancel}
        </Button>
        <Button look="primary" type="submit">
          {words.send}
        </Button>
      </div>
    </form>
  );
}

const takeFocus = (field: HTMLTextAreaElement | null) => field?.focus();
