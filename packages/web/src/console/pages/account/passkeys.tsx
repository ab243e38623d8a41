import { useEffect, useRef, useState } from 'react';
import { hasPasskeys, makePasskey } from '../../access/passkey.ts';
import { useChange, useList } from '../../data/queries.ts';
import type { ItemOf, RouteAnswer } from '../../data/rows.ts';
import { Button } from '../../parts/button.tsx';
import { ConfirmChange } from '../../parts/confirm.tsx';
import { type Column, DataTable } from '../../parts/data-table.tsx';
import { Dialog, DialogActions } from '../../parts/dialog.tsx';
import { useDialogInAddress } from '../../parts/dialog-in-address.ts';
import { EmptyState } from '../../parts/empty-state.tsx';
import { Fault } from '../../parts/fault.tsx';
import { ChangeForm, FormDialog, TextField } from '../../parts/form.tsx';
import { Icon } from '../../parts/icons.tsx';
import { say } from '../../parts/notices.tsx';
import { Section, Waiting } from '../../parts/page.tsx';
import { RowMenu } from '../../parts/row-menu.tsx';
import { Time } from '../../parts/shown.tsx';

type Passkey = ItemOf<'passkeys.list'>;

/** The passkeys of the member. */
export function Passkeys() {
  const passkeys = useList('passkeys.list', {});
  const adding = useDialogInAddress('passkey');
  const renaming = useDialogInAddress('rename-passkey');
  const removing = useDialogInAddress('remove-passkey');
  const renamed = passkeys.rows.find(({ id }) => id === renaming.value);
  const removed = passkeys.rows.find(({ id }) => id === removing.value);
  const add = hasPasskeys() && (
    <Button onClick={() => adding.open()}>
      <Icon name="plus" /> Add a passkey
    </Button>
  );
  const columns: Column<Passkey>[] = [
    { id: 'name', header: 'Passkey', cell: ({ name }) => name },
    {
      id: 'made',
      header: 'Added',
      width: '6.5rem',
      isWideOnly: true,
      cell: ({ created_at }) => <Time at={created_at} />,
    },
    { id: 'used', header: 'Last used', width: '6rem', cell: ({ last_used_at }) => <Time at={last_used_at} /> },
    {
      id: 'actions',
      header: '',
      width: '2rem',
      cell: ({ id, name }) => (
        <RowMenu
          items={[
            { label: 'Rename', icon: 'settings', run: () => renaming.open(id) },
            { label: 'Remove', icon: 'trash', isDanger: true, run: () => removing.open(id) },
          ]}
          of={name}
        />
      ),
    },
  ];
  return (
    <Section actions={passkeys.rows.length > 0 && add} title="Passkeys">
      <DataTable
        columns={columns}
        empty={
          <EmptyState action={add} icon="key" title="No passkeys yet">
            A passkey is stored on your phone, computer or security key and unlocked by fingerprint, face or PIN. It
            replaces your password and cannot be phished.
          </EmptyState>
        }
        label="Passkeys"
        list={passkeys}
      />
      {adding.value && <AddPasskey onClose={adding.close} />}
      {renamed && (
        <FormDialog
          fields={{ passkey_id: renamed.id }}
          initial={{ name: renamed.name }}
          notice="Renamed"
          onClose={renaming.close}
          row="passkeys.update"
          submit="Save"
          title={`Rename ${renamed.name}`}
        >
          <TextField label="Name" name="name" />
        </FormDialog>
      )}
      {removed && (
        <ConfirmChange
          act="Remove passkey"
          fields={{ passkey_id: removed.id }}
          loses={
            <>
              <strong className="break-all text-foreground">{removed.name}</strong> no longer signs you in. Existing
              sign-ins stay active. Delete it from the device too, where it is still offered.
            </>
          }
          notice="Removed"
          onClose={removing.close}
          row="passkeys.remove"
          title="Remove this passkey?"
        />
      )}
    </Section>
  );
}

type Begun = { name: string; options: RouteAnswer<'passkeys.beginRegistration'>['options'] };

/** Asks for the password first, then for the device. */
function AddPasskey({ onClose }: { onClose: () => void }) {
  const [begun, setBegun] = useState<Begun | null>(null);
  return (
    <Dialog isOpen onClose={onClose} title="Add a passkey">
      {begun ? (
        <AtDevice {...begun} beginAgain={() => setBegun(null)} onClose={onClose} />
      ) : (
        <ChangeForm
          initial={{ name: '', password: '' }}
          onCancel={onClose}
          onDone={({ options }, { name }) =>
            setBegun({ name: String(name).trim().slice(0, 100) || 'Passkey', options })
          }
          row="passkeys.beginRegistration"
          send={({ password }) => ({ password })}
          submit="Continue"
        >
          <TextField hint="A name for this passkey, such as Laptop." label="Name" name="name" />
          <TextField
            autoComplete="current-password"
            hint="Confirms that it is you who adds a new way to sign in."
            label="Password"
            name="password"
            type="password"
          />
        </ChangeForm>
      )}
    </Dialog>
  );
}

function AtDevice({ name, options, beginAgain, onClose }: Begun & { beginAgain: () => void; onClose: () => void }) {
  const [error, setError] = useState<Error | null>(null);
  const register = useChange('passkeys.register', {
    onDone: () => {
      say('Passkey added');
      onClose();
    },
  });
  const make = async () => {
    setError(null);
    try {
      await register.runNow({ name, credential: await makePasskey(options) });
    } catch (failure) {
      setError(failure as Error);
    }
  };
  // The first attempt starts automatically, later ones by the button.
  const isAsked = useRef(false);
  // biome-ignore lint/correctness/useExhaustiveDependencies: the device is asked once.
  useEffect(() => {
    if (!isAsked.current) void make();
    isAsked.current = true;
  }, []);
  if (!error) return <Waiting what="Follow the steps in your browser" />;
  return (
    <>
      <Fault error={error} />
      <DialogActions>
        <Button onClick={onClose}>Cancel</Button>
        {/* The server accepts each registration once, so after an error the member starts again. */}
        <Button look="primary" onClick={register.error ? beginAgain : () => void make()}>
          {register.error ? 'Start again' : 'Try again'}
        </Button>
      </DialogActions>
    </>
  );
}
