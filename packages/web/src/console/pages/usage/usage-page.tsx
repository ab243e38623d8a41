import { useState } from 'react';
import { allPages } from '../../data/all-pages.ts';
import { useOrgAndMode, useRole } from '../../data/api.ts';
import { useList, useOne } from '../../data/queries.ts';
import type { ItemOf } from '../../data/rows.ts';
import { Button } from '../../parts/button.tsx';
import { StackedChart } from '../../parts/chart.tsx';
import { type Column, DataTable } from '../../parts/data-table.tsx';
import { Dialog } from '../../parts/dialog.tsx';
import { EmptyState } from '../../parts/empty-state.tsx';
import { Fault } from '../../parts/fault.tsx';
import { FilterBar, useFilters } from '../../parts/filters.tsx';
import { type Names, UserName, useNames, useUserNames } from '../../parts/names.tsx';
import { Loaded, Page, Waiting } from '../../parts/page.tsx';
import { RequestMenu } from '../../parts/request-menu.tsx';
import { asCsv, saveFile } from '../../parts/save-file.ts';
import { count, Status, Time, Usd, usd } from '../../parts/shown.tsx';
import { type Grouping, useUsageStack } from './usage-stack.ts';

const groupings = ['user', 'deployment', 'model', 'kind', 'conversation', 'task'] as const;

export default function UsagePage() {
  const place = useOrgAndMode();
  const { may } = useRole();
  const [filters, setFilters] = useFilters('by', 'from', 'to', 'user_id', 'deployment_id', 'of');
  const by: Grouping = groupings.find((each) => each === filters.by) ?? 'day';
  const filter = {
    ...(filters.from && { from: filters.from }),
    ...(filters.to && { to: filters.to }),
    ...(filters.user_id && { user_id: filters.user_id }),
    ...(filters.deployment_id && { deployment_id: filters.deployment_id }),
  };
  const days = daysOf(filters.from, filters.to);
  const stack = useUsageStack(by, days, filter);
  const report = useOne('usage.report', { ...filter, group_by: by, limit: 1 });
  const rows = useList('usage.report', { ...filter, group_by: by });
  const limits = useOne('limits.get', {}, { enabled: may('limits.get') });
  const [isSaving, setIsSaving] = useState(false);
  const [error, setError] = useState<Error | null>(null);
  const names = useNames();
  const ofUsers = useUserNames(by === 'user' ? (stack.data?.users ?? []) : [], names);
  const cap = limits.data?.caps.org_daily_usd ?? null;

  const save = async () => {
    setIsSaving(true);
    setError(null);
    try {
      const all = await allPages(place, 'usage.report', { ...filter, group_by: by }, 100_000);
      const head = [by, 'label', 'cost_usd', 'tasks', 'input_tokens', 'output_tokens'];
      const lines = all.map((row) => [
        row.key,
        row.label,
        row.cost_usd,
        row.task_count,
        row.input_tokens,
        row.output_tokens,
      ]);
      saveFile(`usage-by-${by}-${days[0]}-${days.at(-1)}.csv`, asCsv([head, ...lines]), 'text/csv');
    } catch (failure) {
      setError(failure as Error);
    } finally {
      setIsSaving(false);
    }
  };

  return (
    <Page
      actions={
        <Button isBusy={isSaving} onClick={() => void save()}>
          Download CSV
        </Button>
      }
      lead="Billed spend by UTC day, of the last 30 days unless you choose a period."
      request={report.request}
      title="Usage"
    >
      <FilterBar
        filters={{ ...(by !== 'day' && { by }), ...filter }}
        set={setFilters}
        shown={[
          { name: 'by', label: 'Group by', options: groupings.map((each) => [each, `By ${each}`]), none: 'By day' },
          { name: 'from', label: 'From', type: 'date' },
          { name: 'to', label: 'To', type: 'date' },
          { name: 'user_id', label: 'User', placeholder: 'User id' },
          { name: 'deployment_id', label: 'Deployment', options: names.deploymentIds },
        ]}
      />
      {error && <Fault className="mb-3" error={error} />}
      <Loaded query={report}>
        {({ total }) => (
          <dl className="mb-4 grid grid-cols-2 gap-3 sm:grid-cols-4">
            <Figure name="Spend">{usd(total.cost_usd)}</Figure>
            <Figure name="Tasks">{count(total.task_count)}</Figure>
            <Figure name="Input tokens">{count(total.input_tokens)}</Figure>
            <Figure name="Output tokens">{count(total.output_tokens)}</Figure>
          </dl>
        )}
      </Loaded>
      <div className="mb-6">
        {stack.data ? (
          <StackedChart
            format={usd}
            line={cap === null ? null : { at: cap, label: 'Daily cap' }}
            nameOf={(name) => ofUsers.get(name) ?? stack.data.names[name] ?? name}
            points={stack.data.points}
            series={stack.data.series}
            title={`Spend per day${by === 'day' ? '' : `, by ${by}`}`}
          />
        ) : stack.error ? (
          <Fault error={stack.error} retry={() => void stack.refetch()} />
        ) : (
          <Waiting />
        )}
      </div>
      <DataTable
        columns={columnsOf(by, names, (key) => setFilters({ of: key }))}
        empty={<NothingSpent />}
        label={`Spend by ${by}`}
        list={rows}
      />
      {filters.of && <LineItems of={filters.of} onClose={() => setFilters({ of: undefined })} />}
    </Page>
  );
}

