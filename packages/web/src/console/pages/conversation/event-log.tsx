import { useEffect, useRef, useState } from 'react';
import { callApi, usePlace } from '../../data/api.ts';
import type { Answer } from '../../data/rows.ts';
import { Button } from '../../parts/button.tsx';
import { CodeBlock } from '../../parts/empty-state.tsx';
import { Fault } from '../../parts/fault.tsx';
import { RequestMenu } from '../../parts/request-menu.tsx';
import { Time } from '../../parts/shown.tsx';

type StreamEvent = Answer<'conversations.events'>['data'][number];

/** Every event of the conversation in its order, a hundred at a time. */
export function EventLog({ conversationId: conversation_id, newest }: { conversationId: string; newest: number }) {
  const { org, mode } = usePlace();
  const [events, setEvents] = useState<readonly StreamEvent[]>([]);
  const [hasMore, setHasMore] = useState(true);
  const [error, setError] = useState<Error | null>(null);
  const isAsking = useRef(false);
  const last = events.at(-1)?.seq ?? 0;
  const more = async (after: number) => {
    if (isAsking.current) return;
    isAsking.current = true;
    try {
      const fields = { conversation_id, format: 'json', after, limit: 100 } as never;
      const { data, next_after } = await callApi({ org, mode }, 'conversations.events', fields);
      setEvents((before) => [...before, ...data.filter(({ seq }) => seq > (before.at(-1)?.seq ?? 0))]);
      setHasMore(next_after !== null);
    } catch (failure) {
      setError(failure as Error);
    } finally {
      isAsking.current = false;
    }
  };
  // biome-ignore lint/correctness/useExhaustiveDependencies: what came is asked for when something came.
  useEffect(() => {
    if (last === 0 || !hasMore) void more(last);
  }, [newest]);
  return (
    <div>
      <p className="mb-2 flex items-center text-quiet text-sm">
        All events of the stream, oldest first
        <span className="ml-auto">
          <RequestMenu request={{ row: 'conversations.events', fields: { conversation_id, format: 'json' } }} />
        </span>
      </p>
      {error && <Fault error={error} retry={() => void more(last)} />}
      <ol className="panel divide-y">
        {events.map((event) => (
          <li key={event.seq}>
            <details>
              <summary className="flex items-center gap-3 px-3 py-1.5 hover:bg-muted/50">
                <span className="figures w-10 text-quiet text-xs">{event.seq}</span>
                <code className="min-w-0 truncate font-mono text-sm">{event.type}</code>
                <span className="ml-auto text-quiet text-sm">
                  <Time at={event.created_at} />
                </span>
              </summary>
              <div className="px-3 pb-3">
                <CodeBlock code={JSON.stringify(event.data, null, 2)} />
              </div>
            </details>
          </li>
        ))}
      </ol>
      {hasMore && events.length > 0 && (
        <Button className="mt-2" onClick={() => void more(last)} shape="small">
          More events
        </Button>
      )}
    </div>
  );
}
