import { identityError } from '../../access/identity-errors.ts';
import { readSession } from '../../access/session.ts';
import { useChange, useList, useOne } from '../../data/queries.ts';
import type { ItemOf } from '../../data/rows.ts';
import { Button } from '../../parts/button.tsx';
import { type Column, DataTable } from '../../parts/data-table.tsx';
import { Fault } from '../../parts/fault.tsx';
import { useFilters } from '../../parts/filters.tsx';
import { ChangeForm, TextField } from '../../parts/form.tsx';
import { McpClients } from '../../parts/mcp-clients.tsx';
import { say } from '../../parts/notices.tsx';
import { Loaded, Page, Section } from '../../parts/page.tsx';
import { Status, Time } from '../../parts/shown.tsx';
import { CompanyAccount } from './company-account.tsx';
import { Passkeys } from './passkeys.tsx';

type SignIn = ItemOf<'consoleAccount.signIns'>;

export default function AccountPage() {
  const account = useOne('consoleAccount.show', {});
  const [{ sign_in_error: code }, setFilters] = useFilters('sign_in_error');
  return (
    <Page
      lead="Your name, your sign-in methods, the MCP clients you authorized, and your active sign-ins."
      request={account.request}
      title="Your account"
    >
      {code && (
        <div className="mb-5 flex items-start gap-3 rounded-md bg-warn-soft px-3 py-2.5 text-warn" role="alert">
          <p className="grow">{identityError(code)}</p>
          <Button look="quiet" onClick={() => setFilters({ sign_in_error: undefined })} shape="small">
            Close
          </Button>
        </div>
      )}
      <Loaded query={account}>
        {({ member, has_password, ...found }) => (
          <div className="grid items-start gap-x-8 lg:grid-cols-2">
            <Section title="Name">
              <div className="panel p-4">
                <ChangeForm
                  initial={{ name: member.name ?? '' }}
                  onDone={() => {
                    say('Saved');
                    // The navigation shows the name too.
                    void readSession();
                  }}
                  row="consoleAccount.update"
                  submit="Save name"
                  touches={['members']}
                >
                  <TextField autoComplete="name" label="Name" name="name" />
                </ChangeForm>
                <p className="mt-3 text-quiet text-sm">
                  {member.email}, {member.role}
                </p>
              </div>
            </Section>
            {has_password && (
              <Section title="Password">
                <ChangePassword />
              </Section>
            )}
            {(found.has_identity_provider || found.linked_identity) && (
              <Section title="Company account">
                <CompanyAccount hasPassword={has_password} linked={found.linked_identity} />
              </Section>
            )}
            {has_password && <Passkeys />}
          </div>
        )}
      </Loaded>
      {account.data && <McpClients memberId={account.data.member.id} />}
      <SignIns />
    </Page>
  );
}

function ChangePassword() {
  const account = useOne('consoleAccount.show', {});
  return (
    <div className="panel p-4">
      <ChangeForm
        initial={{ password: '', new_password: '' }}
        // The key resets the form after a change.
        key={account.dataUpdatedAt}
        onDone={() => {
          say('Password changed. All other browsers are signed out.');
          void readSession();
        }}
        row="consoleAccount.changePassword"
        submit="Change password"
      >
        <TextField
          autoComplete="current-password"
          hint="The one that you sign in with today."
          label="Current password"
          name="password"
          type="password"
        />
        <TextField
          autoComplete="new-password"
          hint="At least 12 characters. Changing it signs out all other browsers."
          label="New password"
          name="new_password"
          type="password"
        />
      </ChangeForm>
    </div>
  );
}

function SignIns() {
  const signIns = useList('consoleAccount.signIns', {});
  const end = useChange('consoleAccount.endSignIn', { onDone: () => say('Signed out') });
  const endOthers = useChange('consoleAccount.endOtherSignIns', {
    onDone: ({ ended }) => say(ended === 1 ? 'Signed out of 1 browser' : `Signed out of ${ended} browsers`),
  });
  const columns: Column<SignIn>[] = [
    {
      id: 'device',
      header: 'Browser',
      cell: ({ device, is_current }) => (
        <>
          {device} {is_current && <Status tone="good">current</Status>}
        </>
      ),
    },
    {
      id: 'ip',
      header: 'IP address',
      width: '9rem',
      isWideOnly: true,
      cell: ({ ip }) => <span className="figures text-quiet">{ip}</span>,
    },
    {
      id: 'in',
      header: 'Signed in',
      width: '6.5rem',
      isWideOnly: true,
      cell: ({ created_at }) => <Time at={created_at} />,
    },
    { id: 'seen', header: 'Last used', width: '6rem', cell: ({ last_seen_at }) => <Time at={last_seen_at} /> },
    {
      id: 'end',
      header: '',
      width: '5.5rem',
      align: 'end',
      cell: ({ id, is_current }) =>
        !is_current && (
          <Button onClick={() => end.run({ console_session_id: id })} shape="small">
            Sign out
          </Button>
        ),
    },
  ];
  return (
    <Section
      actions={
        <Button isBusy={endOthers.isRunning} onClick={() => endOthers.run({})}>
          Sign out everywhere else
        </Button>
      }
      title="Active sign-ins"
    >
      {(end.error ?? endOthers.error) && <Fault className="mb-3" error={(end.error ?? endOthers.error) as Error} />}
      <DataTable columns={columns} empty={null} label="Sign-ins" list={signIns} />
    </Section>
  );
}
