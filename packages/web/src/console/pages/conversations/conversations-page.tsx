import { useEffect } from 'react';
import { useRole } from '../../data/api.ts';
import { useList } from '../../data/queries.ts';
import type { ItemOf } from '../../data/rows.ts';
import { buttonLook } from '../../parts/button.tsx';
import type { Column } from '../../parts/data-table.tsx';
import { FilterBar, useFilters } from '../../parts/filters.tsx';
import { type Names, useNames } from '../../parts/names.tsx';
import { ownerColumns } from '../../parts/owner-columns.tsx';
import { PageLink } from '../../parts/page-link.tsx';
import { ResourceList } from '../../parts/resource-list.tsx';
import { Status, Time } from '../../parts/shown.tsx';
import { rememberFilters } from '../../parts/talk/neighbours.tsx';

type Conversation = ItemOf<'conversations.list'>;

const columnsWith = (found: Names): Column<Conversation>[] => [
  {
    id: 'preview',
    header: 'First message',
    width: '2fr',
    cell: ({ preview, last_error, status }) => (
      <>
        {status !== 'idle' && (
          <span className="mr-1.5 sm:hidden">
            <Status>{status}</Status>
          </span>
        )}
        {preview ?? <span className="text-quiet">No message yet</span>}
        {last_error && status === 'idle' && (
          <span className="text-danger text-sm"> · {last_error.message || last_error.code}</span>
        )}
      </>
    ),
  },
  {
    id: 'status',
    header: 'Status',
    width: '5rem',
    isWideOnly: true,
    cell: ({ status, last_error }) =>
      last_error && status === 'idle' ? (
        <span title={last_error.message}>
          <Status tone="danger">failed</Status>
        </span>
      ) : (
        <Status>{status}</Status>
      ),
  },
  ...ownerColumns(found),
  { id: 'active', header: 'Last active', width: '5.5rem', cell: ({ last_active_at }) => <Time at={last_active_at} /> },
];

const names = [
  'q',
  'status',
  'failed',
  'error_code',
  'failed_after',
  'user_id',
  'deployment',
  'created_after',
  'created_before',
] as const;

export default function ConversationsPage() {
  const [filters, set] = useFilters(...names);
  const { may } = useRole();
  const conversations = useList('conversations.list', filters as never);
  useEffect(() => rememberFilters(filters as Record<string, string>));
  const found = useNames();
  const columns = columnsWith(found);
  return (
    <ResourceList
      above={
        <FilterBar
          filters={filters as Record<string, string>}
          set={set as never}
          shown={[
            { name: 'q', label: 'Search', placeholder: 'First message' },
            { name: 'status', label: 'Status', options: ['idle', 'replying', 'working', 'waiting'] },
            {
              name: 'failed',
              label: 'Failed',
              options: [
                ['true', 'Failed'],
                ['false', 'Not failed'],
              ],
            },
            { name: 'error_code', label: 'Error code' },
            { name: 'user_id', label: 'User', placeholder: 'User id' },
            { name: 'deployment', label: 'Deployment', options: found.deployments },
            ...(filters.failed_after ? [{ name: 'failed_after', label: 'Failed after', type: 'date' } as const] : []),
            { name: 'created_after', label: 'Created after', type: 'date' },
          ]}
        />
      }
      columns={columns}
      empty={{
        icon: 'conversation',
        title: Object.keys(filters).length > 0 ? 'No conversations match these filters' : 'No conversations yet',
        text: 'A conversation starts with a user’s first message, from your app, the session page or the playground.',
        action: may('conversations.create') && (
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