const NothingSpent = () => (
  <EmptyState icon="usage" title="No spend in this period">
    Model calls, paid tools and computer time appear here as soon as they are billed.
  </EmptyState>
);

const Figure = ({ name, children }: { name: string; children: string }) => (
  <div className="panel px-4 py-3">
    <dt className="eyebrow">{name}</dt>
    <dd className="figures mt-0.5 font-semibold text-lg tracking-tight">{children}</dd>
  </div>
);

type Row = ItemOf<'usage.report'>;

function columnsOf(by: Grouping, names: Names, open: (key: string) => void): Column<Row>[] {
  const hasLines = by === 'task' || by === 'conversation';
  return [
    {
      id: 'key',
      header: `${by[0]?.toUpperCase()}${by.slice(1)}`,
      cell: ({ key, label }) =>
        hasLines && key !== '' ? (
          <button
            className="max-w-full truncate text-accent underline underline-offset-2"
            onClick={() => open(key)}
            type="button"
          >
            {label ?? key}
          </button>
        ) : (
          (label ??
          (key === '' ? (
            <span className="text-quiet">none</span>
          ) : by === 'user' ? (
            <UserName id={key} names={names} />
          ) : (
            <span title={key}>{key}</span>
          )))
        ),
    },
    { id: 'cost', header: 'Spend', width: '6rem', align: 'end', cell: ({ cost_usd }) => <Usd value={cost_usd} /> },
    { id: 'tasks', header: 'Tasks', width: '4rem', align: 'end', cell: ({ task_count }) => count(task_count) },
    {
      id: 'in',
      header: 'Input tokens',
      width: '7rem',
      align: 'end',
      isWideOnly: true,
      cell: ({ input_tokens }) => count(input_tokens),
    },
    {
      id: 'out',
      header: 'Output tokens',
      width: '7rem',
      align: 'end',
      isWideOnly: true,
      cell: ({ output_tokens }) => count(output_tokens),
    },
  ];
}

/** The days of the period, like on the server: by default the last 30. */
function daysOf(from: string | undefined, to: string | undefined): string[] {
  const end = Date.parse(`${to ?? new Date().toISOString().slice(0, 10)}T00:00:00Z`);
  const begin = from === undefined ? end - 29 * 86_400_000 : Date.parse(`${from}T00:00:00Z`);
  if (Number.isNaN(end) || Number.isNaN(begin)) return [];
  const days = Math.min(366, Math.floor((end - begin) / 86_400_000) + 1);
  return Array.from({ length: Math.max(0, days) }, (_, index) =>
    new Date(begin + index * 86_400_000).toISOString().slice(0, 10),
  );
}

/** The line items of a task or conversation. */
function LineItems({ of, onClose }: { of: string; onClose: () => void }) {
  const items = useList(
    'usage.lineItems',
    of.startsWith('task_') ? { task_id: of as never } : { conversation_id: of as never },
  );
  return (
    <Dialog description={of} isOpen onClose={onClose} title="Cost details" width="wide">
      {items.isLoading && <Waiting />}
      {items.error && <Fault error={items.error} retry={items.refetch} />}
      <ul className="divide-y">
        {items.rows.map((item) => (
          <li className="flex flex-wrap items-center gap-x-3 py-1.5" key={item.id}>
            <Status>{item.kind}</Status>
            <span className="min-w-0 grow truncate text-sm">
              {count(item.quantity)} {item.unit.replaceAll('_', ' ')}
              {item.model && <span className="text-quiet"> of {item.model}</span>}
              {item.estimated && <span className="text-quiet">, estimated</span>}
            </span>
            <span className="text-quiet text-sm">
              <Time at={item.created_at} />
            </span>
            <span className="figures w-20 text-right">{usd(item.cost_usd)}</span>
          </li>
        ))}
      </ul>
      <div className="mt-3 flex items-center justify-end gap-2">
        {items.hasMore && (
          <button className="text-accent underline underline-offset-2" onClick={items.more} type="button">
            More
          </button>
        )}
        <RequestMenu request={items.request} />
      </div>
    </Dialog>
  );
}
