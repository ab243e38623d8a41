import { useState } from 'react';
import type { Answer } from '../../data/rows.ts';
import { Button } from '../../parts/button.tsx';
import { CopyButton } from '../../parts/copy.tsx';
import { Dialog, DialogActions } from '../../parts/dialog.tsx';
import { ChangeForm, SelectField, TextField, useForm } from '../../parts/form.tsx';
import { say } from '../../parts/notices.tsx';
import type { App } from './app.ts';

/** Begins a connection for a user: by a link that they open, or with a key of theirs. */
export function ConnectApp({ apps, chosen, onClose }: { apps: readonly App[]; chosen: string; onClose: () => void }) {
  const [begun, setBegun] = useState<Answer<'connections.create'> | null>(null);
  const connectable = apps.filter((app) => app.connectable);
  if (begun?.connect_url) {
    return (
      <Dialog
        description="Send this link to the user. They sign in there with their own account."
        isOpen
        onClose={onClose}
        title="Sign-in link"
      >
        <div className="flex items-center gap-1 rounded-md border bg-muted p-2">
          <code className="min-w-0 grow break-all font-mono text-sm">{begun.connect_url}</code>
          <CopyButton label="Copy the link" text={begun.connect_url} />
        </div>
        <DialogActions>
          <Button look="primary" onClick={onClose}>
            Done
          </Button>
        </DialogActions>
      </Dialog>
    );
  }
  return (
    <Dialog isOpen onClose={onClose} title="Connect an app">
      <ChangeForm
        initial={{
          app: connectable.some(({ id }) => id === chosen) ? chosen : (connectable[0]?.id ?? ''),
          user_id: '',
          api_key: '',
        }}
        onCancel={onClose}
        onDone={(connection) => {
          if (connection.connect_url) return setBegun(connection);
          say('Connected');
          onClose();
        }}
        row="connections.create"
        submit="Connect"
      >
        <SelectField label="App" name="app" options={connectable.map(({ id, name }) => [id, name] as const)} />
        <TextField label="User" name="user_id" placeholder="ada" />
        <KeyOfUser apps={connectable} />
      </ChangeForm>
    </Dialog>
  );
}

function KeyOfUser({ apps }: { apps: readonly App[] }) {
  const { values } = useForm();
  const app = apps.find(({ id }) => id === values.app);
  if (!app?.api_key) return null;
  return (
    <TextField
      autoComplete="new-password"
      hint={app.api_key.note}
      isMono
      label="API key of the user"
      name="api_key"
      type="password"
    />
  );
}
