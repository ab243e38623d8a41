import { useList } from '../data/queries.ts';
import type { ItemOf } from '../data/rows.ts';
import { Button } from './button.tsx';
import { ConfirmChange } from './confirm.tsx';
import { type Column, DataTable } from './data-table.tsx';
import { useDialogInAddress } from './dialog-in-address.ts';
import { EmptyState } from './empty-state.tsx';
import { Section } from './page.tsx';
import { Status, Time } from './shown.tsx';

type Grant = ItemOf<'mcpGrants.list'>;

/** Authorized MCP clients of one member or of the whole org. */
export function McpClients({ memberId }: { memberId?: string }) {
  const grants = useList('mcpGrants.list', memberId === undefined ? {} : { member_id: memberId });
  const revoking = useDialogInAddress('end-client');
  const revoked = grants.rows.find(({ id }) => id === revoking.value);
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
        <Button aria-label={`Revoke ${client.name}`} onClick={() => revoking.open(id)} shape="small">
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
      {revoked && (
        <ConfirmChange
          act="Revoke access"
          fields={{ grant_id: revoked.id }}
          loses={
            <>
              <strong className="break-words text-foreground">{revoked.client.name}</strong> loses access immediately.
              Connecting it again requires a new authorization.
            </>
          }
          notice="Access revoked"
          onClose={revoking.close}
          row="mcpGrants.revoke"
          title="Revoke access of this client?"
        />
      )}
    </Section>
  );
}
