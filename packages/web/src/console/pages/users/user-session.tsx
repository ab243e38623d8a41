import { useState } from 'react';
import { useRole } from '../../data/api.ts';
import { useChange, useOne } from '../../data/queries.ts';
import type { Answer } from '../../data/rows.ts';
import { Button } from '../../parts/button.tsx';
import { CopyButton } from '../../parts/copy.tsx';
import { Dialog, DialogActions } from '../../parts/dialog.tsx';
import { Fault } from '../../parts/fault.tsx';
import { ChangeForm, CheckField, SelectField, TextField } from '../../parts/form.tsx';
import { say } from '../../parts/notices.tsx';
import { Time } from '../../parts/shown.tsx';

/** Opens a page for the user: to chat, to see their screen, or to take it in hand. */
export function UserSession({ userId, onClose }: { userId: string; onClose: () => void }) {
  const [opened, setOpened] = useState<Answer<'sessions.create'> | null>(null);
  if (opened) return <Opened onClose={onClose} session={opened} />;
  return (
    <Dialog
      description="A page for this user only. Anyone with the link acts as the user for 15 minutes."
      isOpen
      onClose={onClose}
      title="Open a session page"
    >
      <ChangeForm
        fields={{ user_id: userId }}
        initial={{ chat: true, screen: 'none', memory: false, deployment: '' }}
        onCancel={onClose}
        onDone={setOpened}
        row="sessions.create"
        send={({ chat, screen, memory, deployment }) => ({
          chat,
          memory,
          ...(screen !== 'none' && { screen }),
          ...(chat === true && deployment !== '' && { deployment }),
        })}
        submit="Open"
      >
        <CheckField label="Chat" name="chat" />
        <SelectField
          label="Screen"
          name="screen"
          options={[
            ['none', 'Off'],
            ['view', 'View'],
            ['control', 'Control'],
          ]}
        />
        <CheckField label="Memory" name="memory" />
        <TextField label="Deployment" name="deployment" />
      </ChangeForm>
    </Dialog>
  );
}

function Opened({ session, onClose }: { session: Answer<'sessions.create'>; onClose: () => void }) {
  const { may } = useRole();
  const state = useOne('sessions.get', { session_id: session.id });
  const end = useChange('sessions.delete', {
    onDone: () => {
      say('Session ended');
      onClose();
    },
  });
  return (
    <Dialog description="The link is shown only once." isOpen onClose={onClose} title="Session page">
      <div className="flex items-center gap-1 rounded-md border bg-muted p-2">
        <code className="min-w-0 grow break-all font-mono text-sm" data-session-url="">
          {session.url}
        </code>
        <CopyButton label="Copy the link" text={session.url} />
      </div>
      <p className="mt-2 text-quiet text-sm">
        Expires <Time at={(state.data ?? session).expires_at} />.
      </p>
      {end.error && <Fault className="mt-3" error={end.error} />}
      <DialogActions>
        <Button
          disabled={!may('sessions.delete')}
          isBusy={end.isRunning}
          look="danger-quiet"
          onClick={() => end.run({ session_id: session.id })}
        >
          {' '}
          End session{' '}
        </Button>
        <Button look="primary" onClick={() => window.open(session.url, '_blank', 'noopener')}>
          {' '}
          Open page{' '}
        </Button>
      </DialogActions>
    </Dialog>
  );
}
