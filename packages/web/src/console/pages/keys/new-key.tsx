import { usePlace, useRole } from '../../data/api.ts';
import { Dialog } from '../../parts/dialog.tsx';
import { ChangeForm, ChoicesField, SelectField, TextField } from '../../parts/form.tsx';

const scopes = [
  ['runtime', 'runtime', 'For apps: conversations, tasks, users, files'],
  ['setup', 'setup', 'For pipelines: deployments, knowledge, tools, secrets'],
  ['admin', 'admin', 'For administration: keys, members, limits, usage, org settings'],
] as const;
const all = ['all', 'all', 'Full access, including owners'] as const;

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
