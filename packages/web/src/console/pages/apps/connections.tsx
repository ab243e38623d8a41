import { useRole } from '../../data/api.ts';
import { useList } from '../../data/queries.ts';
import type { ItemOf } from '../../data/rows.ts';
import { ConfirmChange } from '../../parts/confirm.tsx';
import { type Column, DataTable } from '../../parts/data-table.tsx';
import { useDialogInAddress } from '../../parts/dialog-in-address.ts';
import { EmptyState } from '../../parts/empty-state.tsx';
import { FilterBar, useFilters } from '../../parts/filters.tsx';
import { UserName, useNames } from '../../parts/names.tsx';
import { RowMenu } from '../../parts/row-menu.tsx';
import { Status, Time } from '../../parts/shown.tsx';

type Connection = ItemOf<'connections.list'>;

/** Connections with their status and last error. */
export function Connections() {
  const [{ user_id, app }, setFilters] = useFilters('user_id', 'app', 'show');
  const connections = useList('connections.list', { ...(user_id && { user_id }), ...(app && { app }) });
  const { may } = useRole();
  const removing = useDialogInAddress('remove');
  const removed = connections.rows.find(({ id }) => id === removing.value);
  const names = useNames();
  const columns: Column<Connection>[] = [
    { id: 'app', header: 'App', width: '8rem', cell: (each) => each.app },
    {
      id: 'user',
      header: 'User',
      cell: (each) =>
        each.user_id === null ? (
          <span className="text-quiet">The org’s own agent</span>
        ) : (
          <UserName id={each.user_id} names={names} />
        ),
    },
    { id: 'status', header: 'Health', width: '6rem', cell: (each) => <Status>{each.status}</Status> },
    {
      id: 'error',
      header: 'Last error',
      width: '1.6fr',
      isWideOnly: true,
      cell: ({ error }) => (error ? <span title={error}>{error}</span> : <span className="text-quiet">none</span>),
    },
    {
      id: 'ends',
      header: 'Token',
      width: '8rem',
      isWideOnly: true,
      cell: ({ expires_at, renews }) =>
        renews ? (
          <span className="text-quiet">renews automatically</span>
        ) : expires_at ? (
          <Time at={expires_at} />
        ) : (
          <span className="text-quiet">unknown</span>
        ),
    },
    {
      id: 'created',
      header: 'Started',
      width: '6rem',
      isWideOnly: true,
      cell: (each) => <Time at={each.created_at} />,
    },
    {
      id: 'actions',
      header: '',
      width: '2rem',
      cell: (each) => (
        <RowMenu
          items={[
            {
              label: 'Disconnect',
              icon: 'trash',
              isDanger: true,
              run: () => removing.open(each.id),
              isOff: !may('connections.delete'),
            },
          ]}
          of={`${each.app} of ${each.user_id ?? 'the org'}`}
        />
      ),
    },
  ];
  return (
    <>
      <FilterBar
        filters={{ ...(user_id && { user_id }), ...(app && { app }) }}
        set={setFilters}
        shown={[
          { name: 'user_id', label: 'User', placeholder: 'User' },
          { name: 'app', label: 'App', placeholder: 'App' },
        ]}
      />
      <DataTable
        columns={columns}
        empty={
          <EmptyState
            example={{
              label: 'Create a connection from your program, then send the user to connect_url:',
              code: `curl -X POST "$VESTRA_URL/v1/connections" -H "Authorization: Bearer $VESTRA_KEY" \\\n  -H 'Content-Type: application/json' -d '{"app":"notion","user_id":"ada"}'`,
            }}
            icon="app"
            title="No connections"
          >
            Users connect an app on their session page, or with a link that you send them.
          </EmptyState>
        }
        label="Connections"
        list={connections}
      />
      {removed && (
        <ConfirmChange
          act="Disconnect"
          fields={{ connection_id: removed.id }}
          loses={
            <>
              The connection of{' '}
              <strong className="break-all text-foreground">{removed.user_id ?? 'the org’s own agent'}</strong> to{' '}
              {removed.app} is deleted. To connect again, they sign in again.
            </>
          }
          notice="Disconnected"
          onClose={removing.close}
          row="connections.delete"
          title="Disconnect this app?"
        />
      )}
    </>
  );
}
