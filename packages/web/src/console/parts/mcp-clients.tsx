import { useChange, useList } from '../data/queries.ts';
import type { ItemOf } from '../data/rows.ts';
import { Button } from './button.tsx';
import { ConfirmDialog } from './confirm.tsx';
import { type Column, DataTable } from './data-table.tsx';
import { useDialogInAddress } from './dialog-in-address.ts';
import { EmptyState } from './empty-state.tsx';
import { say } from './notices.tsx';
import { Section } from './page.tsx';
import { Status, Time } from './shown.tsx';

type Grant = ItemOf<'mcpGrants.list'>;

/** MCP clients that were let in, in the org and mode of the address: one member's, or those of all. */
export function McpClients({ memberId }: { memberId?: string }) {
  const grants = useList('mcpGrants.list', memberId === undefined ? {} : { member_id: memberId });
  const ending = useDialogInAddress('end-client');
  const columns: Column<Grant>[] = [
    {
      id: 'client',
      header: 'Client',
      cell: ({ client }) => (
        <>
          {client.name}{' '}
          <span className="block text-quiet text-sm">
            {client.address}
            {client.is_verified ? '' : ', name not verified'}
          </span>
        </>
      ),
    },
    ...(memberId === undefined
      ? [{ id: 'member', header: 'Authorized by', cell: ({ member }: Grant) => member.name, isWideOnly: true }]
      : []),
    {
      id: 'mode',
      header: 'Mode',
      width: '4.5rem',
      cell: ({ mode }) => <Status tone={mode === 'live' ? 'good' : 'warn'}>{mode}</Status>,
    },
    { id: 'scopes', header: 'Scopes', isWideOnly: true, cell: ({ scopes }) => scopes.join(', ') },
    { id: 'used', header: 'Last used', width: '6.5rem', cell: ({ last_used_at }) => <Time at={last_used_at} /> },
    {
      id: 'end',
      header: '',
      width: '4.5rem',
      align: 'end',
      cell: ({ id, client }) => (
        <Button aria-label={`Revoke ${client.name}`} onClick={() => ending.open(id)} shape="small">
          {' '}
          Revoke{' '}
        </Button>
      ),
    },
  ];
  return (
    <Section title="Connected MCP clients">
      <DataTable
        columns={columns}
        empty={
          <EmptyState icon="server" title="No MCP clients in this mode">
            Add this server’s address followed by /v1/mcp to Claude, ChatGPT or an editor. This console then asks you to
            authorize the client.
          </EmptyState>
        }
        label="Connected MCP clients"
        list={grants}
      />
      <EndClient grant={grants.rows.find(({ id }) => id === ending.value)} onClose={ending.close} />
    </Section>
  );
}

function EndClient({ grant, onClose }: { grant: Grant | undefined; onClose: () => void }) {
  const end = useChange('mcpGrants.revoke', {
    onDone: () => {
      say('Access revoked');
      onClose();
    },
  });
  if (!grant) return null;
  return (
    <ConfirmDialog
      act="Revoke access"
      error={end.error}
      isOpen
      isRunning={end.isRunning}
      loses={
        <>
          <strong className="break-words text-foreground">{grant.client.name}</strong> loses access immediately.
          Connecting it again requires a new authorization.
        </>
      }
      onClose={onClose}
      request={end.requestOf({ grant_id: grant.id })}
      run={() => end.run({ grant_id: grant.id })}
      title="Revoke access of this client?"
    />
  );
}
