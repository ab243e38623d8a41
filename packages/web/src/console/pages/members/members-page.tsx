import { useState } from 'react';
import { useAccess } from '../../access/session.ts';
import { usePlace, useRole } from '../../data/api.ts';
import { useEvery } from '../../data/every.ts';
import { useChange, useList } from '../../data/queries.ts';
import type { ItemOf } from '../../data/rows.ts';
import { Button } from '../../parts/button.tsx';
import { ConfirmDialog } from '../../parts/confirm.tsx';
import { type Column, DataTable } from '../../parts/data-table.tsx';
import { Dialog } from '../../parts/dialog.tsx';
import { useDialogInAddress } from '../../parts/dialog-in-address.ts';
import { EmptyState } from '../../parts/empty-state.tsx';
import { Fault } from '../../parts/fault.tsx';
import { ChangeForm, SelectField, TextField } from '../../parts/form.tsx';
import { Icon } from '../../parts/icons.tsx';
import { say } from '../../parts/notices.tsx';
import { Page } from '../../parts/page.tsx';
import { PageLink } from '../../parts/page-link.tsx';
import { RowMenu } from '../../parts/row-menu.tsx';
import { SecretOnce } from '../../parts/secret-once.tsx';
import { exactTime, Status, Time } from '../../parts/shown.tsx';

type Member = ItemOf<'members.list'>;

const developer = ['developer', 'Developer: builds and runs agents'] as const;
const admin = ['admin', 'Admin: also keys, members, limits and usage'] as const;
const owner = ['owner', 'Owner: also other owners'] as const;

const askEveryMs = 4000;

export default function MembersPage() {
  const members = useList('members.list', {});
  // No event tells of members, of whom there are few.
  useEvery(askEveryMs, true, members.refetch);
  const { role, may } = useRole();
  const { mode } = usePlace();
  const { session } = useAccess();
  const inviting = useDialogInAddress('invite');
  const changing = useDialogInAddress('change');
  const removing = useDialogInAddress('remove');
  const [link, setLink] = useState<{ title: string; url: string } | null>(null);
  const named = (id: string | null) => members.rows.find((member) => member.id === id);
  const reset = useChange('members.resetPassword', {
    onDone: ({ email, reset_url, reset_expires_at }) =>
      setLink({
        title: `Password reset link for ${email}, valid until ${exactTime(reset_expires_at)}`,
        url: reset_url,
      }),
  });
  const roles = role === 'owner' ? [developer, admin, owner] : [developer, admin];
  // Whoever is no owner may not touch one; the server refuses it as well.
  const mayTouch = (member: Member) => role === 'owner' || member.role !== 'owner';

  const columns: Column<Member>[] = [
    {
      id: 'name',
      header: 'Member',
      cell: ({ name, email, id }) => (
        <>
          {name ?? email}
          {id === session?.member.id && <span className="text-quiet"> (you)</span>}
        </>
      ),
    },
    {
      id: 'email',
      header: 'Email',
      isWideOnly: true,
      cell: ({ email }) => <span className="text-quiet">{email}</span>,
    },
    { id: 'role', header: 'Role', width: '6rem', cell: (member) => member.role },
    {
      id: 'status',
      header: 'Status',
      width: '5rem',
      isWideOnly: true,
      cell: ({ status }) => <Status>{status}</Status>,
    },
    {
      id: 'since',
      header: 'Joined',
      width: '6.5rem',
      isWideOnly: true,
      cell: ({ created_at }) => <Time at={created_at} />,
    },
    {
      id: 'actions',
      header: '',
      width: '2rem',
      cell: (member) => (
        <RowMenu
          items={[
            {
              label: 'Edit',
              icon: 'settings',
              run: () => changing.open(member.id),
              isOff: !may('members.update') || !mayTouch(member),
            },
            {
              label: 'Create password reset link',
              icon: 'key',
              run: () => reset.run({ member_id: member.id }),
              isOff: !may('members.resetPassword') || !mayTouch(member) || member.status !== 'active',
            },
            'line',
            {
              label: 'Remove',
              icon: 'trash',
              isDanger: true,
              run: () => removing.open(member.id),
              isOff: !may('members.remove') || !mayTouch(member),
            },
          ]}
          of={member.name ?? member.email}
        />
      ),
    },
  ];

  return (
    <Page
      actions={
        may('members.invite') && (
          <Button look="primary" onClick={() => inviting.open()}>
            <Icon name="plus" /> Invite
          </Button>
        )
      }
      lead={
        <>
          People who can use this console, in both modes.{' '}
          <PageLink className="underline underline-offset-2" to="/account">
            {' '}
            Your account{' '}
          </PageLink>
        </>
      }
      request={members.request}
      title="Members"
    >
      {reset.error && <Fault className="mb-4" error={reset.error} />}
      <DataTable
        columns={columns}
        empty={
          <EmptyState icon="members" title="No members yet">
            Invite the first member by email address.
          </EmptyState>
        }
        label="Members"
        list={members}
      />
      {inviting.value && (
        <Dialog
          description={mode === 'test' ? 'Members have access to live mode too.' : undefined}
          isOpen
          onClose={inviting.close}
          title="Invite a member"
        >
          <ChangeForm
            initial={{ email: '', role: 'developer' }}
            onCancel={inviting.close}
            onDone={({ email, invite_url, invite_expires_at }) => {
              inviting.close();
              setLink({
                title: `Invitation link for ${email}, valid until ${exactTime(invite_expires_at)}`,
                url: invite_url,
              });
            }}
            row="members.invite"
            submit="Invite"
          >
            <TextField
              hint="No email is sent. You get a link to share with them."
              label="Email"
              name="email"
              type="email"
            />
            <SelectField hint="Decides what they can see and do." label="Role" name="role" options={roles} />
          </ChangeForm>
        </Dialog>
      )}
      <ChangeMember member={named(changing.value)} onClose={changing.close} roles={roles} />
      <RemoveMember member={named(removing.value)} onClose={removing.close} />
      {link && <SecretOnce onClose={() => setLink(null)} secret={link.url} title={link.title} />}
    </Page>
  );
}

function ChangeMember(props: {
  member: Member | undefined;
  roles: readonly (readonly [string, string])[];
  onClose: () => void;
}) {
  const { member, roles, onClose } = props;
  if (!member) return null;
  return (
    <Dialog isOpen onClose={onClose} title={`Edit ${member.email}`}>
      <ChangeForm
        fields={{ member_id: member.id }}
        initial={{ name: member.name ?? '', role: member.role }}
        onCancel={onClose}
        onDone={() => {
          say('Saved');
          onClose();
        }}
        row="members.update"
        submit="Save"
      >
        <TextField hint="Shown to other members." label="Name" name="name" />
        <SelectField hint="The last owner cannot be demoted." label="Role" name="role" options={roles} />
      </ChangeForm>
    </Dialog>
  );
}

function RemoveMember({ member, onClose }: { member: Member | undefined; onClose: () => void }) {
  const remove = useChange('members.remove', {
    onDone: () => {
      say('Member removed');
      onClose();
    },
  });
  if (!member) return null;
  return (
    <ConfirmDialog
      act="Remove member"
      error={remove.error}
      isOpen
      isRunning={remove.isRunning}
      loses={
        <>
          <strong className="break-all text-foreground">{member.email}</strong> is signed out everywhere and loses
          access. API keys they created stay valid.
        </>
      }
      onClose={onClose}
      request={remove.requestOf({ member_id: member.id })}
      run={() => remove.run({ member_id: member.id })}
      title="Remove this member?"
    />
  );
}
