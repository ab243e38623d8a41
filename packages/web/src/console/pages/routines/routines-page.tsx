import { VestraError } from '@vestra/sdk/errors';
import { useEffect } from 'react';
import { useList } from '../../data/queries.ts';
import type { ItemOf } from '../../data/rows.ts';
import type { Column } from '../../parts/data-table.tsx';
import { EmptyState } from '../../parts/empty-state.tsx';
import { FilterBar, useFilters } from '../../parts/filters.tsx';
import { useGo } from '../../parts/page-link.tsx';
import { ResourceList } from '../../parts/resource-list.tsx';
import { count, Status, Time } from '../../parts/shown.tsx';
import { Tabs } from '../../parts/tabs.tsx';
import { ownTimeZone } from './next-times.ts';
import { RoutineForm } from './routine-form.tsx';
import { RunCalendar } from './run-calendar.tsx';
import { useRuns } from './runs.ts';

const columns: Column<ItemOf<'routines.list'>>[] = [
  { id: 'name', header: 'Routine', cell: ({ name }) => name },
  {
    id: 'when',
    header: 'Trigger',
    cell: ({ schedule, kind }) =>
      schedule ? (
        (schedule.every ?? schedule.cron)
      ) : (
        <span className="text-quiet">{kind === 'trigger' ? 'API call' : kind}</span>
      ),
  },
  {
    id: 'state',
    header: 'Status',
    width: '6rem',
    isWideOnly: true,
    cell: ({ enabled, status, last_error }) => (
      <Status tone={last_error ? 'danger' : undefined}>
        {last_error ? 'last run failed' : enabled ? status : 'paused'}
      </Status>
    ),
  },
  {
    id: 'next',
    header: 'Next run',
    width: '6rem',
    isWideOnly: true,
    cell: ({ next_run_at, enabled }) => <Time at={enabled ? next_run_at : null} />,
  },
  {
    id: 'last',
    header: 'Last run',
    width: '6rem',
    isWideOnly: true,
    cell: ({ last_run_at }) => <Time at={last_run_at} />,
  },
  { id: 'runs', header: 'Runs', width: '3.5rem', align: 'end', cell: ({ run_count }) => count(run_count) },
];

export default function RoutinesPage() {
  const [{ user_id, show }, setFilters] = useFilters('user_id', 'show');
  const ofUser: Record<string, string> = user_id === undefined ? {} : { user_id };
  const routines = useList('routines.list', ofUser);
  const go = useGo();
  const needsUser = routines.error instanceof VestraError && routines.error.code === 'user_required';
  const instead = needsUser ? (
    <EmptyState icon="routine" title="Enter a user id">
      This org requires a user for every conversation. Enter a user id above to see their routines.
    </EmptyState>
  ) : (
    show === 'calendar' && <Calendar routines={routines} userId={user_id ?? null} />
  );
  return (
    <ResourceList
      above={
        <>
          <Tabs
            chosen={show === 'calendar' ? 'calendar' : 'list'}
            label="View"
            tabs={[
              { id: 'list', title: 'List', to: '/routines', search: ofUser },
              { id: 'calendar', title: 'Calendar', to: '/routines', search: { ...ofUser, show: 'calendar' } },
            ]}
          />
          <FilterBar
            filters={ofUser}
            set={setFilters}
            shown={[{ name: 'user_id', label: 'User', placeholder: 'User id' }]}
          />
        </>
      }
      columns={columns}
      create={{
        label: 'Create routine',
        row: 'routines.create',
        dialog: (close) => <RoutineForm onClose={close} onDone={({ id }) => go(`/routines/${id}`)} userId={user_id} />,
      }}
      empty={{
        icon: 'routine',
        title: user_id === undefined ? 'The org’s own agent has no routines' : 'This user has no routines',
        text:
          user_id === undefined
            ? 'Enter a user id to list the routines of a user. Write a schedule in plain words, such as “weekday at 08:00”.'
            : 'Write the schedule in plain words, such as “weekday at 08:00”.',
        example: {
          label: 'Or through the API:',
          code: `curl -X POST "$VESTRA_URL/v1/routines" -H "Authorization: Bearer $VESTRA_KEY" \\\n  -H 'Content-Type: application/json' \\\n  -d '{"user_id":"ada","every":"weekday at 08:00","ask":"What is new?"}'`,
        },
      }}
      instead={instead || undefined}
      lead="Prompts that an agent runs on a schedule or when your system calls. A routine belongs to one user or to the org’s own agent."
      linkOf={({ id }) => `/routines/${id}`}
      list={routines}
      title="Routines"
    />
  );
}

/** Reads the whole list, so that no scheduled run is missing. */
function Calendar({
  routines,
  userId,
}: {
  routines: ReturnType<typeof useList<'routines.list'>>;
  userId: string | null;
}) {
  const { runs, error } = useRuns(routines.rows, (routine) => routine.user_id === userId);
  const { hasMore, more, rows } = routines;
  useEffect(() => {
    if (hasMore && rows.length < mostRoutines) more();
  }, [hasMore, more, rows.length]);
  return <RunCalendar error={routines.error ?? error} runs={runs} timezone={ownTimeZone()} />;
}

const mostRoutines = 500;
