import { useParams } from '@tanstack/react-router';
import { VestraError } from '@vestra/sdk/errors';
import { useState } from 'react';
import { allPages } from '../../data/all-pages.ts';
import { useOrgAndMode, useRole } from '../../data/api.ts';
import { useEvery } from '../../data/every.ts';
import { useList, useOne } from '../../data/queries.ts';
import type { ItemOf, RouteAnswer } from '../../data/rows.ts';
import { Button } from '../../parts/button.tsx';
import { ConfirmChange } from '../../parts/confirm.tsx';
import { Id } from '../../parts/copy.tsx';
import { type Column, DataTable } from '../../parts/data-table.tsx';
import { DeleteButton } from '../../parts/delete-button.tsx';
import { DeploymentLink } from '../../parts/deployment-link.tsx';
import { Dialog } from '../../parts/dialog.tsx';
import { useDialogInAddress } from '../../parts/dialog-in-address.ts';
import { CodeBlock } from '../../parts/empty-state.tsx';
import { Fault } from '../../parts/fault.tsx';
import { AsWrittenToggle, ModelLine, ModelText } from '../../parts/model-text.tsx';
import { type Names, UserName, useNames } from '../../parts/names.tsx';
import { Facts, LoadedPage, Page, Section } from '../../parts/page.tsx';
import { PageLink } from '../../parts/page-link.tsx';
import { asCsv, saveFile } from '../../parts/save-file.ts';
import { count, duration, Status, Time, Usd } from '../../parts/shown.tsx';
import { Progress, ProgressLegend } from './progress.tsx';

type Batch = RouteAnswer<'batches.get'>;
type Item = ItemOf<'batches.items'>;

export default function BatchPage() {
  const { batch: batch_id } = useParams({ strict: false }) as { batch: string };
  const batch = useOne('batches.get', { batch_id });
  const isMoving = batch.data !== undefined && batch.data.counts.queued + batch.data.counts.running > 0;
  useEvery(1500, isMoving, () => void batch.refetch());
  return (
    <LoadedPage above={{ to: '/batches', title: 'Batches' }} query={batch} title="Batch">
      {(found) => <Shown batch={found} isMoving={isMoving} />}
    </LoadedPage>
  );
}

function Shown({ batch, isMoving }: { batch: Batch; isMoving: boolean }) {
  const place = useOrgAndMode();
  const { may } = useRole();
  const items = useList('batches.items', { batch_id: batch.id });
  const reading = useDialogInAddress('item');
  const read = items.rows.find(({ index }) => String(index + 1) === reading.value);
  const columns = columnsWith(useNames(), ({ index }) => reading.open(String(index + 1)));
  useEvery(3000, isMoving && items.rows.length <= 100, items.refetch);
  const stopping = useDialogInAddress('cancel');
  const [isSaving, setIsSaving] = useState(false);
  const [error, setError] = useState<Error | null>(null);
  const save = async (kind: 'csv' | 'jsonl') => {
    setIsSaving(true);
    setError(null);
    try {
      const all = await allPages(place, 'batches.items', { batch_id: batch.id });
      const text =
        kind === 'jsonl' ? all.map((item) => JSON.stringify(item)).join('\n') : asCsv([csvHead, ...all.map(csvLine)]);
      saveFile(`${batch.id}.${kind}`, text, kind === 'csv' ? 'text/csv' : 'application/x-ndjson');
    } catch (failure) {
      setError(failure as Error);
    } finally {
      setIsSaving(false);
    }
  };
  const took = batch.completed_at === null ? null : Date.parse(batch.completed_at) - Date.parse(batch.created_at);
  return (
    <Page
      above={{ to: '/batches', title: 'Batches' }}
      actions={
        <>
          {batch.status === 'running' && (
            <Button disabled={!may('batches.cancel')} look="danger-quiet" onClick={() => stopping.open()}>
              Stop
            </Button>
          )}
          <Button disabled={isSaving} onClick={() => void save('jsonl')}>
            Download JSONL
          </Button>
          <Button isBusy={isSaving} onClick={() => void save('csv')}>
            Download CSV
          </Button>
          {batch.completed_at !== null && (
            <DeleteButton
              back="/batches"
              fields={{ batch_id: batch.id }}
              loses="The batch and its list of items are deleted. The conversations and tasks of the items stay. Its cost stays in the usage report."
              noun="batch"
              row="batches.delete"
            />
          )}
        </>
      }
      request={items.request}
      tabTitle="Batch"
      title={`Batch of ${count(batch.item_count)} ${batch.item_count === 1 ? 'item' : 'items'}`}
    >
      {error && <Fault className="mb-3" error={error} />}
      <div className="panel mb-6 p-4">
        <div className="mb-2 flex flex-wrap items-center gap-3">
          <Status>{batch.status}</Status>
          <span className="figures grow">
            {count(batch.item_count - batch.counts.queued - batch.counts.running)} of {count(batch.item_count)} done
          </span>
          <Usd value={batch.spend_usd} />
        </div>
        <Progress counts={batch.counts} isTall total={batch.item_count} />
        <ProgressLegend counts={batch.counts} />
      </div>
      <Section title="Items">
        <DataTable columns={columns} empty={null} label="Items" list={items} />
      </Section>
      <Section title="Details">
        <Facts
          rows={[
            ['Id', <Id key="id">{batch.id}</Id>],
            [
              'Deployment',
              batch.deployment_id === null ? 'deleted' : <DeploymentLink id={batch.deployment_id} key="deployment" />,
            ],
            ['Concurrency', count(batch.concurrency)],
            ['Started', <Time at={batch.created_at} key="begun" />],
            ['Duration', took === null ? 'running' : duration(took)],
          ]}
        />
      </Section>
      {read && <ItemDialog item={read} onClose={reading.close} />}
      {stopping.value && (
        <ConfirmChange
          act="Stop batch"
          fields={{ batch_id: batch.id }}
          loses={`${count(batch.counts.queued)} queued items are cancelled. Running items finish.`}
          notice="Batch stopped"
          onClose={stopping.close}
          row="batches.cancel"
          title="Stop this batch?"
        />
      )}
    </Page>
  );
}

