import { useState } from 'react';
import { useOrgAndMode, useRole } from '../../data/api.ts';
import { useList } from '../../data/queries.ts';
import type { ItemOf } from '../../data/rows.ts';
import { ConfirmChange } from '../../parts/confirm.tsx';
import type { Column } from '../../parts/data-table.tsx';
import { useDialogInAddress } from '../../parts/dialog-in-address.ts';
import { ChoicesField, FormDialog, SelectField, TextField } from '../../parts/form.tsx';
import { McpClients } from '../../parts/mcp-clients.tsx';
import { ResourceList } from '../../parts/resource-list.tsx';
import { RowMenu } from '../../parts/row-menu.tsx';
import { SecretOnce } from '../../parts/secret-once.tsx';
import { Status, Time } from '../../parts/shown.tsx';

type Key = ItemOf<'keys.list'>;

export default function KeysPage() {
  const keys = useList('keys.list', {});
  const { may } = useRole();
  const rolling = useDialogInAddress('roll');
  const revoking = useDialogInAddress('revoke');
  const [secret, setSecret] = useState<string | null>(null);
  const rolled = keys.rows.find(({ id }) => id === rolling.value);
  const revoked = keys.rows.find(({ id }) => id === revoking.value);

  const columns: Column<Key>[] = [
    { id: 'name', header: 'Name', cell: (key) => key.name },
    {
      id: 'mode',
      header: 'Mode',
      width: '4.5rem',
      cell: (key) => <Status tone={key.mode === 'live' ? 'good' : 'warn'}>{key.mode}</Status>,
    },
    { id: 'scopes', header: 'Scopes', isWideOnly: true, cell: (key) => key.scopes.join(', ') },
    {
      id: 'key',
      header: 'Key',
      width: '6rem',
      isWideOnly: true,
      cell: (key) => <code className="font-mono text-quiet text-xs">…{key.last4}</code>,
    },
    { id: 'used', header: 'Last used', width: '6.5rem', cell: (key) => <Time at={key.last_used_at} /> },
    {
      id: 'created',
      header: 'Created',
      width: '6.5rem',
      isLargeOnly: true,
      cell: (key) => <Time at={key.created_at} />,
    },
    {
      id: 'actions',
      header: '',
      width: '2rem',
      cell: (key) => (
        <RowMenu
          items={[
            { label: 'Roll', icon: 'refresh', run: () => rolling.open(key.id), isOff: !may('keys.roll') },
            {
              label: 'Revoke',
              icon: 'trash',
              isDanger: true,
              run: () => revoking.open(key.id),
              isOff: !may('keys.revoke'),
            },
          ]}
          of={key.name}
        />
      ),
    },
  ];

  return (
    <ResourceList
      columns={columns}
      create={{
        label: 'Create key',
        row: 'keys.create',
        dialog: (close) => <NewKey onClose={close} onSecret={setSecret} />,
      }}
      empty={{
        icon: 'key',
        title: 'No keys yet',
        text: 'Create a separate key for each program, so that you can revoke one without affecting the others.',
        example: {
          label: 'Check a key:',
          code: 'curl "$VESTRA_URL/v1/me" -H "Authorization: Bearer $VESTRA_KEY"',
        },
      }}
      lead="Your programs authenticate API requests with these keys. Test keys reach test users and drafts, live keys reach your real users."
      list={keys}
      title="API keys"
    >
      <McpClients />
      {rolled && <RollKey keyRow={rolled} onClose={rolling.close} onSecret={setSecret} />}
      {revoked && (
        <ConfirmChange
          act="Revoke key"
          fields={{ key_id: revoked.id }}
          loses={
            <>
              Requests with <strong className="break-all text-foreground">{revoked.name}</strong> are rejected
              immediately. This cannot be undone. To replace a key without downtime, roll it.
            </>
          }
          notice="Key revoked"
          onClose={revoking.close}
          row="keys.revoke"
          title="Revoke this key?"
        />
      )}
      {secret !== null && <SecretOnce onClose={() => setSecret(null)} secret={secret} title="Your new key" />}
    </ResourceList>
  );
}

const scopes = [
  ['runtime', 'runtime', 'For apps: conversations, tasks, users, files'],
  ['setup', 'setup', 'For pipelines: deployments, knowledge, tools, secrets'],
  ['admin', 'admin', 'For administration: keys, members, limits, usage, org settings'],
] as const;
const all = ['all', 'all', 'Full access, including owners'] as const;

type KeyDialogProps = { onClose: () => void; onSecret: (secret: string) => void };

function NewKey({ onClose, onSecret }: KeyDialogProps) {
  const { mode } = useOrgAndMode();
  const { role } = useRole();
  return (
    <FormDialog
      initial={{ name: '', mode, scopes: ['runtime'] }}
      onClose={onClose}
      onDone={({ key }) => {
        onClose();
        onSecret(key);
      }}
      row="keys.create"
      submit="Create key"
      title="Create an API key"
    >
      <TextField label="Name" name="name" placeholder="billing service" />
      <SelectField
        hint="A key reaches the data of its mode only."
        label="Mode"
        name="mode"
        options={[
          ['test', 'Test'],
          ['live', 'Live'],
        ]}
      />
      <ChoicesField
        hint="What the key may do."
        label="Scopes"
        name="scopes"
        options={role === 'owner' ? [...scopes, all] : scopes}
      />
    </FormDialog>
  );
}

function RollKey({ keyRow, onClose, onSecret }: KeyDialogProps & { keyRow: Key }) {
  return (
    <FormDialog
      description={`${keyRow.name} gets a new secret.`}
      fields={{ key_id: keyRow.id }}
      initial={{ grace_seconds: '3600' }}
      onClose={onClose}
      onDone={({ key }) => {
        onClose();
        onSecret(key);
      }}
      row="keys.roll"
      send={({ grace_seconds }) => ({ grace_seconds: Number(grace_seconds) })}
      submit="Roll key"
      title="Roll this key"
    >
      <SelectField
        label="Old secret stays valid for"
        name="grace_seconds"
        options={[
          ['0', '0 seconds (revoke now)'],
          ['3600', 'One hour'],
          ['86400', 'One day'],
          ['604800', 'Seven days'],
        ]}
      />
    </FormDialog>
  );
}
