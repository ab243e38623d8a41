import { useState } from 'react';
import { useList } from '../../data/queries.ts';
import type { ItemOf, RouteAnswer } from '../../data/rows.ts';
import { Button } from '../../parts/button.tsx';
import type { Column } from '../../parts/data-table.tsx';
import { Dialog } from '../../parts/dialog.tsx';
import { DropZone } from '../../parts/drop-zone.tsx';
import { Fault } from '../../parts/fault.tsx';
import { ChangeForm, TextField } from '../../parts/form.tsx';
import { DeploymentName, type Names, useNames } from '../../parts/names.tsx';
import { useGo } from '../../parts/page-link.tsx';
import { ResourceList } from '../../parts/resource-list.tsx';
import { count, Status, Time, Usd } from '../../parts/shown.tsx';
import { Progress } from './progress.tsx';
import { type BatchItem, readItems } from './read-items.ts';

const columnsWith = (names: Names): Column<ItemOf<'batches.list'>>[] => [
  {
    id: 'id',
    header: 'Batch',
    width: '1.2fr',
    cell: ({ id, deployment_id }) => (
      <>
        {deployment_id === null ? 'Deleted deployment' : <DeploymentName id={deployment_id} names={names} />}{' '}
        <code className="ml-1 font-mono font-normal text-quiet text-xs">{id}</code>
      </>
    ),
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
    isLargeOnly: true,
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
  const columns = columnsWith(useNames());
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

function NewBatch({
  onClose,
  onDone,
}: {
  onClose: () => void;
  onDone: (batch: RouteAnswer<'batches.create'>) => void;
}) {
  const [file, setFile] = useState<{ name: string; items: BatchItem[] } | null>(null);
  const [error, setError] = useState<Error | null>(null);
  const take = async (given: File) => {
    setError(null);
    try {
      setFile({ name: given.name, items: readItems(given.name, await given.text()) });
    } catch (failure) {
      setError(failure as Error);
    }
  };
  return (
    <Dialog isOpen onClose={onClose} title="Start a batch" width="wide">
      {file === null ? (
        <>
          <DropZone
            accept=".csv,.jsonl,.ndjson,text/csv"
            hint="CSV or JSONL with the column “message”, and “user_id” if your org requires users. At most 5,000 lines."
            label="Drop a file here, or choose it"
            onFiles={([given]) => given && void take(given)}
          />
          {error && <Fault className="mt-3" error={error} />}
        </>
      ) : (
        <>
          <div className="mb-4 rounded-md border">
            <div className="flex items-center gap-2 border-b bg-muted/60 px-3 py-1.5">
              <span className="min-w-0 grow truncate font-medium">
                {file.name}, {count(file.items.length)} {file.items.length === 1 ? 'item' : 'items'}
              </span>
              <Button look="quiet" onClick={() => setFile(null)} shape="small">
                Choose another file
              </Button>
            </div>
            <ol className="max-h-40 overflow-y-auto">
              {file.items.slice(0, 5).map(({ message, user_id }, index) => (
                // biome-ignore lint/suspicious/noArrayIndexKey: lines of a file have no other key.
                <li className="flex gap-3 border-b px-3 py-1 text-sm last:border-0" key={index}>
                  <span className="min-w-0 grow truncate">{message}</span>
                  <span className="text-quiet">{user_id}</span>
                </li>
              ))}
            </ol>
          </div>
          <ChangeForm
            fields={{ items: file.items }}
            initial={{ deployment: '', concurrency: 10, items: null }}
            onCancel={onClose}
            onDone={onDone}
            row="batches.create"
            send={({ deployment, concurrency }) => ({
              ...(deployment !== '' && { deployment }),
              ...(concurrency !== '' && { concurrency }),
            })}
            submit={`Start ${count(file.items.length)} conversations`}
          >
            <TextField label="Deployment" name="deployment" />
            <TextField label="Concurrency" name="concurrency" type="number" />
          </ChangeForm>
        </>
      )}
    </Dialog>
  );
}
