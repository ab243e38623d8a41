import { useParams } from '@tanstack/react-router';
import { usePlace, useRole } from '../../data/api.ts';
import { useEvery } from '../../data/every.ts';
import { useChange, useList, useOne } from '../../data/queries.ts';
import type { Answer, ItemOf } from '../../data/rows.ts';
import { Button } from '../../parts/button.tsx';
import { ConfirmDialog } from '../../parts/confirm.tsx';
import { type Column, DataTable } from '../../parts/data-table.tsx';
import { useDialogInAddress } from '../../parts/dialog-in-address.ts';
import { CodeBlock, EmptyState } from '../../parts/empty-state.tsx';
import { Icon, Spinner } from '../../parts/icons.tsx';
import { say } from '../../parts/notices.tsx';
import { LoadedPage, Page } from '../../parts/page.tsx';
import { useGo } from '../../parts/page-link.tsx';
import { RowMenu } from '../../parts/row-menu.tsx';
import { bytes, count, Status, Time } from '../../parts/shown.tsx';
import { AddDocuments } from './add-documents.tsx';
import { EditNotebook } from './edit-notebook.tsx';
import { ReadDocument } from './read-document.tsx';
import { SearchNotebook } from './search-notebook.tsx';

type Notebook = Answer<'notebooks.get'>;
type Document = ItemOf<'notebooks.listDocuments'>;

export default function NotebookPage() {
  const { notebook: notebook_id } = useParams({ strict: false }) as { notebook: string };
  const notebook = useOne('notebooks.get', { notebook_id });
  return (
    <LoadedPage above={{ to: '/knowledge', title: 'Knowledge' }} query={notebook} title="Notebook">
      {(found) => <Shown key={found.id} notebook={found} />}
    </LoadedPage>
  );
}

function Shown({ notebook }: { notebook: Notebook }) {
  const { may } = useRole();
  const { mode } = usePlace();
  const documents = useList('notebooks.listDocuments', { notebook_id: notebook.id });
  const reading = useDialogInAddress('document');
  const removing = useDialogInAddress('remove');
  const editing = useDialogInAddress('edit');
  const deleting = useDialogInAddress('delete');
  const unindexed = documents.rows.filter(({ indexed }) => !indexed).length;
  useEvery(2000, unindexed > 0, documents.refetch);

  const columns: Column<Document>[] = [
    {
      id: 'title',
      header: 'Document',
      cell: (document) => (
        <button
          className="max-w-full truncate font-medium hover:underline"
          onClick={() => reading.open(document.id)}
          type="button"
        >
          {document.title}
        </button>
      ),
    },
    {
      id: 'type',
      header: 'Type',
      width: '9rem',
      isWideOnly: true,
      cell: ({ content_type }) => <span className="text-quiet">{content_type}</span>,
    },
    {
      id: 'size',
      header: 'Size',
      width: '4.5rem',
      align: 'end',
      isWideOnly: true,
      cell: (document) => bytes(document.bytes),
    },
    {
      id: 'state',
      header: 'Search',
      width: '7.5rem',
      cell: ({ indexed }) =>
        indexed ? (
          <span className="text-quiet">keyword, semantic</span>
        ) : (
          <span className="inline-flex items-center gap-1.5 text-accent">
            <Spinner className="size-3" /> indexing
          </span>
        ),
    },
    {
      id: 'added',
      header: 'Added',
      width: '6.5rem',
      isWideOnly: true,
      cell: (document) => <Time at={document.created_at} />,
    },
    {
      id: 'actions',
      header: '',
      width: '2rem',
      cell: (document) => (
        <RowMenu
          items={[
            { label: 'Open', icon: 'book', run: () => reading.open(document.id) },
            {
              label: 'Delete',
              icon: 'trash',
              isDanger: true,
              run: () => removing.open(document.id),
              isOff: !may('notebooks.deleteDocument'),
            },
          ]}
          of={document.title}
        />
      ),
    },
  ];

  return (
    <Page
      above={{ to: '/knowledge', title: 'Knowledge' }}
      actions={
        <>
          <Button disabled={!may('notebooks.update')} onClick={() => editing.open()}>
            Settings
          </Button>
          <Button
            aria-label="Delete this notebook"
            disabled={!may('notebooks.delete')}
            look="danger-quiet"
            onClick={() => deleting.open()}
            shape="icon"
          >
            <Icon name="trash" />
          </Button>
        </>
      }
      lead={notebook.description || undefined}
      request={documents.request}
      title={notebook.name}
    >
      <p className="mb-4 flex flex-wrap items-center gap-x-4 gap-y-1 text-quiet text-sm">
        <code className="font-mono">{notebook.slug}</code>
        <span>
          {count(notebook.document_count)} of 1,000 documents, {bytes(notebook.bytes)} of 5 MB
        </span>
        {notebook.access.mode === 'users' && (
          <Status tone="accent">{`${notebook.access.user_ids.length} selected users`}</Status>
        )}
      </p>
      {may('notebooks.createDocument') && <AddDocuments isLive={mode === 'live'} notebookId={notebook.id} />}
      <SearchNotebook notebook={notebook} read={reading.open} />
      {unindexed > 0 && (
        <div className="mb-4" role="status">
          <p className="mb-1 text-sm">
            Indexing {unindexed} of {documents.rows.length}
            {documents.hasMore ? '+' : ''} documents. Keyword search already finds them.
          </p>
          <div className="h-1.5 overflow-hidden rounded-full bg-muted">
            <div
              className="h-full rounded-full bg-accent transition-[width] duration-500"
              style={{ width: `${(1 - unindexed / documents.rows.length) * 100}%` }}
            />
          </div>
        </div>
      )}
      <DataTable
        columns={columns}
        empty={
          <EmptyState icon="book" title="No documents yet">
            Upload files above: text, Markdown, HTML, PDF, Word, Excel, PowerPoint, CSV or JSON. Scanned pages contain
            no text: run OCR first.
          </EmptyState>
        }
        label="Documents"
        list={documents}
      />
      <CodeBlock code={`knowledge:\n  - notebook: ${notebook.id}`} label="Add this notebook to a deployment file:" />
      {reading.value && <ReadDocument documentId={reading.value} notebookId={notebook.id} onClose={reading.close} />}
      {editing.value && <EditNotebook notebook={notebook} onClose={editing.close} />}
      <RemoveDocument document={documents.rows.find(({ id }) => id === removing.value)} onClose={removing.close} />
      {deleting.value && <DeleteNotebook notebook={notebook} onClose={deleting.close} />}
    </Page>
  );
}

