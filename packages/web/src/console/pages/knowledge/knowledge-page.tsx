import { useRole } from '../../data/api.ts';
import { useList } from '../../data/queries.ts';
import type { ItemOf } from '../../data/rows.ts';
import { Button } from '../../parts/button.tsx';
import { type Column, DataTable } from '../../parts/data-table.tsx';
import { Dialog } from '../../parts/dialog.tsx';
import { useDialogInAddress } from '../../parts/dialog-in-address.ts';
import { EmptyState } from '../../parts/empty-state.tsx';
import { ChangeForm, TextField } from '../../parts/form.tsx';
import { Icon } from '../../parts/icons.tsx';
import { Page } from '../../parts/page.tsx';
import { useGo } from '../../parts/page-link.tsx';
import { bytes, count, Status, Time } from '../../parts/shown.tsx';

const columns: Column<ItemOf<'notebooks.list'>>[] = [
  { id: 'name', header: 'Notebook', cell: (notebook) => notebook.name },
  {
    id: 'about',
    header: 'Description',
    width: '2fr',
    isWideOnly: true,
    cell: (notebook) => notebook.description,
  },
  {
    id: 'readers',
    header: 'Readers',
    width: '6rem',
    isWideOnly: true,
    cell: ({ access }) =>
      access.mode === 'all' ? (
        <span className="text-quiet">everyone</span>
      ) : (
        <Status tone="accent">{access.user_ids.length === 1 ? '1 user' : `${access.user_ids.length} users`}</Status>
      ),
  },
  {
    id: 'documents',
    header: 'Documents',
    width: '5.5rem',
    align: 'end',
    cell: (notebook) => count(notebook.document_count),
  },
  {
    id: 'size',
    header: 'Size',
    width: '5rem',
    align: 'end',
    isWideOnly: true,
    cell: (notebook) => bytes(notebook.bytes),
  },
  { id: 'changed', header: 'Updated', width: '6.5rem', cell: (notebook) => <Time at={notebook.updated_at} /> },
];

export default function KnowledgePage() {
  const notebooks = useList('notebooks.list', {});
  const { may } = useRole();
  const creating = useDialogInAddress('new');
  const go = useGo();
  const create = may('notebooks.create') && (
    <Button look="primary" onClick={() => creating.open()}>
      <Icon name="plus" /> Create notebook
    </Button>
  );
  return (
    <Page
      actions={create}
      lead="Documents that agents search before they answer. A deployment file lists its notebooks, and each version keeps the documents it was saved with."
      request={notebooks.request}
      title="Knowledge"
    >
      <DataTable
        columns={columns}
        empty={
          <EmptyState
            action={create}
            example={{ label: 'Add a notebook to a deployment file:', code: 'knowledge:\n  - notebook: nb_…' }}
            icon="book"
            title="No notebooks yet"
          >
            Create a notebook for each topic, such as help pages or a price list, and upload files to it.
          </EmptyState>
        }
        label="Notebooks"
        linkOf={({ id }) => `/knowledge/${id}`}
        list={notebooks}
      />
      <Dialog isOpen={creating.value !== null} onClose={creating.close} title="Create a notebook">
        <ChangeForm
          initial={{ name: '', slug: '', description: '' }}
          onCancel={creating.close}
          onDone={({ id }) => go(`/knowledge/${id}`)}
          row="notebooks.create"
          submit="Create notebook"
        >
          <TextField label="Name" name="name" placeholder="Help center" />
          <TextField isMono label="Slug" name="slug" placeholder="help-center" />
          <TextField label="Description" name="description" placeholder="Answers to common customer questions" />
        </ChangeForm>
      </Dialog>
    </Page>
  );
}
