import { lazy, Suspense, useState } from 'react';
import { Button } from '../button.tsx';
import type { CallOf } from './call.ts';
import { MicrophoneIcon } from './voice-icons.tsx';

/** Loaded on the first call, because most users type. */
const CallBar = lazy(() => import('./call-bar.tsx'));

type VoiceProps = CallOf & {
  /** Whether voice is the only part of the page. */
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

/** The label of the voice button. Other voice texts load with the call. */
const labels: Readonly<Record<string, string>> = {
  en: 'Talk',
  de: 'Sprechen',
  es: 'Hablar',
  fr: 'Parler',
  pt: 'Falar',
  hi: 'बात करें',
  ja: '話す',
  ar: 'تحدّث',
};

const talkLabel = (): string => labels[document.documentElement.lang] ?? (labels.en as string);
