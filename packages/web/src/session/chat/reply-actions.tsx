import { useState } from 'react';
import { Button } from '../button.tsx';
import { AgainIcon, CheckIcon, CopyIcon } from '../icons.tsx';
import { useWords } from '../words/words.ts';
import type { ShownMessage } from './chat-state.ts';
import { RateReply } from './rate-reply.tsx';
import { SentTime } from './sent-time.tsx';
import type { Ratings } from './use-ratings.ts';

type ReplyActionsProps = {
  said: ShownMessage;
  /** The text as it is copied; null while the reply grows. */
  copied: string | null;
  /** Null once the session has ended. */
  ratings: Ratings | null;
  /** Sends the message of this reply again; null unless it is the last one. */
  again: (() => void) | null;
};

/** The row below a reply. It has its height while the reply is made, so that nothing moves at its end. */
export function ReplyActions({ said, copied, ratings, again }: ReplyActionsProps) {
  const words = useWords();
  if (copied === null) return <div className="-mt-4 min-h-9" />;
  const actions = (
    <>
      <CopyReply text={copied} />
      {again && (
        <Button
          aria-label={words.tryAgain}
          className="size-9"
          look="quiet"
          onClick={again}
          shape="icon"
          title={words.tryAgain}
        >
          <AgainIcon className="size-4" />
        </Button>
      )}
      <SentTime at={said.created_at} />
    </>
  );
  if (!ratings) return <div className="-ms-2 -mt-4 flex min-h-9 items-center text-sm">{actions}</div>;
  return (
    <RateReply messageId={said.id} rate={ratings.rate} rated={ratings.given[said.id]}>
      {actions}
    </RateReply>
  );
}

/** Copies the Markdown, which a mail and a document keep readable. */
function CopyReply({ text }: { text: string }) {
  const words = useWords();
  const [isCopied, setCopied] = useState(false);
  // Without https there is no clipboard.
  if (!navigator.clipboard) return null;
  const copy = async () => {
    await navigator.clipboard.writeText(text);
    setCopied(true);
    setTimeout(() => setCopied(false), 2000);
  };
  const label = isCopied ? words.copied : words.copyReply;
  return (
    <Button aria-label={label} className="size-9" look="quiet" onClick={() => void copy()} shape="icon" title={label}>
      {isCopied ? <CheckIcon className="size-4" /> : <CopyIcon className="size-4" />}
    </Button>
  );
}
