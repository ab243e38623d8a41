import type { Api } from '@vestra/contract/api';
import type { FieldsOf } from '@vestra/contract/call';
import type { Client } from '@vestra/sdk/client';
import { useEffect, useMemo } from 'react';

export type Input = FieldsOf<Api['sessions']['screenInput']>['inputs'][number];

const everyMs = 80;
const mostAtOnce = 64;
/** Further input is dropped, because the page is too far behind. */
const mostWaiting = 500;

/** Sends input in order and in batches. */
export function useScreenInput(client: Client, sessionId: string, failed: (error: unknown) => void) {
  const input = useMemo(() => createScreenInput(client, sessionId, failed), [client, sessionId, failed]);
  useEffect(() => input.rest, [input]);
  return input.pass;
}

function createScreenInput(client: Client, session_id: string, failed: (error: unknown) => void) {
  let waiting: Input[] = [];
  let isSending = false;

  async function send(): Promise<void> {
    if (isSending) return;
    isSending = true;
    while (waiting.length > 0) {
      const inputs = waiting.splice(0, mostAtOnce);
      try {
        await client.sessions.screenInput({ session_id, inputs }, { retries: 0, timeoutMs: 15_000 });
      } catch (error) {
        waiting = [];
        failed(error);
      }
      await new Promise((resolve) => setTimeout(resolve, everyMs));
    }
    isSending = false;
  }

  return {
    pass(...inputs: Input[]) {
      for (const input of inputs) {
        // Only the last of consecutive moves matters.
        if (isMove(input) && waiting.length > 0 && isMove(waiting.at(-1) as Input)) waiting.pop();
        if (waiting.length < mostWaiting) waiting.push(input);
      }
      void send();
    },
    rest() {
      waiting = [];
    },
  };
}

const isMove = (input: Input) => input.kind === 'mouse' && input.type === 'move';
