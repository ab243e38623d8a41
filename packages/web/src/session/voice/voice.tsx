import { lazy, Suspense, useState } from 'react';
import { Button } from '../button.tsx';
import type { CallOf } from './call.ts';
import { talkLabel } from './talk-label.ts';
import { MicrophoneIcon } from './voice-icons.tsx';

/** What a call is made of comes when somebody wants to talk: most who open the page type. */
const CallBar = lazy(() => import('./call-bar.tsx'));

type VoiceProps = CallOf & {
  /** There is nothing else on the page. */
  isAlone: boolean;
};

export function Voice({ isAlone, ...of }: VoiceProps) {
  const [isCalling, setCalling] = useState(false);
  const [wasCalling, setWasCalling] = useState(false);
  const label = talkLabel();
  const button = (
    <Button
      autoFocus={wasCalling}
      look={isAlone ? 'primary' : 'quiet'}
      onClick={() => {
        setCalling(true);
        setWasCalling(true);
      }}
    >
      <MicrophoneIcon />
      {label}
    </Button>
  );
  return (
    <div
      className={
        isAlone
          ? 'm-auto flex w-full max-w-xl flex-col items-center justify-center p-6'
          : 'mx-auto flex w-full max-w-3xl justify-end px-3 py-3 sm:px-6'
      }
    >
      {isCalling ? (
        <Suspense fallback={button}>
          <CallBar close={() => setCalling(false)} of={of} />
        </Suspense>
      ) : (
        button
      )}
    </div>
  );
}
