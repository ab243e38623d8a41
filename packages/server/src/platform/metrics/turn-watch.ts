import type { Registry } from './registry.ts';

/** An event of a conversation's log, as far as turns can be told by it. */
type LogEvent = { type: string; turn_id: string | null; data: unknown };

/** Told of what was written to conversations, once it is committed; counts the turns in it. */
export type TurnWatch = { written: (events: readonly LogEvent[]) => void };

/** Turns whose first word is awaited here. One that waits longer than so many others began has no first word to time. */
const mostAwaited = 10_000;

export function createTurnWatch(
  { counter, histogram }: Registry,
  { upToMinutes, now }: { upToMinutes: readonly number[]; now: () => number },
): TurnWatch {
  const started = counter({ name: 'vestra_turns_started_total', help: 'Turns whose reply has begun.' });
  const ended = counter({
    name: 'vestra_turns_ended_total',
    help: 'Turns that have ended: `settled`, `stopped`, or `failed` with the code of their error.',
    labels: ['outcome', 'code'],
  });
  const seconds = histogram({
    name: 'vestra_turn_duration_seconds',
    help: 'Turns from the message to their end, with all that they waited for.',
    labels: ['outcome'],
    buckets: upToMinutes,
  });
  const firstText = histogram({
    name: 'vestra_turn_first_text_seconds',
    help: 'Turns from the message to the first words of their reply.',
    buckets: upToMinutes,
  });
  const awaited = new Map<string, number>();

  function begin(id: string, at: number): void {
    started.add({});
    awaited.set(id, at);
    if (awaited.size <= mostAwaited) return;
    const [oldest] = awaited.keys();
    awaited.delete(oldest as string);
  }

  function hearText(id: string): void {
    const since = awaited.get(id);
    if (since === undefined) return;
    awaited.delete(id);
    firstText.observe({}, (now() - since) / 1000);
  }

  return {
    written(events) {
      for (const { type, turn_id: id, data } of events) {
        if (id === null) continue;
        if (type === 'reply.delta') hearText(id);
        else if (type === 'turn.started') begin(id, Date.parse(turnIn(data).created_at));
        else if (type === 'turn.settled') {
          awaited.delete(id);
          const { status: outcome, error, created_at } = turnIn(data);
          ended.add({ outcome, code: error?.code ?? 'none' });
          seconds.observe({ outcome }, (now() - Date.parse(created_at)) / 1000);
        }
      }
    },
  };
}

const turnIn = (data: unknown) =>
  (data as { turn: { status: string; created_at: string; error: { code: string } | null } }).turn;
