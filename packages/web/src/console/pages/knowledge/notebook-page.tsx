import { useParams } from '@tanstack/react-router';
import { useOrgAndMode, useRole } from '../../data/api.ts';
import { useEvery } from '../../data/every.ts';
import { useList, useOne } from '../../data/queries.ts';
import type { ItemOf, RouteAnswer } from '../../data/rows.ts';
import { ConfirmChange } from '../../parts/confirm.tsx';
import { type Column, DataTable } from '../../parts/data-table.tsx';
import { Dialog } from '../../parts/dialog.tsx';
import { useDialogInAddress } from '../../parts/dialog-in-address.ts';
import { CodeBlock, EmptyState } from '../../parts/empty-state.tsx';
import { FormDialog, SelectField, TextField, useForm } from '../../parts/form.tsx';
import { Spinner } from '../../parts/icons.tsx';
import { ListField, linesOf } from '../../parts/list-field.tsx';
import { Loaded, LoadedPage } from '../../parts/page.tsx';
import { RequestMenu } from '../../parts/request-menu.tsx';
import { ResourcePage } from '../../parts/resource-page.tsx';
import { RowMenu } from '../../parts/row-menu.tsx';
import { bytes, count, Status, Time } from '../../parts/shown.tsx';
import { AddDocuments } from './add-documents.tsx';
import { SearchNotebook } from './search-notebook.tsx';

type Notebook = RouteAnswer<'notebooks.get'>;
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
  const { mode } = useOrgAndMode();
  const documents = useList('notebooks.listDocuments', { notebook_id: notebook.id });
  const reading = useDialogInAddress('document');
  const removing = useDialogInAddress('remove');
  const removed = documents.rows.find(({ id }) => id === removing.value);
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
    <ResourcePage
      above={{ to: '/knowledge', title: 'Knowledge' }}
      edit={{
        row: 'notebooks.update',
        label: 'Settings',
        form: (close) => <EditNotebook notebook={notebook} onClose={close} />,
      }}
      remove={{
        row: 'notebooks.delete',
        fields: { notebook_id: notebook.id },
        noun: 'notebook',
        loses: (
          <>
            <strong className="break-all text-foreground">{notebook.name}</strong> and its{' '}
            {count(notebook.document_count)} documents are deleted. This fails while a live version uses the notebook.
          </>
        ),
        typed: notebook.slug,
      }}
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
      <SearchNotebook isLive={mode === 'live'} notebook={notebook} read={reading.open} />
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
      {removed && (
        <ConfirmChange
          act="Delete document"
          fields={{ notebook_id: removed.notebook_id, document_id: removed.id }}
          loses={
            <>
              <strong className="break-all text-foreground">{removed.title}</strong> is removed{' '}
              {mode === 'live'
                ? 'for live users immediately'
                : 'in test mode, and in live mode with the next promotion'}
              . Saved versions keep it.
            </>
          }
          notice="Document deleted"
          onClose={removing.close}
          row="notebooks.deleteDocument"
          title="Delete this document?"
        />
      )}
    </ResourcePage>
  );
}

function EditNotebook({ notebook, onClose }: { notebook: Notebook; onClose: () => void }) {
  const { access } = notebook;
  return (
    <FormDialog
      title="Notebook settings"
      notice="Saved"
      onClose={onClose}
      fields={{ notebook_id: notebook.id }}
      initial={{
        name: notebook.name,
        description: notebook.description,
        readers: access.mode,
        access: access.mode === 'users' ? access.user_ids.join('\n') : '',
      }}
      row="notebooks.update"
      send={({ name, description, readers, access: users }) => ({
        name,
        description,
        access: readers === 'all' ? { mode: 'all' } : { mode: 'users', user_ids: linesOf(users) },
      })}
      submit="Save"
    >
      <TextField label="Name" name="name" />
      <TextField label="Description" name="description" />
      <SelectField
        hint="The notebook is hidden from agents of other users."
        label="Readers"
        name="readers"
        options={[
          ['all', 'All users'],
          ['users', 'Selected users'],
        ]}
      />
      <NamedReaders />
    </FormDialog>
  );
}

function NamedReaders() {
  const { values } = useForm();
  if (values.readers !== 'users') return null;
  return <ListField hint="User ids, one per line." label="Users" name="access" placeholder="ada" />;
}

/** Longer texts slow the browser down. The API returns the whole text. */
const mostShown = 100_000;

const textLook =
  'max-h-[52dvh] overflow-auto whitespace-pre-wrap break-words rounded-md border bg-muted p-3 font-mono text-xs leading-5';

/** The extracted text of a document, as the agent reads it. */
function ReadDocument({
  notebookId,
  documentId,
  onClose,
}: {
  notebookId: string;
  documentId: string;
  onClose: () => void;
}) {
  const document = useOne('notebooks.getDocument', { notebook_id: notebookId, document_id: documentId });
  return (
    <Dialog isOpen onClose={onClose} title={document.data?.title ?? 'Document'} width="wide">
      <Loaded query={document}>
        {({ text, content_type, bytes: size }) => (
          <>
            <div className="mb-2 flex items-center gap-3 text-quiet text-sm">
              <span>
                {content_type}, {bytes(size)} of extracted text
              </span>
              <span className="ml-auto">
                <RequestMenu request={document.request} />
              </span>
            </div>
            {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a scrollable area must be reachable by keyboard. */}
            <pre className={textLook} tabIndex={0}>
              {text.slice(0, mostShown)}
            </pre>
            {text.length > mostShown && (
              <p className="mt-2 text-quiet text-sm">
                Showing the first 100,000 of {text.length.toLocaleString('en-US')} characters.
              </p>
            )}
          </>
        )}
      </Loaded>
    </Dialog>
  );
}
