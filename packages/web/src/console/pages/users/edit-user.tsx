import type { Answer } from '../../data/rows.ts';
import { Dialog } from '../../parts/dialog.tsx';
import { ChangeForm, TextField } from '../../parts/form.tsx';
import { say } from '../../parts/notices.tsx';

const cleared = (value: unknown) => (value === '' ? null : value);

export function EditUser({ user, onClose }: { user: Answer<'users.get'>; onClose: () => void }) {
  return (
    <Dialog isOpen onClose={onClose} title={`Edit ${user.id}`}>
      <ChangeForm
        fields={{ user_id: user.id }}
        initial={{
          name: user.name ?? '',
          email: user.email ?? '',
          locale: user.locale ?? '',
          timezone: user.timezone ?? '',
          spend_cap_usd: user.spend_cap_usd ?? '',
          monthly_cap_usd: user.monthly_cap_usd ?? '',
          default_deployment: user.default_deployment ?? '',
        }}
        onCancel={onClose}
        onDone={() => {
          say('Saved');
          onClose();
        }}
        row="users.update"
        send={(values) => Object.fromEntries(Object.entries(values).map(([name, value]) => [name, cleared(value)]))}
        submit="Save"
      >
        <TextField label="Name" name="name" />
        <TextField label="Email" name="email" type="email" />
        <TextField label="Language" name="locale" placeholder="en" />
        <TextField label="Time zone" name="timezone" placeholder="Europe/Berlin" />
        <TextField label="Daily cap" name="spend_cap_usd" type="number" />
        <TextField label="Monthly cap" name="monthly_cap_usd" type="number" />
        <TextField label="Deployment" name="default_deployment" />
      </ChangeForm>
    </Dialog>
  );
}
