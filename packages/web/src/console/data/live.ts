import { useQueryClient } from '@tanstack/react-query';
import { isPassing, VestraError } from '@vestra/sdk/errors';
import { useEffect } from 'react';
import { callApi, type OrgAndMode, useOrgAndMode } from './api.ts';
import { askForLost, refresh } from './queries.ts';
import type { RouteAnswer } from './rows.ts';

const askEveryMs = 2500;
const askedFor = 20;

/** The query families that an event invalidates, by the first word of its type. */
const touchedBy: Readonly<Record<string, readonly string[]>> = {
  conversation: ['conversations', 'users'],
  reply: ['conversations', 'overview'],
  message: ['feedback'],
  turn: ['conversations', 'overview'],
  task: ['tasks', 'conversations', 'usage', 'overview'],
  interaction: ['interactions', 'conversations', 'tasks', 'overview'],
  file: ['files'],
  routine: ['routines', 'conversations'],
  batch: ['batches'],
  test_run: ['testRuns', 'deployments'],
  replay: ['replays'],
  improvement: ['improvements', 'deployments'],
  deployment: ['deployments'],
  tool_server: ['mcpServers'],
  connection: ['connections'],
  user: ['users'],
  key: ['keys'],
  mcp_grant: ['mcpGrants'],
  usage: ['usage', 'limits', 'orgs', 'users'],
  webhook: ['webhooks'],
};

/**
 * Refreshes visible data with one poll. It mounts before the page, so that it misses no event after the page's first read.
 */
export function Live(): null {
  const { org, mode } = useOrgAndMode();
  const client = useQueryClient();
  useEffect(() => {
    const ending = new AbortController();
    void follow({ org, mode }, ending.signal, {
      // The next event repairs a failed refresh.
      touch: (families) => void refresh(client, { org, mode }, families).catch(() => {}),
      onBack: () => void askForLost(client),
    });
    return () => ending.abort();
  }, [org, mode, client]);
  return null;
}

type Heard = { touch: (families: string[]) => void; onBack: () => void };

async function follow(place: OrgAndMode, signal: AbortSignal, { touch, onBack }: Heard): Promise<void> {
  let newest: string | null = null;
  let isAway = false;
  while (!signal.aborted) {
    try {
      const { data }: RouteAnswer<'events.list'> = await callApi(
        place,
        'events.list',
        { limit: newest === null ? 1 : askedFor },
        { signal, retries: 0, timeoutMs: 10_000 },
      );
      if (isAway) onBack();
      isAway = false;
      if (newest !== null) {
        const seen = data.findIndex(({ id }) => id === newest);
        const fresh = seen === -1 ? data : data.slice(0, seen);
        if (fresh.length > 0)
          touch(
            familiesOf(
              fresh.map(({ type }) => type),
              seen === -1,
            ),
          );
      }
      newest = data[0]?.id ?? newest ?? '';
    } catch (error) {
      if (signal.aborted) return;
      isAway = isPassing(error);
      // A missing permission or a deleted org does not recover. An error page of a proxy does.
      if (!isAway && error instanceof VestraError && error.status < 500 && error.code !== 'unexpected_answer') return;
    }
    await (document.hidden ? untilShown(signal) : pause(askEveryMs, signal));
  }
}

/** More events than one page: anything may have changed. */
function familiesOf(types: readonly string[], isIncomplete: boolean): string[] {
  const touched = isIncomplete ? Object.keys(touchedBy) : types.map((type) => type.split('.')[0] as string);
  return [...new Set(['events', 'webhooks', ...touched.flatMap((word) => touchedBy[word] ?? [])])];
}

const untilShown = (signal: AbortSignal) =>
  new Promise<void>((resolve) => {
    document.addEventListener('visibilitychange', () => resolve(), { once: true, signal });
    signal.addEventListener('abort', () => resolve(), { once: true });
  });

const pause = (ms: number, signal: AbortSignal) =>
  new Promise<void>((resolve) => {
    const timer = setTimeout(resolve, ms);
    signal.addEventListener(
      'abort',
      () => {
        clearTimeout(timer);
        resolve();
      },
      { once: true },
    );
  });
