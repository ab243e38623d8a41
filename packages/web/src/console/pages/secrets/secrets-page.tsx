import { useOrgAndMode, useRole } from '../../data/api.ts';
import { useList } from '../../data/queries.ts';
import type { ItemOf } from '../../data/rows.ts';
import { ConfirmChange } from '../../parts/confirm.tsx';
import type { Column } from '../../parts/data-table.tsx';
import { useDialogInAddress } from '../../parts/dialog-in-address.ts';
import { FilterBar, useFilters } from '../../parts/filters.tsx';
import { FormDialog, TextField } from '../../parts/form.tsx';
import { say } from '../../parts/notices.tsx';
import { ResourceList } from '../../parts/resource-list.tsx';
import { RowMenu } from '../../parts/row-menu.tsx';
import { Time } from '../../parts/shown.tsx';

type Secret = ItemOf<'secrets.list'>;

export default function SecretsPage() {
  const [{ user_id }, setFilters] = useFilters('user_id');
  const secrets = useList('secrets.list', user_id === undefined ? {} : { user_id });
  const { may } = useRole();
  const { mode } = useOrgAndMode();
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

  return (
    <ResourceList
      above={
        <FilterBar
          filters={user_id === undefined ? {} : { user_id }}
          set={setFilters}
          shown={[{ name: 'user_id', label: 'User', placeholder: 'User id' }]}
        />
      }
      columns={columns}
      create={{
        label: 'Set secret',
        row: 'secrets.put',
        param: 'set',
        dialog: (close, name) => <SetSecret name={name === '1' ? '' : name} onClose={close} userId={user_id} />,
      }}
      empty={{
        icon: 'secret',
        title: user_id === undefined ? 'No secrets yet' : 'This user has no secrets',
        text: 'Add a secret for each credential that a tool server needs.',
        example: {
          label: 'Refer to a secret in a deployment file:',
          code: 'tools:\n  - mcp: https://crm.example.com/mcp\n    auth: ${CRM_TOKEN}',
        },
      }}
      lead={`Credentials for tool servers and webhooks in ${mode} mode. Deployment files refer to a secret by name. Values are encrypted and never shown again.`}
      list={secrets}
      title="Secrets"
    >
      {deleting.value && (
        <ConfirmChange
          act="Delete secret"
          fields={{ name: deleting.value, ...(user_id !== undefined && { user_id }) }}
          loses={
            <>
              Everything that uses <code className="break-all font-mono text-foreground">{deleting.value}</code> loses
              it with the next request. The value cannot be restored.
            </>
          }
          notice={`${deleting.value} deleted`}
          onClose={deleting.close}
          row="secrets.delete"
          title="Delete this secret?"
        />
      )}
    </ResourceList>
  );
}

function SetSecret({ name, userId, onClose }: { name: string; userId: string | undefined; onClose: () => void }) {
  return (
    <FormDialog
      initial={{ name, value: '', user_id: userId ?? '' }}
      onClose={onClose}
      onDone={({ name: saved }) => {
        say(`${saved} saved`);
        onClose();
      }}
      row="secrets.put"
      submit="Set secret"
      title={name === '' ? 'Set a secret' : `Replace the value of ${name}`}
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
    </FormDialog>
  );
}
