import { useList } from '../../data/queries.ts';
import type { ItemOf } from '../../data/rows.ts';
import type { Column } from '../../parts/data-table.tsx';
import { FilterBar, useFilters } from '../../parts/filters.tsx';
import { ResourceList } from '../../parts/resource-list.tsx';
import { Status, Time, Usd } from '../../parts/shown.tsx';

type Task = ItemOf<'tasks.list'>;

const columns: Column<Task>[] = [
  { id: 'title', header: 'Task', width: '2fr', cell: ({ title }) => title },
  { id: 'status', header: 'Status', width: '5rem', cell: ({ status }) => <Status>{status}</Status> },
  { id: 'user', header: 'User', isWideOnly: true, cell: ({ user_id }) => user_id ?? '–' },
  {
    id: 'outcome',
    header: 'Outcome',
    width: '6rem',
    isWideOnly: true,
    cell: ({ outcome, error }) =>
      error ? (
        <code className="font-mono text-danger text-xs">{error.code}</code>
      ) : outcome ? (
        <Status tone={outcome.met ? 'good' : 'danger'}>{outcome.met ? 'met' : 'not met'}</Status>
      ) : (
        '–'
      ),
  },
  {
    id: 'cost',
    header: 'Cost',
    width: '5.5rem',
    align: 'end',
    isWideOnly: true,
    cell: ({ cost_usd }) => <Usd value={cost_usd} />,
  },
  { id: 'updated', header: 'Updated', width: '6.5rem', cell: ({ updated_at }) => <Time at={updated_at} /> },
];

const names = ['status', 'user_id', 'deployment_id', 'conversation_id', 'created_after', 'created_before'] as const;

export default function TasksPage() {
  const [filters, set] = useFilters(...names);
  const tasks = useList('tasks.list', filters as never);
  return (
    <ResourceList
      above={
        <FilterBar
          filters={filters as Record<string, string>}
          set={set as never}
          shown={[
            { name: 'status', label: 'Status', options: ['queued', 'working', 'waiting', 'done', 'failed'] },
            { name: 'user_id', label: 'User', placeholder: 'User id' },
            { name: 'deployment_id', label: 'Deployment', placeholder: 'Deployment' },
            { name: 'created_after', label: 'Created after', type: 'date' },
          ]}
        />
      }
      columns={columns}
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
