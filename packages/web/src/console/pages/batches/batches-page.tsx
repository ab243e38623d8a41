import { useList } from '../../data/queries.ts';
import type { ItemOf } from '../../data/rows.ts';
import type { Column } from '../../parts/data-table.tsx';
import { useGo } from '../../parts/page-link.tsx';
import { ResourceList } from '../../parts/resource-list.tsx';
import { count, Status, Time, Usd } from '../../parts/shown.tsx';
import { NewBatch } from './new-batch.tsx';
import { Progress } from './progress.tsx';

const columns: Column<ItemOf<'batches.list'>>[] = [
  {
    id: 'id',
    header: 'Batch',
    width: '1.2fr',
    cell: ({ id }) => <code className="font-mono text-sm">{id}</code>,
  },
  { id: 'status', header: 'Status', width: '6rem', cell: ({ status }) => <Status>{status}</Status> },
  {
    id: 'progress',
    header: 'Progress',
    isWideOnly: true,
    cell: ({ counts, item_count }) => <Progress counts={counts} total={item_count} />,
  },
  { id: 'items', header: 'Items', width: '4.5rem', align: 'end', cell: ({ item_count }) => count(item_count) },
  {
    id: 'failed',
    header: 'Failed',
    width: '4rem',
    align: 'end',
    isWideOnly: true,
    cell: ({ counts }) => count(counts.failed),
  },
  {
    id: 'spend',
    header: 'Spend',
    width: '5rem',
    align: 'end',
    isWideOnly: true,
    cell: ({ spend_usd }) => <Usd value={spend_usd} />,
  },
  {
    id: 'at',
    header: 'Started',
    width: '6.5rem',
    isWideOnly: true,
    cell: ({ created_at }) => <Time at={created_at} />,
  },
];

export default function BatchesPage() {
  const batches = useList('batches.list', {});
  const go = useGo();
  return (
    <ResourceList
      columns={columns}
      create={{
        label: 'Start a batch',
        row: 'batches.create',
        dialog: (close) => <NewBatch onClose={close} onDone={({ id }) => go(`/batches/${id}`)} />,
      }}
      empty={{
        icon: 'batch',
        title: 'No batches yet',
        text: (
          <>
            Upload a CSV or JSONL file. Its column <code className="font-mono">message</code> starts each conversation.
          </>
        ),
        example: {
          label: 'Example file:',
          code: '{"message":"Summarise order 1001","user_id":"ada"}\n{"message":"Summarise order 1002","user_id":"bob"}',
        },
      }}
      lead="Run the same job for many inputs: one conversation for each line of a file."
      linkOf={({ id }) => `/batches/${id}`}
      list={batches}
      title="Batches"
    />
  );
}
