import { useList } from '../../data/queries.ts';
import type { ItemOf } from '../../data/rows.ts';
import { buttonLook } from '../../parts/button.tsx';
import type { Column } from '../../parts/data-table.tsx';
import { FilterBar, useFilters } from '../../parts/filters.tsx';
import { PageLink } from '../../parts/page-link.tsx';
import { ResourceList } from '../../parts/resource-list.tsx';
import { Status, Time, Usd } from '../../parts/shown.tsx';

type Conversation = ItemOf<'conversations.list'>;

const columns: Column<Conversation>[] = [
  { id: 'user', header: 'User', cell: ({ user_id }) => user_id ?? <span className="text-quiet">the org’s agent</span> },
  { id: 'status', header: 'Status', width: '5.5rem', cell: ({ status }) => <Status>{status}</Status> },
  {
    id: 'waits',
    header: 'Pending',
    width: '8rem',
    isWideOnly: true,
    cell: ({ open_work, open_interactions, pending_tool_calls }) => {
      const waits = open_interactions.length + pending_tool_calls.length;
      return (
        <span className="text-quiet">
          {[open_work.length > 0 && `${open_work.length} running`, waits > 0 && `${waits} waiting`]
            .filter(Boolean)
            .join(', ') || '–'}
        </span>
      );
    },
  },
  {
    id: 'id',
    header: 'Conversation',
    isWideOnly: true,
    cell: ({ id }) => <code className="font-mono text-quiet text-xs">{id}</code>,
  },
  {
    id: 'version',
    header: 'Version',
    width: '4.5rem',
    isWideOnly: true,
    cell: ({ deployment_version }) => (deployment_version === null ? '–' : `v${deployment_version}`),
  },
  {
    id: 'cost',
    header: 'Cost',
    width: '5.5rem',
    align: 'end',
    isWideOnly: true,
    cell: ({ cost_usd }) => <Usd value={cost_usd} />,
  },
  { id: 'active', header: 'Last active', width: '6.5rem', cell: ({ last_active_at }) => <Time at={last_active_at} /> },
];

export default function ConversationsPage() {
  const [filters, set] = useFilters('user_id');
  const conversations = useList('conversations.list', filters as never);
  return (
    <ResourceList
      above={
        <FilterBar
          filters={filters as Record<string, string>}
          set={set as never}
          shown={[{ name: 'user_id', label: 'User', placeholder: 'User id' }]}
        />
      }
      columns={columns}
      empty={{
        icon: 'conversation',
        title: filters.user_id ? 'This user has no conversations' : 'No conversations yet',
        text: 'A conversation starts with a user’s first message, from your app, the session page or the playground.',
        action: (
          <PageLink className={buttonLook('primary')} to="/playground">
            Open the playground
          </PageLink>
        ),
        example: {
          label: 'Or from your program:',
          code: `curl "$VESTRA_URL/v1/conversations" -H "Authorization: Bearer $VESTRA_KEY" \\\n  -H 'Content-Type: application/json' -d '{"user_id": "ada", "message": "Hello!"}'`,
        },
      }}
      lead="Every conversation with your agents, newest first."
      linkOf={({ id }) => `/conversations/${id}`}
      list={conversations}
      title="Conversations"
    />
  );
}
