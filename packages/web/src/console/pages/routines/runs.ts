import { useQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import { allPages } from '../../data/all-pages.ts';
import { type OrgAndMode, useOrgAndMode } from '../../data/api.ts';
import type { ItemOf } from '../../data/rows.ts';
import { nextTimes, type Scheduled } from './next-times.ts';

export type RoutineRun = {
  key: string;
  at: Date;
  routine: { id: string; name: string };
  /** `missed`: it was due and did not start. */
  state: 'ran' | 'failed' | 'missed' | 'coming';
  conversationId: string | null;
  /** The reason of a failed or missed run. */
  message: string | null;
};

type Event = ItemOf<'events.list'>;
type EventOf<Type extends Event['type']> = Extract<Event, { type: Type }>;
type Routine = Scheduled & { id: string; name: string };

/** The number of events read per type. Older runs are not shown. */
const mostEvents = 500;
/** Ten days of a routine that runs every 15 minutes, the shortest interval. */
const mostComing = 1000;

/** Past runs from stored events, and scheduled runs from each schedule. */
export function useRuns(
  routines: readonly Routine[],
  isWanted: (routine: { id: string; user_id: string | null }) => boolean,
) {
  const place = useOrgAndMode();
  const told = useQuery({
    queryKey: [place.org, place.mode, 'events.list', { runs: true }],
    queryFn: () => readPast(place),
  });
  const coming = useMemo(() => routines.flatMap(comingOf), [routines]);
  const past = (told.data ?? []).filter(({ routine }) => isWanted(routine));
  return { runs: [...past, ...coming], error: told.error, isLoading: told.isLoading, refetch: told.refetch };
}

async function readPast(place: OrgAndMode) {
  const read = async <Type extends Event['type']>(type: Type) =>
    (await allPages(place, 'events.list', { type }, mostEvents)) as unknown as EventOf<Type>[];
  const [ran, missed, failedTurns] = await Promise.all([
    read('routine.ran'),
    read('routine.failed'),
    read('turn.failed'),
  ]);
  const failures = new Map(failedTurns.map(({ data }) => [data.id, data.error?.message ?? 'The run failed.']));
  return [
    ...ran.map(({ id, created_at, data }) => {
      const failure = failures.get(data.run.turn_id);
      return {
        key: id,
        at: new Date(created_at),
        routine: data,
        state: failure === undefined ? ('ran' as const) : ('failed' as const),
        conversationId: data.run.conversation_id as string | null,
        message: failure ?? null,
      };
    }),
    ...missed.map(({ id, created_at, data }) => ({
      key: id,
      at: new Date(created_at),
      routine: data,
      state: 'missed' as const,
      conversationId: null,
      message: data.message as string | null,
    })),
  ];
}

const comingOf = (routine: Routine): RoutineRun[] =>
  nextTimes(routine, mostComing).map((at) => ({
    key: `${routine.id} ${at.toISOString()}`,
    at,
    routine,
    state: 'coming',
    conversationId: null,
    message: null,
  }));
