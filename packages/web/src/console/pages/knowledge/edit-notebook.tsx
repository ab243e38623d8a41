import type { Answer } from '../../data/rows.ts';
import { Dialog } from '../../parts/dialog.tsx';
import { ChangeForm, SelectField, TextField, useForm } from '../../parts/form.tsx';
import { ListField, linesOf } from '../../parts/list-field.tsx';
import { say } from '../../parts/notices.tsx';

export function EditNotebook({ notebook, onClose }: { notebook: Answer<'notebooks.get'>; onClose: () => void }) {
  const { access } = notebook;
  return (
    <Dialog isOpen onClose={onClose} title="Notebook settings">
      <ChangeForm
        fields={{ notebook_id: notebook.id }}
        initial={{
          name: notebook.name,
          description: notebook.description,
          readers: access.mode,
          access: access.mode === 'users' ? access.user_ids.join('\n') : '',
        }}
        onCancel={onClose}
        onDone={() => {
          say('Saved');
          onClose();
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
      </ChangeForm>
    </Dialog>
  );
}

function NamedReaders() {
  const { values } = useForm();
  if (values.readers !== 'users') return null;
  return <ListField hint="User ids, one per line." label="Users" name="access" placeholder="ada" />;
}
