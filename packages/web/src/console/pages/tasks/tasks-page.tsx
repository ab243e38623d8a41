import { useList } from '../../data/queries.ts';
import type { ItemOf } from '../../data/rows.ts';
import type { Column } from '../../parts/data-table.tsx';
import { FilterBar, useFilters } from '../../parts/filters.tsx';
import { type Names, useNames } from '../../parts/names.tsx';
import { ownerColumns } from '../../parts/owner-columns.tsx';
import { ResourceList } from '../../parts/resource-list.tsx';
import { Status, Time } from '../../parts/shown.tsx';

type Task = ItemOf<'tasks.list'>;

const columnsWith = (found: Names): Column<Task>[] => [
  {
    id: 'title',
    header: 'Task',
    width: '2fr',
    cell: ({ title, error, status }) => (
      <>
        {status !== 'done' && (
          <span className="mr-1.5 sm:hidden">
            <Status>{status}</Status>
          </span>
        )}
        {title}
        {error && <span className="text-danger text-sm"> · {error.message}</span>}
      </>
    ),
  },
  {
    id: 'status',
    header: 'Status',
    width: '5.5rem',
    isWideOnly: true,
    cell: ({ status, outcome }) =>
      // A task with success criteria is judged: done, but the criteria may not be met.
      outcome && status === 'done' ? (
        <Status tone={outcome.met ? 'good' : 'danger'}>{outcome.met ? 'criteria met' : 'not met'}</Status>
      ) : (
        <Status>{status}</Status>
      ),
  },
  ...ownerColumns(found),
  { id: 'updated', header: 'Updated', width: '5.5rem', cell: ({ updated_at }) => <Time at={updated_at} /> },
];

const names = [
  'q',
  'status',
  'user_id',
  'deployment_id',
  'conversation_id',
  'created_after',
  'created_before',
] as const;

export default function TasksPage() {
  const [filters, set] = useFilters(...names);
  const tasks = useList('tasks.list', filters as never);
  const found = useNames();
  return (
    <ResourceList
      above={
        <FilterBar
          filters={filters as Record<string, string>}
          set={set as never}
          shown={[
            { name: 'q', label: 'Search', placeholder: 'Title or request' },
            { name: 'status', label: 'Status', options: ['queued', 'working', 'waiting', 'done', 'failed'] },
            { name: 'user_id', label: 'User', placeholder: 'User id' },
            { name: 'deployment_id', label: 'Deployment', options: found.deployments },
            { name: 'created_after', label: 'Created after', type: 'date' },
          ]}
        />
      }
      columns={columnsWith(found)}
      empty={{
        icon: 'task',
        title: Object.keys(filters).length > 0 ? 'No tasks match these filters' : 'No tasks yet',
        text: 'The agent creates a task if a request needs more than one reply. A message can also ask for one.',
        example: {
          label: 'Start a task directly:',
          code: `curl "$VESTRA_URL/v1/conversations" -H "Authorization: Bearer $VESTRA_KEY" \\\n  -H 'Content-Type: application/json' \\\n  -d '{"message": "Compare three printers.", "hand_off": "always"}'`,
        },
      }}
      lead="Long-running jobs that agents work on in the background."
      linkOf={({ id }) => `/tasks/${id}`}
      list={tasks}
      title="Tasks"
    />
  );
}
