import { usePlace, useRole } from '../../data/api.ts';
import { useChange, useList } from '../../data/queries.ts';
import type { ItemOf } from '../../data/rows.ts';
import { Button } from '../../parts/button.tsx';
import { ConfirmDialog } from '../../parts/confirm.tsx';
import { type Column, DataTable } from '../../parts/data-table.tsx';
import { Dialog } from '../../parts/dialog.tsx';
import { useDialogInAddress } from '../../parts/dialog-in-address.ts';
import { EmptyState } from '../../parts/empty-state.tsx';
import { FilterBar, useFilters } from '../../parts/filters.tsx';
import { ChangeForm, TextField } from '../../parts/form.tsx';
import { Icon } from '../../parts/icons.tsx';
import { say } from '../../parts/notices.tsx';
import { Page } from '../../parts/page.tsx';
import { RowMenu } from '../../parts/row-menu.tsx';
import { Time } from '../../parts/shown.tsx';

type Secret = ItemOf<'secrets.list'>;

export default function SecretsPage() {
  const [{ user_id }, setFilters] = useFilters('user_id');
  const secrets = useList('secrets.list', user_id === undefined ? {} : { user_id });
  const { may } = useRole();
  const { mode } = usePlace();
  const setting = useDialogInAddress('set');
  const deleting = useDialogInAddress('delete');

  const columns: Column<Secret>[] = [
    { id: 'name', header: 'Name', cell: ({ name }) => <code className="font-mono">{name}</code> },
    {
      id: 'value',
      header: 'Value',
      width: '6rem',
      isWideOnly: true,
      cell: () => <span className="text-quiet">never shown</span>,
    },
    { id: 'set', header: 'Updated', width: '6.5rem', cell: ({ updated_at }) => <Time at={updated_at} /> },
    {
      id: 'created',
      header: 'Created',
      width: '6.5rem',
      isWideOnly: true,
      cell: ({ created_at }) => <Time at={created_at} />,
    },
    {
      id: 'actions',
      header: '',
      width: '2rem',
      cell: ({ name }) => (
        <RowMenu
          items={[
            { label: 'Replace value', icon: 'refresh', run: () => setting.open(name), isOff: !may('secrets.put') },
            {
              label: 'Delete',
              icon: 'trash',
              isDanger: true,
              run: () => deleting.open(name),
              isOff: !may('secrets.delete'),
            },
          ]}
          of={name}
        />
      ),
    },
  ];

  const set = may('secrets.put') && (
    <Button look="primary" onClick={() => setting.open()}>
      <Icon name="plus" /> Set secret
    </Button>
  );
  return (
    <Page
      actions={set}
      lead={`Credentials for tool servers and webhooks in ${mode} mode. Deployment files refer to a secret by name. Values are encrypted and never shown again.`}
      request={secrets.request}
      title="Secrets"
    >
      <FilterBar
        filters={user_id === undefined ? {} : { user_id }}
        set={setFilters}
        shown={[{ name: 'user_id', label: 'User', placeholder: 'User id' }]}
      />
      <DataTable
        columns={columns}
        empty={
          <EmptyState
            action={set}
            example={{
              label: 'Refer to a secret in a deployment file:',
              code: 'tools:\n  - mcp: https://crm.example.com/mcp\n    auth: ${CRM_TOKEN}',
            }}
            icon="secret"
            title={user_id === undefined ? 'No secrets yet' : 'This user has no secrets'}
          >
            Add a secret for each credential that a tool server needs.
          </EmptyState>
        }
        label="Secrets"
        list={secrets}
      />
      {setting.value && (
        <SetSecret name={setting.value === '1' ? '' : setting.value} onClose={setting.close} userId={user_id} />
      )}
      {deleting.value && <DeleteSecret name={deleting.value} onClose={deleting.close} userId={user_id} />}
    </Page>
  );
}

function SetSecret({ name, userId, onClose }: { name: string; userId: string | undefined; onClose: () => void }) {
  return (
    <Dialog isOpen onClose={onClose} title={name === '' ? 'Set a secret' : `Replace the value of ${name}`}>
      <ChangeForm
        initial={{ name, value: '', user_id: userId ?? '' }}
        onCancel={onClose}
        onDone={({ name: kept }) => {
          say(`${kept} saved`);
          onClose();
        }}
        row="secrets.put"
        submit="Set secret"
      >
        {name === '' && (
          <TextField
            hint="Capital letters, digits and underscores."
            isMono
            label="Name"
            name="name"
            placeholder="CRM_TOKEN"
          />
        )}
        <TextField autoComplete="new-password" isMono label="Value" name="value" type="password" />
        {name === '' && <TextField label="User" name="user_id" />}
      </ChangeForm>
    </Dialog>
  );
}

function DeleteSecret({ name, userId, onClose }: { name: string; userId: string | undefined; onClose: () => void }) {
  const remove = useChange('secrets.delete', {
    onDone: () => {
      say(`${name} deleted`);
      onClose();
    },
  });
  return (
    <ConfirmDialog
      act="Delete secret"
      error={remove.error}
      isOpen
      isRunning={remove.isRunning}
      loses={
        <>
          Everything that uses <code className="break-all font-mono text-foreground">{name}</code> loses it with the
          next request. The value cannot be restored.
        </>
      }
      onClose={onClose}
      request={remove.requestOf({ name, ...(userId !== undefined && { user_id: userId }) })}
      run={() => remove.run({ name, ...(userId !== undefined && { user_id: userId }) })}
      title="Delete this secret?"
    />
  );
}