const columnsWith = (names: Names, open: (item: Item) => void): Column<Item>[] => [
  { id: 'index', header: '#', width: '3rem', align: 'end', cell: ({ index }) => index + 1 },
  {
    id: 'status',
    header: 'Status',
    width: '6rem',
    cell: ({ status }) => <Status tone={status === 'succeeded' ? 'good' : undefined}>{status}</Status>,
  },
  {
    id: 'user',
    header: 'User',
    width: '9rem',
    isWideOnly: true,
    cell: ({ user_id }) =>
      user_id === null ? (
        <span className="text-quiet">The org’s own agent</span>
      ) : (
        <UserName id={user_id} names={names} />
      ),
  },
  {
    id: 'result',
    header: 'Result',
    cell: (item) => {
      if (!item.error && !item.result) return null;
      return (
        <button
          className={`max-w-full truncate text-left underline-offset-2 hover:underline ${item.error ? 'text-danger' : ''}`}
          onClick={() => open(item)}
          type="button"
        >
          {item.error ? item.error.message : <ModelLine text={textOf(item) || 'Open'} />}
        </button>
      );
    },
  },
  {
    id: 'conversation',
    header: 'Conversation',
    width: '7rem',
    isLargeOnly: true,
    cell: ({ conversation_id }) =>
      conversation_id && (
        <PageLink className="text-accent underline underline-offset-2" to={`/conversations/${conversation_id}`}>
          open
        </PageLink>
      ),
  },
  {
    id: 'done',
    header: 'Finished',
    width: '6rem',
    isWideOnly: true,
    cell: ({ finished_at }) => <Time at={finished_at} />,
  },
];

const textOf = ({ result }: Item): string => result?.text ?? result?.reply ?? '';

/** The whole result of an item, as its conversation shows it. */
function ItemDialog({ item, onClose }: { item: Item; onClose: () => void }) {
  const { index, status, result, error, conversation_id } = item;
  const text = textOf(item);
  return (
    <Dialog isOpen onClose={onClose} title={`Result of item ${index + 1}`} width="wide">
      <div className="mb-3 flex flex-wrap items-center gap-3">
        <Status tone={status === 'succeeded' ? 'good' : undefined}>{status}</Status>
        {conversation_id && (
          <PageLink className="text-accent underline underline-offset-2" to={`/conversations/${conversation_id}`}>
            Open conversation
          </PageLink>
        )}
        {text !== '' && (
          <span className="ml-auto">
            <AsWrittenToggle />
          </span>
        )}
      </div>
      {error && <Fault error={new VestraError(error.message, { code: error.code })} />}
      {text !== '' && <ModelText text={text} />}
      {result?.data !== null && result?.data !== undefined && (
        <div className="mt-3">
          <CodeBlock code={JSON.stringify(result.data, null, 2)} label="Data" />
        </div>
      )}
    </Dialog>
  );
}

const csvHead = ['index', 'user_id', 'status', 'text', 'data', 'error', 'conversation_id', 'task_id', 'finished_at'];
const csvLine = (item: Item) => [
  item.index,
  item.user_id,
  item.status,
  item.result?.text ?? item.result?.reply,
  item.result?.data === undefined || item.result?.data === null ? '' : JSON.stringify(item.result.data),
  item.error && `${item.error.code}: ${item.error.message}`,
  item.conversation_id,
  item.task_id,
  item.finished_at,
];
