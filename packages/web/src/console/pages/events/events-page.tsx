import { webhookEventTypes } from '@vestra/contract/webhook-event-types';
import { useList } from '../../data/queries.ts';
import type { ItemOf } from '../../data/rows.ts';
import { type Column, DataTable } from '../../parts/data-table.tsx';
import { EmptyState } from '../../parts/empty-state.tsx';
import { FilterBar, useFilters } from '../../parts/filters.tsx';
import { Page } from '../../parts/page.tsx';
import { PageLink } from '../../parts/page-link.tsx';
import { Time } from '../../parts/shown.tsx';
import { subjectOf } from './subject.ts';

type Event = ItemOf<'events.list'>;

const columns: Column<Event>[] = [
  { id: 'type', header: 'Event', width: '14rem', cell: ({ type }) => type },
  {
    id: 'about',
    header: 'About',
    isWideOnly: true,
    cell: (event) => <code className="font-mono text-quiet text-xs">{subjectOf(event)}</code>,
  },
  {
    id: 'id',
    header: 'Id',
    isWideOnly: true,
    cell: ({ id }) => <code className="font-mono text-quiet text-xs">{id}</code>,
  },
  { id: 'at', header: 'When', width: '6.5rem', cell: ({ created_at }) => <Time at={created_at} /> },
];

export default function EventsPage() {
  const [{ type }, setFilters] = useFilters('type');
  const known = webhookEventTypes.find((each) => each === type);
  const events = useList('events.list', known ? { type: known } : {});
  return (
    <Page
      lead={
        <>
          What happened, newest first, as{' '}
          <PageLink className="underline underline-offset-2" to="/webhooks">
            webhooks
          </PageLink>{' '}
          are told of it.
        </>
      }
      request={events.request}
      title="Events"
    >
      <FilterBar
        filters={known ? { type: known } : {}}
        set={setFilters}
        shown={[{ name: 'type', label: 'Type', options: webhookEventTypes }]}
      />
      <DataTable
        columns={columns}
        empty={
          <EmptyState icon="event" title={known ? `No ${known} yet` : 'Nothing happened yet'}>
            Say something to an agent: its conversation, its work and what it waits for are events.
          </EmptyState>
        }
        label="Events"
        linkOf={({ id }) => `/events/${id}`}
        list={events}
      />
    </Page>
  );
}
