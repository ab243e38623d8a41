import { usePlace, useRole } from '../../data/api.ts';
import { Dialog } from '../../parts/dialog.tsx';
import { ChangeForm, ChoicesField, SelectField, TextField } from '../../parts/form.tsx';

const scopes = [
  ['runtime', 'runtime', 'Conversations, tasks, users, files: what an app needs'],
  ['setup', 'setup', 'Deployments, knowledge, tools, secrets: what a pipeline needs'],
  ['admin', 'admin', 'Keys, members, limits, usage, the org'],
] as const;
const all = ['all', 'all', 'Everything, owners included'] as const;

export function NewKey({
  isOpen,
  onClose,
  onSecret,
}: {
  isOpen: boolean;
  onClose: () => void;
  onSecret: (secret: string) => void;
}) {
  const { mode } = usePlace();
  const { role } = useRole();
  return (
    <Dialog isOpen={isOpen} onClose={onClose} title="Create an API key">
      <ChangeForm
        initial={{ name: '', mode, scopes: ['runtime'] }}
        onCancel={onClose}
        onDone={({ key }) => {
          onClose();
          onSecret(key);
        }}
        row="keys.create"
        submit="Create key"
      >
        <TextField label="Name" name="name" placeholder="billing service" />
        <SelectField
          label="Mode"
          name="mode"
          options={[
            ['test', 'Test'],
            ['live', 'Live'],
          ]}
        />
        <ChoicesField label="Scopes" name="scopes" options={role === 'owner' ? [...scopes, all] : scopes} />
      </ChangeForm>
    </Dialog>
  );
}
