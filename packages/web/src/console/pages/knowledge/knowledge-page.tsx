import { useList } from '../../data/queries.ts';
import type { ItemOf } from '../../data/rows.ts';
import type { Column } from '../../parts/data-table.tsx';
import { FormDialog, TextField } from '../../parts/form.tsx';
import { useGo } from '../../parts/page-link.tsx';
import { ResourceList } from '../../parts/resource-list.tsx';
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
  return (
    <ResourceList
      columns={columns}
      create={{
        label: 'Create notebook',
        row: 'notebooks.create',
        dialog: (close) => <NewNotebook onClose={close} />,
      }}
      empty={{
        icon: 'book',
        title: 'No notebooks yet',
        text: 'Create a notebook for each topic, such as help pages or a price list, and upload files to it.',
        example: { label: 'Add a notebook to a deployment file:', code: 'knowledge:\n  - notebook: nb_…' },
      }}
      label="Notebooks"
      lead="Documents that agents search before they answer. A deployment file lists its notebooks, and each version keeps the documents it was saved with."
      linkOf={({ id }) => `/knowledge/${id}`}
      list={notebooks}
      title="Knowledge"
    />
  );
}

function NewNotebook({ onClose }: { onClose: () => void }) {
  const go = useGo();
  return (
    <FormDialog
      initial={{ name: '', slug: '', description: '' }}
      onClose={onClose}
      onDone={({ id }) => go(`/knowledge/${id}`)}
      row="notebooks.create"
      submit="Create notebook"
      title="Create a notebook"
    >
      <TextField label="Name" name="name" placeholder="Help center" />
      <TextField isMono label="Slug" name="slug" placeholder="help-center" />
      <TextField label="Description" name="description" placeholder="Answers to common customer questions" />
    </FormDialog>
  );
}
