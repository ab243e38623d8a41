import { useQuery } from '@tanstack/react-query';
import { allPages } from '../../data/all-pages.ts';
import { useOrgAndMode } from '../../data/api.ts';
import { useList } from '../../data/queries.ts';
import type { ItemOf } from '../../data/rows.ts';
import { StackedChart } from '../../parts/chart.tsx';
import { type Column, DataTable } from '../../parts/data-table.tsx';
import { Dialog } from '../../parts/dialog.tsx';
import { useDialogInAddress } from '../../parts/dialog-in-address.ts';
import { CodeBlock, EmptyState } from '../../parts/empty-state.tsx';
import { FilterBar, useFilters } from '../../parts/filters.tsx';
import { Page } from '../../parts/page.tsx';
import { count, Status, Time } from '../../parts/shown.tsx';

type Entry = ItemOf<'auditLog.list'>;

export default function AuditPage() {
  const [filters, setFilters] = useFilters('action', 'actor_id', 'from', 'to');
  const { action, actor_id, from, to } = filters;
  const given = {
    ...(action && { action }),
    ...(actor_id && { actor_id }),
    ...(from && { from }),
    ...(to && { to: `${to}T23:59:59.999Z` }),
  };
  const entries = useList('auditLog.list', given);
  const reading = useDialogInAddress('entry');
  const columns: Column<Entry>[] = [
    {
      id: 'action',
      header: 'Action',
      width: '1.5fr',
      cell: (entry) => (
        <button
          className="max-w-full truncate font-medium hover:underline"
          onClick={() => reading.open(entry.id)}
          type="button"
        >
          {entry.action}
        </button>
      ),
    },
    { id: 'actor', header: 'Actor', cell: ({ actor }) => actor.name || actor.id },
    {
      id: 'kind',
      header: 'Type',
      width: '5rem',
      isLargeOnly: true,
      cell: ({ actor }) => <Status>{actor.type}</Status>,
    },
    {
      id: 'target',
      header: 'Target',
      isWideOnly: true,
      cell: ({ target }) => target && <code className="font-mono text-quiet text-xs">{target.id}</code>,
    },
    {
      id: 'ip',
      header: 'IP address',
      width: '8rem',
      isLargeOnly: true,
      cell: ({ ip }) => <span className="figures text-quiet">{ip}</span>,
    },
    { id: 'at', header: 'Time', width: '6rem', cell: ({ created_at }) => <Time at={created_at} /> },
  ];
  return (
    <Page
      lead="Every change to keys, settings, members and deployments, and every answered approval."
      request={entries.request}
      title="Audit log"
    >
      <FilterBar
        filters={filters as Record<string, string>}
        set={setFilters}
        shown={[
          { name: 'action', label: 'Action', placeholder: 'Action, e.g. key.created' },
          { name: 'actor_id', label: 'Actor', placeholder: 'Key or member id' },
          { name: 'from', label: 'From', type: 'date' },
          { name: 'to', label: 'To', type: 'date' },
        ]}
      />
      <Histogram given={given} />
      <DataTable
        columns={columns}
        empty={
          <EmptyState icon="audit" title="No entries">
            Remove a filter to see more.
          </EmptyState>
        }
        label="Audit log"
        list={entries}
      />
      <ReadEntry entry={entries.rows.find(({ id }) => id === reading.value)} onClose={reading.close} />
    </Page>
  );
}

const mostCounted = 1000;

/** Entries per day, or per hour if all are of one day. */
function Histogram({ given }: { given: Record<string, string> }) {
  const place = useOrgAndMode();
  const counted = useQuery({
    queryKey: [place.org, place.mode, 'auditLog.list', { counted: given }],
    queryFn: () => allPages(place, 'auditLog.list', given, mostCounted),
  });
  const rows = counted.data ?? [];
  const [newest] = rows;
  const oldest = rows.at(-1);
  if (!newest || !oldest || rows.length < 2) return null;
  const isOneDay = newest.created_at.slice(0, 10) === oldest.created_at.slice(0, 10);
  const size = isOneDay ? 13 : 10;
  const step = isOneDay ? 3_600_000 : 86_400_000;
  const byTime = new Map<string, number>();
  const begin = Date.parse(
    isOneDay ? `${oldest.created_at.slice(0, 13)}:00:00Z` : `${oldest.created_at.slice(0, 10)}T00:00:00Z`,
  );
  for (let at = begin; at <= Date.parse(newest.created_at); at += step)
    byTime.set(new Date(at).toISOString().slice(0, size), 0);
  for (const { created_at } of rows) {
    const key = new Date(created_at).toISOString().slice(0, size);
    byTime.set(key, (byTime.get(key) ?? 0) + 1);
  }
  const points = [...byTime].map(([key, lines]) => ({
    label: isOneDay ? `${key.slice(11)}:00` : key,
    values: { lines },
  }));
  return (
    <div className="mb-5">
      <StackedChart
        format={count}
        height={130}
        points={points}
        series={['lines']}
        title={
          rows.length >= mostCounted
            ? 'Latest 1,000 entries (UTC)'
            : isOneDay
              ? 'Entries per hour (UTC)'
              : 'Entries per day (UTC)'
        }
      />
    </div>
  );
}

function ReadEntry({ entry, onClose }: { entry: Entry | undefined; onClose: () => void }) {
  if (!entry) return null;
  return (
    <Dialog isOpen onClose={onClose} title={entry.action} width="wide">
      <CodeBlock code={JSON.stringify(entry, null, 2)} />
    </Dialog>
  );
}
