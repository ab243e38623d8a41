import { useParams } from '@tanstack/react-router';
import { useState } from 'react';
import { useRole } from '../../data/api.ts';
import { useChange, useOne } from '../../data/queries.ts';
import type { Request, RouteAnswer } from '../../data/rows.ts';
import { Button } from '../../parts/button.tsx';
import { ConfirmChange } from '../../parts/confirm.tsx';
import { CopyButton } from '../../parts/copy.tsx';
import { Dialog, DialogActions } from '../../parts/dialog.tsx';
import { useDialogInAddress } from '../../parts/dialog-in-address.ts';
import { Fault } from '../../parts/fault.tsx';
import { useFilters } from '../../parts/filters.tsx';
import { ChangeForm, CheckField, FormDialog, SelectField, TextField } from '../../parts/form.tsx';
import { SpendMeter } from '../../parts/meter.tsx';
import { say } from '../../parts/notices.tsx';
import { Facts, LoadedPage, Page } from '../../parts/page.tsx';
import { PageLink, useGo } from '../../parts/page-link.tsx';
import { Status, Time } from '../../parts/shown.tsx';
import { Tabs } from '../../parts/tabs.tsx';
import { UserComputer } from './user-computer.tsx';
import { UserFiles } from './user-files.tsx';
import { UserMemory } from './user-memory.tsx';

type User = RouteAnswer<'users.get'>;

export default function UserPage() {
  const { user: user_id } = useParams({ strict: false }) as { user: string };
  const user = useOne('users.get', { user_id });
  return (
    <LoadedPage above={{ to: '/users', title: 'Users' }} query={user} title="User">
      {(found) => <Shown key={found.id} request={user.request} user={found} />}
    </LoadedPage>
  );
}

const parts = [
  ['profile', 'Profile'],
  ['memory', 'Memory'],
  ['files', 'Files'],
  ['computer', 'Browser and computer'],
] as const;

function Shown({ user, request }: { user: User; request: Request }) {
  const { may } = useRole();
  const [{ part = 'profile' }] = useFilters('part');
  const editing = useDialogInAddress('edit');
  const erasing = useDialogInAddress('erase');
  const opening = useDialogInAddress('session');
  const go = useGo();
  const to = `/users/${encodeURIComponent(user.id)}`;
  const turn = useChange('users.update', {
    onDone: ({ status }) => say(status === 'disabled' ? `${user.id} disabled` : `${user.id} enabled`),
  });
  const isActive = user.status === 'active';
  const turnTo = (status: User['status']) => turn.run({ user_id: user.id, status });
  return (
    <Page
      above={{ to: '/users', title: 'Users' }}
      actions={
        <>
          <Button disabled={!may('sessions.create') || !isActive} onClick={() => opening.open()}>
            Session page
          </Button>
          <Button disabled={!may('users.update')} onClick={() => editing.open()}>
            Edit
          </Button>
          <Button
            disabled={!may('users.update')}
            isBusy={turn.isRunning}
            onClick={() => turnTo(isActive ? 'disabled' : 'active')}
          >
            {isActive ? 'Disable' : 'Enable'}
          </Button>
          <Button disabled={!may('users.delete')} look="danger-quiet" onClick={() => erasing.open()}>
            Erase
          </Button>
        </>
      }
      request={request}
      tabTitle={user.id}
      title={
        <span className="flex flex-wrap items-center gap-2">
          <span className="break-all">{user.name || user.id}</span>
          {!isActive && <Status>disabled</Status>}
        </span>
      }
    >
      <div className="mb-5 grid gap-3 sm:grid-cols-2">
        <SpendMeter
          cap={user.spend_cap_usd}
          label="Spent today"
          left={user.caps_remaining.day_usd}
          spent={user.spend_today_usd}
        />
        <SpendMeter
          cap={user.monthly_cap_usd}
          label="Spent this month"
          left={user.caps_remaining.month_usd}
          spent={user.spend_month_usd}
        />
      </div>
      <Tabs
        chosen={part}
        label="Sections"
        tabs={parts.map(([id, title]) => ({ id, title, to, ...(id !== 'profile' && { search: { part: id } }) }))}
      />
      {part === 'memory' ? (
        <UserMemory user={user} />
      ) : part === 'files' ? (
        <UserFiles userId={user.id} />
      ) : part === 'computer' ? (
        <UserComputer userId={user.id} />
      ) : (
        <Profile user={user} />
      )}
      {editing.value && <EditUser onClose={editing.close} user={user} />}
      {opening.value && <UserSession onClose={opening.close} userId={user.id} />}
      {erasing.value && (
        <ConfirmChange
          act="Erase user"
          fields={{ user_id: user.id }}
          loses="Their computer, browser sign-ins, files, memory and messages are erased permanently."
          notice={`${user.id} is being erased`}
          onClose={erasing.close}
          onDone={() => go('/users')}
          row="users.delete"
          title="Erase this user?"
          typed={user.id}
        />
      )}
    </Page>
  );
}

function Profile({ user }: { user: User }) {
  return (
    <>
      <Facts
        rows={[
          [
            'Id',
            <code className="break-all font-mono" key="id">
              {user.id}
            </code>,
          ],
          ['Name', user.name],
          ['Email', user.email],
          ['Language', user.locale],
          ['Time zone', user.timezone],
          ['Deployment', user.default_deployment],
          ['Memory', { vestra: 'stored here', customer: 'stored at your endpoint', none: 'none' }[user.memory_mode]],
          ['Created', <Time at={user.created_at} key="since" />],
          [
            'Metadata',
            Object.keys(user.metadata).length === 0 ? null : (
              <code className="break-all font-mono text-sm" key="metadata">
                {JSON.stringify(user.metadata)}
              </code>
            ),
          ],
        ]}
      />
      <p className="mt-4 flex flex-wrap gap-x-4 gap-y-1">
        {(
          [
            ['/conversations', 'Conversations'],
            ['/tasks', 'Tasks'],
            ['/routines', 'Routines'],
            ['/usage', 'Usage'],
            ['/secrets', 'Secrets'],
          ] as const
        ).map(([page, title]) => (
          <PageLink
            className="text-accent underline underline-offset-2"
            key={page}
            search={{ user_id: user.id }}
            to={page}
          >
            {title}
          </PageLink>
        ))}
      </p>
    </>
  );
}

const cleared = (value: unknown) => (value === '' ? null : value);

function EditUser({ user, onClose }: { user: User; onClose: () => void }) {
  return (
    <FormDialog
      title={`Edit ${user.id}`}
      notice="Saved"
      onClose={onClose}
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
    </FormDialog>
  );
}

/** Creates a session page for the user. */
function UserSession({ userId, onClose }: { userId: string; onClose: () => void }) {
  const [opened, setOpened] = useState<RouteAnswer<'sessions.create'> | null>(null);
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

function Opened({ session, onClose }: { session: RouteAnswer<'sessions.create'>; onClose: () => void }) {
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
