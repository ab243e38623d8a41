import { useList } from '../../data/queries.ts';
import type { ItemOf } from '../../data/rows.ts';
import type { Column } from '../../parts/data-table.tsx';
import { FilterBar, useFilters } from '../../parts/filters.tsx';
import { FormDialog, TextField } from '../../parts/form.tsx';
import { useGo } from '../../parts/page-link.tsx';
import { ResourceList } from '../../parts/resource-list.tsx';
import { Status, Time, Usd, usd } from '../../parts/shown.tsx';

type User = ItemOf<'users.list'>;

const columns: Column<User>[] = [
  { id: 'name', header: 'User', cell: ({ id, name, email }) => name ?? email ?? id },
  { id: 'id', header: 'Id', isWideOnly: true, cell: ({ id }) => <span className="text-quiet">{id}</span> },
  { id: 'email', header: 'Email', isLargeOnly: true, cell: ({ email }) => <span className="text-quiet">{email}</span> },
  {
    id: 'status',
    header: 'Status',
    width: '6rem',
    cell: ({ status, is_service_user }) =>
      is_service_user ? <Status tone="accent">org’s own agent</Status> : <Status>{status}</Status>,
  },
  {
    id: 'today',
    header: 'Today',
    width: '4.5rem',
    align: 'end',
    isWideOnly: true,
    cell: ({ spend_today_usd }) => <Usd value={spend_today_usd} />,
  },
  {
    id: 'month',
    header: 'This month',
    width: '9rem',
    align: 'end',
    cell: ({ spend_month_usd, monthly_cap_usd }) => (
      <>
        <Usd value={spend_month_usd} />
        {monthly_cap_usd !== null && <span className="text-quiet"> / {usd(monthly_cap_usd)}</span>}
      </>
    ),
  },
  {
    id: 'since',
    header: 'Created',
    width: '6.5rem',
    isLargeOnly: true,
    cell: ({ created_at }) => <Time at={created_at} />,
  },
];

export default function UsersPage() {
  const [{ status, email, q }, setFilters] = useFilters('status', 'email', 'q');
  const isStatus = status === 'active' || status === 'disabled';
  const users = useList('users.list', { ...(isStatus && { status }), ...(email && { email }), ...(q && { q }) });
  return (
    <ResourceList
      above={
        <FilterBar
          filters={{ ...(status && { status }), ...(q && { q }) }}
          set={setFilters}
          shown={[
            { name: 'q', label: 'Search', placeholder: 'Name, email or id' },
            { name: 'status', label: 'Status', options: ['active', 'disabled'] },
          ]}
        />
      }
      columns={columns}
      create={{ label: 'Create user', row: 'users.create', dialog: (close) => <NewUser onClose={close} /> }}
      empty={{
        icon: 'user',
        title: isStatus || email || q ? 'No users match these filters' : 'No users yet',
        text: 'You do not have to create users yourself.',
        example: {
          label: 'A message with a user_id creates the user:',
          code: `curl -X POST "$VESTRA_URL/v1/conversations" -H "Authorization: Bearer $VESTRA_KEY" \\\n  -H 'Content-Type: application/json' -d '{"user_id":"ada","message":"Hello"}'`,
        },
      }}
      lead="The people your agents work for. A user is created with their first message and has separate caps, memory, files and a computer."
      linkOf={({ id }) => `/users/${encodeURIComponent(id)}`}
      list={users}
      title="Users"
    />
  );
}

function NewUser({ onClose }: { onClose: () => void }) {
  const go = useGo();
  return (
    <FormDialog
      initial={{ user_id: '', name: '', email: '' }}
      onClose={onClose}
      onDone={({ id }) => go(`/users/${encodeURIComponent(id)}`)}
      row="users.create"
      submit="Create user"
      title="Create a user"
    >
      <TextField
        hint="The id in your system. It cannot be changed."
        isMono
        label="Id"
        name="user_id"
        placeholder="ada"
      />
      <TextField label="Name" name="name" />
      <TextField label="Email" name="email" type="email" />
    </FormDialog>
  );
}