function RemoveDocument({ document, onClose }: { document: Document | undefined; onClose: () => void }) {
  const { mode } = usePlace();
  const remove = useChange('notebooks.deleteDocument', {
    onDone: () => {
      say('Document deleted');
      onClose();
    },
  });
  if (!document) return null;
  return (
    <ConfirmDialog
      act="Delete document"
      error={remove.error}
      isOpen
      isRunning={remove.isRunning}
      loses={
        <>
          <strong className="break-all text-foreground">{document.title}</strong> is removed{' '}
          {mode === 'live' ? 'for live users immediately' : 'in test mode, and in live mode with the next promotion'}.
          Saved versions keep it.
        </>
      }
      onClose={onClose}
      request={remove.requestOf({ notebook_id: document.notebook_id, document_id: document.id })}
      run={() => remove.run({ notebook_id: document.notebook_id, document_id: document.id })}
      title="Delete this document?"
    />
  );
}

function DeleteNotebook({ notebook, onClose }: { notebook: Notebook; onClose: () => void }) {
  const go = useGo();
  const remove = useChange('notebooks.delete', {
    onDone: () => {
      say('Notebook deleted');
      go('/knowledge');
    },
  });
  return (
    <ConfirmDialog
      act="Delete notebook"
      error={remove.error}
      isOpen
      isRunning={remove.isRunning}
      loses={
        <>
          <strong className="break-all text-foreground">{notebook.name}</strong> and its{' '}
          {count(notebook.document_count)} documents are deleted. This fails while a live version uses the notebook.
        </>
      }
      onClose={onClose}
      request={remove.requestOf({ notebook_id: notebook.id })}
      run={() => remove.run({ notebook_id: notebook.id })}
      title="Delete this notebook?"
      typed={notebook.slug}
    />
  );
}
