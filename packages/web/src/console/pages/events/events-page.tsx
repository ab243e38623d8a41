import { webhookEventTypes } from '@vestra/contract/webhook-event-types';
import { useList } from '../../data/queries.ts';
import type { ItemOf } from '../../data/rows.ts';
import type { Column } from '../../parts/data-table.tsx';
import { FilterBar, useFilters } from '../../parts/filters.tsx';
import { PageLink } from '../../parts/page-link.tsx';
import { ResourceList } from '../../parts/resource-list.tsx';
import { Time } from '../../parts/shown.tsx';
import { subjectOf } from './subject.ts';

type Event = ItemOf<'events.list'>;

const columns: Column<Event>[] = [
  { id: 'type', header: 'Event', width: '14rem', cell: ({ type }) => type },
  {
    id: 'about',
    header: 'Subject',
    isWideOnly: true,
    cell: (event) => <code className="font-mono text-quiet text-xs">{subjectOf(event)}</code>,
  },
  {
    id: 'id',
    header: 'Id',
    isLargeOnly: true,
    cell: ({ id }) => <code className="font-mono text-quiet text-xs">{id}</code>,
  },
  { id: 'at', header: 'Time', width: '6.5rem', cell: ({ created_at }) => <Time at={created_at} /> },
];

export default function EventsPage() {
  const [{ type }, setFilters] = useFilters('type');
  const known = webhookEventTypes.find((each) => each === type);
  const events = useList('events.list', known ? { type: known } : {});
  return (
    <ResourceList
      above={
        <FilterBar
          filters={known ? { type: known } : {}}
          set={setFilters}
          shown={[{ name: 'type', label: 'Type', options: webhookEventTypes }]}
        />
      }
      columns={columns}
      empty={{
        icon: 'event',
        title: known ? `No ${known} events yet` : 'No events yet',
        text: 'Start a conversation with an agent: its messages, tasks and approvals appear here.',
      }}
      lead={
        <>
          Every event, newest first. Subscribe to them with{' '}
          <PageLink className="text-accent underline underline-offset-2" to="/webhooks">
            webhooks
          </PageLink>
          .
        </>
      }
      linkOf={({ id }) => `/events/${id}`}
      list={events}
      title="Events"
    />
  );
}
