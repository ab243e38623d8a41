import { useState } from 'react';
import { useRole } from '../../data/api.ts';
import { useChange, useList } from '../../data/queries.ts';
import type { ItemOf } from '../../data/rows.ts';
import { Button } from '../../parts/button.tsx';
import { ConfirmDialog } from '../../parts/confirm.tsx';
import { type Column, DataTable } from '../../parts/data-table.tsx';
import { useDialogInAddress } from '../../parts/dialog-in-address.ts';
import { EmptyState } from '../../parts/empty-state.tsx';
import { Icon } from '../../parts/icons.tsx';
import { McpClients } from '../../parts/mcp-clients.tsx';
import { Menu } from '../../parts/menu.tsx';
import { say } from '../../parts/notices.tsx';
import { Page } from '../../parts/page.tsx';
import { SecretOnce } from '../../parts/secret-once.tsx';
import { Status, Time } from '../../parts/shown.tsx';
import { NewKey } from './new-key.tsx';
import { RollKey } from './roll-key.tsx';

type Key = ItemOf<'keys.list'>;

export default function KeysPage() {
  const keys = useList('keys.list', {});
  const { may } = useRole();
  const creating = useDialogInAddress('new');
  const rolling = useDialogInAddress('roll');
  const revoking = useDialogInAddress('revoke');
  const [secret, setSecret] = useState<string | null>(null);
  const named = (id: string | null) => keys.rows.find((key) => key.id === id);

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
      isWideOnly: true,
      cell: (key) => <Time at={key.created_at} />,
    },
    {
      id: 'actions',
      header: '',
      width: '2rem',
      cell: (key) => (
        <Menu
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
        >
          <Button aria-label={`Actions for ${key.name}`} look="quiet" shape="small">
            <Icon name="more" />
          </Button>
        </Menu>
      ),
    },
  ];

  const create = may('keys.create') && (
    <Button look="primary" onClick={() => creating.open()}>
      <Icon name="plus" /> Create key
    </Button>
  );
  return (
    <Page
      actions={create}
      lead="Your programs authenticate API requests with these keys. Test keys reach test users and drafts, live keys reach your real users."
      request={keys.request}
      title="API keys"
    >
      <DataTable
        columns={columns}
        empty={
          <EmptyState
            action={create}
            example={{
              label: 'Check a key:',
              code: 'curl "$VESTRA_URL/v1/me" -H "Authorization: Bearer $VESTRA_KEY"',
            }}
            icon="key"
            title="No keys yet"
          >
            Create a separate key for each program, so that you can revoke one without affecting the others.
          </EmptyState>
        }
        label="API keys"
        list={keys}
      />
      <McpClients />
      <NewKey isOpen={creating.value !== null} onClose={creating.close} onSecret={setSecret} />
      <RollKey keyRow={named(rolling.value)} onClose={rolling.close} onSecret={setSecret} />
      <RevokeKey keyRow={named(revoking.value)} onClose={revoking.close} />
      {secret !== null && <SecretOnce onClose={() => setSecret(null)} secret={secret} title="Your new key" />}
    </Page>
  );
}

function RevokeKey({ keyRow, onClose }: { keyRow: Key | undefined; onClose: () => void }) {
  const revoke = useChange('keys.revoke', {
    onDone: () => {
      say('Key revoked');
      onClose();
    },
  });
  if (!keyRow) return null;
  return (
    <ConfirmDialog
      act="Revoke key"
      error={revoke.error}
      isOpen
      isRunning={revoke.isRunning}
      loses={
        <>
          Requests with <strong className="break-all text-foreground">{keyRow.name}</strong> are rejected immediately.
          This cannot be undone. To replace a key without downtime, roll it.
        </>
      }
      onClose={onClose}
      request={revoke.requestOf({ key_id: keyRow.id })}
      run={() => revoke.run({ key_id: keyRow.id })}
      title="Revoke this key?"
    />
  );
}
