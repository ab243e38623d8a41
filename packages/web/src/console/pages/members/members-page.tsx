import { useState } from 'react';
import { useAccess } from '../../access/session.ts';
import { useOrgAndMode, useRole } from '../../data/api.ts';
import { useEvery } from '../../data/every.ts';
import { useChange, useList } from '../../data/queries.ts';
import type { ItemOf } from '../../data/rows.ts';
import { ConfirmChange } from '../../parts/confirm.tsx';
import type { Column } from '../../parts/data-table.tsx';
import { useDialogInAddress } from '../../parts/dialog-in-address.ts';
import { Fault } from '../../parts/fault.tsx';
import { FormDialog, SelectField, TextField } from '../../parts/form.tsx';
import { PageLink } from '../../parts/page-link.tsx';
import { ResourceList } from '../../parts/resource-list.tsx';
import { RowMenu } from '../../parts/row-menu.tsx';
import { SecretOnce } from '../../parts/secret-once.tsx';
import { exactTime, Status, Time } from '../../parts/shown.tsx';

type Member = ItemOf<'members.list'>;

const viewer = ['viewer', 'Viewer: reads conversations and agents, changes nothing'] as const;
const developer = ['developer', 'Developer: builds and runs agents'] as const;
const admin = ['admin', 'Admin: also keys, members, limits and usage'] as const;
const owner = ['owner', 'Owner: also other owners'] as const;

const askEveryMs = 4000;

export default function MembersPage() {
  const members = useList('members.list', {});
  // There are no member events, so the short list is polled.
  useEvery(askEveryMs, true, members.refetch);
  const { role, may } = useRole();
  const { mode } = useOrgAndMode();
  const { session } = useAccess();
  const changing = useDialogInAddress('change');
  const removing = useDialogInAddress('remove');
  const [link, setLink] = useState<{ title: string; url: string } | null>(null);
  const changed = members.rows.find(({ id }) => id === changing.value);
  const removed = members.rows.find(({ id }) => id === removing.value);
  const reset = useChange('members.resetPassword', {
    onDone: ({ email, reset_url, reset_expires_at }) =>
      setLink({
        title: `Password reset link for ${email}, valid until ${exactTime(reset_expires_at)}`,
        url: reset_url,
      }),
  });
  const roles = role === 'owner' ? [viewer, developer, admin, owner] : [viewer, developer, admin];
  // Only owners may change owners. The server enforces this too.
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
    <ResourceList
      above={reset.error && <Fault className="mb-4" error={reset.error} />}
      columns={columns}
      create={{
        label: 'Invite',
        row: 'members.invite',
        param: 'invite',
        dialog: (close) => (
          <FormDialog
            description={mode === 'test' ? 'Members have access to live mode too.' : undefined}
            initial={{ email: '', role: 'developer' }}
            onClose={close}
            onDone={({ email, invite_url, invite_expires_at }) => {
              close();
              setLink({
                title: `Invitation link for ${email}, valid until ${exactTime(invite_expires_at)}`,
                url: invite_url,
              });
            }}
            row="members.invite"
            submit="Invite"
            title="Invite a member"
          >
            <TextField
              hint="No email is sent. You get a link to share with them."
              label="Email"
              name="email"
              type="email"
            />
            <SelectField hint="Decides what they can see and do." label="Role" name="role" options={roles} />
          </FormDialog>
        ),
      }}
      empty={{ icon: 'members', title: 'No members yet', text: 'Invite the first member by email address.' }}
      lead={
        <>
          People who can use this console, in both modes.{' '}
          <PageLink className="text-accent underline underline-offset-2" to="/account">
            Your account
          </PageLink>
        </>
      }
      list={members}
      title="Members"
    >
      {changed && (
        <FormDialog
          fields={{ member_id: changed.id }}
          initial={{ name: changed.name ?? '', role: changed.role }}
          notice="Saved"
          onClose={changing.close}
          row="members.update"
          submit="Save"
          title={`Edit ${changed.email}`}
        >
          <TextField hint="Shown to other members." label="Name" name="name" />
          <SelectField hint="The last owner cannot be demoted." label="Role" name="role" options={roles} />
        </FormDialog>
      )}
      {removed && (
        <ConfirmChange
          act="Remove member"
          fields={{ member_id: removed.id }}
          loses={
            <>
              <strong className="break-all text-foreground">{removed.email}</strong> is signed out everywhere and loses
              access. API keys they created stay valid.
            </>
          }
          notice="Member removed"
          onClose={removing.close}
          row="members.remove"
          title="Remove this member?"
        />
      )}
      {link && <SecretOnce onClose={() => setLink(null)} secret={link.url} title={link.title} />}
    </ResourceList>
  );
}
