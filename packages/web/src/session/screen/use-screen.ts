import type { Client } from '@vestra/sdk/client';
import { VestraError } from '@vestra/sdk/errors';
import { plainEvents } from '@vestra/sdk/stream';
import { useCallback, useEffect, useState } from 'react';
import { sleepOrOnline } from '../connection.ts';

export type Picture = { image: string; width: number; height: number };

export type ScreenState = {
  /** `unavailable`: no more attempts until the user retries. */
  showing: 'waking' | 'page' | 'nothing' | 'private' | 'payment' | 'crop_pending' | 'unavailable';
  drivenBy: 'you' | 'another' | 'nobody';
  url: string | null;
  picture: Picture | null;
};

type ScreenEvent =
  | { type: 'screen.state'; showing: ScreenState['showing']; driven_by: ScreenState['drivenBy']; url: string | null }
  | ({ type: 'screen.frame' } & Picture)
  /** The server restarts. */
  | { type: 'stream.closed' };

const waking: ScreenState = { showing: 'waking', drivenBy: 'nobody', url: null, picture: null };
const wakeWithinMs = 30_000;
const askAgainMs = 1_000;
const hiddenAgainMs = 3_000;

type ScreenOptions = { client: Client; sessionId: string; failed: (error: unknown) => void };

/** Follows the screen stream and reconnects if it is lost. */
export function useScreen({ client, sessionId, failed }: ScreenOptions) {
  const [state, setState] = useState(waking);
  const [attempt, setAttempt] = useState(0);
  // biome-ignore lint/correctness/useExhaustiveDependencies: a new attempt restarts the stream.
  useEffect(() => {
    const following = new AbortController();
    const { signal } = following;
    const change = (next: (before: ScreenState) => ScreenState) => {
      if (!signal.aborted) setState(next);
    };
    void follow({ client, sessionId, failed }, signal, change);
    return () => following.abort();
  }, [client, sessionId, failed, attempt]);
  const tryAgain = useCallback(() => {
    setState(waking);
    setAttempt((before) => before + 1);
  }, []);
  return { state, tryAgain };
}

async function follow(
  { client, sessionId, failed }: ScreenOptions,
  signal: AbortSignal,
  change: (next: (before: ScreenState) => ScreenState) => void,
): Promise<void> {
  let wakingSince: number | null = null;
  const hidden = (showing: ScreenState['showing']) => change(() => ({ ...waking, showing }));
  while (!signal.aborted) {
    try {
      const stream = await client.sessions.screen({ session_id: sessionId }, { signal, retries: 0 });
      wakingSince = null;
      const response = await fetch(addressOf(stream), { signal });
      if (response.ok) {
        for await (const event of plainEvents(response, signal))
          change((before) => after(before, event as ScreenEvent));
      }
      await sleepOrOnline(askAgainMs, signal);
    } catch (error) {
      if (signal.aborted) return;
      failed(error);
      const code = error instanceof VestraError ? error.code : '';
      if (code === 'browser_in_use' || code === 'payment_in_progress') {
        hidden(code === 'browser_in_use' ? 'private' : 'payment');
        await sleepOrOnline(hiddenAgainMs, signal);
        continue;
      }
      wakingSince ??= performance.now();
      const isOver = performance.now() - wakingSince > wakeWithinMs;
      if (code === 'computer_unavailable' || code === 'session_scope' || (code === 'browser_not_open' && isOver)) {
        return hidden('unavailable');
      }
      if (code === 'browser_not_open') hidden('waking');
      await sleepOrOnline(askAgainMs, signal);
    }
  }
}

type Stream = { stream_url: string; preview_token: string | null; preview_token_param?: string | undefined };

function addressOf({ stream_url, preview_token, preview_token_param = 'preview_token' }: Stream): URL {
  const url = new URL(stream_url);
  if (preview_token !== null) url.searchParams.set(preview_token_param, preview_token);
  return url;
}

function after(before: ScreenState, event: ScreenEvent): ScreenState {
  if (event.type === 'stream.closed') return waking;
  if (event.type === 'screen.frame') {
    const { image, width, height } = event;
    return { ...before, picture: { image, width, height } };
  }
  const { showing, driven_by: drivenBy, url } = event;
  // A hidden page must not stay visible.
  return { showing, drivenBy, url, picture: showing === 'page' ? before.picture : null };
}
